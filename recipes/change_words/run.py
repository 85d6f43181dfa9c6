"""python run.py [FOLDER]: fits what tells which change words ask for, and asks it what it learned.

Writes auditeval/features/changes/words.safetensors, and held_out.md and machine.md into FOLDER, by
default results/ beside this file. The same seed makes the same bytes, on one machine.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from concepts import CONCEPTS
from frames import FRAMES, LINKS
from numpy.random import Generator
from safetensors.numpy import save
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import MultiLabelBinarizer

from auditeval.atomic import replacing, write_text
from auditeval.data.change_words.vocabulary import (
    CHANGES,
    EVENT,
    OPPOSITES,
    example,
    fill,
    subjects,
)
from auditeval.data.simulation.words import WORDS
from auditeval.features.changes.polarity import said_apart, terms
from auditeval.features.changes.words import WEIGHTS, ChangeWords, inputs, metadata
from auditeval.features.extractors.yamnet import labels
from auditeval.features.minilm import shared
from auditeval.report import machine
from auditeval.seed import SEED
from auditeval.text import say

TEXTS, EVENT_TEXTS = 1200, 6000  # to fit on, of each change and of events, those alike counted
HELD_OUT_TEXTS, HELD_OUT_EVENTS = 60, 300
_TERMS, _RAREST = 6000, 4  # terms that are kept; a term in fewer texts is not looked at
_BATCH = 64  # texts embedded at a time
_C = 1.0  # inverse strength of the penalty
_LEADS = ("and ", "then ", "with ", "while ", "followed by ")
_FILLED = 4  # texts made of a written one that has slots
_KEPT_EVERY = 4  # sounds of each so many classes are held out
# Labels that name how something sounds, or a place, and are asked for as changes.
_NO_EVENT = re.compile(
    r"(?i)echo|reverb|distort|noise|static|hum$|effect|whisper|shout|yell|scream|silence|cacoph|"
    r"throbb|inside|outside|happy|sad |angry|exciting|tender|scary|funny|male |choir|battle|"
    r"telephone$|radio|television|pulse|sidetone|vibration|field rec|speech|narration|"
    r"conversation|chorus|^music$|roar|soft|harsh|^hiss$|crackle$|^buzz$|^rumble$"
)


def sounds(held_out: bool) -> list[str]:
    """Names of sounds: AudioSet's, and those of the simulation."""
    names = [[label.lower()] for label in labels()]
    names += [list(words.names) for words in WORDS.values()]
    found = [one for place, one in enumerate(names) if (place % _KEPT_EVERY == 0) == held_out]
    return [name for group in found for name in group if not _NO_EVENT.search(name)]


def clauses(held_out: bool) -> list[str]:
    """Plain captions of sounds, which ask for an event if they are new."""
    kept = [w for place, w in enumerate(WORDS.values()) if (place % _KEPT_EVERY == 0) == held_out]
    return [f"{s} {form}" for words in kept for s, *forms in words.clauses for form in forms]


def added(names: Sequence[str]) -> list[str]:
    """What a caption has more than another where a sound comes: its name, with what leads to it."""
    here = Path(__file__).with_name("sounds.txt").read_text(encoding="utf-8").splitlines()
    return [f"{lead}{name}" for name in (*names, *here) for lead in ("", *_LEADS)]


def framed(change: str, rng: Generator, names: Sequence[str]) -> str:
    """A word of a concept of the change in a frame; see `frames`."""
    concepts = {kind: words.split("; ") for kind, words in CONCEPTS[change].items()}
    shares = np.sqrt([len(words) for words in concepts.values()])
    kind = list(concepts)[rng.choice(len(concepts), p=shares / shares.sum())]
    frames = FRAMES[kind].split("; ")
    about = subjects(change, rng, sounds=names)
    plain = re.sub("^the ", "a ", about["thing"])
    slots = about | {"plain": plain, "c": about["clause"]}
    word = fill(concepts[kind][rng.integers(len(concepts[kind]))], rng, slots)
    return fill(frames[rng.integers(len(frames))], rng, slots | {"x": word})


def written() -> list[Path]:
    """Files of texts that were written one by one."""
    return sorted(Path(__file__).with_name("written").glob("*.txt"))


def filled(
    path: Path, rng: Generator, names: Sequence[str], times: int = _FILLED
) -> Iterator[tuple[str, str]]:
    """What each text of a file asks for, and the text; one with slots so many times."""
    for line in path.read_text(encoding="utf-8").splitlines():
        change, _, text = line.partition(" | ")
        for _ in range(times if "{" in text else 1):
            about = subjects(change, rng, sounds=names)
            yield change, fill(text, rng, about | {"c": about["clause"]})


def text_of(change: str, rng: Generator, names: Sequence[str]) -> str:
    """One to fit on: a wording, a frame, or both one after the other."""
    kind = rng.random()
    if kind < 0.35:
        return example(change, rng, sounds=names)
    if kind < 0.85:
        return framed(change, rng, names)
    parts = [framed(change, rng, names), example(change, rng, sounds=names)]
    rng.shuffle(parts)
    return LINKS[rng.integers(len(LINKS))].join(parts)


def texts(held_out: bool, files: Sequence[Path] = ()) -> dict[str, str]:
    """Texts, as `said_apart` leaves them, and what each asks for; none that asks for two things.

    Those of `files` are among them.
    """
    rng = np.random.default_rng([SEED, held_out])
    names = sounds(held_out)
    counts = (HELD_OUT_TEXTS, HELD_OUT_EVENTS) if held_out else (TEXTS, EVENT_TEXTS)
    found: dict[str, set[str]] = {}
    for change in CHANGES:
        for _ in range(counts[change == EVENT]):
            text = example(change, rng, True, names) if held_out else text_of(change, rng, names)
            found.setdefault(said_apart(text), set()).add(change)
    for path in files:
        for change, text in filled(path, rng, names):
            found.setdefault(said_apart(text), set()).add(change)
    for clause in clauses(held_out):
        found.setdefault(clause, set()).add(EVENT)
    for name in () if held_out else added(names):
        found.setdefault(name, set()).add(EVENT)
    return {text: changes.pop() for text, changes in found.items() if len(changes) == 1}


def fit(asked: Mapping[str, str]) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Weights :: float16 (K, 768 + terms), biases :: float32 (K,), and the terms, sorted.

    The terms are those that move most in a regression on terms alone.
    """
    targets = [CHANGES.index(change) for change in asked.values()]
    found = [terms(text) for text in asked]
    counts = Counter(term for one in found for term in one)
    known = sorted(term for term, count in counts.items() if count >= _RAREST)
    kept = {*known}
    there = MultiLabelBinarizer(classes=known, sparse_output=True).fit_transform(
        [one & kept for one in found]
    )
    moved = np.linalg.norm(_regression(there.astype(float), targets).coef_, axis=0)
    moved *= np.sqrt([counts[term] for term in known])
    known = sorted(known[place] for place in np.argsort(-moved, kind="stable")[:_TERMS])
    places, sentences = {term: place for place, term in enumerate(known)}, _embed(asked)
    rows = np.stack([inputs(text, sentences[text], places).astype(np.float32) for text in asked])
    made = _regression(rows, targets)
    return made.coef_.astype(np.float16), made.intercept_.astype(np.float32), known


def _regression(rows: Any, targets: Sequence[int]) -> LogisticRegression:
    return LogisticRegression(C=_C, max_iter=300).fit(rows, targets)


def _embed(asked: Iterable[str]) -> dict[str, np.ndarray]:
    """Those of like length together, to pad the least."""
    minilm, order = shared(None), sorted(asked, key=len)
    found: dict[str, np.ndarray] = {}
    for start in range(0, len(order), _BATCH):
        batch = order[start : start + _BATCH]
        found.update(zip(batch, minilm(batch), strict=True))
    return found


def write(path: Path, weight: np.ndarray, bias: np.ndarray, known: Sequence[str]) -> None:
    """The file that `ChangeWords` reads, whole or not at all."""
    with replacing(path) as temporary:
        # `save` takes the bytes as they lie.
        tensors = {"weight": np.ascontiguousarray(weight), "bias": bias}
        temporary.write_bytes(save(tensors, metadata(known)))


class Answer(NamedTuple):
    """What a text asks for, and what it was taken for; whether above the opposite, if any."""

    asked: str
    taken: str
    apart: bool | None


def answers(words: ChangeWords, asked: Mapping[str, str]) -> list[Answer]:
    found = []
    for text, change in asked.items():
        row = dict(zip(CHANGES, words.probabilities(text).tolist(), strict=True))
        opposite = OPPOSITES.get(change)
        apart = row[change] > row[opposite] if opposite else None
        found.append(Answer(change, max(row, key=row.__getitem__), apart))
    return found


def table(found: Sequence[Answer]) -> str:
    """Per change and for all: share that was told, and told from its opposite, as Markdown."""
    lines = [
        "# Held-out wordings of changes",
        "",
        "| change | texts | accuracy | from its opposite | of what was taken for it | taken for |",
        "|---|--:|--:|--:|--:|---|",
    ]
    for change in (*CHANGES, "all"):
        mine = [one for one in found if change in (one.asked, "all")]
        taken = [one for one in found if change in (one.taken, "all")]
        wrong = Counter(one.taken for one in mine if one.taken != one.asked).most_common(2)
        others = ", ".join(f"{name} {count}" for name, count in wrong)
        cells = [
            _share(one.taken == one.asked for one in mine),
            _share(one.apart for one in mine if one.apart is not None),
            _share(one.taken == one.asked for one in taken),
            "" if change == "all" else others,
        ]
        lines.append(f"| {change} | {len(mine)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _share(right: Iterable[bool | None]) -> str:
    values = list(map(bool, right))
    return f"{np.mean(values):.3f}" if values else ""


def main(folder: Annotated[Path, typer.Argument()] = Path(__file__).parent / "results") -> None:
    kept = texts(held_out=True)
    learned = texts(held_out=False, files=written())
    asked = {text: change for text, change in learned.items() if text not in kept}
    write(WEIGHTS, *fit(asked))
    say(f"{WEIGHTS}: fitted on {len(asked)} texts")
    write_text(folder / "held_out.md", table(answers(ChangeWords(), kept)))
    machine.write(folder)


if __name__ == "__main__":
    typer.run(main)

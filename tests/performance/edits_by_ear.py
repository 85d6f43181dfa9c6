"""Scores of edits as editors leave them, whose order any listener could tell: means.

Nothing is asked of the first: a clip and the same damaged, made anew, or with something unasked.
Then an event is added, taken away, or put in the place of another, in full and by half, or with the
rest in other words, or what lies behind it is taken away or replaced; or the clip is made anew, and
it was done or not. Last come originals under a hiss, which goes or stays. Of each way that is not
the first of its kind, in what share of pairs this has more relevance.

Run by hand: python tests/performance/edits_by_ear.py [-c CHECKPOINT] [--data FOLDER]
FOLDER holds esc10/ and librispeech10/ (by default ../shared/data beside the project); a minute.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from results import keep
from scipy import signal

import auditeval
from auditeval.audio import files
from auditeval.types import AXES

sys.path.insert(0, str(Path(__file__).parents[1]))
from edited_clips import (
    RATE_HZ,
    Clip,
    Edit,
    begun_again,
    cut_off,
    lost,
    narrowed,
    noisy,
    pairs,
    recordings,
    with_event,
)

SOUNDS = {
    "rain": "Rain falls.",
    "sea_waves": "Waves roll.",
    "helicopter": "A helicopter flies.",
    "fire_crackling": "A fire crackles.",
}
IN_OTHER_WORDS = {
    "Rain falls.": "It pours with rain",
    "Waves roll.": "Ocean surf breaks on a beach",
    "A helicopter flies.": "A chopper passes overhead",
    "A fire crackles.": "Flames crackle",
}
EVENTS = {"dog_bark": "a dog barks", "baby_cry": "a baby cries", "rooster": "a rooster crows"}
TAKES, EVENT_TIMES, LONG_CLIPS, SENTENCES = 3, 2.0, 6, 8


def dropped(x: np.ndarray, share: float) -> np.ndarray:
    """That share of frames of 20 ms silent."""
    size = round(0.02 * RATE_HZ)
    gone = np.random.default_rng(0).random(len(x) // size + 1) < share
    return x * ~np.repeat(gone, size)[: len(x)]


def spectral(x: np.ndarray, change: np.ndarray | float, turn: bool = False) -> np.ndarray:
    """Its cells of 64 ms times `change`, or under phases by chance."""
    rng = np.random.default_rng(0)
    _, _, cells = signal.stft(x, RATE_HZ, nperseg=2822)
    kept = (
        np.exp(2j * np.pi * rng.random(cells.shape)) if turn else rng.random(cells.shape) >= change
    )
    return signal.istft(cells * kept, RATE_HZ, nperseg=2822)[1][: len(x)]


def coded(x: np.ndarray) -> np.ndarray:
    """As an MP3 of 32 kbit/s leaves it."""
    return files.recoded(x.astype(np.float32), RATE_HZ, "MP3", "MPEG_LAYER_III", 0.99)


def muted(x: np.ndarray) -> np.ndarray:
    """The third second silent."""
    return np.concatenate([x[: 2 * RATE_HZ], np.zeros(RATE_HZ), x[3 * RATE_HZ :]])


def edits(data: Path) -> Iterator[tuple[str, Edit]]:
    """What was done, and the pair."""
    events = {said: recordings(data / name, said, TAKES) for name, said in EVENTS.items()}
    sounds = [recordings(data / name, said, TAKES + 1) for name, said in SOUNDS.items()]
    for clips, instead in zip(sounds, [*sounds[1:], sounds[0]], strict=True):
        for take, clip in enumerate(clips[:TAKES]):
            yield from alone(clip, clips[take + 1], events["a dog barks"][take].samples)
            for said, other in zip(events, [*events][1:] + [*events][:1], strict=True):
                event, second = (events[x][take].samples for x in (said, other))
                yield from asked(clip, clips, said, event, other, second, instead[take])
                yield from made_anew(clip, clips[take + 1].samples, said, event, second)
                third = next(x for x in events if x not in (said, other))
                yield from replaced(
                    clip, clips[take + 1].samples, (said, other), event, second, events[third][take]
                )
            yield from hissing(clip, clips[take + 1])
    sentences = recordings(data.parent / "librispeech10", "Someone speaks.", SENTENCES)
    for clip, other in zip(sentences, [*sentences[1:], sentences[0]], strict=True):
        yield from spoken(clip, other)
        yield from hissing(clip, other)


def spoken(clip: Clip, other: Clip) -> Iterator[tuple[str, Edit]]:
    """Another sentence in the place of one, clean and damaged."""
    x = other.samples
    ways = {"": x, " under noise 10 dB below": noisy(x, 10), " up to 1 kHz": narrowed(x, 1000)}
    for way, made in ways.items():
        edit = Edit(clip.samples, made, clip.caption, clip.caption)
        yield f"nothing asked: another sentence{way}", edit


def alone(clip: Clip, take: Clip, event: np.ndarray) -> Iterator[tuple[str, Edit]]:
    x = clip.samples
    other = "another recording of the kind"
    ways = {
        "as it is": x,
        "10 dB softer": x * 10**-0.5,
        "every fifth frame of 20 ms dropped": dropped(x, 0.2),
        **{f"{share:.0%} of its cells silent": spectral(x, share) for share in (0.2, 0.4, 0.6)},
        "phases scrambled": spectral(x, 0, turn=True),
        "the third second silent": muted(x),
        "the second half silent": lost(x, 0.5),
        "the first half alone": cut_off(x, 0.5),
        "the first fifth alone": cut_off(x, 0.8),
        "twice over": begun_again(x, 2),
        other: take.samples,
        f"{other} under noise 10 dB below": noisy(take.samples, 10),
        f"{other} up to 1 kHz": narrowed(take.samples, 1000),
        f"{other} with every fifth frame dropped": dropped(take.samples, 0.2),
        "a dog unasked": with_event(x, event, 0.6, EVENT_TIMES),
    }
    for way, made in ways.items():
        yield f"nothing asked: {way}", Edit(x, made, clip.caption, clip.caption)


def asked(
    clip: Clip,
    clips: list[Clip],
    said: str,
    event: np.ndarray,
    other: str,
    second: np.ndarray,
    instead: Clip,
) -> Iterator[tuple[str, Edit]]:
    x, plain = clip.samples, clip.caption
    long = np.concatenate([clips[n % len(clips)].samples for n in range(LONG_CLIPS)])
    captions = {name: f"{plain[:-1]} while {name}." for name in (said, other)}
    here = with_event(x, event, 0.3, EVENT_TIMES)
    there = with_event(x, second, 0.3, EVENT_TIMES)
    yield "added", Edit(x, here, plain, captions[said])
    otherwise = {name: f"{IN_OTHER_WORDS[plain]} while {name}." for name in (said, other)}
    yield "added: the rest in other words", Edit(x, here, plain, otherwise[said])
    yield "added: another sound", Edit(x, there, plain, captions[said])
    both = with_event(here, second, 0.7, EVENT_TIMES)
    yield "added: another sound too", Edit(x, both, plain, captions[said])
    yield "taken away", Edit(here, x, captions[said], plain)
    alone, left = here - x, f"{said[0].upper()}{said[1:]}."
    words = captions[said], f"{IN_OTHER_WORDS[plain]}."
    yield "taken away: the rest in other words", Edit(here, x, *words)
    yield "taken away: what lies behind instead", Edit(here, alone, captions[said], plain)
    yield "what lies behind taken away", Edit(here, alone, captions[said], left)
    yield "what lies behind taken away: the event instead", Edit(here, x, captions[said], left)
    words = f"{plain[:-1]} while {said} and {other}.", captions[other]
    yield (
        "one of two events taken away",
        Edit(both, with_event(x, second, 0.7, EVENT_TIMES), *words),
    )
    yield "one of two events taken away: the other instead", Edit(both, here, *words)
    words = captions[said], f"{instead.caption[:-1]} while {said}."
    yield "what lies behind replaced", Edit(here, instead.samples + alone, *words)
    yield "what lies behind replaced: only taken away", Edit(here, alone, *words)
    yield "what lies behind replaced: the event lost", Edit(here, instead.samples, *words)
    of_long = with_event(long, event, 0.3, EVENT_TIMES)
    yield "taken away from 30 s", Edit(of_long, long, captions[said], plain)
    words = captions[said], captions[other]
    yield "replaced", Edit(here, there, *words)
    yield "replaced: the rest in other words", Edit(here, there, words[0], otherwise[other])
    yield "replaced: nothing taken away", Edit(here, here + there - x, *words)
    yield "replaced: nothing added", Edit(here, x, *words)


def made_anew(
    clip: Clip, take: np.ndarray, said: str, event: np.ndarray, second: np.ndarray
) -> Iterator[tuple[str, Edit]]:
    """Another recording of the kind under the event, or without: what generative editors leave."""
    x, plain = clip.samples, clip.caption
    named, here = f"{plain[:-1]} while {said}.", with_event(x, event, 0.3, EVENT_TIMES)
    again = with_event(take, event, 0.5, EVENT_TIMES)
    yield "added: in a clip made anew", Edit(x, again, plain, named)
    yield "added: a clip made anew without it", Edit(x, take, plain, named)
    other = with_event(take, second, 0.5, EVENT_TIMES)
    yield "added: a clip made anew with another sound", Edit(x, other, plain, named)
    yield "added: nothing up to 4 kHz", Edit(x, narrowed(x, 4000), plain, named)
    yield "taken away: from a clip made anew", Edit(here, take, named, plain)
    yield "taken away: a clip made anew with it", Edit(here, again, named, plain)


def replaced(
    clip: Clip,
    take: np.ndarray,
    names: tuple[str, str],
    event: np.ndarray,
    second: np.ndarray,
    third: Clip,
) -> Iterator[tuple[str, Edit]]:
    """One event by another in a clip that was made anew, or coded."""
    original = with_event(clip.samples, event, 0.3, EVENT_TIMES)
    words = [f"{clip.caption[:-1]} while {name}." for name in names]
    there = with_event(take, second, 0.5, EVENT_TIMES)
    anew, code = "replaced in a clip made anew", "replaced in an MP3 of 32 kbit/s"
    ways = {
        anew: there,
        f"{anew}: nothing taken away": with_event(there, event, 0.1, EVENT_TIMES),
        f"{anew}: nothing added": take,
        f"{anew}: nothing done": with_event(take, event, 0.5, EVENT_TIMES),
        f"{anew}: by another sound": with_event(take, third.samples, 0.5, EVENT_TIMES),
        code: coded(with_event(clip.samples, second, 0.3, EVENT_TIMES)),
        f"{code}: nothing done": coded(original),
        f"{code}: by another sound": coded(
            with_event(clip.samples, third.samples, 0.3, EVENT_TIMES)
        ),
    }
    for way, made in ways.items():
        yield way, Edit(original, made, *words)


def hissing(clip: Clip, other: Clip) -> Iterator[tuple[str, Edit]]:
    """An original under a hiss 10 dB below it."""
    x, plain = clip.samples, clip.caption
    under = noisy(x, 10)
    ways = {
        "": x,
        ": 10 dB of it": noisy(x, 20),
        ": left": under,
        ": two in five cells silent": spectral(x, 0.4),
        ": another clip": other.samples,
    }
    for way, made in ways.items():
        yield f"a hiss taken away{way}", Edit(under, made, f"{plain[:-1]} with hiss.", plain)
    for way, made in {"as it is": under, "the hiss gone": x, "more hiss": noisy(x, 4)}.items():
        yield f"nothing asked of a clip under a hiss: {way}", Edit(under, made, plain, plain)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--checkpoint", "-c")
    shared = Path(__file__).parents[3] / "shared" / "data"
    parser.add_argument("--data", type=Path, default=shared)
    chosen = parser.parse_args()
    made: dict[str, Edit] = {}
    ways: dict[str, list[str]] = defaultdict(list)
    for way, edit in edits(chosen.data / "esc10"):
        ways[way].append(f"{way} {len(ways[way])}")
        made[ways[way][-1]] = edit
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        evaluator = auditeval.load(chosen.checkpoint, "cpu", folder / "cache", 2)
        scores = {row.id: row for row in evaluator.score(pairs(folder / "audio", made))}
    rows = []
    for way, names in ways.items():
        means = {axis: np.mean([getattr(scores[n], axis) for n in names]) for axis in AXES}
        rows.append({"edit": way} | {axis: f"{mean:.2f}" for axis, mean in means.items()})
        if way.startswith("nothing"):
            rows[-1]["relevance"] = ""
        rows[-1]["pairs"] = str(len(names))
        first = ways.get(way.partition(":")[0], names)
        above = [
            scores[a].relevance > scores[b].relevance for a, b in zip(first, names, strict=True)
        ]
        rows[-1]["the first above"] = "" if first is names else f"{np.mean(above):.2f}"
    keep("edits_by_ear", "Mean scores of edits of recordings, which nobody rated", rows)


if __name__ == "__main__":
    main()

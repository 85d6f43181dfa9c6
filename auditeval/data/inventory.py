"""What the clips of a set are, which of them are the same sound, and what leaks between splits."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from auditeval.audio import AudioError
from auditeval.data import contents
from auditeval.data.splits import groups
from auditeval.types import EditPair

Side = Literal["original", "edited"]
SIDES: tuple[Side, ...] = ("original", "edited")


class Clips(NamedTuple):
    """The clips of a side that can be used: how many files and different sounds they are.

    `seconds` of each file; `rates_hz` and `channels` count files.
    """

    sounds: int
    seconds: list[float]
    rates_hz: dict[int, int]
    channels: dict[int, int]


class Unusable(NamedTuple):
    """A clip that is missing or cannot be rated, why, and the ids of its pairs."""

    path: Path
    reason: str
    pairs: list[str]


class Inventory(NamedTuple):
    """`same` lists files of one side that hold the same samples, `unchanged` the ids of pairs whose
    edited clip holds those of its original. `pair_seconds` is how long all clips take that somebody
    hears who hears both of every pair.
    """

    clips: dict[Side, Clips]
    unusable: list[Unusable]
    same: dict[Side, list[list[Path]]]
    unchanged: list[str]
    pair_seconds: float


class Leak(NamedTuple):
    """An original, by its source or its file, on sides of the stated split: {split: ids}."""

    original: str | Path
    pairs: dict[str, list[str]]


def read(pairs: Sequence[EditPair], workers: int = 2) -> dict[Path, contents.Clip | AudioError]:
    """Every clip of the pairs, by its path as they name it; each file is decoded once."""
    named = {getattr(pair, side) for pair in pairs for side in SIDES}
    files = {path: _file(path) for path in sorted(named)}
    found = contents.clips(files.values(), workers)
    return {path: found[file] for path, file in files.items()}


def take_stock(
    pairs: Sequence[EditPair], clips: Mapping[Path, contents.Clip | AudioError]
) -> Inventory:
    """The inventory of pairs whose clips are those of `read`; files in order of their paths."""
    sides: dict[Side, Clips] = {}
    same: dict[Side, list[list[Path]]] = {}
    unusable: dict[Path, Unusable] = {}
    for side in SIDES:
        there: dict[Path, contents.Clip] = {}
        for pair in pairs:
            path: Path = getattr(pair, side)
            clip, file = clips[path], _file(path)
            if isinstance(clip, AudioError):
                reason = str(clip).removeprefix(f"{file}: ")
                unusable.setdefault(file, Unusable(file, reason, [])).pairs.append(pair.id)
            else:
                there[file] = clip
        by_sound: dict[str, list[Path]] = {}
        for file, clip in sorted(there.items()):
            by_sound.setdefault(clip.digest, []).append(file)
        sides[side] = Clips(
            len(by_sound),
            [clip.seconds for clip in there.values()],
            _counts(clip.rate_hz for clip in there.values()),
            _counts(clip.channels for clip in there.values()),
        )
        same[side] = [files for files in by_sound.values() if len(files) > 1]
    unchanged, seconds = [], 0.0
    for pair in pairs:
        found = [clips[getattr(pair, side)] for side in SIDES]
        known = [clip for clip in found if isinstance(clip, contents.Clip)]
        seconds += sum(clip.seconds for clip in known)
        if len(known) == 2 and known[0].digest == known[1].digest:
            unchanged.append(pair.id)
    return Inventory(sides, sorted(unusable.values()), same, unchanged, seconds)


def leaks(
    pairs: Sequence[EditPair], clips: Mapping[Path, contents.Clip | AudioError]
) -> list[Leak]:
    """Originals on more than one side of the stated split, as `splits.groups` tells them apart.

    By their samples where `clips` has them, by their files and declared sources in any case. Pairs
    without a stated split are on no side.
    """
    stated = [pair for pair in pairs if pair.split]
    digests = {path: clip.digest for path, clip in clips.items() if isinstance(clip, contents.Clip)}
    found: dict[str, dict[str, list[str]]] = {}
    for pair, original in zip(stated, groups(stated, digests), strict=True):
        found.setdefault(original, {}).setdefault(str(pair.split), []).append(pair.id)
    files = {str(_file(pair.original)) for pair in stated}
    return [
        Leak(Path(name) if name in files else name, sides)
        for name, sides in found.items()
        if len(sides) > 1
    ]


def _file(path: Path) -> Path:
    """One file may be written in two ways: a.wav, x/../a.wav."""
    return Path(os.path.normpath(path))


def _counts(values: Iterable[int]) -> dict[int, int]:
    return dict(sorted(Counter(values).items()))

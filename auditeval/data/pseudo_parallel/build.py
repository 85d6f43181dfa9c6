"""Build a pseudo-parallel set: a table of mixes, their audio unless it stays virtual, a manifest.

Each file is whole or not there, and follows from the settings alone: a build that was stopped goes
on with what is missing, and ends with the same bytes.
"""

from __future__ import annotations

import csv
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from auditeval import manifest, storage
from auditeval.atomic import claim, replacing, resumable
from auditeval.audio import AudioError, files, mixes
from auditeval.blocks import Block, Engine, Local, cut
from auditeval.data.pseudo_parallel import plan, table
from auditeval.data.pseudo_parallel.clips import (
    BLOCK_SECONDS,
    Clip,
    Profile,
    loudness,
    profile,
    read_clips,
)
from auditeval.data.pseudo_parallel.pairs import EDITS, pairs_of
from auditeval.reading import content
from auditeval.text import counted, spreadsheet
from auditeval.types import EditPair, UserError
from auditeval.version import __version__

VERSION = 1
"""Raise it when the same settings would make other mixes."""

MIXES, LEFT_OUT = "mixes.parquet", "left_out.csv"  # the second is there when both are whole

AudioFormat = Literal["flac", "wav", "virtual"]
Report = Callable[[str, int, int], None]
"""Called with a stage, how many of its items are done, and how many there are."""

_FOLDER_ROWS = 1000  # whose audio shares a folder
_BLOCK_ROWS = 100  # clips that a worker reads, or rows that it renders, at a time

_ANEW = "; delete that folder, or choose another one"

Item = TypeVar("Item")
Result = TypeVar("Result")


class LeftOut(NamedTuple):
    """A clip that cannot be used as ("events", "backgrounds"), and why."""

    file: str
    role: str
    reason: str


class Built(NamedTuple):
    """What a build ended with: its manifest, and the clips it could not use.

    `positions` :: how many tuples have their events before, during and after the split points.
    """

    manifest: Path
    positions: dict[str, int]
    left_out: list[LeftOut]

    @property
    def pairs(self) -> int:
        return sum(self.positions.values()) * len(EDITS)


def build(
    events: Path,
    output: Path,
    settings: plan.Settings,
    backgrounds: Path | None = None,
    audio_format: AudioFormat = "flac",
    group_by: str = "id",
    workers: int = 2,
    report: Report = lambda stage, done, total: None,
    engine: Engine | None = None,
) -> Built:
    """Build a set below `output` from lists of clips (see `clips.read_clips`).

    Without `backgrounds` the events serve as backgrounds too. Writes build.json (the settings),
    mixes.parquet (one row a tuple, every parameter), left_out.csv (clips that cannot be used, and
    why), audio/ unless virtual, and last manifest.jsonl. Clips are read and audio is written by
    `workers` threads, or by the workers of an `engine`. Raises UserError.
    """
    threads = workers if engine is None else 1
    engine = engine or Local()
    lists = [events, backgrounds or events]
    record = {
        **asdict(settings),
        "audio_format": audio_format,
        "group_by": group_by,
        "lists_sha256": [_sha256(path) for path in lists],
        "build_version": VERSION,
        "auditeval": __version__,
    }
    made, path = output / MIXES, output / "manifest.jsonl"
    try:
        with resumable(output):
            claim(output, "build.json", record)
            if (output / LEFT_OUT).exists():
                _check_clips(lists, output, settings.rate_hz, group_by)
            else:
                _plan(lists, output, settings, group_by, threads, engine, report)
            if audio_format != "virtual":
                start = partial(_Renderer, made, audio_format, threads)
                steps = engine.run(start, cut(table.count(made), _BLOCK_ROWS))
                for _ in _counted(steps, table.count(made), "writing audio", report):
                    pass
            if not path.exists():
                manifest.write(_pairs(made, settings.seed, audio_format, report), path)
    except AudioError as error:
        raise UserError(str(error)) from None
    return Built(path, table.positions(made), _read_left_out(output / LEFT_OUT))


def _plan(
    lists: Sequence[Path],
    folder: Path,
    settings: plan.Settings,
    group_by: str,
    threads: int,
    engine: Engine,
    report: Report,
) -> None:
    libraries: list[plan.Library] = []
    left_out: list[LeftOut] = []
    listed = [read_clips(source, group_by) for source in lists]  # what is wrong is told before work
    for source, role, clips in zip(lists, ("events", "backgrounds"), listed, strict=True):
        start = partial(_Profiler, source, group_by, settings, role, threads)
        steps = engine.run(start, cut(len(clips), _BLOCK_ROWS))
        made = dict(step for _, step in _counted(steps, len(clips), f"reading {role}", report))
        found = [(clip, made[row]) for row, clip in enumerate(clips)]
        usable = [(clip, made) for clip, made in found if isinstance(made, Profile)]
        left_out += [LeftOut(str(c.path), role, made) for c, made in found if isinstance(made, str)]
        if not usable:
            raise UserError(f"{source}: none of its {role} can be used ({left_out[-1].reason})")
        libraries.append(plan.Library(*zip(*usable, strict=True)))
    events, backgrounds = libraries
    try:
        draws = plan.draw(backgrounds, events, settings)
    except UserError as error:
        if not left_out:
            raise
        were = counted(len({clip.file for clip in left_out}), "clip was", "clips were")
        raise UserError(f"{error} ({were} left out, the first: {left_out[0].reason})") from None
    rows = plan.rows(draws, backgrounds, events, settings, _loudness(settings.rate_hz))
    with replacing(folder / LEFT_OUT) as temporary:
        with temporary.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(
                [LeftOut._fields, *(map(spreadsheet, row) for row in left_out)]
            )
        planned = _counted(rows, len(draws.start), "planning mixes", report)
        table.write(planned, folder / MIXES)


def _check_clips(lists: Sequence[Path], folder: Path, rate_hz: int, group_by: str) -> None:
    """Raises UserError where clips are others than those that the set in `folder` was planned with.

    The lists have the same bytes, but may lie beside other files; and of a clip that was written
    since, the samples may be others, or there where it was left out. Only such clips are read.
    """
    planned_ns = (folder / LEFT_OUT).stat().st_mtime_ns
    left_out = {clip.file for clip in _read_left_out(folder / LEFT_OUT)}
    first = next(table.read(folder / MIXES))
    written: dict[str, Path] = {}
    for source, letter in zip(lists, "ba", strict=True):
        clips = [clip.path for clip in read_clips(source, group_by)]
        used = storage.joined(folder, first[f"{letter}_file"])
        if not any(clip.name == used.name and _place(clip) == _place(used) for clip in clips):
            raise UserError(f"{folder}: was made from other files than those of {source}{_ANEW}")
        written |= {_place(clip): clip for clip in clips if _is_after(clip, planned_ns)}
    for clip in written.values():
        if spreadsheet(str(clip)) in left_out:
            raise UserError(f"{clip}: was left out of {folder} and has been written since{_ANEW}")
    for file, sha256 in table.recordings(folder / MIXES) if written else ():
        other = written.get(_place(storage.joined(folder, file)))
        if other is not None and mixes.recording(other, rate_hz).sha256 != sha256:
            raise UserError(f"{other}: holds other samples than {folder} was made from{_ANEW}")


def _place(path: Path) -> str:
    """The same however a file is named, by links or from another folder."""
    return str(path) if isinstance(path, storage.UrlPath) else os.path.realpath(path)


def _is_after(clip: Path, time_ns: int) -> bool:
    """Whether a clip of this machine was written after that."""
    try:
        return not isinstance(clip, storage.UrlPath) and clip.stat().st_mtime_ns > time_ns
    except (OSError, ValueError):  # what is not there, where it is needed, is told there
        return False


class _Profiler:
    """Profiles the clips of a list, or says why one cannot be used, each with its row."""

    def __init__(
        self, source: Path, group_by: str, settings: plan.Settings, role: str, threads: int
    ) -> None:
        self._clips, self._threads = read_clips(source, group_by), threads
        self._rate_hz, self._match = settings.rate_hz, settings.match
        is_background = role == "backgrounds"
        self._longest = settings.background_seconds if is_background else None
        self._shortest = 0.9 * settings.background_seconds if is_background else 0.0

    def __call__(
        self, block: Block, failed: Mapping[int, str]
    ) -> Iterator[tuple[int, Profile | str]]:
        """See `blocks.Worker`."""

        def read(row: int) -> Profile | str:
            clip = self._clips[row]
            return f"{clip.path}: {failed[row]}" if row in failed else self._read(clip)

        yield from zip(block.numbers(), _mapped(read, block.numbers(), self._threads), strict=True)

    def _read(self, clip: Clip) -> Profile | str:
        try:
            found = profile(clip, self._rate_hz, self._longest)
            if self._match == "lufs":
                samples = round(len(found.energy) * BLOCK_SECONDS * self._rate_hz)
                loudness(clip, self._rate_hz, 0, samples)
        except AudioError as error:
            return str(error)
        seconds = len(found.energy) * BLOCK_SECONDS
        if seconds < self._shortest:
            least = f"{self._shortest:g} s at least, nine tenths of --background-seconds"
            return f"{clip.path}: lasts {seconds:.1f} s, a background {least}"
        return found


def _loudness(rate_hz: int) -> plan.Loudness:
    block = round(BLOCK_SECONDS * rate_hz)

    @lru_cache(maxsize=1 << 16)
    def of_blocks(clip: Clip, first: int, length: int) -> float:
        return loudness(clip, rate_hz, first * block, (first + length) * block)

    return of_blocks


class _Renderer:
    """Writes the files of rows of the table of mixes that are not there yet."""

    def __init__(self, mixed: Path, suffix: str, threads: int) -> None:
        self._mixed, self._suffix, self._threads = mixed, suffix, threads

    def __call__(self, block: Block, failed: Mapping[int, str]) -> Iterator[int]:
        """See `blocks.Worker`; the number of each row. Raises UserError for one that was given up,
        without which there is no set."""
        for number, reason in failed.items():
            if reason:
                raise UserError(f"{self._mixed}: row {number} {reason}")
        rows = islice(table.read(self._mixed, block.first), block.rows)
        wanted = (row for row in zip(block.numbers(), rows, strict=True) if row[0] not in failed)
        yield from _mapped(self._write, wanted, self._threads)

    def _write(self, numbered: tuple[int, dict[str, Any]]) -> int:
        number, row = numbered
        folder = self._mixed.parent
        paths = {clip: folder / _audio_path(number, clip, self._suffix) for clip in mixes.CLIPS}
        missing = [clip for clip in mixes.CLIPS if not paths[clip].exists()]
        if missing:
            for clip, samples in zip(missing, mixes.render(row, missing, folder), strict=True):
                files.write(paths[clip], samples, row["rate_hz"])
        return number


def _pairs(mixed: Path, seed: int, audio_format: AudioFormat, report: Report) -> Iterator[EditPair]:
    rows = _counted(table.read(mixed), table.count(mixed), "writing pairs", report)
    for number, row in enumerate(rows):
        paths = {
            clip: mixed / mixes.name(number, clip)
            if audio_format == "virtual"
            else mixed.parent / _audio_path(number, clip, audio_format)
            for clip in mixes.CLIPS
        }
        yield from pairs_of(row, number, seed, paths)


def _audio_path(number: int, clip: str, suffix: str) -> Path:
    return Path("audio", f"{number // _FOLDER_ROWS:05d}", f"{mixes.name(number, clip)}.{suffix}")


def _mapped(
    function: Callable[[Item], Result], items: Iterable[Item], workers: int
) -> Iterator[Result]:
    """`function` of each item in threads, in order; decoding and encoding leave Python's lock."""
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(function, items)


def _counted(items: Iterable[Item], total: int, stage: str, report: Report) -> Iterator[Item]:
    for done, item in enumerate(items, start=1):
        if done % 50 == 0 or done == total:
            report(stage, done, total)
        yield item


def _sha256(path: Path) -> str:
    try:
        return hashlib.sha256(content(path)).hexdigest()
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None


def _read_left_out(path: Path) -> list[LeftOut]:
    with path.open(newline="", encoding="utf-8") as file:
        return [LeftOut(*row) for row in list(csv.reader(file))[1:]]

"""Labelled clips: their list, and what planning has to know of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from auditeval import storage
from auditeval.audio import AudioError, mixes
from auditeval.data import mixing
from auditeval.reading import BEGINNING, csv_rows
from auditeval.types import UserError

BLOCK_SECONDS = 0.1
"""Everything is planned on this grid, the stride of the paper's search for a quiet interval."""

LOUDNESS_SECONDS = 0.4
"""The gating block of ITU-R BS.1770: what is shorter has no loudness in LUFS."""

_FAINTEST_PEAK = 2.0**-15
"""One step of 16 bits: what is below it would be written as silence."""


class Clip(NamedTuple):
    """One recording.

    `prompt` is what events are combined by, in small letters, `caption` how this clip is worded,
    `category` as the list has it, `group` what must not meet itself in a mix.
    """

    path: Path
    prompt: str
    caption: str
    category: str | None
    group: str


class Prompt(NamedTuple):
    """What a text-to-audio model is to make: the words, under which label and category."""

    label: str
    caption: str
    category: str | None


class Profile(NamedTuple):
    """A clip in blocks of 0.1 s :: energy and peak (N,), of full scale 1; what is over is cut."""

    sha256: str
    energy: np.ndarray
    peak: np.ndarray


def read_clips(path: Path, group_by: str = "id") -> list[Clip]:
    """Clips of a CSV with the columns file and label or caption; optional: category, `group_by`.

    Files are relative to the list. With both, the label is the prompt and the caption the wording;
    with captions alone each is a prompt. Without the column `group_by` each file is its own group.
    Other columns are ignored. Raises UserError with file and line.
    """
    needed = ["file", *([group_by] if group_by != "id" else [])]
    clips = []
    for line, cells in _rows(path, needed):
        if not cells["file"]:
            raise UserError(f"{path}:{line}: file is empty")
        label, caption, category = _prompt(path, line, cells)
        group = cells.get(group_by) or cells["file"]
        clips.append(
            Clip(storage.joined(path.parent, cells["file"]), label, caption, category, group)
        )
    return clips


def read_prompts(path: Path) -> list[Prompt]:
    """Prompts of a CSV with the column label or caption, as those of `read_clips`."""
    return [_prompt(path, line, cells) for line, cells in _rows(path, [])]


def _rows(path: Path, needed: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Lines with their cells; those of `needed` are there, and label or caption."""
    line = 0
    try:
        rows = csv_rows(path)
        _, names = next(rows, (BEGINNING, []))
        if not {"label", "caption"} & set(names) or not set(needed) <= set(names):
            raise UserError(
                f"{path}:1: expected the columns {', '.join([*needed, 'label or caption'])}, "
                f"found {', '.join(names) or 'none'}"
            )
        for (line, _), cells in rows:
            yield line, {name: cell.strip() for name, cell in zip(names, cells, strict=True)}
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    if line == 0:
        raise UserError(f"{path}: has a header and no rows")


def _prompt(path: Path, line: int, cells: dict[str, str]) -> Prompt:
    words = cells.get("caption") or cells.get("label") or ""
    if not words.strip(" .!?"):
        raise UserError(f"{path}:{line}: label or caption is empty")
    label = mixing.within(cells.get("label") or words).lower()
    return Prompt(label, words, cells.get("category") or None)


def profile(clip: Clip, rate_hz: int, longest_seconds: float | None) -> Profile:
    """Read a clip, of which only the first `longest_seconds` will be used (None: all).

    Raises AudioError where it cannot be read, or where that part is silent or under 0.1 s.
    """
    source = mixes.recording(clip.path, rate_hz)
    block = round(BLOCK_SECONDS * rate_hz)
    count = len(source.samples) // block
    if count == 0:
        seconds = len(source.samples) / rate_hz
        raise AudioError(f"{clip.path}: lasts {seconds:.2g} s, {BLOCK_SECONDS} s are needed")
    if longest_seconds is not None:
        count = min(count, round(longest_seconds / BLOCK_SECONDS))
    blocks = source.samples[: count * block].reshape(count, block)
    energy = np.square(blocks, dtype=np.float64).sum(axis=1)
    peak = np.abs(blocks).max(axis=1).astype(np.float64)
    if peak.max() < _FAINTEST_PEAK:
        raise AudioError(f"{clip.path}: the part of it that would be used is silent")
    return Profile(source.sha256, energy, peak)


def loudness(clip: Clip, rate_hz: int, start: int = 0, stop: int | None = None) -> float:
    """Integrated loudness in LUFS [ITU-R BS.1770-4] of samples [start, stop) of a clip at a rate.

    Raises AudioError for what is under 0.4 s or below the gate of -70 LUFS throughout.
    """
    import pyloudnorm

    part = mixes.recording(clip.path, rate_hz).samples[start:stop].astype(np.float64)
    if len(part) < LOUDNESS_SECONDS * rate_hz:
        raise AudioError(f"{clip.path}: is too short to have a loudness in LUFS (0.4 s)")
    value = float(pyloudnorm.Meter(rate_hz).integrated_loudness(part))
    if value == float("-inf"):
        raise AudioError(f"{clip.path}: is too faint to have a loudness in LUFS")
    return value

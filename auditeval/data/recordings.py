"""Recordings to make test items from: a CSV with labels, or a folder that has few or none."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from auditeval import audio
from auditeval.audio import AudioError, content_hash
from auditeval.digests import sha256
from auditeval.reading import BEGINNING, csv_rows
from auditeval.types import UserError

SUFFIXES = (".wav", ".flac", ".ogg", ".mp3")
CLASS = "class"
"""The label that a folder gives: the name of the folder that a file lies in."""


class Recording(NamedTuple):
    """`name` is the path relative to the table or folder; labels are those of its columns."""

    path: Path
    name: str
    labels: Mapping[str, str]


class Decoded(NamedTuple):
    """float32 (N,) at the rate asked for, and the content hash of the file."""

    samples: np.ndarray
    sha256: str


def read_recordings(path: Path, needed: Sequence[str] = ()) -> list[Recording]:
    """The recordings of a CSV with the column `path` and those of `needed`, or of a folder.

    Paths are relative to the table; other columns are labels too. Of a folder, what is hidden (its
    name begins with a dot, as that of macOS's notes beside each file) is no recording, and what
    lies behind a link is one. Sorted by name. Raises UserError with file and line for what is
    missing, empty or stands twice, and where a label is needed that a folder cannot give.
    """
    if path.suffix.lower() in SUFFIXES and not path.is_dir():
        raise UserError(f"{path}: expected a folder of recordings or a CSV that lists them")
    found = _of_folder(path, needed) if path.is_dir() else _of_table(path, needed)
    return sorted(found, key=lambda recording: recording.name)


def digest(recordings: Sequence[Recording]) -> str:
    """SHA-256 of names, labels and bytes, in hex: what a set of made items depends on."""
    found = hashlib.sha256()
    for recording in recordings:
        labels = sorted(recording.labels.items())
        try:
            content = sha256(recording.path)
        except OSError as error:
            raise UserError(f"{recording.path}: {error.strerror}") from None
        found.update(f"{recording.name}\n{labels}\n{content}\n".encode())
    return found.hexdigest()


def decoded(recording: Recording, rate_hz: int) -> Decoded:
    """Raises UserError for a file that cannot be used as audio."""
    try:
        clip = audio.decode(recording.path)
    except AudioError as error:
        raise UserError(str(error)) from None
    return Decoded(audio.resample(clip, rate_hz).astype(np.float32), content_hash(clip))


def _of_folder(folder: Path, needed: Sequence[str]) -> list[Recording]:
    lacking = [name for name in needed if name != CLASS]
    if lacking:
        raise UserError(
            f"{folder}: a folder does not tell {', '.join(lacking)}; name a CSV with the columns "
            f"path, {', '.join(needed)}"
        )
    files = [path for path in _files(folder) if path.suffix.lower() in SUFFIXES]
    if not files:
        raise UserError(f"{folder}: holds no audio ({', '.join(SUFFIXES)})")
    return [
        Recording(path, path.relative_to(folder).as_posix(), {CLASS: path.parent.name})
        for path in files
    ]


def _files(folder: Path) -> Iterator[Path]:
    """Each folder below it once, wherever links lead back to."""
    been: set[str] = set()
    for place, folders, names in os.walk(folder, followlinks=True):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if (real := os.path.realpath(place)) in been:
            folders.clear()
            continue
        been.add(real)
        yield from (Path(place, name) for name in names if not name.startswith("."))


def _of_table(path: Path, needed: Sequence[str]) -> list[Recording]:
    recordings: dict[str, Recording] = {}
    try:
        rows = csv_rows(path)
        _, names = next(rows, (BEGINNING, []))
        columns = ["path", *needed]
        if not set(columns) <= set(names):
            raise UserError(f"{path}:1: expected the columns {', '.join(columns)}")
        for (line, _), cells in rows:
            where = f"{path}:{line}"
            labels = {name: cell.strip() for name, cell in zip(names, cells, strict=True)}
            if empty := [name for name in columns if not labels[name]]:
                raise UserError(f"{where}: {empty[0]} is empty")
            name = labels.pop("path")
            if name in recordings:
                raise UserError(f"{where}: {name} stands twice")
            recordings[name] = Recording(path.parent / name, name, labels)
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    if not recordings:
        raise UserError(f"{path}: has a header and no rows")
    return list(recordings.values())

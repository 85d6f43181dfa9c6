"""Audio to float32 mono: what a clip *is* gets decided here once."""

from __future__ import annotations

import os

from auditeval import storage
from auditeval.audio import files, mixes
from auditeval.audio.waveform import (
    MAX_PEAK,
    MAX_SECONDS,
    MIN_SECONDS,
    SILENCE_PEAK,
    AudioError,
    Waveform,
    Window,
    adjoining_windows,
    content_hash,
    fault,
    heard,
    resample,
    windows,
)


def decode(path: str | os.PathLike[str], max_seconds: float = MAX_SECONDS) -> Waveform:
    """The clip of that path: a file (see `files.read`), or a mix of a table (see `mixes.read`).

    Raises AudioError where there is none that could be rated.
    """
    path = storage.path(path)
    return mixes.read(path) if mixes.is_mix(path) else files.read(path, max_seconds)


def channels(path: str | os.PathLike[str]) -> int:
    """How many channels the file of a clip has, of which `decode` gives the mean; 1 of a mix.

    Raises AudioError where it cannot be read.
    """
    path = storage.path(path)
    return 1 if mixes.is_mix(path) else files.channels(path)


def seconds(path: str | os.PathLike[str]) -> float:
    """How long a clip lasts; of a file that is not decoded where its header says so.

    Raises AudioError where it cannot be read.
    """
    path = storage.path(path)
    return mixes.read(path).seconds if mixes.is_mix(path) else files.seconds(path)


def state(path: str | os.PathLike[str]) -> tuple[int, int]:
    """Size in bytes and time of change in ns of a clip's file, by which a change is noticed.

    Of a mix they are made from those of its table and recordings; -1, -1 where there is no file.
    """
    path = storage.path(path)
    return mixes.state(path) if mixes.is_mix(path) else files.state(path)

"""Audio files to mono samples and back. The only user of soundfile."""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import numpy as np
import soundfile

from auditeval.atomic import replacing
from auditeval.audio.waveform import AudioError, Waveform, fault

Result = TypeVar("Result")

MIN_RATE_HZ = 1000
"""A header with less is damaged; resampled, its clip would fill the memory."""

_MP3_DELAY = 1105
"""Samples that an MP3 begins with where its frames are too small to say so (under about 40 kbit/s).

LAME's encoder adds 576 of them and every decoder 529."""

# TypeError: soundfile wants to be told the rate of what is called .raw.
_NOT_AUDIO = (soundfile.LibsndfileError, RuntimeError, TypeError)
_BLOCK_SAMPLES = 1 << 20
_PIPE_BYTES = 0x7FFF_0000


def read(path: str | os.PathLike[str]) -> Waveform:
    """Read any file libsndfile knows: any rate and channel count, to the mean of its channels.

    Raises AudioError for what is missing, unreadable, not audio, truncated, empty, under
    `MIN_RATE_HZ`, or has a `waveform.fault`. Memory is that of the mono signal, whatever the
    channel count.
    """
    path = Path(path)
    _check_is_readable_file(path)
    try:
        with soundfile.SoundFile(path) as file:
            rate_hz, declared, container = file.samplerate, file.frames, file.format
            _check_chunk_is_whole(path, file.extra_info)
            blocks = [
                block.mean(axis=1, dtype=np.float64).astype(np.float32)
                if block.shape[1] > 1
                else block[:, 0]
                for block in file.blocks(_BLOCK_SAMPLES, dtype="float32", always_2d=True)
            ]
    except _NOT_AUDIO as error:
        raise AudioError(f"{path}: cannot be decoded as audio ({error})") from error
    samples = np.concatenate(blocks) if blocks else np.zeros(0, np.float32)
    # The length in an MP3 header is an estimate; every other container states it exactly.
    if len(samples) < declared and container != "MP3":
        raise AudioError(
            f"{path}: truncated, its header declares {declared} samples and {len(samples)} can be "
            "read"
        )
    if rate_hz < MIN_RATE_HZ:
        raise AudioError(f"{path}: declares {rate_hz} Hz, at least {MIN_RATE_HZ} Hz are needed")
    waveform = Waveform(samples, rate_hz)
    if reason := fault(waveform):
        raise AudioError(f"{path}: {reason}")
    return waveform


def channels(path: str | os.PathLike[str]) -> int:
    """How many channels a file has, by its header; AudioError where that cannot be read."""
    path = Path(path)
    _check_is_readable_file(path)
    try:
        with soundfile.SoundFile(path) as file:
            return int(file.channels)
    except _NOT_AUDIO as error:
        raise AudioError(f"{path}: cannot be decoded as audio ({error})") from error


def state(path: Path) -> tuple[int, int]:
    """Size in bytes and time of change in ns; -1, -1 where there is no file."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return -1, -1
    return found.st_size, found.st_mtime_ns


def _check_is_readable_file(path: Path) -> None:
    """Say what libsndfile's "System error" would hide."""
    try:
        regular = stat.S_ISREG(path.stat().st_mode)
        empty = False
        if regular:
            with path.open("rb") as file:
                empty = not file.read(1)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise AudioError(f"{path}: no such file") from error
    except OSError as error:
        raise AudioError(f"{path}: cannot be read ({error.strerror})") from error
    except ValueError as error:  # a character that no path can hold
        raise AudioError(f"{str(path)!a}: is not a path ({error})") from error
    if not regular:
        raise AudioError(f"{path}: is not a file")
    if empty:
        raise AudioError(f"{path}: is empty (0 bytes)")


def _check_chunk_is_whole(path: Path, libsndfile_log: str) -> None:
    """WAV, AIFF, AU, Ogg: libsndfile reads a cut file as a shorter one and only its log tells."""
    if re.search(r"End-Of-Stream flag|end-of-stream bit|Junk after the last", libsndfile_log):
        raise AudioError(f"{path}: truncated, its last whole Ogg page is not the end of the stream")
    found = re.search(r"(?:data|SSND|Data Size)\s*: (\d+) \(should be (\d+)\)", libsndfile_log)
    if found is None:
        return
    declared, held = int(found[1]), int(found[2])
    # A writer to a pipe cannot know the length and declares the largest one.
    if held < declared < _PIPE_BYTES:
        raise AudioError(
            f"{path}: truncated, its header declares {declared} bytes of samples and {held} are "
            "there"
        )


def write(path: Path, samples: np.ndarray, rate_hz: int) -> None:
    """Write 16-bit mono samples :: int16 (N,) as WAV or FLAC by suffix, atomically.

    `read` gives back exactly these samples / 32768. Raises OSError where the disk is full.
    """
    # Encoded in memory: libsndfile does not report every failure of a write to disk.
    with replacing(path) as temporary:
        temporary.write_bytes(encoded(samples, rate_hz, path.suffix.lstrip(".").upper()))


def encoded(samples: np.ndarray, rate_hz: int, kind: str) -> bytes:
    """The bytes of a file of 16-bit mono samples :: int16 (N,); `kind` is "WAV" or "FLAC"."""

    def made() -> bytes:
        file = io.BytesIO()
        soundfile.write(file, samples, rate_hz, format=kind, subtype="PCM_16")
        return file.getvalue()

    return _uninterrupted(made)


def _uninterrupted(work: Callable[[], Result]) -> Result:
    """Do it in a thread that no signal reaches.

    libsndfile comes back to Python for files in memory. A Ctrl-C that arrives there is printed and
    dropped, and the file lacks what was being written.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def recoded(
    samples: np.ndarray, rate_hz: int, container: str, coding: str, compression: float
) -> np.ndarray:
    """What a lossy file in memory keeps of a clip :: float32 (N,) -> float32 (N,), in its place.

    `container` and `coding` are libsndfile's ("OGG" and "OPUS" or "VORBIS", "MP3" and
    "MPEG_LAYER_III"); `compression` is 0 (the best) to 1. An MP3 has a constant bit rate.
    """

    def made() -> np.ndarray:
        file = io.BytesIO()
        soundfile.write(
            file,
            samples,
            rate_hz,
            format=container,
            subtype=coding,
            compression_level=compression,
            bitrate_mode="CONSTANT" if container == "MP3" else None,
        )
        file.seek(0)
        read: np.ndarray = soundfile.read(file, dtype="float32")[0]
        return read

    kept = _uninterrupted(made)
    if container == "MP3" and len(kept) > len(samples):
        kept = kept[_MP3_DELAY:]
    return np.pad(kept, (0, max(0, len(samples) - len(kept))))[: len(samples)]

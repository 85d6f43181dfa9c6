"""Audio files to mono samples and back. The only user of soundfile."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO, TypeVar

import numpy as np
import soundfile

from auditeval import storage
from auditeval.atomic import replacing
from auditeval.audio import containers
from auditeval.audio.waveform import MAX_SECONDS, SILENCE_PEAK, AudioError, Waveform, fault

Result = TypeVar("Result")

RATES_HZ = 1000, 1_000_000
"""A header with another is damaged; resampled, its clip would fill the memory, or be nothing."""

LONG_RATE_HZ = 48_000
"""Up to this rate a clip may have its full length: memory goes with samples, not with seconds."""

_MP3_DELAY = 1105
"""Samples that an MP3 begins with where its frames are too small to say so (under about 40 kbit/s).

LAME's encoder adds 576 of them and every decoder 529."""

_BLOCK_FRAMES, _BLOCK_SAMPLES = 1 << 20, 1 << 23
_DAMAGED_FRAMES = 1 << 13  # read at a time to find where a damaged file breaks off
_UNKNOWN_FRAMES = 1 << 62
_HEADERLESS = "RAW", "SD2"  # the second by a file of a like name beside it
_CANCELLED = 1e-6  # power of the mean of channels below this share of theirs: -60 dB


def read(path: str | os.PathLike[str], max_seconds: float = MAX_SECONDS) -> Waveform:
    """Read any file libsndfile knows: any rate and channel count, to the mean of its channels.

    Raises AudioError for what is missing, unreadable, not audio, truncated, empty, of a rate beyond
    `RATES_HZ`, longer than `max_seconds`, has a `waveform.fault` or channels that cancel each
    other. Memory is that of the mono signal, whatever the channel count, and at most that of
    `max_seconds` at `LONG_RATE_HZ`: at a higher rate a clip may last less.
    """
    path = storage.path(path)
    with _opened(path) as (source, file):
        work = partial(_decode, path, source, file, max_seconds)
        comes_back = isinstance(source, containers.Endless)
        waveform, power = _uninterrupted(work) if comes_back else work()
    if reason := _cancelled(waveform, power) or fault(waveform):
        raise AudioError(f"{path}: {reason}")
    return waveform


def channels(path: str | os.PathLike[str]) -> int:
    """How many channels a file has, by its header; AudioError where that cannot be read."""
    with _opened(storage.path(path)) as (_, file):
        return int(file.channels)


def seconds(path: str | os.PathLike[str]) -> float:
    """How long a file lasts, by its header; where that does not say, it is read as `read` does.

    Raises AudioError where it cannot be.
    """
    with _opened(storage.path(path)) as (source, file):
        endless = isinstance(source, containers.Endless) or file.frames >= _UNKNOWN_FRAMES
        if not endless:
            return float(file.frames / file.samplerate)
    return read(path).seconds


def state(path: Path) -> tuple[int, int]:
    """Size in bytes and time of change in ns, of an object its version; -1, -1 where there is no
    file."""
    if isinstance(path, storage.UrlPath):
        return storage.version(path)
    try:
        found = path.stat()
    except (OSError, ValueError):
        return -1, -1
    return found.st_size, found.st_mtime_ns


@contextmanager
def _opened(path: Path) -> Iterator[tuple[BinaryIO, soundfile.SoundFile]]:
    """A file and what libsndfile makes of it, which shares its position; AudioError says why not.

    libsndfile never sees the name: by its end it would take a text for the samples of a telephone.
    """
    with _regular(path) as raw:
        reason = containers.fault(raw)
        source = containers.Endless(raw) if containers.lacks_length(raw) else raw
        try:
            with _libsndfile(source) as file:
                if file.format in _HEADERLESS:
                    reason = "cannot be decoded as audio (it has no header)"
                found = file.format, file.extra_info, file.frames
                if reason := reason or containers.logged_fault(*found):
                    raise AudioError(f"{path}: {reason}")
                yield source, file
        except RuntimeError as error:
            said = getattr(error, "error_string", str(error))
            raise AudioError(
                f"{path}: {reason or f'cannot be decoded as audio ({said})'}"
            ) from error


def _libsndfile(source: BinaryIO) -> soundfile.SoundFile:
    source.seek(0)
    if isinstance(source, containers.Endless):
        return _uninterrupted(partial(soundfile.SoundFile, source, closefd=False))
    return soundfile.SoundFile(source.fileno(), closefd=False)


@contextmanager
def _regular(path: Path) -> Iterator[BinaryIO]:
    """A file, unbuffered; says what libsndfile's "System error" would hide."""
    try:
        regular = stat.S_ISREG(path.stat().st_mode)
    except storage.StorageError:  # no fault of the file
        raise
    except ValueError as error:  # a character that no path can hold
        raise AudioError(f"{str(path)!a}: is not a path ({error})") from error
    except (FileNotFoundError, NotADirectoryError) as error:
        raise AudioError(f"{path}: no such file") from error
    except OSError as error:
        raise AudioError(f"{path}: cannot be read ({error.strerror})") from error
    if not regular:  # to open a pipe would be to wait for who writes to it
        raise AudioError(f"{path}: is not a file")
    try:
        with path.open("rb", buffering=0) as raw:
            if not raw.read(1):
                raise AudioError(f"{path}: is empty (0 bytes)")
            yield raw
    except storage.StorageError:
        raise
    except OSError as error:
        raise AudioError(f"{path}: cannot be read ({error.strerror})") from error


def _decode(
    path: Path, source: BinaryIO, file: soundfile.SoundFile, max_seconds: float
) -> tuple[Waveform, float]:
    """The mean of the channels, and the mean power of them."""
    rate_hz, declared = file.samplerate, file.frames
    if not RATES_HZ[0] <= rate_hz <= RATES_HZ[1]:
        raise AudioError(
            f"{path}: declares {rate_hz} Hz, {RATES_HZ[0]} to {RATES_HZ[1]} Hz are read"
        )
    most = int(max_seconds * min(rate_hz, LONG_RATE_HZ))
    endless = source if isinstance(source, containers.Endless) else None
    unknown = endless is not None or declared >= _UNKNOWN_FRAMES
    too_long = AudioError(
        f"{path}: lasts longer than {most / rate_hz:g} s, the most that is read at {rate_hz} Hz"
    )
    if declared > most and not unknown:
        raise too_long
    try:
        samples = np.empty(min(declared, most + 1), np.float32)
    except MemoryError:
        raise AudioError(f"{path}: its {declared} samples do not fit into the memory") from None
    held, energy, step = 0, 0.0, min(_BLOCK_FRAMES, _BLOCK_SAMPLES // file.channels)
    try:
        for block in _blocks(file, containers.FRAME_SAMPLES if endless else step):
            if held + len(block) > most:
                raise too_long
            part = samples[held : held + len(block)]
            part[:] = block.mean(axis=1, dtype=np.float64) if file.channels > 1 else block[:, 0]
            held, energy = held + len(block), energy + float(np.vdot(block, block))
    except RuntimeError as error:
        if endless is None or not held or not endless.is_read():
            said = "no number of" if unknown else declared
            raise AudioError(
                f"{path}: cannot be decoded, its header declares {said} samples and "
                f"{_count_sound(source)} come out ({getattr(error, 'error_string', error)})"
            ) from error
    if endless is not None and not endless.is_read():  # the disk may have failed
        raise AudioError(f"{path}: cannot be decoded to its end, only {held} samples of it")
    if reason := None if unknown else containers.shortage(declared, held):
        raise AudioError(f"{path}: {reason}")
    return Waveform(samples[:held], rate_hz), energy / max(1, held * file.channels)


def _blocks(file: soundfile.SoundFile, frames: int) -> Iterator[np.ndarray]:
    """What was read :: float32 (<= frames, C), up to the first that is short, which is the end.

    Raises RuntimeError where libsndfile cannot decode, or has lost its place in a damaged file and
    would read some of it twice.
    """
    held = 0
    while len(block := file.read(frames, "float32", always_2d=True)):
        held += len(block)
        yield block
        if len(block) < frames:
            return
        if file.seekable() and file.tell() != held:
            raise RuntimeError(f"sample {held} is followed by sample {file.tell()}")


def _count_sound(source: BinaryIO) -> int:
    """How many samples of a damaged file can be decoded."""
    count = 0
    with suppress(RuntimeError), _libsndfile(source) as file:
        for block in _blocks(file, _DAMAGED_FRAMES):
            count += len(block)
    return count


def _cancelled(waveform: Waveform, power: float) -> str | None:
    """Channels of opposite phase; 1/N of the power is left in the mean of N that are unrelated."""
    left = float(np.vdot(waveform.samples, waveform.samples)) / max(1, len(waveform.samples))
    if power > SILENCE_PEAK**2 and left < _CANCELLED * power:
        return "has channels that cancel each other, so that nothing is left in their mean"
    return None


def write(path: Path, samples: np.ndarray, rate_hz: int) -> None:
    """Write 16-bit mono samples :: int16 (N,) as WAV or FLAC by suffix, atomically.

    `read` gives back exactly these samples / 32768. Raises OSError, which names the file, where the
    disk is full.
    """
    # Encoded in memory: libsndfile does not report every failure of a write to disk.
    content = encoded(samples, rate_hz, path.suffix.lstrip(".").upper())
    try:
        with replacing(path) as temporary:
            temporary.write_bytes(content)
    except OSError as error:
        error.filename = str(path)
        raise


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

"""Virtual clips: rows of a table of mixes, rendered when they are read.

A table (`mixes.parquet`, as `auditeval build` writes it) is addressed like a folder:
`mixes.parquet/00000012_ab` is background A of row 12 with event B in it, `_ac` the same with event
C, `_a` the background alone. Rendering gives, bit for bit, the samples that `auditeval build`
writes to a file, so a set of any size can be scored and filtered without the disk to hold it.
"""

from __future__ import annotations

import re
import stat
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from auditeval import reading, storage
from auditeval.audio import files
from auditeval.audio.waveform import (
    FULL_SCALE,
    MAX_SECONDS,
    AudioError,
    Waveform,
    content_hash,
    fault,
    quantised,
    resample,
)

CLIPS = ("a", "ab", "ac")
"""The clips of a row: the background alone, with event B, with event C."""

_RATE, _COUNT, _PLACE = (
    ("whole numbers", first, last) for first, last in (files.RATES_HZ, (1, 1 << 62), (0, 1 << 62))
)
_GAIN, _TEXT = ("numbers", 1e-38, 2.0**31), ("texts", 1, 1 << 62)
_RENDERED = {
    **{"rate_hz": _RATE, "event_start": _PLACE, "event_samples": _COUNT, "a_samples": _COUNT},
    **{"b_start": _PLACE, "c_start": _PLACE, "a_gain": _GAIN, "b_gain": _GAIN, "c_gain": _GAIN},
    **{f"{letter}_{name}": _TEXT for letter in "abc" for name in ("file", "sha256")},
}
"""What a mix is rendered from: the kind of each column, least and largest value (of texts the
length)."""

_NAME = re.compile(rf"(\d{{8,18}})_({'|'.join(CLIPS)})")


class Recording(NamedTuple):
    """What mixes are made from: float32 (N,) at the rate asked for, content hash of its file."""

    samples: np.ndarray
    sha256: str


class _Recordings:
    """Decoded recordings, each read once while they fit: the least recently used leave first."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit, self._held = limit_bytes, 0
        self._kept: OrderedDict[tuple[int, ...], Recording] = OrderedDict()
        self._lock = threading.Lock()

    def read(self, path: Path, rate_hz: int) -> Recording:
        try:
            state = path.stat()
        except (OSError, ValueError):
            files.read(path)  # says why
            raise
        key = (state.st_dev, state.st_ino, state.st_mtime_ns, state.st_size, rate_hz)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        # As at a rate of its own, a clip may last less where its samples would be too many.
        waveform = files.read(path, MAX_SECONDS * min(1.0, files.LONG_RATE_HZ / rate_hz))
        found = Recording(resample(waveform, rate_hz), content_hash(waveform))
        with self._lock:
            if key not in self._kept:
                self._kept[key] = found
                self._held += found.samples.nbytes
            while self._held > self._limit:
                _, gone = self._kept.popitem(last=False)
                self._held -= gone.samples.nbytes
        return found


_recordings = _Recordings(limit_bytes=384 << 20)


def recording(path: Path, rate_hz: int) -> Recording:
    """A file at another rate, from memory where it was used lately; AudioError as `files.read`."""
    return _recordings.read(path, rate_hz)


def name(row: int, clip: str) -> str:
    """How a clip of a row is called: 00000012_ab."""
    return f"{row:08d}_{clip}"


def is_mix(path: Path) -> bool:
    """Whether a path leads into a table of mixes."""
    return path.parent.suffix == ".parquet" and not _is_folder(path.parent)


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except storage.StorageError:
        raise
    except (OSError, ValueError):
        return False


def read(path: Path) -> Waveform:
    """Render a clip of a table; AudioError says why there is none, as of a file."""
    table = _table(path.parent)
    found = _NAME.fullmatch(path.name)
    if found is None or int(found[1]) >= len(table):
        raise AudioError(
            f"{path}: no such mix; {path.parent.name} has {name(0, CLIPS[0])} to "
            f"{name(len(table) - 1, CLIPS[-1])}"
        )
    row = _row(path.parent, table, int(found[1]))
    (samples,) = render(row, [found[2]], path.parent.parent)
    waveform = Waveform(samples.astype(np.float32) / FULL_SCALE, row["rate_hz"])
    if reason := fault(waveform):
        raise AudioError(f"{path}: {reason}")
    return waveform


def _row(path: Path, table: Any, number: int) -> dict[str, Any]:
    """A row that can be rendered, as far as it tells by itself."""
    where = f"{path}: row {number}"
    try:
        (row,) = table.slice(number, 1).to_pylist()
    except ValueError as error:  # bytes that are no text
        raise AudioError(f"{where} cannot be read ({error})") from error
    for column, (kind, least, most) in _RENDERED.items():
        value = row[column]
        if value is None:
            raise AudioError(f"{where}: {column} is missing")
        size = len(value) if isinstance(value, str) else value
        if not least <= size <= most:
            expected = "a text" if kind == "texts" else f"one of {least:g} to {most:g}"
            raise AudioError(f"{where}: {column} is {value!r}, expected {expected}")
    end = row["event_start"] + row["event_samples"]
    if end > row["a_samples"]:
        raise AudioError(
            f"{where}: its event ends at sample {end}, expected at most {row['a_samples']} "
            "(a_samples)"
        )
    return dict(row)


def state(path: Path) -> tuple[int, int]:
    """Sizes of the table and of the recordings of a clip together, and when the last changed.

    -1, -1 where there is no such clip.
    """
    try:
        table = _table(path.parent)
    except AudioError:
        return -1, -1
    found = _NAME.fullmatch(path.name)
    if found is None or int(found[1]) >= len(table):
        return -1, -1
    cells = (table[f"{letter}_file"][int(found[1])] for letter in set("a" + found[2]))
    try:
        recordings = [storage.joined(path.parent.parent, str(cell.as_py())) for cell in cells]
    except ValueError:  # bytes that are no text
        return -1, -1
    sizes, times = zip(*map(files.state, [path.parent, *recordings]), strict=True)
    return (-1, -1) if min(sizes) < 0 else (sum(sizes), max(times))


def render(row: Mapping[str, Any], clips: Sequence[str], folder: Path) -> list[np.ndarray]:
    """The samples of some of `CLIPS` of a row :: int16 (a_samples,) each; files lie in `folder`.

    Raises AudioError where a recording cannot be read, or is not the one the mix was planned with.
    """

    def samples(letter: str, start: int, length: int) -> np.ndarray:
        path = storage.joined(folder, row[f"{letter}_file"])
        found = recording(path, row["rate_hz"])
        if found.sha256 != row[f"{letter}_sha256"]:
            raise AudioError(
                f"{path}: holds other samples than when the mixes were planned; build them again"
            )
        if start + length > len(found.samples):
            raise AudioError(
                f"{path}: holds {len(found.samples)} samples at {row['rate_hz']} Hz, the mix takes "
                f"{length} from sample {start} on"
            )
        return found.samples[start : start + length] * np.float32(row[f"{letter}_gain"])

    background = samples("a", 0, row["a_samples"])
    alone = quantised(background)
    rendered = []
    for clip in clips:
        mixed = alone.copy()
        if clip != "a":
            length, at = row["event_samples"], row["event_start"]
            event = samples(clip[1], row[f"{clip[1]}_start"], length)
            mixed[at : at + length] = quantised(background[at : at + length] + event)
        rendered.append(mixed)
    return rendered


def _table(path: Path) -> Any:
    try:
        state = path.stat()
    except storage.StorageError:
        raise
    except (OSError, ValueError) as error:
        raise AudioError(f"{path}: no such table of mixes") from error
    if not stat.S_ISREG(state.st_mode):
        raise AudioError(f"{path}: is no table of mixes, it is not a file")
    return _read_table(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=8)
def _read_table(path: Path, modified_ns: int, size: int) -> Any:
    import pyarrow
    import pyarrow.parquet
    from pyarrow import types

    kinds = {
        "whole numbers": types.is_integer,
        "numbers": types.is_floating,
        "texts": types.is_string,
    }
    texts = [column for column, (kind, *_) in _RENDERED.items() if kind == "texts"]
    try:
        file_path = reading.regular(path)
        there = pyarrow.parquet.read_schema(file_path)
        wrong = [column for column in _RENDERED if there.names.count(column) != 1]
        if wrong:
            raise AudioError(
                f"{path}: is no table of mixes, it needs one column each of {', '.join(wrong)}"
            )
        for column, (kind, *_) in _RENDERED.items():
            if not kinds[kind](found := there.field(column).type):
                raise AudioError(
                    f"{path}: is no table of mixes, its {column} are {found}, expected {kind}"
                )
        with pyarrow.parquet.ParquetFile(file_path, read_dictionary=texts) as file:
            return file.read(list(_RENDERED)).combine_chunks()
    except storage.StorageError:
        raise
    except (pyarrow.ArrowException, OSError) as error:
        raise AudioError(f"{path}: is no table of mixes ({error})") from error

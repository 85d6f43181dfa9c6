"""Virtual clips of tables that somebody has changed: an error row as of a file, never a score."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import soundfile
from commands import content, row_of, write_rows
from outcomes import WrongResult, same

from auditeval import audio, scores_table
from auditeval.audio import AudioError, mixes
from auditeval.data.pseudo_parallel.build import build
from auditeval.data.pseudo_parallel.plan import Settings
from auditeval.scoring import Evaluator
from auditeval.types import EditPair

SETTINGS = Settings(
    backgrounds_per_pair=1, background_seconds=2.0, event_seconds=(0.5, 1.0), rate_hz=8000
)


@pytest.fixture(scope="module")
def virtual(clip_list: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set of 6 tuples beside a copy of its recordings."""
    folder = tmp_path_factory.mktemp("virtual")
    shutil.copytree(clip_list.parent, folder / "clips")
    build(folder / "clips" / "labels.csv", folder / "set", SETTINGS, None, "virtual")
    return folder / "set" / "mixes.parquet"


def write(path: Path, columns: dict[str, Any]) -> Path:
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return path


def columns_of(virtual: Path) -> dict[str, Any]:
    return pyarrow.parquet.read_table(virtual).to_pydict()


def with_cell(virtual: Path, folder: Path, column: str, value: object) -> Path:
    """The table with another value in row 1, beside the recordings it names."""
    columns = columns_of(virtual)
    for letter in "abc":
        names = columns[f"{letter}_file"]
        columns[f"{letter}_file"] = [str((virtual.parent / name).resolve()) for name in names]
    columns[column] = [value if row == 1 else old for row, old in enumerate(columns[column])]
    return write(folder / "changed.parquet", columns)


ABOVE_0 = r"expected one of 1e-38 to 2\.1\d+e\+09"
CELLS: dict[str, tuple[str, object, str]] = {
    "gain 0": ("a_gain", 0.0, rf"row 1: a_gain is 0\.0, {ABOVE_0}"),
    "gain NaN": ("a_gain", float("nan"), rf"row 1: a_gain is nan, {ABOVE_0}"),
    "gain of infinity": ("b_gain", float("inf"), rf"row 1: b_gain is inf, {ABOVE_0}"),
    "gain below 0": ("b_gain", -1.0, rf"row 1: b_gain is -1\.0, {ABOVE_0}"),
    "gain 1e300": ("b_gain", 1e300, rf"row 1: b_gain is 1e\+300, {ABOVE_0}"),
    "gain of nothing": ("b_gain", None, r"row 1: b_gain is missing"),
    "gain under 16 bits": ("a_gain", 1e-30, r"00000001_a: is digital silence"),
    "rate 0": ("rate_hz", 0, r"row 1: rate_hz is 0, expected one of 1000 to 1e\+06"),
    "rate below 0": ("rate_hz", -8000, r"row 1: rate_hz is -8000, expected one of"),
    "rate 2^31": ("rate_hz", 2**31, r"row 1: rate_hz is 2147483648, expected one of"),
    "rate of nothing": ("rate_hz", None, r"row 1: rate_hz is missing"),
    "event before the start": ("event_start", -5, r"row 1: event_start is -5, expected one of 0"),
    "event beyond the end": ("event_start", 15999, r"row 1: its event ends at sample \d+, expected "
                             r"at most 16000 \(a_samples\)"),
    "event at 2^62": ("event_start", 2**62, r"row 1: its event ends at sample \d+, expected"),
    "event of no length": ("event_samples", 0, r"row 1: event_samples is 0, expected one of 1"),
    "event of length below 0": ("event_samples", -9, r"row 1: event_samples is -9, expected"),
    "start below 0": ("b_start", -1, r"row 1: b_start is -1, expected one of 0 to"),
    "start beyond the recording": ("b_start", 10**6, r"holds \d+ samples at 8000 Hz, the mix takes "
                                   r"\d+ from sample 1000000 on"),
    "start of nothing": ("b_start", None, r"row 1: b_start is missing"),
    "longer than the recording": ("a_samples", 10**9, r"holds \d+ samples at 8000 Hz, the mix "
                                  r"takes 1000000000 from sample 0 on"),
    "length 0": ("a_samples", 0, r"row 1: a_samples is 0, expected one of 1 to"),
    "another digest": ("a_sha256", "0" * 64, r"holds other samples than when the mixes were"),
    "digest of nothing": ("a_sha256", None, r"row 1: a_sha256 is missing"),
    "missing file": ("a_file", "none.wav", r"none\.wav: no such file"),
    "file without a name": ("a_file", "", r"row 1: a_file is '', expected a text"),
    "file of nothing": ("a_file", None, r"row 1: a_file is missing"),
    "NUL in the file's name": ("a_file", "a\0b.wav", r"is not a path"),
    "a folder for a file": ("a_file", "/", r"/: is not a file"),
    "a device for a file": ("a_file", "/dev/zero", r"/dev/zero: is not a file"),
    "a mix for a file": ("a_file", "changed.parquet/00000000_a", r"00000000_a: no such file"),
}  # fmt: skip


def refused_clip(path: Path, said: str) -> None:
    try:
        found = audio.decode(path)
    except AudioError as error:
        if not re.search(said, str(error)):
            raise WrongResult(f"expected {said!r}, found {error}") from error
    else:
        raise WrongResult(f"{path}: was rendered to {len(found.samples)} samples")


@pytest.mark.parametrize("kind", CELLS)
def test_a_changed_row_has_no_clip(virtual: Path, tmp_path: Path, kind: str) -> None:
    column, value, said = CELLS[kind]
    changed = with_cell(virtual, tmp_path, column, value)
    clip = {"b": "ab", "c": "ac", "e": "ab"}.get(column[0], "a")
    refused_clip(changed / mixes.name(1, clip), said)
    audio.state(changed / mixes.name(1, clip))
    # The row beside it is what it was.
    for whole in mixes.CLIPS:
        found, expected = (
            audio.content_hash(audio.decode(table / mixes.name(0, whole)))
            for table in (changed, virtual)
        )
        same(found, expected, kind)


COLUMNS: dict[str, tuple[str, Callable[[list[Any]], Any], str]] = {
    "gains as text": ("a_gain", lambda x: list(map(str, x)), "a_gain are string, expected numbers"),
    "gains as truth": ("b_gain", lambda x: [True] * len(x), "b_gain are bool, expected numbers"),
    "starts as reals": ("b_start", lambda x: list(map(float, x)),
                        "b_start are double, expected whole numbers"),
    "rates as lists": ("rate_hz", lambda x: [[y] for y in x], "rate_hz are list<.*, expected"),
    "files as numbers": ("c_file", lambda x: list(range(len(x))),
                         "c_file are int64, expected texts"),
    "all of nothing": ("a_samples", lambda x: [None] * len(x),
                       "a_samples are null, expected whole numbers"),
    "bytes that are no text": (
        "a_file",
        lambda x: pyarrow.Array.from_buffers(
            pyarrow.string(), len(x), pyarrow.array([b"\xff\xfe"] * len(x)).buffers()),
        r"row 1 cannot be read \('utf-8' codec"),
}  # fmt: skip


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_of_another_kind_is_no_table_of_mixes(
    virtual: Path, tmp_path: Path, kind: str
) -> None:
    column, change, said = COLUMNS[kind]
    columns = columns_of(virtual)
    columns[column] = change(columns[column])
    path = write(tmp_path / "changed.parquet", columns)
    refused_clip(path / mixes.name(1, "ab"), said)
    audio.state(path / mixes.name(1, "ab"))


def repeated(virtual: Path, path: Path) -> Path:
    table = pyarrow.parquet.read_table(virtual)
    pyarrow.parquet.write_table(table.append_column("a_gain", table["a_gain"]), path)
    return path


def pipe(virtual: Path, path: Path) -> Path:
    os.mkfifo(path)
    return path


def empty(virtual: Path, path: Path) -> Path:
    pyarrow.parquet.write_table(pyarrow.parquet.read_table(virtual)[:0], path)
    return path


def damaged(virtual: Path, path: Path) -> Path:
    data = virtual.read_bytes()
    return content(path, data[:100] + bytes(400) + data[500:])


TABLES: dict[str, tuple[Callable[[Path, Path], Path], str]] = {
    "a column twice": (repeated, r"table\.parquet: is no table of mixes"),
    "a pipe": (pipe, r"table\.parquet: is no table of mixes, it is not a file"),
    "no rows": (empty, r"00000001_ab: no such mix"),
    "zeros in it": (damaged, r"table\.parquet: is no table of mixes|row 1"),
    "0 bytes": (lambda v, p: content(p, b""), r"table\.parquet: is no table of mixes"),
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_file_that_is_no_table_of_mixes(virtual: Path, tmp_path: Path, kind: str) -> None:
    make, said = TABLES[kind]
    refused_clip(make(virtual, tmp_path / "table.parquet") / mixes.name(1, "ab"), said)


def test_a_row_number_of_5000_digits_is_no_mix(virtual: Path) -> None:
    refused_clip(virtual / f"{'9' * 5000}_ab", r"no such mix")


def test_changed_rows_cost_their_own_rows_only(
    virtual: Path, tmp_path: Path, cli: Any, spectrum_checkpoint: Path, good: list[EditPair]
) -> None:
    rows, reasons = [row_of(good[0])], {}
    for number, (kind, (column, value, said)) in enumerate(CELLS.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        clip = {"b": "ab", "c": "ac", "e": "ab"}.get(column[0], "a")
        changed = with_cell(virtual, folder, column, value) / mixes.name(1, clip)
        rows.append(row_of(good[0], id=kind, edited=str(changed)))
        reasons[kind] = said
    path = write_rows(tmp_path / "pairs.jsonl", [*rows, row_of(good[1])])
    ended = cli("score", path, "-o", tmp_path / "scores.csv", "-c", spectrum_checkpoint)
    same(ended.status, 1, "status")
    same("Traceback" in ended.err, False, "a traceback")
    for row in scores_table.read(tmp_path / "scores.csv"):
        same(row.status, "error" if row.id in reasons else "ok", row.id)
        same(bool(re.search(reasons.get(row.id, ""), row.reason)), True, row.reason)


def test_mixes_of_recordings_that_do_not_fit_into_memory_at_its_rate(
    virtual: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, evaluator: Evaluator
) -> None:
    monkeypatch.setattr(mixes, "_recordings", mixes._Recordings(1 << 30))
    minutes = np.random.default_rng(0).integers(-9000, 9000, 8000 * 180, dtype=np.int16)
    soundfile.write(tmp_path / "three.flac", minutes, 8000)
    changed = with_cell(virtual, tmp_path, "a_file", str(tmp_path / "three.flac"))
    columns = columns_of(changed)
    columns["rate_hz"][1] = 1_000_000
    write(changed, columns)
    refused_clip(changed / mixes.name(1, "a"), r"three\.flac: lasts longer than 172\.8 s")

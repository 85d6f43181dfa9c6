"""Read and write manifests: JSONL, CSV and Parquet, one edit pair a row.

Every error names the file and the line (JSONL, CSV) or row (Parquet). Paths inside a manifest are
relative to its folder. In CSV the nested fields are columns of their own: `ratings.quality`, and
`raters.quality` with the votes joined by ";" (see `votes`).
"""

from __future__ import annotations

import csv
import json
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from pydantic import ValidationError

from auditeval import reading, storage, votes
from auditeval.atomic import replacing
from auditeval.manifest_columns import check_columns, nested
from auditeval.reading import BEGINNING, Start
from auditeval.text import visible
from auditeval.types import AXES, EditPair, UserError, sentence

SUFFIXES = (".jsonl", ".csv", ".parquet")
_ROWS_AT_A_TIME = 50_000


def iterate(path: str | os.PathLike[str], start: Start = BEGINNING) -> Iterator[EditPair]:
    """Stream the pairs of a manifest in its order; memory does not grow with the rows.

    `start` is that of a block (see `manifest_blocks`), of a Parquet file the rows before it.

    Raises UserError at the first bad row: not JSON, an unknown or missing key, a wrong type, a
    rating outside 1 to 5. Duplicate ids are `check`'s to find.
    """
    path = storage.path(path)
    for position, row in _rows(path, start):
        yield _validate(row, path, position)


def checked_line(line: bytes, path: Path, number: int) -> dict[str, Any]:
    """One line of the JSONL manifest `path` as it stands, once `iterate` would accept it."""
    row = reading.json_object(line, f"{path}:{number}")
    _validate(row, path, number)
    return row


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    """Raises UserError where the disk of temporary files is full."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)
    except sqlite3.OperationalError as error:
        raise UserError(
            f"{tempfile.gettempdir()}: temporary files cannot be written ({error}); set TMPDIR to "
            "a folder with more space"
        ) from None


def _validate(row: dict[str, Any], path: Path, position: int) -> EditPair:
    try:
        return EditPair.model_validate(_resolve(row, path.parent))
    except ValidationError as error:
        raise UserError(f"{path}:{position}: {sentence(error)}") from None
    except UserError as error:  # a URL of no store
        raise UserError(f"{path}:{position}: {error}") from None


def named(path: str | Path | None) -> Path:
    """The manifest that a configuration names; raises UserError where it names none."""
    if path is None:
        raise UserError(f"no manifest is named; give data.path=FILE ({', '.join(SUFFIXES)})")
    return storage.path(path)


def read(path: str | os.PathLike[str]) -> list[EditPair]:
    """All pairs of a manifest, ids checked to be unique."""
    check(path)
    return list(iterate(path))


def check(path: str | os.PathLike[str]) -> int:
    """Validate every row and the uniqueness of ids; return the number of rows.

    One pass before hours of computing. Ids are kept in a temporary database on disk, so that a
    manifest of any length takes the same memory.
    """
    count = 0
    with _temporary_folder() as folder:
        database = sqlite3.connect(folder / "ids.sqlite", isolation_level=None)
        try:
            database.execute("PRAGMA synchronous = OFF")
            database.execute("PRAGMA journal_mode = OFF")
            database.execute("CREATE TABLE ids (id TEXT PRIMARY KEY, row INTEGER) WITHOUT ROWID")
            database.execute("BEGIN")
            for pair in iterate(path):
                count += 1
                try:
                    database.execute("INSERT INTO ids VALUES (?, ?)", (pair.id, count))
                except sqlite3.IntegrityError:
                    select = "SELECT row FROM ids WHERE id = ?"
                    (first,) = database.execute(select, (pair.id,)).fetchone()
                    raise UserError(
                        f"{path}: id {pair.id!r} stands in rows {first} and {count}; ids must be "
                        "unique"
                    ) from None
        finally:
            database.close()
    if count == 0:
        raise UserError(f"{path}: holds no pairs")
    return count


def write(pairs: Iterable[EditPair], path: str | os.PathLike[str]) -> int:
    """Write a manifest (format by suffix), atomically; return the number of rows.

    The pairs are streamed; memory does not grow with the rows.
    """
    path = storage.path(path)
    check_suffix(path)
    with replacing(path) as temporary:
        return write_to(temporary, pairs, path)


def write_to(temporary: Path, pairs: Iterable[EditPair], path: Path) -> int:
    """`write` for a caller who renames `temporary`, a file of any name, to `path` later."""
    writers = {".jsonl": _write_jsonl, ".csv": _write_csv, ".parquet": _write_parquet}
    relocate = relocator(path.parent)
    count = 0

    def rows() -> Iterator[dict[str, Any]]:
        nonlocal count
        for pair in pairs:
            count += 1
            yield _plain(pair, relocate)

    try:
        writers[path.suffix.lower()](rows(), temporary)
    except UnicodeEncodeError as error:
        name = visible(error.object)
        raise UserError(f"{path}: cannot hold {name!r}, which is not UTF-8; rename it") from None
    return count


def check_suffix(path: Path) -> None:
    """Raise UserError for a path that cannot be a manifest."""
    _by_suffix(path, dict.fromkeys(SUFFIXES, str))


def check_readable(path: Path) -> None:
    """Raise UserError for a path that no library's reader should be given as a manifest: one of
    another suffix, no regular file, or without an end of its first line."""
    check_suffix(path)
    try:
        reading.regular(path)
        if path.suffix.lower() != ".parquet":
            next(reading.lines(path), b"")
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None


def relocator(folder: Path, source: Path | None = None) -> Callable[[str], str]:
    """A function from a path to the same path as a manifest in `folder` names it.

    Given relative paths start from the folder `source`, or from the working directory. The answer
    goes up by `..` only where that leads to the same place in spite of symbolic links. Folders are
    remembered, so that the millionth path costs less than a microsecond. URLs are relative within a
    bucket.
    """
    known: dict[str, str] = {}
    source = source or Path()

    def relocate(path: str) -> str:
        if os.sep != "/":
            path = path.replace(os.sep, "/")
        parent, slash, name = path.rpartition("/")
        if name in ("", ".", ".."):
            return _toward(source, path, folder)
        parent += slash
        if parent not in known:
            found = _toward(source, parent, folder)
            known[parent] = "" if found == "." else f"{found}/"
        return known[parent] + name

    return relocate


def _toward(source: Path, name: str, folder: Path) -> str:
    path = storage.joined(source, name)
    elsewhere = storage.relative(str(path), folder)
    if elsewhere is not None:
        return elsewhere
    direct = os.path.relpath(path, folder)
    there = os.path.realpath(path)
    if os.path.realpath(folder / direct) != there:
        direct = os.path.relpath(there, os.path.realpath(folder))
    try:
        return Path(os.fsencode(direct).decode()).as_posix()
    except UnicodeDecodeError:
        raise UserError(
            f"{visible(direct)}: is not UTF-8, and a manifest cannot name it; rename it"
        ) from None


def _by_suffix(path: Path, table: dict[str, Callable[..., Any]]) -> Callable[..., Any]:
    try:
        return table[path.suffix.lower()]
    except KeyError:
        raise UserError(
            f"{path}: a manifest ends in {', '.join(SUFFIXES)}; other layouts: `auditeval import`"
        ) from None


def _rows(path: Path, start: Start) -> Iterator[tuple[int, dict[str, Any]]]:
    reader = _by_suffix(path, {".jsonl": _read_jsonl, ".csv": _read_csv, ".parquet": _read_parquet})
    try:
        if path.is_dir():
            raise UserError(f"{path}: is a directory, expected a manifest file")
        yield from reader(path, start)
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror or error})") from None


def _read_jsonl(path: Path, start: Start) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(reading.lines(path, start.byte), start=start.line + 1):
        if line.strip():
            yield number, reading.json_object(line, f"{path}:{number}")


def _read_csv(path: Path, start: Start) -> Iterator[tuple[int, dict[str, Any]]]:
    rows = reading.csv_rows(path)
    _, names = next(rows, (BEGINNING, []))
    if names:
        check_columns(names, path)
    if start.byte:
        rows = reading.csv_rows(path, start, len(names))
    for (number, _), cells in rows:
        yield number, nested(dict(zip(names, cells, strict=True)), f"{path}:{number}")


def _read_parquet(path: Path, start: Start) -> Iterator[tuple[int, dict[str, Any]]]:
    import pyarrow
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(reading.regular(path))
    except pyarrow.ArrowException as error:
        raise UserError(f"{path}: is not Parquet ({error})") from None
    with file:
        check_columns(file.schema_arrow.names, path)
        groups, number = list(range(file.num_row_groups)), 0
        while (
            groups and number + (size := file.metadata.row_group(groups[0]).num_rows) <= start.line
        ):
            del groups[0]
            number += size
        for batch in _whole(path, file.iter_batches(batch_size=1024, row_groups=groups)):
            skipped = min(max(start.line - number, 0), len(batch))
            number += skipped
            for row in batch.slice(skipped).to_pylist():
                number += 1
                # Parquet has no absent key: a null column or struct field is one.
                row = {key: value for key, value in row.items() if value is not None}
                for group in ("ratings", "raters", votes.RATER_IDS):
                    if isinstance(row.get(group), dict):
                        row[group] = {a: v for a, v in row[group].items() if v is not None}
                yield number, votes.of_columns(row, f"{path}:{number}")


def _whole(path: Path, batches: Iterator[Any]) -> Iterator[Any]:
    import pyarrow

    try:
        yield from batches
    except (pyarrow.ArrowException, OSError) as error:  # damaged behind a footer that is not
        raise UserError(f"{path}: is not Parquet ({error})") from None


def _write_jsonl(rows: Iterator[dict[str, Any]], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _write_csv(rows: Iterator[dict[str, Any]], path: Path) -> None:
    columns = [*EditPair.model_fields]
    for group in ("ratings", "raters"):
        at = columns.index(group)
        columns[at : at + 1] = [f"{group}.{axis}" for axis in AXES]
    # Which columns are used is known after the last row, and the first line names them.
    with tempfile.TemporaryFile("w+", encoding="utf-8") as spool:
        used: set[str] = set()
        for row in rows:
            flat = _flatten(row)
            used |= flat.keys()
            spool.write(json.dumps(flat) + "\n")
        spool.seek(0)
        needed = {name for name, field in EditPair.model_fields.items() if field.is_required()}
        columns = [column for column in columns if column in used | needed]
        with path.open("w", newline="", encoding="utf-8") as file:
            write_cells = csv_writer(file)
            write_cells(columns)
            for line in spool:
                flat = json.loads(line)
                write_cells([flat.get(column, "") for column in columns])


def csv_writer(file: TextIO) -> Callable[[list[str]], Any]:
    """A function that writes a row of cells to a file opened with newline=""."""
    # Before Python 3.13 a lone carriage return is not quoted, and would end the row.
    plain, quoted = (
        csv.writer(file, lineterminator="\n", quoting=quoting)
        for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL)
    )
    return lambda cells: (quoted if "\r" in "".join(cells) else plain).writerow(cells)


def _flatten(row: dict[str, Any]) -> dict[str, Any]:
    flat = {key: value for key, value in row.items() if key not in ("ratings", "raters")}
    for axis, rating in row.get("ratings", {}).items():
        flat[f"ratings.{axis}"] = repr(rating)
    for axis, given in row.get("raters", {}).items():
        flat[f"raters.{axis}"] = votes.to_cell(given)
    return flat


def _write_parquet(rows: Iterator[dict[str, Any]], path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    text = pyarrow.string()
    kinds = {
        "ratings": pyarrow.struct([(axis, pyarrow.float64()) for axis in AXES]),
        "raters": pyarrow.struct([(axis, pyarrow.list_(pyarrow.float64())) for axis in AXES]),
        votes.RATER_IDS: pyarrow.struct([(axis, pyarrow.list_(text)) for axis in AXES]),
    }
    names = [*EditPair.model_fields, votes.RATER_IDS]
    schema = pyarrow.schema([(name, kinds.get(name, text)) for name in names])
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        while batch := [votes.to_columns(row) for row in islice(rows, _ROWS_AT_A_TIME)]:
            writer.write_batch(pyarrow.RecordBatch.from_pylist(batch, schema=schema))


def _resolve(row: dict[str, Any], folder: Path) -> dict[str, Any]:
    row = dict(row)
    for side in ("original", "edited"):
        if isinstance(row.get(side), str) and row[side]:
            row[side] = storage.joined(folder, row[side])
    return row


def _plain(pair: EditPair, relocate: Callable[[str], str]) -> dict[str, Any]:
    row = pair.model_dump(mode="json", exclude_none=True)
    for group in ("ratings", "raters"):
        if not row[group]:
            del row[group]
    for side in ("original", "edited"):
        row[side] = relocate(row[side])
    return row

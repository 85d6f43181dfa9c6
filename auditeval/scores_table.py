"""Scores tables: CSV, JSONL or Parquet by suffix, one row a pair, errors included.

A folder of numbered Parquet files (`write_parts`) is one table too. There is one reader, a block of
rows at a time, so that all commands hold the same for a table.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auditeval import storage
from auditeval.atomic import new_folder, replacing
from auditeval.reading import BEGINNING, csv_rows, json_object, lines, opened
from auditeval.text import shortened
from auditeval.types import AXES, Scores, UserError

if TYPE_CHECKING:
    import polars
    import pyarrow

_ENDS = {axis: (f"{axis}_low", f"{axis}_high") for axis in AXES}
_REQUIRED = ("id", *AXES)
_STATED = ("status", "reason")  # both, or neither as other tools write tables
_INTERVALS = tuple(end for ends in _ENDS.values() for end in ends)
COLUMNS = (*_REQUIRED, *_STATED, *_INTERVALS)
NUMBERS = (*AXES, *_INTERVALS)
SUFFIXES = (".csv", ".jsonl", ".parquet")
_PARTS = "part-*.parquet"
_ROWS = 1 << 17  # at a time
_BLOCK_BYTES = 16 << 20  # of CSV at a time, and so the longest row


def read(path: str | os.PathLike[str]) -> Iterator[Scores]:
    """Stream a scores file; raises UserError with file and row for one that is no scores file.

    Of every row: an id, the status ok with a score or error without one, which a table without
    status and reason leaves to be seen; finite numbers, on the scale or not; intervals with both
    ends, and their scores within. Other columns are not looked at. `read_table` also says where an
    id stands twice.
    """
    for frame in _frames(storage.path(path)):
        yield from of_frame(frame)


def of_frame(frame: polars.DataFrame) -> Iterator[Scores]:
    """The rows of a table that `read_table` made."""
    return map(of_cells, frame.iter_rows(named=True))


def of_cells(cells: Mapping[str, Any]) -> Scores:
    """A row, by COLUMNS; raises TypeError for another cell and KeyError for one that is missing."""
    ends = {axis: (cells[low], cells[high]) for axis, (low, high) in _ENDS.items()}
    intervals = {axis: both for axis, both in ends.items() if None not in both}
    plain = {name: cells[name] for name in cells if name not in _INTERVALS}
    return Scores(**plain, intervals=intervals)


def cells_of(scores: Scores) -> dict[str, Any]:
    """A row of a table, by COLUMNS."""
    cells = {name: getattr(scores, name) for name in (*_REQUIRED, *_STATED)}
    for axis, ends in _ENDS.items():
        cells |= zip(ends, scores.intervals.get(axis, (None, None)), strict=True)
    return cells


def read_table(path: str | os.PathLike[str]) -> polars.DataFrame:
    """All rows of a scores file :: COLUMNS as `read` has them, with unique ids."""
    import polars

    schema = {name: polars.Float64 if name in NUMBERS else polars.String for name in COLUMNS}
    table = polars.concat([polars.DataFrame(schema=schema), *_frames(storage.path(path))])
    check_unique(table["id"], storage.path(path))
    return table


def check_unique(ids: polars.Series, path: Path) -> None:
    """Raise UserError where an id of the table `path` stands twice, naming both rows."""
    again = (~ids.is_first_distinct()).arg_true()
    if len(again):
        name = ids[again[0]]
        first = (ids == name).arg_true()[0]
        raise UserError(
            f"{path}: id {name!r} stands in rows {first + 1} and {again[0] + 1}; ids must be unique"
        )


def parts(path: Path) -> list[Path]:
    """The files of a table that is a folder, in their order; none where it is a file."""
    return sorted(path.glob(_PARTS)) if path.is_dir() else []


def check_suffix(path: Path) -> None:
    """Raise UserError for a path that cannot be a scores table."""
    if parts(path):
        return
    if path.suffix.lower() not in SUFFIXES:
        raise UserError(f"{path}: a scores file ends in {', '.join(SUFFIXES)}")
    if path.is_dir():
        raise UserError(f"{path}: is a directory, expected a file")


def write(scores: Iterable[Scores], output: Path) -> None:
    """Write a table (format by suffix), atomically; memory does not grow with the rows."""
    check_suffix(output)
    writers = {".csv": _write_csv, ".jsonl": _write_jsonl, ".parquet": _write_parquet}
    with replacing(output) as temporary:
        writers[output.suffix.lower()](iter(scores), temporary)


def write_parts(scores: Iterable[Scores], sizes: Iterable[int], output: Path) -> None:
    """Write a folder of Parquet files of so many rows each; memory does not grow with the files.

    The folder is whole or not there; one of that name is replaced.
    """
    rows = iter(scores)
    with new_folder(output) as temporary:
        for number, size in enumerate(sizes):
            _write_parquet(islice(rows, size), temporary / _PARTS.replace("*", f"{number:06d}"))


def _write_jsonl(rows: Iterator[Scores], output: Path) -> None:
    with output.open("wb") as file:
        file.writelines(
            json.dumps(cells_of(row), ensure_ascii=False).encode() + b"\n" for row in rows
        )


def _write_csv(rows: Iterator[Scores], output: Path) -> None:
    with output.open("w", newline="", encoding="utf-8") as file:
        # Before Python 3.13 a lone carriage return is not quoted, and would end the row.
        plain, quoted = (
            csv.DictWriter(file, COLUMNS, lineterminator="\n", quoting=quoting)
            for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL)
        )
        plain.writeheader()
        for row in rows:
            try:
                (quoted if "\r" in row.id + row.reason else plain).writerow(cells_of(row))
            except csv.Error as error:  # of NUL, before Python 3.11
                raise UserError(
                    f"pair {row.id!r}: cannot be written as CSV ({error}); choose .jsonl or "
                    ".parquet"
                ) from None


def _write_parquet(rows: Iterator[Scores], output: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    schema = _schema()
    with pyarrow.parquet.ParquetWriter(output, schema) as writer:
        while batch := [cells_of(row) for row in islice(rows, 10_000)]:
            writer.write_batch(pyarrow.RecordBatch.from_pylist(batch, schema=schema))


def _frames(path: Path) -> Iterator[polars.DataFrame]:
    """Blocks of rows :: COLUMNS, numbers as Float64, a reason that is missing as ""."""
    for part in parts(path) or [path]:
        yield from _frames_of_file(part)


def _frames_of_file(path: Path) -> Iterator[polars.DataFrame]:
    import polars
    import pyarrow

    check_suffix(path)
    blocks = {".csv": _csv_blocks, ".jsonl": _jsonl_blocks, ".parquet": _parquet_blocks}
    done = 0
    try:
        for block in blocks[path.suffix.lower()](path):
            found = polars.DataFrame(polars.from_arrow(block))
            frame = _checked(found, lambda row: f"{path}: row {done + row + 1}")  # noqa: B023
            done += frame.height
            yield frame
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror or error})") from None
    except pyarrow.ArrowException as error:
        said = str(error).removeprefix("CSV parse error: ")
        raise UserError(
            f"{path}: is no {path.suffix[1:].upper()} table ({shortened(said, 200)})"
        ) from None


def _checked(found: polars.DataFrame, where: Callable[[int], str]) -> polars.DataFrame:
    """Columns as `_frames` has them; raises UserError for the first row that is no row of scores,
    which `where` names."""
    from polars import Float64, String, coalesce, col, lit, when

    missing = [lit(None, Float64).alias(name) for name in NUMBERS if name not in found.columns]
    frame = found.with_columns(*missing)
    for name in NUMBERS:
        if frame[name].dtype == String:
            texts = frame[name]
            numbers = texts.replace("", None).cast(Float64, strict=False)
            wrong = (numbers.is_null() & (texts != "")).arg_true()
            if len(wrong):
                said = f"{name} is {shortened(texts[wrong[0]])!r}, expected a number"
                raise UserError(f"{where(wrong[0])}: {said}")
            frame = frame.with_columns(numbers)
    if "status" not in frame.columns:
        scored = when(_scored())
        frame = frame.with_columns(
            status=scored.then(lit("ok")).otherwise(lit("error")),
            reason=scored.then(lit("")).otherwise(lit("no score")),
        )
    frame = frame.with_columns(col("reason").fill_null("")).select(COLUMNS)
    rules = _rules()
    first = coalesce(when(rule).then(lit(place)) for place, (rule, _) in enumerate(rules))
    faults = frame.select(fault=first)["fault"]
    faulty = faults.is_not_null().arg_true()
    if len(faulty):
        _, said = rules[faults[faulty[0]]]
        raise UserError(f"{where(faulty[0])}: {said.format(**frame.row(faulty[0], named=True))}")
    return frame


def _scored() -> polars.Expr:
    from polars import any_horizontal, col

    return any_horizontal(col(axis).is_not_null() for axis in AXES)


def _rules() -> list[tuple[polars.Expr, str]]:
    """What no row of scores may be, and how that is said with its cells."""
    from polars import col

    listed = f"{', '.join(AXES)} are {', '.join(f'{{{axis}}}' for axis in AXES)}"
    rules = [
        (col("id").fill_null("") == "", "id is empty"),
        (
            ~col("status").fill_null("").is_in(["ok", "error"]),
            "status is {status!r}, expected ok or error",
        ),
        *((~col(x).is_finite(), f"{x} is {{{x}}}, expected a finite number") for x in NUMBERS),
        ((col("status") == "ok") != _scored(), f"status is {{status}}, and {listed}"),
    ]
    for axis in AXES:
        low, high = _ENDS[axis]
        within = col(axis).is_between(col(low), col(high)).fill_null(False)
        rules.append(
            (
                (col(low).is_not_null() | col(high).is_not_null()) & ~within,
                f"{axis} is {{{axis}}}, not in an interval from {{{low}}} to {{{high}}}",
            )
        )
    return rules


def _columns(names: Sequence[str], path: Path) -> list[str]:
    """Those of COLUMNS that are there; raises UserError where one is missing or stands twice."""
    expected = (*_REQUIRED, *_STATED)
    missing = [name for name in expected if name not in names]
    if missing and missing != list(_STATED):
        there = shortened(", ".join(names), 200) or "none"
        raise UserError(
            f"{path}: lacks {', '.join(missing)}; expected the columns {', '.join(expected)}, "
            f"found {there}"
        )
    if twice := [name for name in COLUMNS if names.count(name) > 1]:
        raise UserError(f"{path}: the column {twice[0]} stands twice")
    return [name for name in COLUMNS if name in names]


def _csv_blocks(path: Path) -> Iterator[pyarrow.RecordBatch]:
    import pyarrow
    import pyarrow.csv

    rows = csv_rows(path)
    _, names = next(rows, (BEGINNING, []))
    columns = _columns(names, path)
    for _ in rows:  # To pyarrow what stands behind a quote without an end are words.
        pass
    with opened(path) as file:
        yield from pyarrow.csv.open_csv(
            file,
            # In one thread it names the row of an error.
            pyarrow.csv.ReadOptions(use_threads=False, block_size=_BLOCK_BYTES),
            pyarrow.csv.ParseOptions(newlines_in_values=True),
            pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(columns, pyarrow.string()), include_columns=columns
            ),
        )


def _jsonl_blocks(path: Path) -> Iterator[pyarrow.Table]:
    numbered = ((n, line) for n, line in enumerate(lines(path), start=1) if line.strip())
    columns: list[str] = []
    while rows := dict(islice(numbered, _ROWS)):
        if not columns:
            number, line = next(iter(rows.items()))
            columns = _columns(list(json_object(line, f"{path}:{number}")), path)
        block = _parsed(rows, path)
        if "status" not in columns and block["status"].null_count == block.num_rows:
            block = block.drop_columns(list(_STATED))
        yield block


def _parsed(rows: Mapping[int, bytes], path: Path) -> pyarrow.Table:
    """Lines by their number in the file; raises UserError naming the first that is no row."""
    import pyarrow
    import pyarrow.json

    read_options = pyarrow.json.ReadOptions(use_threads=False, block_size=1 << 30)
    parse_options = pyarrow.json.ParseOptions(
        explicit_schema=_schema(), unexpected_field_behavior="ignore"
    )

    def parsed(some: Sequence[bytes]) -> pyarrow.Table:
        content = pyarrow.BufferReader(b"".join(some))
        table = pyarrow.json.read_json(content, read_options, parse_options)
        table.validate(full=True)
        if table.num_rows != len(some):
            raise pyarrow.ArrowInvalid("expected one object a line")
        return table

    try:
        return parsed(list(rows.values()))
    except pyarrow.ArrowInvalid:
        for number, line in rows.items():
            try:
                parsed([line])
            except pyarrow.ArrowInvalid as error:
                said = str(error).removeprefix("JSON parse error: ").removesuffix(" in row 0")
                raise UserError(f"{path}:{number}: {shortened(said, 200)}") from None
        raise


def _parquet_blocks(path: Path) -> Iterator[pyarrow.Table]:
    import pyarrow
    import pyarrow.parquet
    from pyarrow import types

    with opened(path) as content, pyarrow.parquet.ParquetFile(content) as file:
        found = file.schema_arrow
        columns = _columns(found.names, path)
        for name in columns:
            kind = found.field(name).type
            of = kind.value_type if types.is_dictionary(kind) else kind
            if name in NUMBERS:
                known = types.is_floating(of) or types.is_integer(of)
            else:
                known = types.is_string(of) or types.is_large_string(of) or types.is_string_view(of)
            if not known and not types.is_null(of):
                expected = "numbers" if name in NUMBERS else "text"
                raise UserError(f"{path}: the column {name} holds {kind}, expected {expected}")
        schema = pyarrow.schema([field for field in _schema() if field.name in columns])
        for batch in file.iter_batches(_ROWS, columns=columns):
            block = pyarrow.Table.from_batches([batch]).select(columns)
            block.validate(full=True)
            yield block.cast(schema)


def _schema() -> pyarrow.Schema:
    import pyarrow

    number, text = pyarrow.float64(), pyarrow.string()
    return pyarrow.schema([(name, number if name in NUMBERS else text) for name in COLUMNS])

"""Write one manifest as two, row for row: what is kept, and what is rejected by which stage."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars

from auditeval import manifest
from auditeval.types import EditPair, UserError

SIDES = ("original", "edited")
COLUMN = "rejected_by"

Relocate = Callable[[str], str]
Move = Callable[[bytes], bytes | None]


class Halves(NamedTuple):
    """Two files under temporary names, and the path that the kept one is going to have."""

    kept: Path
    rejected: Path
    output: Path


class Marks(NamedTuple):
    """For each row the place in `stages` of what rejected it; the last one, None, is kept."""

    codes: np.ndarray
    stages: list[str | None]

    @property
    def kept(self) -> int:
        return len(self.stages) - 1


def split(source: Path, halves: Halves, ids: polars.Series, rejected_by: polars.Series) -> None:
    """Rows of `source` in their order, the rejected ones with the name of the stage.

    `ids` and `rejected_by` are of its rows. Within a format, rows are copied: JSONL lines byte for
    byte, cells of CSV and columns of Parquet with their values. From format to format they are
    checked and written as `manifest.write` does. In another folder than the source's, paths are
    rewritten relative to it. Memory does not grow with the rows.
    """
    names = list(rejected_by.dtype.categories)  # type: ignore[attr-defined]
    codes = rejected_by.to_physical().cast(polars.UInt8).fill_null(len(names)).to_numpy()
    marks = Marks(codes, [*names, None])
    moved = os.path.realpath(source.parent) != os.path.realpath(halves.output.parent)
    relocate = manifest.relocator(halves.output.parent, source.parent) if moved else None
    suffix = source.suffix.lower()
    if suffix != halves.output.suffix.lower():
        _split_pairs(source, halves, marks)
    elif suffix == ".jsonl":
        _split_jsonl(source, halves, marks, relocate)
    elif suffix == ".csv":
        _split_csv(source, halves, ids, marks, relocate)
    else:
        _split_parquet(source, halves, marks, relocate)


def _split_pairs(source: Path, halves: Halves, marks: Marks) -> None:
    def chosen(keep: bool) -> Iterator[EditPair]:
        for pair, code in zip(manifest.iterate(source), marks.codes.tobytes(), strict=True):
            if (code == marks.kept) == keep:
                yield pair.model_copy(update={COLUMN: marks.stages[code]})

    manifest.write_to(halves.kept, chosen(True), halves.output)
    manifest.write_to(halves.rejected, chosen(False), halves.output)


def _split_jsonl(source: Path, halves: Halves, marks: Marks, relocate: Relocate | None) -> None:
    tails = [f', "{COLUMN}": {json.dumps(name)}}}\n'.encode() for name in marks.stages]
    move = None if relocate is None else _mover(relocate)
    kept_code = marks.kept
    with (
        source.open("rb") as lines,
        halves.kept.open("wb") as kept,
        halves.rejected.open("wb") as rejected,
    ):
        rows = ((number, line) for number, line in enumerate(lines, start=1) if line.strip())
        for (number, line), code in zip(rows, marks.codes.tobytes(), strict=True):
            copied = _plain_line(line, move)
            if copied is None:
                row = manifest.checked_line(line, source, number)
                row.pop(COLUMN, None)
                for side in SIDES if relocate else ():
                    row[side] = relocate(row[side])
                copied = json.dumps(row, ensure_ascii=False).encode() + b"\n"
            if code == kept_code:
                kept.write(copied if copied.endswith(b"\n") else copied + b"\n")
            else:
                rejected.write(copied.rstrip()[:-1] + tails[code])


def _plain_line(line: bytes, move: Move | None) -> bytes | None:
    """The line with its paths moved, or None where that takes a JSON parser.

    Inside a JSON string every quote has a backslash before it, so `"id": "` is a key and no text.
    """
    gap = b" " if b'"id": "' in line else b""
    if (not gap and b'"id":"' not in line) or b'"rejected_by"' in line:
        return None
    if move is None:
        return line
    for side in (b'"original":', b'"edited":'):
        key = side + gap + b'"'
        start = line.find(key) + len(key)
        end = line.find(b'"', start)
        moved = move(line[start:end]) if start >= len(key) else None
        if moved is None:
            return None
        line = line[:start] + moved + line[end:]
    return line


def _mover(relocate: Relocate) -> Move:
    """`relocate` on the bytes of a JSON string; None for one with escapes or without a name."""
    known: dict[bytes, bytes] = {}

    def move(path: bytes) -> bytes | None:
        parent, slash, name = path.rpartition(b"/")
        if b"\\" in path or name in (b"", b".", b".."):
            return None
        parent += slash
        if parent not in known:
            there = relocate(parent.decode() + "name").removesuffix("name")
            known[parent] = json.dumps(there)[1:-1].encode()
        return known[parent] + name

    return move


def _split_csv(
    source: Path, halves: Halves, ids: polars.Series, marks: Marks, relocate: Relocate | None
) -> None:
    rows = manifest.csv_rows(source)
    _, columns = next(rows)
    if not {"id", *SIDES} <= set(columns):
        manifest.check(source)  # says what is missing
    sides = [columns.index(side) for side in SIDES if relocate is not None]
    id_at, marked_at = columns.index("id"), columns.index(COLUMN) if COLUMN in columns else None
    if marked_at is not None:
        columns.pop(marked_at)
    with (
        halves.kept.open("w", newline="", encoding="utf-8") as kept_file,
        halves.rejected.open("w", newline="", encoding="utf-8") as rejected_file,
    ):
        keep, reject = manifest.csv_writer(kept_file), manifest.csv_writer(rejected_file)
        keep(columns)
        reject([*columns, COLUMN])
        codes, expected = iter(marks.codes.tobytes()), iter(ids)
        for number, cells in rows:
            if next(expected, None) != cells[id_at]:
                raise UserError(
                    f"{source}:{number}: cannot be told from the rows beside it; a cell with a "
                    "quote in it has to be quoted"
                )
            if marked_at is not None:
                cells.pop(marked_at)
            for side in sides:
                if relocate is not None and cells[side]:
                    cells[side] = relocate(cells[side])
            code = next(codes)
            if code == marks.kept:
                keep(cells)
            else:
                reject([*cells, str(marks.stages[code])])


def _split_parquet(source: Path, halves: Halves, marks: Marks, relocate: Relocate | None) -> None:
    import pyarrow
    from pyarrow.parquet import ParquetFile, ParquetWriter

    with ParquetFile(source) as file:
        schema = file.schema_arrow
        if not {"id", *SIDES} <= set(schema.names):
            manifest.check(source)  # says what is missing
        if COLUMN in schema.names:
            schema = schema.remove(schema.get_field_index(COLUMN))
        marked = schema.append(pyarrow.field(COLUMN, pyarrow.string()))
        stages = pyarrow.array(marks.stages, pyarrow.string())
        with (
            ParquetWriter(halves.kept, schema) as kept,
            ParquetWriter(halves.rejected, marked) as rejected,
        ):
            start = 0
            for batch in _batches(source, file, schema.names):
                codes = marks.codes[start : start + batch.num_rows]
                start += batch.num_rows
                for side in SIDES if relocate else ():
                    at = schema.get_field_index(side)
                    paths = [path and relocate(path) for path in batch.column(at).to_pylist()]
                    batch = batch.set_column(
                        at, schema.field(at), pyarrow.array(paths).cast(schema.field(at).type)
                    )
                kept.write_batch(batch.filter(pyarrow.array(codes == marks.kept)))
                batch = batch.append_column(marked.field(COLUMN), stages.take(pyarrow.array(codes)))
                rejected.write_batch(batch.filter(pyarrow.array(codes != marks.kept)))


def _batches(source: Path, file: Any, columns: list[str]) -> Iterator[Any]:
    try:
        yield from file.iter_batches(1 << 16, columns=columns)
    except OSError as error:
        raise UserError(f"{source}: cannot be read ({error})") from None

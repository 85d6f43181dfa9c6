"""Write one manifest as two, row for row: what is kept, and what is rejected by which stage."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars

from auditeval import manifest, reading
from auditeval.types import EditPair, UserError

SIDES = ("original", "edited")
COLUMN = "rejected_by"
_NOT_DOWN = {b".", b"/", b"\\", b'"'}  # where a path that may not go down from its folder begins
_LINES, _ROWS = 20_000, 1 << 17  # at a time


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


class Move:
    """Paths of a manifest in the folder `source` as one in the folder `target` names them.

    Where a path goes down from `source`, that is `prefix` and the path; it leads to the same file
    whatever is a symbolic link. `__call__` is for any path.
    """

    def __init__(self, source: Path, target: Path) -> None:
        self._relocate = manifest.relocator(target, source)
        self.prefix = self._relocate("name").removesuffix("name")

    @staticmethod
    def between(source: Path, target: Path) -> Move | None:
        """None where both are one folder: there, paths stay what they are."""
        same = os.path.realpath(source) == os.path.realpath(target)
        return None if same else Move(source, target)

    def __call__(self, path: str) -> str:
        return self._relocate(path)


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
    move = Move.between(source.parent, halves.output.parent)
    suffix = source.suffix.lower()
    if suffix != halves.output.suffix.lower():
        _split_pairs(source, halves, marks)
    elif suffix == ".jsonl":
        _split_jsonl(source, halves, marks, move)
    elif suffix == ".csv":
        _split_csv(source, halves, ids, marks, move)
    else:
        _split_parquet(source, halves, marks, move)


def _split_pairs(source: Path, halves: Halves, marks: Marks) -> None:
    def chosen(keep: bool) -> Iterator[EditPair]:
        for pair, code in zip(manifest.iterate(source), marks.codes.tobytes(), strict=True):
            if (code == marks.kept) == keep:
                yield pair.model_copy(update={COLUMN: marks.stages[code]})

    manifest.write_to(halves.kept, chosen(True), halves.output)
    manifest.write_to(halves.rejected, chosen(False), halves.output)


def _split_jsonl(source: Path, halves: Halves, marks: Marks, move: Move | None) -> None:
    tails = [f', "{COLUMN}": {json.dumps(name)}}}\n'.encode() for name in marks.stages]
    number, start = 1, 0
    with (
        source.open("rb") as file,
        halves.kept.open("wb") as kept,
        halves.rejected.open("wb") as rejected,
    ):
        while block := list(islice(file, _LINES)):
            lines = _plain_lines(block, move)
            if lines is None:
                lines = [
                    _rewritten(line, source, n, move)
                    for n, line in enumerate(block, start=number)
                    if line.strip()
                ]
            codes = marks.codes[start : start + len(lines)].tobytes()
            number, start = number + len(block), start + len(lines)
            rows = list(zip(lines, codes, strict=True))
            kept.writelines([line for line, code in rows if code == marks.kept])
            rejected.writelines(
                [line.rstrip()[:-1] + tails[code] for line, code in rows if code != marks.kept]
            )


def _plain_lines(block: list[bytes], move: Move | None) -> list[bytes] | None:
    """The lines with their paths moved, or None where that takes a JSON parser.

    In a JSON string every quote has a backslash before it: what is sought here are keys, no text.
    """
    text = b"".join(block)
    gap = b" " if b'"id": "' in block[0] else b""
    if text.count(b'"id":%s"' % gap) != len(block) or b'"rejected_by"' in text:
        return None
    if move is None:
        return block if text.endswith(b"\n") else [*block[:-1], block[-1] + b"\n"]
    prefix = json.dumps(move.prefix)[1:-1].encode()
    for side in SIDES:
        key = b'"%s":%s"' % (side.encode(), gap)
        head, *rest = text.split(key)
        if len(rest) != len(block) or not {part[:1] for part in rest}.isdisjoint(_NOT_DOWN):
            return None
        text = (key + prefix).join([head, *rest])
    return [line + b"\n" for line in text.removesuffix(b"\n").split(b"\n")]


def _rewritten(line: bytes, source: Path, number: int, move: Move | None) -> bytes:
    row = manifest.checked_line(line, source, number)
    if COLUMN not in row and move is None:
        return line if line.endswith(b"\n") else line + b"\n"
    row.pop(COLUMN, None)
    for side in SIDES if move else ():
        row[side] = move(row[side])  # type: ignore[misc]
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"


def _split_csv(
    source: Path, halves: Halves, ids: polars.Series, marks: Marks, move: Move | None
) -> None:
    start = 0
    with halves.kept.open("wb") as kept, halves.rejected.open("wb") as rejected:
        for batch in _csv_batches(source):
            end = start + batch.num_rows
            rows: Any = polars.from_arrow(_moved(batch, move))
            if not rows["id"].equals(ids[start:end]):
                manifest.check(source)
                raise UserError(f"{source}: has rows that cannot be told apart; quote its cells")
            codes = polars.Series(marks.codes[start:end])
            stages = polars.Series(COLUMN, marks.stages, polars.String).gather(codes)
            rows = rows.drop(COLUMN, strict=False)
            keep = codes == marks.kept
            rows.filter(keep).write_csv(kept, include_header=not start)
            rows.with_columns(stages).filter(~keep).write_csv(rejected, include_header=not start)
            start = end
    if start != len(ids):
        manifest.check(source)
        raise UserError(f"{source}: has rows that cannot be told apart; quote its cells")


def _csv_batches(source: Path) -> Iterator[Any]:
    """Batches of text columns, an empty cell null."""
    import pyarrow
    from pyarrow import csv

    try:
        _, names = next(reading.csv_rows(source))
        convert = csv.ConvertOptions(
            column_types=dict.fromkeys(names, pyarrow.string()),
            null_values=[""],
            strings_can_be_null=True,
        )
        yield from csv.open_csv(
            source,
            csv.ReadOptions(block_size=8 << 20),
            csv.ParseOptions(newlines_in_values=True),
            convert,
        )
    except pyarrow.ArrowException as error:
        manifest.check(source)  # says where
        raise UserError(f"{source}: is not CSV ({error})") from None


def _split_parquet(source: Path, halves: Halves, marks: Marks, move: Move | None) -> None:
    import pyarrow
    from pyarrow.parquet import ParquetFile, ParquetWriter

    with ParquetFile(source) as file:
        schema = file.schema_arrow
        for side in SIDES if move else ():
            if side in schema.names:
                schema = schema.set(schema.get_field_index(side), pyarrow.field(side, "string"))
        if COLUMN in schema.names:
            schema = schema.remove(schema.get_field_index(COLUMN))
        # Of views pyarrow takes no rows.
        views = [at for at, x in enumerate(schema) if pyarrow.types.is_string_view(x.type)]
        for at in views:
            schema = schema.set(at, schema.field(at).with_type(pyarrow.string()))
        marked = schema.append(pyarrow.field(COLUMN, pyarrow.string()))
        stages = _arrow(polars.Series(marks.stages, dtype=polars.String)).cast("string")
        with (
            ParquetWriter(halves.kept, schema) as kept,
            ParquetWriter(halves.rejected, marked) as rejected,
            ThreadPoolExecutor(1) as aside,  # pyarrow works outside Python's lock
        ):
            start = 0
            for batch in _parquet_batches(source, file, schema.names):
                codes = marks.codes[start : start + batch.num_rows]
                start += batch.num_rows
                batch = _moved(batch, move)
                for at in views:
                    text = batch.column(at).cast(pyarrow.string())
                    batch = batch.set_column(at, schema.field(at), text)
                staying = batch.filter(_arrow(polars.Series(codes == marks.kept)))
                writing = aside.submit(kept.write_batch, staying)
                named = [*batch.columns, stages.take(_arrow(polars.Series(codes)))]
                batch = pyarrow.RecordBatch.from_arrays(named, schema=marked)
                rejected.write_batch(batch.filter(_arrow(polars.Series(codes != marks.kept))))
                writing.result()


def _arrow(values: polars.Series) -> Any:
    """As an array of pyarrow, whose own constructor imports pandas first: a third of a second."""
    return values.to_arrow()


def _parquet_batches(source: Path, file: Any, columns: list[str]) -> Iterator[Any]:
    try:
        yield from file.iter_batches(_ROWS, columns=columns)
    except OSError as error:
        raise UserError(f"{source}: cannot be read ({error})") from None


def _moved(batch: Any, move: Move | None) -> Any:
    """A batch with its paths moved; raises UserError where it has none."""
    import pyarrow
    from pyarrow import compute

    for side in SIDES if move else ():
        paths = batch.column(side).cast(pyarrow.string())
        if compute.any(compute.match_substring_regex(paths, r"^([./\\]|$)")).as_py():
            moved = [path and move(path) for path in paths.to_pylist()]  # type: ignore[misc]
            paths = pyarrow.array(moved, pyarrow.string())
        else:
            paths = compute.binary_join_element_wise(move.prefix, paths, "")  # type: ignore[union-attr]
        at = batch.schema.get_field_index(side)
        batch = batch.set_column(at, pyarrow.field(side, pyarrow.string()), paths)
    return batch

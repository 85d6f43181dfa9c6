"""Scores tables: CSV, JSONL or Parquet by suffix, one row a pair, errors included."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, fields
from itertools import count, islice
from math import isfinite
from pathlib import Path
from typing import Any

from auditeval.atomic import replacing
from auditeval.types import AXES, Scores, UserError

COLUMNS = tuple(field.name for field in fields(Scores))
NUMBERS = tuple(name for name in COLUMNS if name not in ("id", "status", "reason"))
SUFFIXES = (".csv", ".jsonl", ".parquet")


def read(path: str | os.PathLike[str]) -> Iterator[Scores]:
    """Stream a scores file; raises UserError with file and row for one that is no scores file."""
    path = Path(path)
    check_suffix(path)
    rows = _read_rows(path)
    for number in count(1):
        try:
            row = next(rows, None)
            if row is None:
                return
            # Tables made before there were intervals have no columns for them.
            cells = {name: row[name] if name in AXES else row.get(name) for name in NUMBERS}
            values = {name: None if x in ("", None) else float(x) for name, x in cells.items()}
            scores = Scores(row["id"], **values, status=row["status"], reason=row["reason"] or "")
            _check(scores)
        except OSError as error:
            raise UserError(f"{path}: cannot be read ({error.strerror or error})") from None
        except (KeyError, TypeError, ValueError, csv.Error) as error:
            raise UserError(
                f"{path}: row {number}: expected {', '.join(COLUMNS[:6])} ({error!r})"
            ) from None
        yield scores


def _check(row: Scores) -> None:
    """Raise ValueError where a row is not what `Evaluator.score` makes."""
    if not isinstance(row.id, str) or not row.id:
        raise ValueError(f"id is {row.id!r}")
    if row.status not in ("ok", "error"):
        raise ValueError(f"status is {row.status!r}, not ok or error")
    scores = [getattr(row, axis) for axis in AXES]
    known = [score for score in scores if score is not None]  # None: an axis that was not trained
    if not all(map(isfinite, known)) or bool(known) != (row.status == "ok"):
        raise ValueError(f"status is {row.status}, and {', '.join(AXES)} are {scores}")
    for axis, score in zip(AXES, scores, strict=True):
        low, high = getattr(row, f"{axis}_low"), getattr(row, f"{axis}_high")
        if (low, high) != (None, None) and not low <= score <= high:
            raise ValueError(f"{axis} is {score}, outside of its interval {low} to {high}")


def check_suffix(path: Path) -> None:
    """Raise UserError for a path that cannot be a scores table."""
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


def _write_jsonl(rows: Iterator[Scores], output: Path) -> None:
    with output.open("wb") as file:
        file.writelines(
            json.dumps(asdict(row), ensure_ascii=False).encode() + b"\n" for row in rows
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
            (quoted if "\r" in row.id + row.reason else plain).writerow(asdict(row))


def _write_parquet(rows: Iterator[Scores], output: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    number, text = pyarrow.float64(), pyarrow.string()
    schema = pyarrow.schema([(name, number if name in NUMBERS else text) for name in COLUMNS])
    with pyarrow.parquet.ParquetWriter(output, schema) as writer:
        while batch := [asdict(row) for row in islice(rows, 10_000)]:
            writer.write_batch(pyarrow.RecordBatch.from_pylist(batch, schema=schema))


def _read_jsonl(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def _read_rows(path: Path) -> Iterator[dict[str, Any]]:
    suffix = path.suffix.lower()
    if suffix == ".jsonl":
        yield from _read_jsonl(path)
    elif suffix == ".csv":
        with path.open(newline="", encoding="utf-8") as file:
            yield from csv.DictReader(file)
    else:
        import pyarrow.parquet

        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches():
                yield from batch.to_pylist()

"""The table of mixes: one row a tuple (A, B, C) with every parameter, as Parquet."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from auditeval.atomic import replacing

_BATCH_ROWS = 1000

_COLUMNS = {
    "rate_hz": "int32",
    **{"a_file": "text", "a_sha256": "text", "a_group": "text", "a_caption": "text"},
    **{"a_samples": "int64", "a_gain": "double"},
    **{"event_start": "int64", "event_samples": "int64", "position": "text", "moved": "bool_"},
    **{
        f"{letter}_{name}": kind
        for letter in "bc"
        for name, kind in {
            **{"file": "text", "sha256": "text", "group": "text", "prompt": "text"},
            **{"category": "text", "caption": "text", "start": "int64"},
            **{"level_db": "double", "gain": "double"},
        }.items()
    },
    **{"ab_caption": "text", "ac_caption": "text"},
}
_FILES = ("a_file", "b_file", "c_file")


def write(rows: Iterator[dict[str, Any]], path: Path) -> None:
    """Write rows as `plan.rows` makes them, atomically; files become relative to the table."""
    import pyarrow
    import pyarrow.parquet

    kinds = {
        kind: getattr(pyarrow, kind.replace("text", "string").replace("double", "float64"))()
        for kind in _COLUMNS.values()
    }
    schema = pyarrow.schema([(name, kinds[kind]) for name, kind in _COLUMNS.items()])
    portable: dict[Path, str] = {}

    def relative(file: Path) -> str:
        if file not in portable:
            portable[file] = Path(os.path.relpath(file, path.parent)).as_posix()
        return portable[file]

    with replacing(path) as temporary, pyarrow.parquet.ParquetWriter(temporary, schema) as writer:
        while batch := list(islice(rows, _BATCH_ROWS)):
            batch = [row | {key: relative(row[key]) for key in _FILES} for row in batch]
            writer.write_batch(pyarrow.RecordBatch.from_pylist(batch, schema=schema))


def read(path: Path) -> Iterator[dict[str, Any]]:
    """Stream the rows of a table."""
    import pyarrow.parquet

    with pyarrow.parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(_BATCH_ROWS):
            yield from batch.to_pylist()


def count(path: Path) -> int:
    """How many rows a table has."""
    import pyarrow.parquet

    with pyarrow.parquet.ParquetFile(path) as file:
        return file.metadata.num_rows

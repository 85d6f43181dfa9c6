"""The table of mixes: one row a tuple (A, B, C) with every parameter, as Parquet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from auditeval import manifest, storage
from auditeval.atomic import replacing
from auditeval.data import mixing
from auditeval.types import UserError

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
    path.parent.mkdir(parents=True, exist_ok=True)
    relative = manifest.relocator(path.parent)

    with replacing(path) as temporary, pyarrow.parquet.ParquetWriter(temporary, schema) as writer:
        while batch := list(islice(rows, _BATCH_ROWS)):
            batch = [row | {key: relative(str(row[key])) for key in _FILES} for row in batch]
            writer.write_batch(pyarrow.RecordBatch.from_pylist(batch, schema=schema))


def read(path: Path, first: int = 0) -> Iterator[dict[str, Any]]:
    """Stream the rows of a table from one on; raises UserError where it is damaged."""
    with _opened(path) as file:
        groups = range(first // _BATCH_ROWS, file.num_row_groups)  # as `write` made them
        rows = (row for x in file.iter_batches(_BATCH_ROWS, groups) for row in x.to_pylist())
        yield from islice(rows, first % _BATCH_ROWS, None)


def count(path: Path) -> int:
    """How many rows a table has."""
    with _opened(path) as file:
        return file.metadata.num_rows


def positions(path: Path) -> dict[str, int]:
    """How many rows have each of `mixing.POSITIONS`."""
    with _opened(path) as file:
        found = Counter(file.read(["position"]).column("position").to_pylist())
    return {position: found[position] for position in mixing.POSITIONS}


def recordings(path: Path) -> set[tuple[str, str]]:
    """The files that a table mixes, as it names them, each with its content hash."""
    found: set[tuple[str, str]] = set()
    with _opened(path) as file:
        for letter in "abc":
            names = [f"{letter}_file", f"{letter}_sha256"]
            for batch in file.iter_batches(_BATCH_ROWS, columns=names):
                found.update(zip(*map(batch.to_pydict().get, names), strict=True))
    return found


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(storage.local(path)) as file:
            yield file
    except (pyarrow.ArrowException, FileNotFoundError, KeyError) as error:
        raise UserError(
            f"{path}: is damaged or gone ({error}); delete its folder and build it again"
        ) from None

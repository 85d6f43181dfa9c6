"""The columns that filtering needs of a manifest; the rest stays on disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars

from auditeval import manifest, scores_table, storage
from auditeval.types import AXES, EditPair
from auditeval.votes import RATER_IDS

_PAIRS = polars.Schema({"id": polars.String, "operation": polars.String})
_REQUIRED = {name for name, field in EditPair.model_fields.items() if field.is_required()}
_CELLS = (f"{group}.{axis}" for group in ("ratings", "raters") for axis in AXES)
_KNOWN = {*EditPair.model_fields, *_CELLS, RATER_IDS}


class _Unclear(Exception):
    """A file that Polars read, but perhaps not as the row by row reader does."""


def read_pairs(path: Path) -> polars.DataFrame:
    """id and operation of each pair, in the order of the manifest.

    Where these columns are not plainly what they should be, the manifest is checked row by row:
    raises UserError with file and line. What stands in other columns is not checked.
    """
    manifest.check_suffix(path)
    try:
        table = _scan(path)
        if not table.height:
            raise _Unclear
    # TypeError: by a path that is not UTF-8
    except (polars.exceptions.PolarsError, OSError, TypeError, _Unclear):
        manifest.check(path)
        rows = ((pair.id, pair.operation) for pair in manifest.iterate(path))
        return polars.DataFrame(rows, _PAIRS, orient="row")
    scores_table.check_unique(table["id"], path)
    return table


def _scan(path: Path) -> polars.DataFrame:
    """id, and operation, null where the manifest has none. Raises _Unclear."""
    scans: dict[str, Callable[[], polars.LazyFrame]] = {
        ".jsonl": lambda: polars.scan_ndjson(path, schema=_PAIRS),
        ".csv": lambda: polars.scan_csv(
            path, infer_schema=False, schema_overrides=_PAIRS, glob=False
        ),
        ".parquet": lambda: polars.scan_parquet(path, glob=False),
    }
    suffix, path = path.suffix.lower(), storage.local(path)
    rows = scans[suffix]()
    found = rows.collect_schema()
    if suffix != ".jsonl":
        if not _REQUIRED <= set(found) <= _KNOWN:
            raise _Unclear
        if "operation" not in found:
            rows = rows.with_columns(operation=polars.lit(None, polars.String))
    if found["id"].is_numeric() or found["id"].is_nested():
        raise _Unclear
    table = rows.select(polars.col(name).cast(kind) for name, kind in _PAIRS.items()).collect()
    if not (table["id"].is_not_null() & (table["id"] != "")).all():
        raise _Unclear
    return table

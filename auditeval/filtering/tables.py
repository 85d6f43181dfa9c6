"""The columns that filtering needs of a manifest and of a scores table; the rest stays on disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars

from auditeval import manifest, scores_table
from auditeval.types import AXES, EditPair, UserError
from auditeval.votes import RATER_IDS

PAIRS = polars.Schema({"id": polars.String, "operation": polars.String})
SCORES = polars.Schema(
    [("id", polars.String), *((axis, polars.Float64) for axis in AXES), ("status", polars.String)]
)
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
        table = _scan(path, PAIRS)
        if not table.height:
            raise _Unclear
    except (polars.exceptions.PolarsError, OSError, _Unclear):
        manifest.check(path)
        rows = ((pair.id, pair.operation) for pair in manifest.iterate(path))
        return polars.DataFrame(rows, PAIRS, orient="row")
    return _unique(table, path)


def read_scores(path: Path) -> polars.DataFrame:
    """id and AXES of each row; an error row has no scores, and NaN is none.

    Raises UserError with file and row for what is no scores table.
    """
    scores_table.check_suffix(path)
    try:
        table = _scan(path, SCORES)
        if not table["status"].is_in(["ok", "error"]).all() or table["status"].has_nulls():
            raise _Unclear
    except (polars.exceptions.PolarsError, OSError, _Unclear):
        rows = (tuple(getattr(row, name) for name in SCORES) for row in scores_table.read(path))
        table = polars.DataFrame(rows, SCORES, orient="row")
    counts = polars.col("status") == "ok"
    scores = (polars.when(counts & polars.col(axis).is_finite()).then(axis) for axis in AXES)
    return _unique(table.select("id", *scores), path)


def _scan(path: Path, schema: polars.Schema) -> polars.DataFrame:
    """The columns of `schema`; one that a manifest may lack is null. Raises _Unclear."""
    scans: dict[str, Callable[[], polars.LazyFrame]] = {
        ".jsonl": lambda: polars.scan_ndjson(path, schema=schema),
        ".csv": lambda: polars.scan_csv(path, infer_schema=False, schema_overrides=schema),
        ".parquet": lambda: polars.scan_parquet(path, glob=False),
    }
    rows = scans[path.suffix.lower()]()
    found = rows.collect_schema()
    if schema == PAIRS and path.suffix.lower() != ".jsonl":
        if not _REQUIRED <= set(found) <= _KNOWN:
            raise _Unclear
        if "operation" not in found:
            rows = rows.with_columns(operation=polars.lit(None, polars.String))
    elif not set(schema) <= set(found):
        raise _Unclear
    if found["id"].is_numeric() or found["id"].is_nested():
        raise _Unclear
    table = rows.select(polars.col(name).cast(kind) for name, kind in schema.items()).collect()
    if not (table["id"].is_not_null() & (table["id"] != "")).all():
        raise _Unclear
    return table


def _unique(table: polars.DataFrame, path: Path) -> polars.DataFrame:
    again = (~table["id"].is_first_distinct()).arg_true()
    if len(again):
        name = table["id"][again[0]]
        first = (table["id"] == name).arg_true()[0]
        raise UserError(
            f"{path}: id {name!r} stands in rows {first + 1} and {again[0] + 1}; ids must be unique"
        )
    return table

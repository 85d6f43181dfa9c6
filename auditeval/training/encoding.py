"""The pass of a frozen encoder over the pairs of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from auditeval.features.store import Failure, FeatureStore
from auditeval.progress import bars
from auditeval.types import EditPair, UserError

Row = TypeVar("Row")
_CHUNK_PAIRS = 64


def encoding(
    store: FeatureStore,
    pairs: Sequence[EditPair],
    encode: Callable[[Sequence[EditPair]], list[Row]],
) -> list[Row]:
    """`encode` of all pairs, chunk by chunk under a progress bar."""
    rows: list[Row] = []
    with bars() as bar:
        task = bar.add_task(f"encoding with {store.encoder.name}", total=len(pairs))
        for start in range(0, len(pairs), _CHUNK_PAIRS):
            chunk = pairs[start : start + _CHUNK_PAIRS]
            rows += encode(chunk)
            bar.advance(task, len(chunk))
    return rows


def usable(pairs: Sequence[EditPair], rows: Sequence[Row | Failure]) -> list[Row]:
    """The rows, none of which may be a Failure: raises UserError with the first five reasons."""
    failed = [
        f"{pair.id}: {row.reason}"
        for pair, row in zip(pairs, rows, strict=True)
        if isinstance(row, Failure)
    ]
    if failed:
        shown = "; ".join(failed[:5]) + ("; ..." if len(failed) > 5 else "")
        raise UserError(
            f"{len(failed)} of {len(pairs)} pairs cannot be used ({shown}); mend them or take them "
            "out of the manifest"
        )
    return [row for row in rows if not isinstance(row, Failure)]

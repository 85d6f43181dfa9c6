"""The scores of pairs over their time, for a page: what `auditeval explain` says of them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from auditeval.pages.rows import Rows
from auditeval.progress import track
from auditeval.types import EditPair, UserError

if TYPE_CHECKING:
    from auditeval.explaining import Explanation

_SAID = ("original caption", "target caption", "instruction")


def explained(
    rows: Rows, chosen: Iterable[int], checkpoint: str | Path, device: str, cache_dir: Path | None
) -> tuple[dict[int, dict[str, Any]], str]:
    """{row: curves} of the pairs that can be explained, and why the others cannot, or "".

    An evaluator that hears pairs as a whole explains none.
    """
    from auditeval.explaining import explain
    from auditeval.scoring import load

    wanted = [row for row in sorted(set(chosen)) if None not in rows.clips[row]]
    if not wanted:
        return {}, ""
    evaluator = load(checkpoint, device, cache_dir)
    made: dict[int, dict[str, Any]] = {}
    why = ""
    for row in track(wanted, "curves", transient=True):
        try:
            found = explain(evaluator, _pair(rows, row))
        except UserError as error:
            why = why or str(error)
            continue
        made[row] = plain(found)
    return made, why


def plain(found: Explanation) -> dict[str, Any]:
    """What a page draws of an explanation; None where a curve has no value."""
    return {
        "seconds": found.seconds.tolist(),
        "change": _plain(found.change),
        "curves": {axis: _plain(curve) for axis, curve in found.curves.items()},
    }


def _plain(curve: np.ndarray) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in curve.round(3).tolist()]


def _pair(rows: Rows, row: int) -> EditPair:
    original, edited = rows.clips[row]
    words = {name: rows.words[name][row] for name in _SAID if name in rows.words}
    assert original is not None
    assert edited is not None
    return EditPair(
        id=rows.ids[row],
        original=original,
        edited=edited,
        original_caption=words.get("original caption", ""),
        target_caption=words.get("target caption", ""),
        instruction=words.get("instruction"),
    )

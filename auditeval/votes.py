"""Votes of raters where a format has no mapping: as a CSV cell, and as columns of Parquet.

A CSV cell is `3;4` or, of raters known by id, `r1=3;r2=4`. In Parquet `raters` holds lists of votes
in either case, and `rater_ids` beside it says whose they are.
"""

from __future__ import annotations

from typing import Any

from auditeval.types import UserError

RATER_IDS = "rater_ids"

Votes = list[float] | dict[str, float]


def to_cell(votes: Votes) -> str:
    """The CSV cell of votes; floats are written so that they are read as they were."""
    if isinstance(votes, list):
        return ";".join(map(repr, votes))
    return ";".join(f"{rater}={vote!r}" for rater, vote in votes.items())


def of_cell(cell: str) -> Votes:
    """The votes of a CSV cell; raises ValueError where it holds none.

    >>> of_cell("3;4.5"), of_cell("r1=3;r2=4.5")
    ([3.0, 4.5], {'r1': 3.0, 'r2': 4.5})
    """
    if "=" not in cell:
        return [float(vote) for vote in cell.split(";")]
    named = [part.partition("=") for part in cell.split(";")]
    return _by_rater([rater for rater, _, _ in named], [float(vote) for _, _, vote in named])


def to_columns(row: dict[str, Any]) -> dict[str, Any]:
    """A manifest's row with lists of votes only and, where raters are known, `RATER_IDS`."""
    named = {axis: v for axis, v in row.get("raters", {}).items() if isinstance(v, dict)}
    if not named:
        return row
    votes = {axis: list(given.values()) for axis, given in named.items()}
    ids = {axis: list(given) for axis, given in named.items()}
    return {**row, "raters": {**row["raters"], **votes}, RATER_IDS: ids}


def of_columns(row: dict[str, Any], where: str) -> dict[str, Any]:
    """The row that `to_columns` was given; UserError where ids and votes do not fit.

    A column of {rater: vote}, as other writers make it, has a null for each rater who gave none.
    """
    ids, raters = row.pop(RATER_IDS, {}), row.get("raters")
    if not isinstance(raters, dict):
        return row
    for axis, given in raters.items():
        if isinstance(given, dict):
            raters[axis] = {rater: vote for rater, vote in given.items() if vote is not None}
    try:
        raters.update({axis: _by_rater(named, raters[axis]) for axis, named in ids.items()})
    except (AttributeError, KeyError, TypeError, ValueError):
        raise UserError(
            f"{where}: {RATER_IDS} is {ids}, expected a different one for each vote of raters"
        ) from None
    return row


def _by_rater(raters: list[str], votes: list[float]) -> dict[str, float]:
    """{rater: vote}; raises ValueError where a rater stands twice or there are not as many."""
    if len(set(raters)) < len(raters):
        raise ValueError("a rater stands twice")
    return dict(zip(raters, votes, strict=True))

"""Votes to a manifest: pairs with `raters` by id, as the rest of the project reads it."""

from __future__ import annotations

from collections.abc import Collection

from auditeval.listening.results import Results
from auditeval.types import EditPair


def to_pairs(
    results: Results, listening_test: str, without: Collection[int] = ()
) -> list[EditPair]:
    """The pairs that have votes left, in their order; ratings are the means of the votes.

    `without` are trials whose votes are left out. Practice, repeats and attention items are no
    ratings; of a repeated pair the first vote counts.
    """
    panels = results.panels(without)
    made = []
    for number, pair in results.pairs.items():
        raters = {axis: panel[number] for axis, panel in panels.items() if number in panel}
        if raters:
            row = {
                **pair.model_dump(exclude_none=True),
                "listening_test": listening_test,
                "ratings": {},
                "raters": raters,
            }
            made.append(EditPair.model_validate(row))
    return made

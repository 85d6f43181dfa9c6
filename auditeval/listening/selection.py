"""Which pair a listener should hear next: in balanced or random order, or where a vote says most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

RULES = ("balanced", "random", "uncertain")
"""Fewest votes first with seeded ties (the default), any order, by expected gain."""
GOALS = ("ranking", "training")
"""What the gain of "uncertain" is for: the order of systems, or an evaluator's training."""


class Standing(NamedTuple):
    """What is known of one pair.

    `votes` :: (votes, 3) in AXES order, 1 to 5, NaN where not judged. `low` and `high` :: (3,) are
    the interval that an evaluator gives, or None. `raters`: whose votes these are, where known.
    """

    system: str
    operation: str
    votes: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    raters: Sequence[str] | None = None


def order(
    rule: str, goal: str, standings: Sequence[Standing], raters_a_pair: int, seed: int
) -> list[int]:
    """Indices of the pairs that want another vote, most wanted first.

    Those that have `raters_a_pair` votes want none.
    """
    rng = np.random.default_rng(seed)
    counts = np.array([len(standing.votes) for standing in standings], int)
    shuffled = rng.permutation(len(standings))
    wanting = shuffled[counts[shuffled] < raters_a_pair]
    return wanting[np.argsort(counts[wanting], kind="stable")].tolist()

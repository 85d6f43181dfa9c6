"""How often a scorer prefers the positive of a pair [salmon.txt eq. 1].

A score may be missing (None, NaN, or a likelihood of +inf, which is none); -inf is the logarithm
of a likelihood of 0 and compares as one. A pair that lacks a score has no winner.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from scipy import stats

from auditeval.types import Undefined


class PairwiseResult(NamedTuple):
    """`accuracy` is over the scored pairs; `with_losses` counts pairs without a score as lost, as
    SALMon's own script does, so that a scorer gains nothing by being silent. `interval` is the
    95 % Wilson interval of `with_losses`."""

    accuracy: float | Undefined
    with_losses: float | Undefined
    interval: tuple[float, float] | Undefined
    scored: int
    pairs: int


def outcome(positive: float | None, negative: float | None) -> float | None:
    """1 where the positive has the higher score, 0.5 on a tie, else 0; None where one is missing.

    >>> outcome(-3.0, -7.5), outcome(2.0, 2.0), outcome(1.0, float("nan"))
    (1.0, 0.5, None)
    """
    if not (_is_score(positive) and _is_score(negative)):
        return None
    return 1.0 if positive > negative else 0.5 if positive == negative else 0.0  # type: ignore[operator]


def pairwise_accuracy(
    positive: Sequence[float | None], negative: Sequence[float | None]
) -> float | Undefined:
    """Mean of 1[positive > negative] over the scored pairs, 0.5 for a tie; see `pairwise_result`.

    >>> pairwise_accuracy([2.0, 1.0, 1.0, float("nan")], [1.0, 1.0, 3.0, 0.0])
    0.5
    """
    return pairwise_result(positive, negative).accuracy


def pairwise_result(
    positive: Sequence[float | None], negative: Sequence[float | None]
) -> PairwiseResult:
    """Of pairs in one order. Raises ValueError for unequal lengths."""
    return of_outcomes([outcome(p, n) for p, n in zip(positive, negative, strict=True)])


def of_outcomes(outcomes: Sequence[float | None]) -> PairwiseResult:
    """`pairwise_result` of what `outcome` said of each pair."""
    won = [value for value in outcomes if value is not None]
    if not outcomes:
        none = Undefined("there are no pairs")
        return PairwiseResult(none, none, none, 0, 0)
    accuracy = sum(won) / len(won) if won else Undefined("no pair has both of its scores")
    with_losses = sum(won) / len(outcomes)
    interval = _wilson(with_losses, len(outcomes))
    return PairwiseResult(accuracy, with_losses, interval, len(won), len(outcomes))


def _is_score(value: float | None) -> bool:
    return value is not None and not math.isnan(value) and value != math.inf


def _wilson(share: float, count: int) -> tuple[float, float]:
    """Wilson's score interval (1927); ties vary less than wins and losses, so it errs wide."""
    z = float(stats.norm.ppf(0.975))
    centre = (share + z * z / (2 * count)) / (1 + z * z / count)
    reach = (z / (1 + z * z / count)) * math.sqrt(
        share * (1 - share) / count + z * z / (4 * count * count)
    )
    return max(0.0, centre - reach), min(1.0, centre + reach)

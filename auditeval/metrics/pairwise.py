"""How often a scorer prefers the positive of a pair [arXiv:2409.07437, eq. 1].

A score may be missing (None, NaN, or a likelihood of +inf, which is none); -inf is the logarithm
of a likelihood of 0 and compares as one. A pair that lacks a score has no winner.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
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


def pairwise_result(
    positive: Sequence[float | None], negative: Sequence[float | None]
) -> PairwiseResult:
    """Of pairs in one order, won where positive > negative, half on a tie.

    Raises ValueError for unequal lengths.

    >>> result = pairwise_result([2.0, 1.0, None, None], [1.0, 3.0, 0.0, 0.0])
    >>> result.accuracy, result.with_losses
    (0.5, 0.25)
    """
    return of_outcomes([outcome(p, n) for p, n in zip(positive, negative, strict=True)])


def of_outcomes(outcomes: Sequence[float | None]) -> PairwiseResult:
    """`pairwise_result` of what `outcome` said of each pair.

    >>> low, high = of_outcomes([1.0, 0.5, 0.0, 1.0]).interval
    >>> round(low, 2), round(high, 2)
    (0.22, 0.91)
    """
    won = [value for value in outcomes if value is not None]
    if not outcomes:
        none = Undefined("there are no pairs")
        return PairwiseResult(none, none, none, 0, 0)
    accuracy = sum(won) / len(won) if won else Undefined("no pair has both of its scores")
    with_losses = sum(won) / len(outcomes)
    interval = _wilson(with_losses, len(outcomes))
    return PairwiseResult(accuracy, with_losses, interval, len(won), len(outcomes))


TOTAL = "total"


class Contrast(NamedTuple):
    """Share of trials won, with its 95 % Wilson interval over `trials`."""

    accuracy: float | Undefined
    interval: tuple[float, float] | Undefined
    trials: int


def contrasts(
    trials: Sequence[Mapping[str, float | None]], right: str = "right"
) -> dict[str, Contrast]:
    """How often the right one of a trial scores above each other variant, ties half.

    A trial is {variant: score}. The answer has one entry a variant, in order of first appearance,
    and "total": of all of them together, each trial counting with those that it has. A trial
    without a score of both sides is left out of that variant. Variants of a trial share clips: the
    total's interval takes those of one trial for one observation, and so errs wide. Raises
    ValueError for a variant that is called "total".

    >>> found = contrasts([{"right": 3.0, "hiss": 1.0}, {"right": 2.0, "hiss": 2.0}])
    >>> found["hiss"].accuracy, found["total"].trials
    (0.75, 2)
    """
    variants = list(dict.fromkeys(name for trial in trials for name in trial if name != right))
    if TOTAL in variants:
        raise ValueError(f"a variant is called {TOTAL!r}, as all of them together are")
    won = np.full((len(trials), len(variants)), np.nan)
    for row, trial in enumerate(trials):
        for column, name in enumerate(variants):
            found = outcome(trial.get(right), trial.get(name))
            won[row, column] = np.nan if found is None else found
    columns = {name: won[:, [column]] for column, name in enumerate(variants)}
    return {name: _contrast(values) for name, values in {**columns, TOTAL: won}.items()}


def _contrast(won: np.ndarray) -> Contrast:
    """Of outcomes :: (trials, variants), NaN where there is none."""
    there = ~np.isnan(won)
    scored = there.any(axis=1)
    if not scored.any():
        none = Undefined("no trial has both of its scores")
        return Contrast(none, none, 0)
    sums, counts = np.where(there, won, 0.0)[scored].sum(axis=1), there[scored].sum(axis=1)
    share = float(sums.sum() / counts.sum())
    # So many trials of equal numbers of variants would say as much [Kish 1965].
    equal = float(counts.sum() ** 2 / np.square(counts).sum())
    return Contrast(share, _wilson(share, equal), len(sums))


def _is_score(value: float | None) -> bool:
    return value is not None and not math.isnan(value) and value != math.inf


def _wilson(share: float, count: float) -> tuple[float, float]:
    """Wilson's score interval (1927); ties vary less than wins and losses, so it errs wide."""
    z = float(stats.norm.ppf(0.975))
    centre = (share + z * z / (2 * count)) / (1 + z * z / count)
    reach = (z / (1 + z * z / count)) * math.sqrt(
        share * (1 - share) / count + z * z / (4 * count * count)
    )
    return max(0.0, centre - reach), min(1.0, centre + reach)

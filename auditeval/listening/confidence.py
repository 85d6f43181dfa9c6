"""When a listening test may stop: statements that hold however often one looks.

A confidence interval holds at one moment chosen before; who looks after each rater and stops when
it is narrow stops too early. Confidence sequences [Howard et al. 2021, arXiv:1810.08240] hold at
all moments at once. These are by betting on bounded values [Waudby-Smith and Ramdas 2023,
arXiv:2010.09686, section 4]: nothing is assumed of their law but its mean. The package confseq has
them; its last release (0.0.11, 2023) has to be compiled and wants pytest and multiprocess at run
time, so they are written out here, and a test holds them against numbers of confseq.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.optimize import brentq

from auditeval.listening.selection import Standing
from auditeval.types import AXES, Axis

LOWEST, HIGHEST = 1.0, 5.0
# Shares of the wealth that are bet, of equal weight: by Cover and Ordentlich's law of density
# 1 / sqrt(f (1 - f)), which loses least against the best share known afterwards.
_BETS = np.sin(np.pi * (np.arange(64) + 0.5) / 128) ** 2


def log_wealth(values: np.ndarray, mean: float) -> float:
    """Of who bet that the mean of values :: (values,) in 0..1 is above `mean`; ln 1 = 0 at first.

    The average of the wealth of those who bet the same share f at each value, prod(1 - f + f x /
    mean), over f: "diversified Kelly" [arXiv:2010.09686, section B; Orabona and Jun 2021,
    arXiv:2110.14099]. If the mean is not above, the chance that it ever reaches ln(1 / alpha) is at
    most alpha (Ville). As a share never changes, the order of values does not count.

    >>> round(log_wealth(np.ones(9), 0.5), 3)
    4.936
    """
    logs = np.log1p(np.multiply.outer(_BETS, values / mean - 1)).sum(axis=1)
    return float(np.logaddexp.reduce(logs) - np.log(len(_BETS)))


def confidence_sequence(
    values: np.ndarray, alpha: float = 0.05, low: float = LOWEST, high: float = HIGHEST
) -> tuple[float, float]:
    """Where the mean of independent values between `low` and `high` lies, by those so far.

    The chance that it lies outside at any number of values is at most `alpha`. Raises ValueError
    for values that are outside of the range or not finite.

    >>> low, high = confidence_sequence(np.repeat([3.5, 4.5], 20))
    >>> round(low, 2), round(high, 2)
    (3.62, 4.22)
    """
    values = (np.asarray(values, float) - low) / (high - low)
    if not (values >= 0).all() or not (values <= 1).all():
        raise ValueError(f"expected values from {low:g} to {high:g}")
    below = _lower_end(values, np.log(2 / alpha))
    above = 1 - _lower_end(1 - values, np.log(2 / alpha))
    return low + (high - low) * below, low + (high - low) * above


def _lower_end(values: np.ndarray, needed: float) -> float:
    """The least mean above which nobody has won `needed` by betting; wealth falls with the mean."""
    least = 1e-9
    if len(values) == 0 or log_wealth(values, least) < needed:
        return 0.0
    return float(brentq(lambda mean: log_wealth(values, mean) - needed, least, 1.0, xtol=1e-9))


Claim: TypeAlias = tuple[int, int, int]
"""(axis, a, b): on this axis system a is above system b."""


class Ranking(NamedTuple):
    """Systems of one axis, the best first: the `means` of their pairs' mean votes (None where
    nobody heard one), intervals of what a rater gives on average :: (systems, 2), which hold
    together at all times, and the pairs of systems whose order is not settled."""

    axis: Axis
    systems: list[str]
    means: list[float | None]
    intervals: list[tuple[float, float]]
    undecided: list[tuple[str, str]]

    @property
    def settled(self) -> bool:
        return not self.undecided


def settled(
    standings: Sequence[Standing], alpha: float = 0.05, finished: Sequence[str] | None = None
) -> list[Ranking]:
    """The ranking of each judged axis, and what of it can be said whenever one looks.

    The chance that two systems are ever said to be in the wrong order, on any axis, is at most
    `alpha`, though the test is looked at after each rater and stopped when all `Ranking.settled`.

    The unit is the rater, as votes of one are not independent: of two systems, each rater counts by
    the difference of the means of the own votes for them, between -4 and 4; who heard one of them
    alone does not count. Raters are taken as independent, and which of a system's pairs one hears
    as saying nothing of how these sound (fewest votes first, ties by seed). A rater's difference
    must not be looked at while it is made: `finished` names those who are done, others are left
    out; None says that all are. Over pairs of systems, both directions and axes: Holm's method.

    Nothing is assumed of the differences but their bounds, and that costs raters, as one to come
    may vote -4: with S systems and one axis log2(S (S - 1) / alpha) at the very least. Raises
    ValueError where votes come without raters.
    """
    votes, pair, rater, system, names = _table(standings, finished)
    tables: dict[int, np.ndarray] = {}
    evidence: dict[Claim, float] = {}
    for axis in np.flatnonzero(np.isfinite(votes).any(axis=0)).tolist():
        given = np.isfinite(votes[:, axis])
        tables[axis] = _means(votes[given, axis], rater[given], system[pair[given]], len(names))
        for a, b in permutations(range(len(names)), 2):
            difference = tables[axis][:, a] - tables[axis][:, b]
            unit = (difference[np.isfinite(difference)] / (HIGHEST - LOWEST) + 1) / 2
            evidence[axis, a, b] = log_wealth(unit, 0.5)
    above = _rejected(evidence, alpha)
    made = []
    for axis, table in tables.items():
        given = np.isfinite(votes[:, axis])
        levels = _levels(votes[given, axis], pair[given], system)
        ranked = sorted(
            range(len(names)),
            key=lambda n: (-(levels[n] or 0.0), names[n]),  # unheard ones last
        )
        columns = [table[np.isfinite(table[:, number]), number] for number in ranked]
        one = alpha / (len(tables) * len(names))
        made.append(
            Ranking(
                AXES[axis],
                [names[number] for number in ranked],
                [levels[number] for number in ranked],
                [confidence_sequence(column, one) for column in columns],
                [
                    (names[a], names[b])
                    for a, b in combinations(ranked, 2)
                    if (axis, a, b) not in above
                ],
            )
        )
    return made


def _table(
    standings: Sequence[Standing], finished: Sequence[str] | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, list[str]]:
    """Votes :: (votes, 3), the number of the pair and of the rater of each, the number of the
    system of each pair, and the systems' names."""
    if any(len(s.votes) and len(s.raters or ()) != len(s.votes) for s in standings):
        raise ValueError("expected the rater of each vote: the unit of the statement is the rater")
    names = sorted({standing.system for standing in standings})
    system = np.array([names.index(standing.system) for standing in standings], int)
    raters = [rater for standing in standings for rater in standing.raters or ()]
    numbers = {rater: number for number, rater in enumerate(dict.fromkeys(raters))}
    kept = np.array([finished is None or rater in finished for rater in raters], bool)
    votes = np.concatenate([np.empty((0, len(AXES))), *(s.votes for s in standings)])
    pair = np.repeat(np.arange(len(standings)), [len(s.votes) for s in standings])
    rater = np.array([numbers[rater] for rater in raters], int)
    return votes[kept], pair[kept], rater[kept], system, names


def _means(votes: np.ndarray, rater: np.ndarray, system: np.ndarray, systems: int) -> np.ndarray:
    """Of each rater for each system :: (raters, systems), NaN where there are none."""
    size = (rater.max() + 1) * systems
    sums, counts = (np.bincount(rater * systems + system, w, size) for w in (votes, None))
    means = np.full(size, np.nan)
    np.divide(sums, counts, where=counts > 0, out=means)
    return means.reshape(-1, systems)


def _levels(votes: np.ndarray, pair: np.ndarray, system: np.ndarray) -> list[float | None]:
    """Of each system the mean over its pairs of their mean votes, None where there are none."""
    sums, counts = (np.bincount(pair, w, len(system)) for w in (votes, None))
    heard = counts > 0
    total = np.bincount(system[heard], sums[heard] / counts[heard], system.max() + 1)
    pairs = np.bincount(system[heard], minlength=system.max() + 1)
    return [float(t / n) if n else None for t, n in zip(total, pairs, strict=True)]


def _rejected(evidence: dict[Claim, float], alpha: float) -> set[Claim]:
    """Those claims whose contrary Holm's method rejects, by their log wealth, and what follows: if
    a is above b and b above c, a is above c."""
    found: set[Claim] = set()
    for claim in sorted(evidence, key=lambda claim: -evidence[claim]):
        if evidence[claim] < np.log((len(evidence) - len(found)) / alpha):
            break
        found.add(claim)
    while True:
        implied = {
            (axis, a, d) for axis, a, b in found for other, c, d in found if (axis, b) == (other, c)
        }
        if implied <= found:
            return found
        found |= implied

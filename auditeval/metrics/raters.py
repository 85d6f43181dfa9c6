"""How far raters agree, and how far an evaluator can agree with their mean [auditeval.txt 3.1].

Votes are those of one axis: of each pair a list, or {rater: vote} where raters are known by id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt

import numpy as np

from auditeval.metrics.agreement import LEVELS, Agreement, computed, percentiles
from auditeval.types import Undefined

Votes = Sequence[float] | Mapping[str, float]

CORRELATIONS = ("LCC", "SRCC")
_DRAWS_PER_SPLIT = 5


def human_ceiling(
    votes: Sequence[Votes], systems: Sequence[str | None], splits: int = 200, seed: int = 1984
) -> dict[str, dict[str, Agreement]]:
    """The correlation with this panel's mean that no evaluator can be expected to exceed.

    {"utterance" | "system": {"LCC" | "SRCC": Agreement}}, by split halves: each pair's votes are
    split at random into two halves, the correlation of their means is averaged over the splits and
    stepped up to the whole panel by Spearman-Brown, k r / (1 + (k - 1) r), where the panel has k
    times the votes of a half. That is the panel's *reliability*, the correlation of its mean with
    that of another such panel. The ceiling is its *square root*: the correlation of the panel's
    mean with the mean of infinitely many votes [Spearman 1910; Hsu, Borst and Theunissen 2004]. An
    evaluator, which has no noise of votes, may agree with a panel better than another panel does;
    to call the reliability itself the ceiling is a common mistake [10.31234/osf.io/gjk45]. Halves
    that do not agree (r <= 0) make a ceiling of 0. For SRCC both formulas are approximations.

    Of an odd number of votes a random one is left out. Votes of raters with ids who all heard
    (nearly) all pairs are not split pair by pair: the raters are, anew in each split, so that a
    rater's bias, which moves all pairs alike, costs no correlation. Where raters heard different
    pairs, who happened to rate a pair is a part of the noise, and votes are split pair by pair.

    Intervals are percentiles over draws of whole systems, as in `agreement`, five in each split.
    Pairs of fewer than 2 votes are left out; `items` counts the others. Raises ValueError for
    unequal lengths and for votes that are not finite.
    """
    if len(votes) != len(systems):
        raise ValueError(f"votes of {len(votes)} pairs, {len(systems)} systems")
    kept = [row for row, given in enumerate(votes) if len(given) >= 2]
    if not kept:
        none = Undefined("no pair has 2 votes")
        return {level: dict.fromkeys(CORRELATIONS, Agreement(none, none, 0)) for level in LEVELS}
    table, by_rater = _table([votes[row] for row in kept])
    named = [systems[row] for row in kept]
    _, codes = np.unique([str(system) for system in named], return_inverse=True)
    clusters = [np.flatnonzero(codes == code) for code in range(codes.max() + 1)]
    rng = np.random.default_rng(seed)
    found: list[dict[tuple[str, str], float | Undefined]] = []
    drawn: list[dict[tuple[str, str], float | Undefined]] = []
    steps = []
    for _ in range(splits):
        halves = _split(table, by_rater, rng)
        sizes = halves.sum(axis=2)
        means = np.where(halves, table, 0.0).sum(axis=2) / sizes
        steps.append(np.mean(1 / sizes) / np.mean(1 / np.isfinite(table).sum(axis=1)))
        found.append(_correlations(means, clusters, np.arange(len(clusters))))
        for _ in range(_DRAWS_PER_SPLIT):
            pick = rng.integers(len(clusters), size=len(clusters))
            values = _correlations(means, clusters, pick)
            drawn.append({key: _ceiling(value, steps[-1]) for key, value in values.items()})

    def of(level: str, name: str) -> Agreement:
        items = len(kept) if level == "utterance" else len(clusters)
        unnamed = Undefined("not every pair names its system")
        if None in named and level == "system":
            return Agreement(unnamed, unnamed, 0)
        value = _ceiling(_mean([values[level, name] for values in found]), float(np.mean(steps)))
        interval = percentiles([values[level, name] for values in drawn], len(clusters))
        return Agreement(value, unnamed if None in named else interval, items)

    return {level: {name: of(level, name) for name in CORRELATIONS} for level in LEVELS}


def _table(votes: Sequence[Votes]) -> tuple[np.ndarray, bool]:
    """Votes :: (pairs, raters) or (pairs, most votes), NaN where there is none.

    The flag says that its columns are raters, any half of whom voted on every pair.
    """
    panels = [given for given in votes if isinstance(given, Mapping)]
    raters = sorted({rater for panel in panels for rater in panel})
    fewest = min(map(len, votes))
    by_rater = len(panels) == len(votes) and fewest > len(raters) - len(raters) // 2
    if by_rater:
        table = np.array([[panel.get(rater, np.nan) for rater in raters] for panel in panels])
    else:
        table = np.full((len(votes), max(map(len, votes))), np.nan)
        for row, given in zip(table, votes, strict=True):
            row[: len(given)] = list(given.values()) if isinstance(given, Mapping) else given
    if np.isfinite(table).sum() != sum(map(len, votes)):
        raise ValueError("votes must be finite; leave out those that are not there")
    return table, by_rater


def _split(table: np.ndarray, by_rater: bool, rng: np.random.Generator) -> np.ndarray:
    """Which votes of a table belong to the first half, and which to the second :: (2, *table)."""
    there = np.isfinite(table)
    if by_rater:
        place = np.broadcast_to(rng.permutation(table.shape[1]), table.shape)
        size = np.full((len(table), 1), table.shape[1] // 2)
    else:
        order = np.where(there, rng.random(table.shape), np.inf).argsort(axis=1)
        place = order.argsort(axis=1)
        size = there.sum(axis=1, keepdims=True) // 2
    return np.stack([there & (place < size), there & (place >= size) & (place < 2 * size)])


def _correlations(
    means: np.ndarray, clusters: Sequence[np.ndarray], pick: np.ndarray
) -> dict[tuple[str, str], float | Undefined]:
    """{(level, name): value} of the means of two halves :: (2, pairs), over the systems `pick`."""
    pairs = means[:, np.concatenate([clusters[system] for system in pick])]
    systems = np.stack([means[:, clusters[system]].mean(axis=1) for system in pick], axis=1)
    sides = ("means of one half of the votes", "means of the other half of the votes")
    return {
        (level, name): computed(name, halves[0], halves[1], sides)
        for level, halves in (("system", systems), ("utterance", pairs))
        for name in CORRELATIONS
    }


def _mean(values: Sequence[float | Undefined]) -> float | Undefined:
    """Of a statistic over splits; undefined where it is for more than a few of them."""
    defined = [value for value in values if not isinstance(value, Undefined)]
    if len(defined) < 0.95 * len(values) or not defined:
        return next(value for value in values if isinstance(value, Undefined))
    return float(np.mean(defined))


def _ceiling(correlation: float | Undefined, step: float) -> float | Undefined:
    """Root of the reliability of a panel of `step` times the votes of the halves that correlate."""
    if isinstance(correlation, Undefined):
        return correlation
    r = max(correlation, 0.0)
    return sqrt(step * r / (1 + (step - 1) * r))

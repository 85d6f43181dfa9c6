"""Agreement within groups: how far predictions order the versions of one thing as people do.

Whoever chooses among the versions of one song says nothing of how they compare with those of
another. What there is to agree with is the order within a song, and of that the mean over songs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from auditeval.metrics.agreement import (
    FEWEST_CLUSTERS,
    computed,
    no_correlation,
    percentiles,
    too_few_clusters,
)
from auditeval.metrics.raters import Votes, ceiling, halves, ordered
from auditeval.seed import SEED
from auditeval.types import Undefined

CORRELATIONS = ("SRCC", "KTAU")
_HALVES = ("means of one half of the votes", "means of the other half of the votes")


class Within(NamedTuple):
    """The mean over groups of a correlation within each, and its 95 % bootstrap interval.

    `groups` are the correlations of all groups by name. The mean is over those that are defined;
    of the others a reader has to know.
    """

    value: float | Undefined
    interval: tuple[float, float] | Undefined
    groups: Mapping[str, float | Undefined]

    @property
    def undefined(self) -> dict[str, Undefined]:
        """The groups without a correlation, and why."""
        return {name: found for name, found in self.groups.items() if isinstance(found, Undefined)}


def within(
    predicted: Sequence[float],
    rated: Sequence[float],
    groups: Sequence[str],
    resamples: int = 1000,
    seed: int = SEED,
) -> dict[str, Within]:
    """{"SRCC" | "KTAU": the mean over groups of the correlation within each}.

    A group has no correlation where it holds fewer than 3 items and where all its predictions, or
    ratings, are equal. Intervals are the percentiles of a bootstrap that draws whole groups. Raises
    ValueError for unequal lengths or values that are not finite.

    >>> song = ["a"] * 3 + ["b"] * 3 + ["c"] * 3
    >>> found = within([1, 2, 3, 5, 4, 6, 7, 7, 7], [1, 2, 3, 1, 2, 3, 1, 2, 3], song)["SRCC"]
    >>> found.value, found.undefined
    (0.75, {'c': Undefined(reason='all predictions are equal')})
    >>> found.interval.reason
    '2 groups; an interval over groups needs 5'
    """
    x, y = np.asarray(predicted, float), np.asarray(rated, float)
    if x.shape != y.shape or len(x) != len(groups) or len(x) == 0:
        raise ValueError(f"{len(x)} predictions, {len(y)} ratings, {len(groups)} groups")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError("predictions and ratings must be finite; leave out undefined ones")
    rows = _rows(groups)
    found = {}
    for name in CORRELATIONS:
        of_groups = {group: computed(name, x[at], y[at]) for group, at in rows.items()}
        found[name] = _over_groups(of_groups, _mean, resamples, seed)
    return found


def ceiling_within(
    votes: Sequence[Votes],
    groups: Sequence[str],
    splits: int = 200,
    resamples: int = 1000,
    seed: int = SEED,
) -> Within:
    """The mean SRCC within groups that the noise of votes leaves to an evaluator without error.

    As `raters.rater_ceiling`, within groups: the raters of each are split in random halves, whose
    mean votes correlate; the mean over splits and groups is stepped up to the whole panel and its
    root taken. `groups` of the result hold what halves correlate by, the mean over splits, which is
    undefined where it is in more than one of twenty of them. Pairs of fewer than 2 votes are left
    out. Of the ranks of few versions, some of them tied, it is an upper estimate: of six, picked by
    11 to 40 simulated listeners, what the truth reaches lies .03 to .11 below. Raises ValueError
    for unequal lengths and for votes that are not finite.

    >>> votes = [{"x": 1, "y": 1}, {"x": 2, "y": 3}, {"x": 3, "y": 2}]
    >>> found = ceiling_within(votes, ["song"] * 3, splits=4)
    >>> found.groups, round(found.value, 3)
    ({'song': 0.5}, 0.816)
    """
    if len(votes) != len(groups):
        raise ValueError(f"votes of {len(votes)} pairs, {len(groups)} groups")
    kept = [row for row, given in enumerate(votes) if len(given) >= 2]
    for row in kept:
        given = votes[row]
        if not np.isfinite([*(given.values() if isinstance(given, Mapping) else given)]).all():
            raise ValueError("votes must be finite; leave out those that are not there")
    rng = np.random.default_rng(seed)
    of_groups: dict[str, float | Undefined] = {}
    steps = []
    for group, rows in _rows([groups[row] for row in kept]).items():
        panel, _ = ordered([votes[kept[row]] for row in rows], [group] * len(rows))
        made = [(_of_halves(means), step) for means, step in halves(panel, splits, rng)]
        values = [value for value, _ in made if not isinstance(value, Undefined)]
        if not values or len(values) < 0.95 * splits:
            of_groups[group] = next(value for value, _ in made if isinstance(value, Undefined))
            continue
        of_groups[group] = float(np.mean(values))
        steps.append(np.mean([step for _, step in made]))

    def stepped_up(correlations: np.ndarray, rows: np.ndarray) -> float:
        return ceiling(float(correlations.mean()), float(np.mean([steps[row] for row in rows])))

    return _over_groups(of_groups, stepped_up, resamples, seed)


def _of_halves(means: np.ndarray) -> float | Undefined:
    """SRCC of the means of two halves :: (2, pairs)."""
    means = means.round(9)  # so that sums of the same votes in another order are level
    none = no_correlation(means[0], means[1], _HALVES)
    return none or float(np.corrcoef(stats.rankdata(means, axis=1))[0, 1])


def _mean(correlations: np.ndarray, rows: np.ndarray) -> float:
    return float(correlations.mean())


def _rows(groups: Sequence[str]) -> dict[str, np.ndarray]:
    """Row numbers of each group, by name in alphabetical order: what is drawn of them does not
    depend on the order of the rows."""
    found: dict[str, list[int]] = {}
    for row, group in enumerate(groups):
        found.setdefault(group, []).append(row)
    return {group: np.array(rows) for group, rows in sorted(found.items())}


def _over_groups(
    of_groups: Mapping[str, float | Undefined],
    statistic: Callable[[np.ndarray, np.ndarray], float],
    resamples: int,
    seed: int,
) -> Within:
    """Of the groups that have a correlation: a statistic of correlations and of their places."""
    values = np.array([value for value in of_groups.values() if not isinstance(value, Undefined)])
    count = len(values)
    if count == 0:
        reasons = dict.fromkeys(v.reason for v in of_groups.values() if isinstance(v, Undefined))
        none = Undefined(f"no group has a correlation ({'; '.join(reasons) or 'there is none'})")
        return Within(none, none, of_groups)
    value = statistic(values, np.arange(count))
    if count < FEWEST_CLUSTERS:
        return Within(value, too_few_clusters(count, "groups"), of_groups)
    rng = np.random.default_rng(seed)
    picks = [rng.integers(count, size=count) for _ in range(resamples)]
    draws = [statistic(values[pick], pick) for pick in picks]
    return Within(value, percentiles(draws, count), of_groups)

"""Agreement of predictions with ratings: MSE, LCC, SRCC, KTAU [arXiv:2508.11966, 5.1].

At utterance level over pairs, at system level over the means of each system.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from auditeval.metrics.resampling import on_draws, rounding, scaled
from auditeval.seed import SEED
from auditeval.text import counted
from auditeval.types import Undefined


def mse(predicted: np.ndarray, rated: np.ndarray) -> float:
    """Mean squared error, in squared points.

    >>> mse(np.array([2.0, 4.0]), np.array([3.0, 4.0]))
    0.5
    """
    return float(np.mean(np.square(predicted - rated)))


def pearson(x: np.ndarray, y: np.ndarray) -> float:
    """The linear correlation.

    >>> pearson(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]))
    1.0
    """
    return float(np.corrcoef(scaled(x), scaled(y))[0, 1])


def on_rating_scale(values: Sequence[float]) -> bool:
    """Whether they may be ratings: each rounds to a grade of 1 to 5, and half of them or more lie
    between these.

    What learnt from ratings goes a little beyond the ends of the scale; per cent go far beyond, and
    similarities (0 to 1) lie below it. A measure of about the same range, as PESQ, is not told.

    >>> on_rating_scale([1.2, 4.9, 5.03]), on_rating_scale([0.6, 0.7, 1.0])
    (True, False)
    """
    lowest, highest = min(values), max(values)
    return lowest >= 0.5 and highest < 5.5 and 1 <= float(np.median(values)) <= 5


STATISTICS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "MSE": mse,
    "LCC": pearson,
    "SRCC": lambda x, y: pearson(stats.rankdata(x), stats.rankdata(y)),
    "KTAU": lambda x, y: float(stats.kendalltau(x, y, variant="b").statistic),
}
LOWER_IS_BETTER = frozenset({"MSE"})
"""The errors; the others are correlations, which `no_correlation` can leave undefined."""
LEVELS = ("system", "utterance")
FEWEST_CLUSTERS = 5
"""Of fewer systems a bootstrap has few draws that differ, and gives no interval: of two it would
hold what it is to hold in half of all cases, of three in three quarters."""
_NAMELESS = Undefined("not every pair names its system")
_TOO_LARGE = Undefined("its values are too large to compute with")


class Agreement(NamedTuple):
    """A value with its 95 % bootstrap interval; either may be undefined, with the reason.

    `items` is the number of pairs, or of systems, that the value was computed over.
    """

    value: float | Undefined
    interval: tuple[float, float] | Undefined
    items: int


def agreement(
    predicted: Sequence[float],
    rated: Sequence[float],
    systems: Sequence[str | None],
    resamples: int = 1000,
    seed: int = SEED,
) -> dict[str, dict[str, Agreement]]:
    """{"system" | "utterance": {"MSE" | "LCC" | "SRCC" | "KTAU": Agreement}}.

    Intervals are the `percentiles` of a bootstrap that draws whole *systems*, since pairs of one
    system are not independent. Correlations are undefined for fewer than 3 items and for constant
    input. Raises ValueError for unequal lengths or values that are not finite.

    >>> result = agreement([1, 2, 3, 4], [1, 2, 3, 5], ["a", "a", "b", "b"], resamples=0)
    >>> result["utterance"]["SRCC"].value, result["system"]["SRCC"].value
    (1.0, Undefined(reason='2 items; a correlation needs 3'))
    """
    x, y = _checked(predicted, rated, systems)
    clusters, draws = _drawn(systems, resamples, seed)
    result = {"utterance": _level(x, y, clusters, draws)}
    if None in systems:
        return {
            "system": dict.fromkeys(STATISTICS, Agreement(_NAMELESS, _NAMELESS, 0)),
            "utterance": {
                name: found._replace(interval=_NAMELESS)
                for name, found in result["utterance"].items()
            },
        }
    x_means, y_means = (_means(values, clusters) for values in (x, y))
    return {"system": _level(x_means, y_means, _each(clusters), draws), **result}


class Coverage(NamedTuple):
    """Share of the ratings that lie in their intervals, the mean width in points, and how many."""

    share: float
    width: float
    items: int


def coverage(intervals: Sequence[Sequence[float]], rated: Sequence[float]) -> Coverage:
    """Of (low, high) for each rating, ends included. Raises ValueError for unequal lengths or none,
    and for values that are not finite.

    >>> coverage([(1.0, 2.0), (3.0, 5.0)], [2.0, 2.5])
    Coverage(share=0.5, width=1.5, items=2)
    """
    bounds, y = np.asarray(intervals, float).reshape(-1, 2), np.asarray(rated, float)
    if len(bounds) != len(y) or len(y) == 0:
        raise ValueError(f"{len(bounds)} intervals, {len(y)} ratings")
    if not (np.isfinite(bounds).all() and np.isfinite(y).all()):
        raise ValueError("intervals and ratings must be finite; leave out undefined ones")
    inside = (bounds[:, 0] <= y) & (y <= bounds[:, 1])
    return Coverage(float(inside.mean()), float(np.diff(bounds).mean()), len(y))


def area_under_roc(predicted: Sequence[float], succeeded: Sequence[bool]) -> float | Undefined:
    """How often a success is rated above a failure, a tie counting half: 0 to 1, .5 by chance.

    The area under the ROC curve (scikit-learn's), undefined without a success or a failure.

    >>> area_under_roc([4.0, 3.0, 3.0, 1.0], [True, True, False, False])
    0.875
    >>> area_under_roc([4.0, 3.0], [True, True])
    Undefined(reason='all of them succeeded')
    """
    if all(succeeded) or not any(succeeded):
        return Undefined(f"{'all' if any(succeeded) else 'none'} of them succeeded")
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(succeeded, predicted))


def system_means(values: Sequence[float], systems: Sequence[str]) -> dict[str, float]:
    """Mean of each system, by name in order of first appearance; raises ValueError for unequal
    lengths.

    >>> system_means([1.0, 2.0, 5.0], ["a", "a", "b"])
    {'a': 1.5, 'b': 5.0}
    """
    rows: dict[str, list[int]] = {}
    for row, (_, system) in enumerate(zip(values, systems, strict=True)):
        rows.setdefault(system, []).append(row)
    return dict(zip(rows, _means(np.asarray(values, float), rows.values()).tolist(), strict=True))


def _means(values: np.ndarray, clusters: Iterable[Sequence[int] | np.ndarray]) -> np.ndarray:
    """Of the rows of each cluster; those that rounding alone tells apart are the same.

    Else equal means would be a tie or none, as the order of the rows has it.
    """
    found = [(values[rows].mean(), _rounding(values[rows])) for rows in clusters]
    means, slack = np.array(found).T
    order = means.argsort()
    ascending, slack = means[order], slack[order]
    begins = np.diff(ascending, prepend=-np.inf) > np.maximum(slack, np.append(0.0, slack[:-1]))
    means[order] = np.maximum.accumulate(np.where(begins, ascending, -np.inf))
    return means


def _rounding(values: np.ndarray) -> float:
    """By how much means of these values may differ where they are equal."""
    return float(rounding(np.abs(values).max(initial=0.0)))


def paired_difference(
    first: Sequence[float],
    second: Sequence[float],
    rated: Sequence[float],
    systems: Sequence[str | None],
    statistic: str = "SRCC",
    resamples: int = 1000,
    seed: int = SEED,
) -> dict[str, Agreement]:
    """{"system" | "utterance": a statistic of evaluator `first` minus that of `second`}.

    Both are computed on the same bootstrap draws of systems, so what the pairs share cancels: an
    interval that excludes 0 says that one evaluator is better on data like these.

    >>> found = paired_difference([1, 2, 3], [1, 3, 2], [2, 3, 4], ["a", "b", "c"], resamples=0)
    >>> found["utterance"].value
    0.5
    """
    a, y = _checked(first, rated, systems)
    b, _ = _checked(second, rated, systems)

    clusters, draws = _drawn(systems, resamples, seed)
    means = [_means(values, clusters) for values in (a, b, y)]
    found = {}
    for level, sides, of_clusters in (
        ("system", means, _each(clusters)),
        ("utterance", [a, b, y], clusters),
    ):
        *values, rates = sides
        drawn = [on_draws(side, rates, of_clusters, draws)[statistic] for side in values]
        first_value, second_value = (computed(statistic, side, rates) for side in values)
        interval = percentiles(_told(drawn[0] - drawn[1]), len(clusters))
        found[level] = Agreement(_less(first_value, second_value), interval, len(rates))
    if None in systems:
        found["system"] = Agreement(_NAMELESS, _NAMELESS, 0)
        found["utterance"] = found["utterance"]._replace(interval=_NAMELESS)
    return found


def _less(first: float | Undefined, second: float | Undefined) -> float | Undefined:
    for value in (first, second):
        if isinstance(value, Undefined):
            return value
    return first - second  # type: ignore[operator]


def _drawn(
    systems: Sequence[str | None], resamples: int, seed: int
) -> tuple[list[np.ndarray], np.ndarray]:
    """Row numbers of each system, and how often it is in each draw of the bootstrap, (D, systems).

    Nothing is drawn of fewer than FEWEST_CLUSTERS, whose intervals are undefined.
    """
    _, codes = np.unique([str(system) for system in systems], return_inverse=True)
    clusters = [np.flatnonzero(codes == code) for code in range(codes.max() + 1)]
    rng = np.random.default_rng(seed)
    count = len(clusters)
    picks = [
        rng.integers(count, size=count) for _ in range(resamples if count >= FEWEST_CLUSTERS else 0)
    ]
    draws = [np.bincount(pick, minlength=count) for pick in picks]
    return clusters, np.array(draws, int).reshape(-1, count)


def _each(clusters: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The clusters of what there is one of for each."""
    return [np.array([number]) for number in range(len(clusters))]


def _checked(
    predicted: Sequence[float], rated: Sequence[float], systems: Sequence[str | None]
) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.asarray(predicted, float), np.asarray(rated, float)
    if x.shape != y.shape or len(x) != len(systems) or len(x) == 0:
        raise ValueError(f"{len(x)} predictions, {len(y)} ratings, {len(systems)} systems")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError("predictions and ratings must be finite; leave out undefined ones")
    return x, y


def _level(
    x: np.ndarray, y: np.ndarray, clusters: Sequence[np.ndarray], draws: np.ndarray
) -> dict[str, Agreement]:
    drawn = on_draws(x, y, clusters, draws)
    return {
        name: Agreement(
            computed(name, x, y), percentiles(_told(drawn[name]), len(clusters)), len(x)
        )
        for name in STATISTICS
    }


def _told(drawn: np.ndarray) -> list[float | Undefined]:
    none = Undefined("there is no correlation on this draw")
    return [value if np.isfinite(value) else none for value in drawn.tolist()]


def computed(
    name: str, x: np.ndarray, y: np.ndarray, sides: tuple[str, str] = ("predictions", "ratings")
) -> float | Undefined:
    """One of `STATISTICS`, of arrays of one length; see `no_correlation`.

    >>> round(computed("KTAU", np.array([1, 2, 3, 4]), np.array([1, 2, 4, 3])), 3)
    0.667
    """
    none = None if name in LOWER_IS_BETTER else no_correlation(x, y, sides)
    with np.errstate(over="ignore", invalid="ignore"):
        value = none or STATISTICS[name](x, y)
    return value if isinstance(value, Undefined) or np.isfinite(value) else _TOO_LARGE


def no_correlation(x: np.ndarray, y: np.ndarray, sides: tuple[str, str]) -> Undefined | None:
    """Why there is no correlation: fewer than 3 items, or a side whose values are equal.

    >>> no_correlation(np.ones(3), np.arange(3.0), ("predictions", "ratings"))
    Undefined(reason='all predictions are equal')
    """
    if len(x) < 3:
        return Undefined(f"{counted(len(x), 'item', 'items')}; a correlation needs 3")
    for side, values in zip(sides, (x, y), strict=True):
        if np.ptp(values) <= _rounding(values):  # they may be means of equal numbers
            return Undefined(f"all {side} are equal")
    return None


def too_few_clusters(count: int, of: str) -> Undefined:
    """Why there is no interval over so many systems, or what else the draws take whole.

    >>> too_few_clusters(2, "systems").reason
    '2 systems; an interval over systems needs 5'
    """
    there = counted(count, of.removesuffix("s"), of)
    return Undefined(f"{there}; an interval over {of} needs {FEWEST_CLUSTERS}")


def percentiles(
    values: Sequence[float | Undefined], clusters: int
) -> tuple[float, float] | Undefined:
    """A 95 % interval of a statistic from its values on draws of so many clusters.

    Expanded percentiles [Hesterberg 2015, 10.1080/00031305.2015.1089789]: of few clusters the 2.5
    and 97.5 percentiles lie too close, by what a normal interval with the deviation of draws is
    narrower than Student's.

    >>> low, high = percentiles([float(n) for n in range(10001)], clusters=20)
    >>> round(low), round(high)
    (159, 9841)
    """
    if clusters < FEWEST_CLUSTERS:
        return too_few_clusters(clusters, "systems")
    defined = [value for value in values if not isinstance(value, Undefined)]
    # A few draws may hit one system only; where many do, what is left would be a biased sample.
    if not defined or len(defined) < 0.95 * len(values):
        few = f"defined in {len(defined)} of {len(values)} resamples only"
        return Undefined(few if len(values) else "no resamples")
    student = stats.t.ppf(0.975, clusters - 1) * np.sqrt(clusters / (clusters - 1))
    tail = 100 * float(stats.norm.cdf(-student))
    low, high = np.percentile(defined, (tail, 100 - tail))
    return float(low), float(high)

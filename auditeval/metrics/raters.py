"""How far raters agree, and how far an evaluator can agree with their mean [arXiv:2508.11966, 3.1].

Votes are those of one axis: of each pair a list, or {rater: vote} where raters are known by id.

The coefficients are written out here. The packages that have them, krippendorff and pingouin, are
GPL, while this one is MIT; pingouin takes complete, balanced votes only, and krippendorff an array
of pairs x values x values. Tests hold them against published tables and against krippendorff.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import fsum, sqrt
from typing import NamedTuple

import numpy as np
from scipy import stats

from auditeval.metrics.agreement import (
    LEVELS,
    Agreement,
    computed,
    percentiles,
)
from auditeval.metrics.rater_halves import CORRELATIONS, Correlations, Value
from auditeval.seed import SEED
from auditeval.text import counted
from auditeval.types import Undefined

Votes = Sequence[float] | Mapping[str, float]

_DRAWS_PER_SPLIT = 5
_ROUNDING = 1e-12


class Screened(NamedTuple):
    """A rater against the rest, on the pairs that others rated too.

    `agreement` is the LCC of the rater's votes with the means of the others' votes, `bias` by how
    many points the votes lie above these on average, `votes` on how many pairs.
    """

    rater: str
    votes: int
    agreement: Value
    bias: Value


def krippendorff_alpha(table: np.ndarray, ordinal: bool = False) -> Value:
    """Krippendorff's alpha of votes :: (pairs, raters), NaN where there is none; 1 is agreement.

    1 - D_o / D_e with the squared difference of interval data: D_o is the mean of the variances
    within pairs, weighted by their votes, D_e the variance of all votes. The ordinal difference is
    the squared one of mid-ranks [Krippendorff 2011, Computing Krippendorff's Alpha-Reliability].
    Pairs of one vote do not count. Undefined without a pair of 2 votes and where all are equal.

    >>> round(krippendorff_alpha(np.array([[1.0, 1.0], [3.0, 4.0], [5.0, np.nan]])), 3)
    0.889
    """
    table = table[np.isfinite(table).sum(axis=1) >= 2]
    there = np.isfinite(table)
    if len(table) == 0:
        return Undefined("no pair has 2 votes")
    if ordinal:
        ranks = np.full(table.shape, np.nan)
        ranks[there] = stats.rankdata(table[there])
        table = ranks
    expected = table[there].var(ddof=1)
    if expected <= _ROUNDING:
        return Undefined("all votes are equal")
    observed = np.average(np.nanvar(table, axis=1, ddof=1), weights=there.sum(axis=1))
    return float(1 - observed / expected)


def icc_one_way(table: np.ndarray) -> dict[str, Value]:
    """{"ICC(1,1)", "ICC(1,k)"} of votes :: (pairs, votes), NaN where there is none.

    Reliability of one vote and of a pair's mean where each pair has raters of its own; at most 1,
    and below 0 where pairs differ less than their votes. One-way random effects [Shrout and Fleiss
    1979; McGraw and Wong 1996]; for unequal numbers of votes k is (N - sum n_i^2 / N) / (pairs - 1)
    of the analysis of variance [Donner 1986]. Pairs of one vote do not count. Undefined for fewer
    than 2 pairs and where all means are equal.

    >>> {name: round(v, 3) for name, v in icc_one_way(np.array([[1, 2], [4, 5.0]])).items()}
    {'ICC(1,1)': 0.895, 'ICC(1,k)': 0.944}
    """
    counts = np.isfinite(table).sum(axis=1)
    table, counts = table[counts >= 2], counts[counts >= 2]
    pairs, total = len(counts), counts.sum()
    if pairs < 2:
        there = counted(pairs, "pair has", "pairs have")
        return _undefined("1", f"{there} 2 votes, at least 2 are needed")
    means = np.nanmean(table, axis=1)
    between = np.sum(counts * np.square(means - np.nanmean(table))) / (pairs - 1)
    within = np.nansum(np.square(table - means[:, None])) / (total - pairs)
    if between <= _ROUNDING:
        return _undefined("1", "all pairs have the same mean vote")
    k = (total - np.square(counts).sum() / total) / (pairs - 1)
    return {
        "ICC(1,1)": float((between - within) / (between + (k - 1) * within)),
        "ICC(1,k)": float((between - within) / between),
    }


def icc_two_way(table: np.ndarray) -> dict[str, Value]:
    """{"ICC(2,1)", "ICC(2,k)"} of votes :: (pairs, raters), all of whom rated every pair.

    Absolute agreement of one rater and of the panel's mean, two-way random effects [Shrout and
    Fleiss 1979]. Undefined for fewer than 2 pairs or raters and where all means are equal; that of
    the panel also where its variance, as estimated, is not above 0. Raises ValueError where a vote
    is missing.

    >>> {name: round(v, 3) for name, v in icc_two_way(np.array([[1, 2], [4, 5.0]])).items()}
    {'ICC(2,1)': 0.9, 'ICC(2,k)': 0.947}
    """
    pairs, raters = table.shape
    if not np.isfinite(table).all():
        raise ValueError("each rater must have rated every pair; leave out those with gaps")
    if min(pairs, raters) < 2:
        return _undefined("2", f"{pairs} pairs were rated by all of {raters} raters")
    whole = table.mean()
    rows, columns = table.mean(axis=1, keepdims=True), table.mean(axis=0, keepdims=True)
    of_pairs = raters * np.square(rows - whole).sum() / (pairs - 1)
    of_raters = pairs * np.square(columns - whole).sum() / (raters - 1)
    rest = np.square(table - rows - columns + whole).sum() / ((pairs - 1) * (raters - 1))
    if of_pairs <= _ROUNDING:
        return _undefined("2", "all pairs have the same mean vote")
    above, bias = of_pairs - rest, (of_raters - rest) / pairs
    # Where raters scatter more than pairs and raters differ, it would be above 1, or a sign lost.
    scattered = Undefined("votes scatter more than the pairs differ: nothing is left of these")
    return {
        "ICC(2,1)": float(above / (of_pairs + (raters - 1) * rest + raters * bias)),
        "ICC(2,k)": float(above / (of_pairs + bias)) if of_pairs + bias > _ROUNDING else scattered,
    }


def _undefined(model: str, reason: str) -> dict[str, Value]:
    return {f"ICC({model},{size})": Undefined(reason) for size in "1k"}


def reliability(
    votes: Sequence[Votes], systems: Sequence[str | None], resamples: int = 1000, seed: int = SEED
) -> dict[str, Agreement]:
    """Alpha and intraclass correlations by name: "alpha interval", "alpha ordinal", "ICC(1,1)", ...

    ICC(2,1) and ICC(2,k) are defined where all raters are known by id, over the pairs that every
    one of them rated; the others over the pairs of 2 votes or more. `items` counts these pairs.
    Intervals are percentiles over draws of whole systems, as in `agreement`. Raises ValueError for
    unequal lengths and for votes that are not finite.

    >>> found = reliability([[1, 2], [4, 5]], ["a", "b"], resamples=0)
    >>> round(found["ICC(1,1)"].value, 3)
    0.895
    """
    votes, systems = _of_panels(votes, systems)
    table, by_rater = _packed(votes), _by_rater(votes)
    complete = None if by_rater is None else np.isfinite(by_rater).all(axis=1)

    def values(rows: np.ndarray) -> dict[str, Value]:
        found: dict[str, Value] = {
            "alpha interval": krippendorff_alpha(table[rows]),
            "alpha ordinal": krippendorff_alpha(table[rows], ordinal=True),
            **icc_one_way(table[rows]),
        }
        if by_rater is None or complete is None:
            return found | _undefined("2", "not all raters are known by id")
        return found | icc_two_way(by_rater[rows[complete[rows]]])

    clusters, unnamed = _clusters(systems)
    rng = np.random.default_rng(seed)
    draws = [
        values(
            np.concatenate([clusters[i] for i in rng.integers(len(clusters), size=len(clusters))])
        )
        for _ in range(0 if unnamed or not votes else resamples)
    ]
    made = {}
    for name, value in values(np.arange(len(votes))).items():
        interval = unnamed or percentiles([found[name] for found in draws], len(clusters))
        two_way = name.startswith("ICC(2")
        items = len(votes) if not two_way else 0 if complete is None else int(complete.sum())
        made[name] = Agreement(value, interval, items)
    return made


def rater_ceiling(
    votes: Sequence[Votes], systems: Sequence[str | None], splits: int = 200, seed: int = SEED
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

    Intervals are percentiles over draws of whole systems, as in `agreement`. There are five in each
    split, and what such a draw changes in its split's correlation is added to the mean over splits:
    how far splits differ among themselves is no uncertainty of that mean. Pairs of fewer than 2
    votes are left out, `items` counts the others. Raises ValueError for unequal lengths and for
    votes that are not finite.

    >>> votes = [{"x": n, "y": n + n % 2} for n in range(6)]
    >>> found = rater_ceiling(votes, [*"abc"] * 2, splits=2)
    >>> round(found["utterance"]["LCC"].value, 3)
    0.992
    """
    votes, systems = ordered(*_of_panels(votes, systems))
    if not votes:
        none = Undefined("no pair has 2 votes")
        return {level: dict.fromkeys(CORRELATIONS, Agreement(none, none, 0)) for level in LEVELS}
    clusters, unnamed = _clusters(systems)
    rng = np.random.default_rng(seed)
    found: list[dict[tuple[str, str], Value]] = []
    moved: list[dict[tuple[str, str], Value]] = []
    steps = []
    for means, step in halves(votes, splits, rng):
        steps.append(step)
        correlations = Correlations(means, clusters)
        found.append(correlations.of(np.arange(len(clusters))))
        for _ in range(0 if unnamed else _DRAWS_PER_SPLIT):
            drawn = correlations.of(rng.integers(len(clusters), size=len(clusters)))
            moved.append({key: _minus(value, found[-1][key]) for key, value in drawn.items()})

    def of(level: str, name: str) -> Agreement:
        if unnamed and level == "system":
            return Agreement(unnamed, unnamed, 0)
        items = len(votes) if level == "utterance" else len(clusters)
        mean, step = _mean([values[level, name] for values in found]), float(np.mean(steps))
        if isinstance(mean, Undefined):
            return Agreement(mean, unnamed or mean, items)
        draws = [values[level, name] for values in moved]
        ceilings = [v if isinstance(v, Undefined) else ceiling(mean + v, step) for v in draws]
        interval = unnamed or percentiles(ceilings, len(clusters))
        return Agreement(ceiling(mean, step), interval, items)

    return {level: {name: of(level, name) for name in CORRELATIONS} for level in LEVELS}


def halves(
    votes: Sequence[Votes], splits: int, rng: np.random.Generator
) -> Iterator[tuple[np.ndarray, float]]:
    """Means of two random halves of the votes :: (2, pairs), `splits` times, as `rater_ceiling`
    splits them; beside each how many times the votes of a half the whole has. A pair has 2 or more.

    >>> rng = np.random.default_rng(0)
    >>> means, step = next(halves([{"x": 1, "y": 2}, {"x": 4, "y": 5}], 1, rng))
    >>> sorted(means.tolist()), float(step)
    ([[1.0, 4.0], [2.0, 5.0]], 2.0)
    """
    raters = _by_rater(votes)
    # Then every half of the raters has a vote on every pair.
    crossed = raters is not None and min(map(len, votes)) > raters.shape[1] - raters.shape[1] // 2
    table = raters if raters is not None and crossed else _packed(votes)
    for _ in range(splits):
        parts = _split(table, crossed, rng)
        sizes = parts.sum(axis=2)
        means = np.where(parts, table, 0.0).sum(axis=2) / sizes
        yield means, np.mean(1 / sizes) / np.mean(1 / np.isfinite(table).sum(axis=1))


def ceiling(correlation: float, step: float) -> float:
    """Root of the reliability of a panel of `step` times the votes of the halves that correlate.

    >>> round(ceiling(0.5, 2), 3)
    0.816
    """
    r = min(max(correlation, 0.0), 1.0)
    return sqrt(step * r / (1 + (step - 1) * r))


def screened(votes: Sequence[Votes]) -> list[Screened]:
    """Every rater with an id against the others, the worst first; nobody is dropped.

    A rater whose agreement is undefined (fewer than 3 pairs shared, or equal votes) stands first,
    then the lowest agreement. Votes without ids count among the others of no one.

    >>> votes = [{"x": 1, "y": 2}, {"x": 2, "y": 3}, {"x": 4, "y": 5}]
    >>> [(row.rater, round(row.agreement, 3), row.bias) for row in screened(votes)]
    [('x', 1.0, -1.0), ('y', 1.0, 1.0)]
    """
    shared: dict[str, list[tuple[float, float]]] = {}
    for given in votes:
        if not isinstance(given, Mapping):
            continue
        total = fsum(given.values())
        for rater, vote in given.items():
            both = shared.setdefault(rater, [])
            if len(given) > 1:
                both.append((vote, (total - vote) / (len(given) - 1)))
    found = []
    for rater, both in shared.items():
        # In no order of the pairs' own: it would move the last bit of the correlation.
        x, y = np.array(sorted(both), float).reshape(-1, 2).T
        none = Undefined("rated no pair that another one rated")
        value = computed("LCC", x, y, ("votes", "means of the others")) if both else none
        bias = float(np.mean(x - y)) if both else none
        found.append(Screened(rater, len(both), value, bias))

    def place(row: Screened) -> tuple[float, str]:
        return (-2.0 if isinstance(row.agreement, Undefined) else row.agreement), row.rater

    return sorted(found, key=place)


def _of_panels(
    votes: Sequence[Votes], systems: Sequence[str | None]
) -> tuple[list[Votes], list[str | None]]:
    """The pairs of 2 votes or more; raises ValueError where votes are not finite."""
    if len(votes) != len(systems):
        raise ValueError(f"votes of {len(votes)} pairs, {len(systems)} systems")
    kept = [row for row, given in enumerate(votes) if len(given) >= 2]
    for row in kept:
        if not np.isfinite(_values(votes[row])).all():
            raise ValueError("votes must be finite; leave out those that are not there")
    return [votes[row] for row in kept], [systems[row] for row in kept]


def ordered(
    votes: Sequence[Votes], systems: Sequence[str | None]
) -> tuple[list[Votes], list[str | None]]:
    """In an order that does not depend on that in which pairs and their votes came: what is drawn
    of them, and the last bit of a sum, are then the same.

    >>> ordered([[5, 4], [2, 3]], ["b", "a"])
    ([[2, 3], [4, 5]], ['a', 'b'])
    """
    rows: list[tuple[Votes, str | None]] = [
        (dict(sorted(given.items(), key=lambda vote: vote[::-1])), system)
        if isinstance(given, Mapping)
        else (sorted(given), system)
        for given, system in zip(votes, systems, strict=True)
    ]
    rows.sort(key=lambda row: (str(row[1]), _values(row[0]), [str(x) for x in row[0]]))
    return [given for given, _ in rows], [system for _, system in rows]


def _values(votes: Votes) -> list[float]:
    return list(votes.values() if isinstance(votes, Mapping) else votes)


def _packed(votes: Sequence[Votes]) -> np.ndarray:
    """Votes :: (pairs, most votes of a pair), NaN behind the last."""
    table = np.full((len(votes), max(map(len, votes), default=0)), np.nan)
    for row, given in zip(table, votes, strict=True):
        row[: len(given)] = _values(given)
    return table


def _by_rater(votes: Sequence[Votes]) -> np.ndarray | None:
    """Votes :: (pairs, raters in order of id), NaN where one gave none; None where ids lack."""
    panels = [given for given in votes if isinstance(given, Mapping)]
    if not panels or len(panels) < len(votes):
        return None
    raters = sorted({rater for panel in panels for rater in panel})
    return np.array([[panel.get(rater, np.nan) for rater in raters] for panel in panels])


def _clusters(systems: Sequence[str | None]) -> tuple[list[np.ndarray], Undefined | None]:
    """Rows of each system, and why there can be no draws of them."""
    _, codes = np.unique([str(system) for system in systems], return_inverse=True)
    rows = [np.flatnonzero(codes == code) for code in range(max(codes, default=-1) + 1)]
    return rows, Undefined("not every pair names its system") if None in systems else None


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


def _mean(values: Sequence[Value]) -> Value:
    """Of a statistic over splits; undefined where it is for more than a few of them."""
    defined = [value for value in values if not isinstance(value, Undefined)]
    if len(defined) < 0.95 * len(values) or not defined:
        return next(value for value in values if isinstance(value, Undefined))
    return float(np.mean(defined))


def _minus(value: Value, other: Value) -> Value:
    if isinstance(value, Undefined):
        return value
    return other if isinstance(other, Undefined) else value - other

"""Tables that a page makes of its rows: means, the order of systems, how well intervals hold."""

from __future__ import annotations

from itertools import permutations
from math import comb

import numpy as np
from scipy import stats

from auditeval.metrics.agreement import coverage
from auditeval.pages.rows import RATINGS, Rows
from auditeval.table import Cell, Column, Content, Table
from auditeval.text import natural, untaken
from auditeval.types import Undefined

_LEVEL = 0.05
_MOST_SYSTEMS = 30  # compared two by two
_PARTS = ("surest third", "middle third", "least sure third")


def means(rows: Rows, group: str = "") -> Table:
    """The mean of each scale, with N, over all rows or, with a column of words, by its values."""
    keys = rows.words[group] if group else ["all pairs"] * len(rows)
    names = sorted(set(keys), key=natural)
    wanted = [(scale.name, scale.value, "", scale.ends) for scale in rows.scales]
    wanted += [(scale.name, scale.rated, "rated", RATINGS) for scale in rows.scales if scale.rated]
    columns = [
        Column(name, "higher", over=(over,) if over else (), form=".2f", bounds=".2f")
        for name, _, over, _ in wanted
    ]
    of = {name: np.array([key == name for key in keys], bool) for name in names}
    contents: list[list[Content]] = []
    for name in names:
        picked = [(rows.numbers[column][of[name]], ends) for _, column, _, ends in wanted]
        label = name or untaken(f"(no {group})", names)
        contents.append([label, int(of[name].sum()), *(_mean(*values) for values in picked)])
    said = f"by {group}" if group else "of all pairs"
    return Table(
        title=f"Mean scores {said}",
        columns=[Column(group or "pairs", label=True), Column("rows"), *columns],
        rows=contents,
        notes=["Brackets: 95 % of the mean over pairs (Student's t); N: pairs with a value."],
        marked=len(names) > 1,
    )


def _mean(values: np.ndarray, ends: tuple[float, float] | None) -> Cell:
    """With its interval, as far as that lies on the scale, if they are on one."""
    values = values[np.isfinite(values)]
    if not len(values):
        return Cell(Undefined("no pair has a value"), note="N=0")
    mean, note = float(values.mean()), f"N={len(values):,}"
    if len(values) < 2:
        return Cell(mean, Undefined("one pair"), note)
    half = float(stats.t.ppf(0.975, len(values) - 1) * stats.sem(values))
    lowest, highest = ends or (-np.inf, np.inf)
    return Cell(mean, (max(lowest, mean - half), min(highest, mean + half)), note)


def ranking(rows: Rows) -> Table | None:
    """Of each system, on each scale, which of the others it is better than by its mean.

    Of two systems the means are compared by Welch's t-test, or by the paired one over sources that
    both edited where each has one pair of a source; p-values of a scale by Holm's method. None for
    fewer than 2 systems or too many to compare.
    """
    systems = rows.words.get("system", [])
    names = sorted({name for name in systems if name}, key=natural)
    if not 2 <= len(names) <= _MOST_SYSTEMS:
        return None
    columns = [Column("system", label=True)]
    contents: dict[str, list[Content]] = {name: [name] for name in names}
    for scale in rows.scales:
        values = rows.numbers[scale.value]
        of = {
            name: _by_source(rows, values, np.array([x == name for x in systems])) for name in names
        }
        better = _better(of)
        columns += [Column("better than", over=(scale.name,)), Column("namely", over=(scale.name,))]
        for name in names:
            beaten = [other for other in names if (name, other) in better]
            contents[name] += [len(beaten), ", ".join(beaten)]
    return Table(
        title="Which systems are better than which others",
        columns=columns,
        rows=list(contents.values()),
        notes=[
            f"Better: p < {_LEVEL} by a t-test of the means, corrected by Holm's method over all "
            "pairs of systems of a scale; paired where both edited the same sources once. It says "
            "that more pairs would give the same order, not that people would."
        ],
        marked=False,
    )


def _by_source(rows: Rows, values: np.ndarray, of: np.ndarray) -> dict[str, float]:
    """The values of a system by their source, or by number where sources come twice."""
    there = np.flatnonzero(of & np.isfinite(values))
    sources = rows.words.get("source")
    found = {sources[row]: float(values[row]) for row in there} if sources else {}
    if "" in found or len(found) < len(there):
        return {f"row {row}": float(values[row]) for row in there}
    return found


def _better(of: dict[str, dict[str, float]]) -> set[tuple[str, str]]:
    """(a, b) of systems where a is significantly better than b."""
    several = [name for name in of if len(of[name]) > 1]
    means = {name: float(np.mean([*of[name].values()])) for name in several}
    ordered = [(a, b) for a, b in permutations(several, 2) if means[a] > means[b]]
    family = len(several) * (len(several) - 1) // 2  # of level systems, too, it was asked
    p_values = {pair: _p_value(of[pair[0]], of[pair[1]]) for pair in ordered}
    found = set()
    for place, pair in enumerate(sorted(p_values, key=lambda pair: p_values[pair])):
        if p_values[pair] * (family - place) >= _LEVEL:
            break
        found.add(pair)
    return found


def _p_value(first: dict[str, float], second: dict[str, float]) -> float:
    x, y = np.array([*first.values()]), np.array([*second.values()])
    if first.keys() == second.keys():
        y = np.array([second[source] for source in first])
        if np.ptp(x - y) == 0:
            return 2.0 ** (1 - len(x))  # no t-test of equal differences: that of their signs
        return float(stats.ttest_rel(x, y).pvalue)
    if np.ptp(x) == np.ptp(y) == 0:
        return 2.0 / comb(len(x) + len(y), len(x))  # of ranks, which lie apart
    # Of samples that do not vary ttest_ind warns, whoever reads the warning.
    both = [part for z in (x, y) for part in (z.mean(), z.std(ddof=1), len(z))]
    return float(stats.ttest_ind_from_stats(*both, equal_var=False).pvalue)


def calibration(rows: Rows) -> Table | None:
    """How many ratings lie in the evaluator's intervals, of all and by how wide these are; None
    where no row has both."""
    contents: list[list[Content]] = []
    for scale in rows.scales:
        if not (scale.low and scale.rated):
            continue
        bounds = np.stack([rows.numbers[scale.low], rows.numbers[scale.high]], axis=1)
        rated = rows.numbers[scale.rated]
        there = np.isfinite(bounds).all(axis=1) & np.isfinite(rated)
        if not there.any():
            continue
        bounds, rated = bounds[there], rated[there]
        order = np.argsort(bounds[:, 1] - bounds[:, 0], kind="stable")
        thirds = np.array_split(order, 3) if len(order) >= 9 else []
        parts = [("all", order), *zip(_PARTS, thirds, strict=False)]
        for name, part in parts:
            found = coverage(bounds[part], rated[part])
            inside = round(found.share * found.items)
            interval = stats.binomtest(inside, found.items).proportion_ci(0.95, "wilson")
            share = Cell(found.share, (float(interval.low), float(interval.high)))
            contents.append([scale.name, name, share, found.width / 2, found.items])
    if not contents:
        return None
    return Table(
        title="Calibration: do the intervals hold the ratings?",
        columns=[
            Column("scale", label=True),
            Column("pairs", label=True),
            Column("covers", unit="%", form=".3f"),
            Column("half width", form=".2f"),
            Column("N"),
        ],
        rows=contents,
        notes=[
            "Share of ratings within their pair's interval, which is to be 90 % of all pairs; "
            "brackets: 95 % Wilson. Thirds by the width of the interval."
        ],
        marked=False,
    )

"""Rules by which votes are left out of an export; the votes themselves are never deleted.

Of ITU-T P.808 those of its open implementation [Naderi and Cutler 2020, arXiv:2005.08138; its
result_parser and default settings], with a block as the session: known answers missed, no variance,
outliers. Of ITU-R BT.500 the screening of observers by kurtosis (Annex 1 to Part 1 of BT.500-14).
The thresholds of the others are nobody's but ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from auditeval.listening import headphones
from auditeval.listening.results import Results
from auditeval.listening.votes_database import Trial
from auditeval.metrics.raters import screened
from auditeval.types import AXES, Undefined, UserError

LEAST_VARIANCE = 0.1
OUTLIER_Z = 3.29
MOST_APART = 1.0
LEAST_AGREEMENT = 0.0
LEAST_SHARED = 10
BT500_VOTES = 7

Found = dict[int, str]
"""{trial: why its vote is left out}"""


class Rule(NamedTuple):
    """What it says, in words for `--help` and tables, and the function that finds the trials."""

    says: str
    find: Callable[[Results], Found]


def _blocks(results: Results) -> dict[tuple[int, int], list[Trial]]:
    made: dict[tuple[int, int], list[Trial]] = {}
    for trial, _ in results.of("rating"):
        made.setdefault((trial.rater, trial.block), []).append(trial)
    return made


def _gold(results: Results) -> Found:
    missed = {(t.rater, t.block): t for t in results.missed()}
    return {
        trial.number: f"missed a known answer ({missed[block].form}) in block {block[1]}"
        for block, trials in _blocks(results).items()
        if block in missed
        for trial in trials
    }


def _variance(results: Results) -> Found:
    found: Found = {}
    for (_, block), trials in _blocks(results).items():
        grades = [grade for t in trials for grade in results.votes[t.number].grades.values()]
        variance = float(np.var(grades, ddof=1))
        if len(trials) > 1 and variance < LEAST_VARIANCE:  # one vote is no session
            reason = f"variance {variance:.2f} of the grades in block {block}"
            found |= {trial.number: reason for trial in trials}
    return found


def _outliers(results: Results) -> Found:
    found: Found = {}
    by_system: dict[str | None, list[Trial]] = {}
    for trial, _ in results.of("rating"):
        by_system.setdefault(results.pairs[trial.pair].system, []).append(trial)
    for trials in by_system.values():
        for axis in AXES:
            grades = np.array([results.votes[t.number].grades[axis] for t in trials])
            spread = grades.std()
            z = np.abs(grades - grades.mean()) / spread if spread > 0 else np.zeros(len(grades))
            for trial, value in zip(trials, z, strict=True):
                if value >= OUTLIER_Z:
                    found[trial.number] = f"{axis} is {value:.1f} deviations from its system's mean"
    return found


def bt500_rejected(table: np.ndarray) -> list[int]:
    """Rows of grades :: (raters, presentations), NaN where there is none, that BT.500 rejects.

    A grade is far where it lies 2 standard deviations from its presentation's mean, or sqrt(20) of
    them where the grades of that are not normal (kurtosis outside 2 to 4). An observer is rejected
    of whose grades more than 5 % are far, with no bias to one side: |above - below| / (above +
    below) < 0.3.

    >>> steady = np.tile([[1.0], [2.0], [2.0], [3.0], [2.0], [2.0], [3.0], [1.0]], (1, 4))
    >>> wild = np.array([[5.0, 0.5, 5.0, 0.5]])
    >>> bt500_rejected(np.concatenate([np.tile(steady, (2, 1)), wild - 1.5]))
    []
    """
    rated = np.isfinite(table)
    several = rated.sum(axis=0) >= 2
    table, rated = table[:, several], rated[:, several]
    if not several.any():
        return []
    mean = np.nanmean(table, axis=0)
    apart = table - mean
    second, fourth = np.nanmean(apart**2, axis=0), np.nanmean(apart**4, axis=0)
    kurtosis = np.divide(fourth, second**2, out=np.full(len(mean), 3.0), where=second > 1e-12)
    factor = np.where((kurtosis >= 2) & (kurtosis <= 4), 2.0, np.sqrt(20.0))
    limit = factor * np.nanstd(table, axis=0, ddof=1)
    far = rated & (limit > 1e-12)
    above = (far & (apart >= limit)).sum(axis=1)
    below = (far & (apart <= -limit)).sum(axis=1)
    both = above + below
    share = both / np.maximum(1, rated.sum(axis=1))
    one_sided = np.abs(above - below) / np.maximum(1, both)
    return np.flatnonzero((share > 0.05) & (one_sided < 0.3)).tolist()


def too_few_for_bt500(results: Results) -> bool:
    """Whether no pair has BT500_VOTES votes, fewer than which leave no grade far.

    Of n grades one lies (n - 1) / sqrt(n) standard deviations from their mean at most: 1.8 of 5. Of
    6 it is 2.04, but where a grade lies 2 off, the kurtosis is above 4; all but always in half
    points, always in whole ones.
    """
    return all(len(grades) < BT500_VOTES for grades in results.panels()[AXES[0]].values())


def _bt500(results: Results) -> Found:
    rejected: dict[str, str] = {}
    names = sorted({results.name(trial) for trial in results.trials})
    for axis, panel in results.panels().items():
        table = np.array(
            [[grades.get(name, np.nan) for grades in panel.values()] for name in names], float
        ).reshape(len(names), len(panel))
        for row in bt500_rejected(table):
            rejected.setdefault(names[row], f"{axis} is often far from the mean, on both sides")
    return _of_raters(results, rejected)


def _repeats(results: Results) -> Found:
    means = {name: float(np.mean(apart)) for name, apart in results.repeats().items()}
    return _of_raters(
        results,
        {
            name: f"repeats are {m:.1f} points apart"
            for name, m in means.items()
            if round(m, 9) > MOST_APART  # thirds add up to a little more than 1
        },
    )


def _headphones(results: Results) -> Found:
    failed = {}
    for rater in results.raters.values():
        check = headphones.of_json(rater.headphones)
        if check is not None and check.over and not check.passed:
            best = max(check.scores)
            failed[rater.name] = f"headphone check: {best} of {headphones.QUESTIONS} at best"
    return _of_raters(results, failed)


def _agreement(results: Results) -> Found:
    low: dict[str, str] = {}
    for axis, panel in results.panels().items():
        for row in screened(list(panel.values())):
            if isinstance(row.agreement, Undefined) or row.votes < LEAST_SHARED:
                continue
            if round(row.agreement, 9) <= LEAST_AGREEMENT:  # 0 comes out as a little more or less
                low.setdefault(row.rater, f"{axis}: LCC {row.agreement:.2f} with the others")
    return _of_raters(results, {**_unmoved(results), **low})


def _unmoved(results: Results) -> dict[str, str]:
    """Who gives all pairs the same three grades, where the others do not: no LCC says that."""
    by_pair: dict[int, dict[str, list[float]]] = {}
    for trial, vote in results.of("rating"):
        by_pair.setdefault(trial.pair, {})[results.name(trial)] = [*vote.grades.values()]
    found: dict[str, str] = {}
    for name in {name for given in by_pair.values() for name in given}:
        shared = [given for given in by_pair.values() if name in given and len(given) > 1]
        own = {tuple(given[name]) for given in shared}
        others = {
            tuple(np.mean([grades for rater, grades in given.items() if rater != name], axis=0))
            for given in shared
        }
        if len(shared) >= LEAST_SHARED and len(own) == 1 and len(others) > 1:
            found[name] = f"the same grades of all {len(shared)} pairs that others rated"
    return found


def _of_raters(results: Results, reasons: dict[str, str]) -> Found:
    return {
        trial.number: reasons[results.name(trial)]
        for trial, _ in results.of("rating")
        if results.name(trial) in reasons
    }


RULES: dict[str, Rule] = {
    "p808-gold": Rule("a known answer of the block was missed by more than 1", _gold),
    "p808-variance": Rule(f"the block's grades have a variance below {LEAST_VARIANCE}", _variance),
    "p808-outliers": Rule(f"a grade is {OUTLIER_Z} deviations from its system's mean", _outliers),
    "bt500": Rule("the observer is erratic by the kurtosis rule of BT.500", _bt500),
    "repeats": Rule(f"repeats are more than {MOST_APART:g} apart on average", _repeats),
    "headphones": Rule("the headphone check was failed", _headphones),
    "agreement": Rule(
        f"no correlation with the others on {LEAST_SHARED} pairs or more", _agreement
    ),
}
TOGETHER = {"p808": ("p808-gold", "p808-variance", "p808-outliers")}


def named(rules: Iterable[str]) -> list[str]:
    """Names of rules, "p808" as its three; raises UserError for an unknown one."""
    return list(dict.fromkeys(_expanded(rules)))


def _expanded(rules: Iterable[str]) -> Iterator[str]:
    for rule in rules:
        if rule not in RULES and rule not in TOGETHER:
            known = ", ".join([*TOGETHER, *RULES])
            raise UserError(f"--screen {rule}: no such rule; there are {known}")
        yield from TOGETHER.get(rule, (rule,))


def screen(results: Results, rules: Iterable[str]) -> dict[str, Found]:
    """{rule: what it leaves out}, each rule by itself on all votes."""
    return {name: RULES[name].find(results) for name in named(rules)}


def suspicious(results: Results) -> dict[str, list[str]]:
    """{rater: what all rules say of them}."""
    made: dict[str, list[str]] = {}
    of = {trial.number: results.name(trial) for trial in results.trials}
    for rule, found in screen(results, [name for name in RULES if name != "p808-outliers"]).items():
        for number, reason in found.items():
            said = made.setdefault(of[number], [])
            if f"{rule}: {reason}" not in said:
                said.append(f"{rule}: {reason}")
    return made

"""Rates over rubrics that a judge answered by vote (MMAE: instruction following, consistency)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeVar

from auditeval.types import Undefined

Category = Literal["instruction_following", "consistency"]
Option = TypeVar("Option", bound=str)

MAJORITY = 2
"""Right answers of three that make a rubric right."""


class Rubric(NamedTuple):
    """One rubric of a sample; `right` is None where the judge gave no verdict on it."""

    category: Category
    right: bool | None


@dataclass(frozen=True)
class RubricRates:
    """Shares, 0 to 1, higher is better.

    `ifr` and `cr` are means over samples of their share of right rubrics of that category, `emr`
    the share of samples with every rubric right; `micro_*` are over all rubrics at once.
    """

    ifr: float | Undefined
    cr: float | Undefined
    emr: float | Undefined
    micro_ifr: float | Undefined
    micro_cr: float | Undefined


def shuffled(options: Sequence[Option], seed: str) -> list[Option]:
    """The options in an order that depends on them and the seed alone, not on how they came.

    >>> shuffled(["A", "B", "C"], "1984"), shuffled(["C", "A", "B"], "1984")
    (['C', 'B', 'A'], ['C', 'B', 'A'])
    """
    return sorted(options, key=lambda option: hashlib.sha256(f"{seed}\n{option}".encode()).digest())


def verdict(votes: Sequence[bool | None]) -> bool | None:
    """Right where two votes are; None (unscored) where votes that are none could have decided.

    >>> verdict([True, None, True]), verdict([True, False, None]), verdict([False, None, False])
    (True, None, False)
    """
    right = sum(vote is True for vote in votes)
    if right >= MAJORITY:
        return True
    missing = sum(vote is None for vote in votes)
    return None if right + missing >= MAJORITY else False


def rubric_rates(samples: Sequence[Sequence[Rubric]], scored_only: bool = False) -> RubricRates:
    """The rates over samples, each given by its rubrics.

    An unscored rubric counts as not right; with `scored_only` it is left out, and from `emr` the
    sample with it. A sample without rubrics of a category is left out of that category's mean.

    >>> right, wrong = Rubric("instruction_following", True), Rubric("consistency", False)
    >>> rates = rubric_rates([[right, wrong], [right]])
    >>> rates.ifr, rates.cr, rates.emr
    (1.0, 0.0, 0.5)
    """
    kept = [[rubric for rubric in sample if rubric.right is not None] for sample in samples]
    rated = kept if scored_only else samples
    whole = [s for s, k in zip(samples, kept, strict=True) if len(s) == len(k) or not scored_only]
    exact = [float(all(rubric.right for rubric in sample)) for sample in whole if sample]
    kind = "scored rubric" if scored_only else "rubric"
    found = {}
    categories: tuple[Category, ...] = ("instruction_following", "consistency")
    for category in categories:
        marks = [[bool(r.right) for r in sample if r.category == category] for sample in rated]
        lacking = f"no sample with a {kind} of {category.replace('_', ' ')}"
        macro = _mean([sum(sample) / len(sample) for sample in marks if sample], lacking)
        found[category] = (macro, _mean([float(mark) for s in marks for mark in s], lacking))
    (ifr, micro_ifr), (cr, micro_cr) = found.values()
    emr = _mean(exact, "no sample with " + ("all rubrics scored" if scored_only else "rubrics"))
    return RubricRates(ifr, cr, emr, micro_ifr, micro_cr)


def _mean(values: Sequence[float], lacking: str) -> float | Undefined:
    return sum(values) / len(values) if values else Undefined(lacking)

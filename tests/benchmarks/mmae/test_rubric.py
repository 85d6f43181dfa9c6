"""Votes, orders of options and rates of rubrics against figures worked out by hand."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

from auditeval.benchmarks.mmae.rubric import Rubric, rubric_rates, shuffled, verdict
from auditeval.types import Undefined

IF, CON = "instruction_following", "consistency"


def sample(instruction: str, consistency: str) -> list[Rubric]:
    """One letter a rubric: r right, w wrong, u unscored."""
    marks = {"r": True, "w": False, "u": None}
    return [
        *(Rubric("instruction_following", marks[letter]) for letter in instruction),
        *(Rubric("consistency", marks[letter]) for letter in consistency),
    ]


SAMPLES = [sample("rrw", "r"), sample("rr", "rr"), sample("ru", "w"), sample("r", ""), []]


def test_rates_by_hand() -> None:
    rates = rubric_rates(SAMPLES)
    assert rates.ifr == pytest.approx((2 / 3 + 1 + 1 / 2 + 1) / 4)
    assert rates.cr == pytest.approx((1 + 1 + 0) / 3)  # the fourth has no consistency
    assert rates.emr == 2 / 4  # an empty sample is none that is right
    assert rates.micro_ifr == 6 / 8
    assert rates.micro_cr == 3 / 4


def test_rates_over_what_was_scored_by_hand() -> None:
    rates = rubric_rates(SAMPLES, scored_only=True)
    assert rates.ifr == pytest.approx((2 / 3 + 1 + 1 + 1) / 4)
    assert rates.cr == pytest.approx(2 / 3)
    assert rates.emr == 2 / 3  # the third is left out
    assert rates.micro_ifr == 6 / 7


def test_what_nobody_asked_for_is_undefined() -> None:
    none = rubric_rates([])
    assert all(isinstance(value, Undefined) for value in vars(none).values())
    assert isinstance(rubric_rates([sample("r", "")]).cr, Undefined)
    unscored = rubric_rates([sample("u", "u")], scored_only=True)
    assert unscored.emr == Undefined("no sample with all rubrics scored")
    assert unscored.cr == Undefined("no sample with a scored rubric of consistency")


def test_a_lost_verdict_never_raises_a_rate() -> None:
    for marks in product("rwu", repeat=3):
        before = rubric_rates([sample("".join(marks[:2]), marks[2]), sample("r", "r")])
        for place in range(3):
            lost = [*marks[:place], "u", *marks[place + 1 :]]
            after = rubric_rates([sample("".join(lost[:2]), lost[2]), sample("r", "r")])
            for name, value in vars(after).items():
                assert value <= getattr(before, name), (marks, place, name)


def test_votes() -> None:
    for votes in product((True, False, None), repeat=3):
        counts = Counter(votes)
        if counts[True] >= 2:
            expected: bool | None = True
        elif counts[False] >= 2:
            expected = False
        else:
            expected = None  # one each way and one unscored is no tie that is right
        assert verdict(votes) is expected, votes


def test_an_order_depends_on_options_and_seed_alone() -> None:
    options = ["a dog", "a cat", "a bird", "None of the above"]
    assert shuffled(options, "1") == shuffled(options[::-1], "1")
    assert sorted(shuffled(options, "1")) == sorted(options)
    firsts = Counter(shuffled(options, str(seed))[0] for seed in range(4000))
    assert all(900 < count < 1100 for count in firsts.values()), firsts  # 3.6 sigma

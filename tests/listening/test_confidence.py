"""Confidence sequences against confseq, all outcomes of coins, and many listening tests."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy import stats

from auditeval.listening.confidence import Ranking, confidence_sequence, log_wealth, settled
from auditeval.listening.selection import Standing, order

VALUES = [0.9, 0.55, 0.7, 0.8, 0.35, 0.95, 0.6, 0.75, 0.5, 0.85, 0.65, 1.0, 0.4, 0.7, 0.8, 0.6]
# Of confseq 0.0.11: diversified_betting_mart(VALUES, mean, bets, theta=1, trunc_scale=1) with the
# bets f / mean, f = sin(pi (k + 0.5) / 128)^2 for k < 64; logarithms after 1, 8 and 16 values.
CONFSEQ = {
    0.3: (0.6931471805599453, 5.167699708048907, 11.151840727529326),
    0.5: (0.3364722366212129, 1.5787636188770637, 3.45732905406625),
    0.6: (0.2231435513142101, 0.5534709570279057, 1.11002745930621),
    0.72: (0.11778303565638346, -0.21086398496703287, -0.4332212149394236),
}
# cs_from_martingale of the same with theta=0.5: on a grid of 4000 means, after all values.
CONFSEQ_INTERVAL = (0.49175, 0.8295)


@pytest.mark.parametrize("mean", CONFSEQ)
def test_wealth_is_that_of_confseq(mean: float) -> None:
    made = [log_wealth(np.array(VALUES[:n]), mean) for n in (1, 8, 16)]
    assert made == pytest.approx(CONFSEQ[mean], abs=1e-12)


def test_the_interval_is_that_of_confseq() -> None:
    made = confidence_sequence(np.array(VALUES), 0.05, 0.0, 1.0)
    assert made == pytest.approx(CONFSEQ_INTERVAL, abs=1 / 4000)
    scaled = confidence_sequence(1 + 4 * np.array(VALUES), 0.05)
    assert scaled == pytest.approx([1 + 4 * end for end in made], abs=1e-7)


@pytest.mark.parametrize("chance", [0.5, 0.2])
def test_wealth_of_a_coin_over_all_that_can_happen(chance: float) -> None:
    """Its mean is 1 after any number of tosses, and it ever reaches 1 / alpha in alpha at most."""
    tosses, alpha = 9, 0.2
    mean, reached = 0.0, 0.0
    wealth_after = cache(lambda seen: np.exp(log_wealth(np.array(seen), chance)))
    for outcome in product((0.0, 1.0), repeat=tosses):
        likely = float(np.prod([chance if toss else 1 - chance for toss in outcome]))
        wealth = [wealth_after(outcome[:n]) for n in range(1, tosses + 1)]
        mean += likely * wealth[-1]
        reached += likely * (max(wealth) >= 1 / alpha)
    assert mean == pytest.approx(1.0)
    assert 0.02 < reached <= alpha


def test_ends_of_the_scale() -> None:
    assert confidence_sequence(np.array([])) == (1.0, 5.0)
    low, high = confidence_sequence(np.full(200, 5.0))
    assert (low > 4.8, high) == (True, 5.0)
    low, high = confidence_sequence(np.full(200, 1.0))
    assert (low, high < 1.2) == (1.0, True)
    for wrong in (5.5, np.nan):
        with pytest.raises(ValueError, match="from 1 to 5"):
            confidence_sequence(np.array([3.0, wrong]))


def heard(
    means: dict[str, float], raters: int, rng: np.random.Generator, each: int = 4, pairs: int = 4
) -> Iterator[list[Standing]]:
    """What is known after each rater of a test who heard `each` pairs, each the most wanted one.

    Raters have biases of their own, also towards systems; pairs differ; votes are whole points.
    """
    ratings = []
    for mean in means.values():
        apart = rng.normal(0.0, 0.5, pairs)
        ratings += list(mean + apart - apart.mean())
    systems = [system for system in means for _ in range(pairs)]
    votes: list[list[list[float]]] = [[] for _ in ratings]
    names: list[list[str]] = [[] for _ in ratings]
    for rater in range(raters):
        taste = dict(zip(means, rng.normal(0.0, 0.4, len(means)), strict=True))
        bias, own = rng.normal(0.0, 0.4), f"r{rater}"
        for trial in range(each):
            known = standings(systems, votes, names)
            wanted = order("uncertain", "ranking", known, 10**6, each * rater + trial, ahead=1)
            at = next(at for at in wanted if own not in names[at])
            vote = ratings[at] + bias + taste[systems[at]] + rng.normal(0.0, 0.8)
            votes[at].append([float(np.clip(np.round(vote), 1, 5)), np.nan, np.nan])
            names[at].append(own)
        yield standings(systems, votes, names)


def standings(systems: list[str], votes: list, names: list) -> list[Standing]:
    return [
        Standing(system, "add", np.array(own).reshape(-1, 3), raters=list(who))
        for system, own, who in zip(systems, votes, names, strict=True)
    ]


def differences(known: list[Standing]) -> np.ndarray:
    """Of a's and b's mean vote, of each rater who heard both."""
    own: dict[str, dict[str, list[float]]] = {}
    for pair in known:
        for rater, vote in zip(pair.raters or (), pair.votes[:, 0], strict=True):
            own.setdefault(rater, {}).setdefault(pair.system, []).append(vote)
    both = [systems for systems in own.values() if len(systems) == 2]
    return np.array([np.mean(systems["a"]) - np.mean(systems["b"]) for systems in both])


def test_equal_systems_are_seldom_ranked_however_often_one_looks() -> None:
    """A t-test after each rater, of the same tests, ranks them far more often than its level."""
    stopped, by_t_test, tests = 0, 0, 30
    for seed in range(tests):
        rng = np.random.default_rng(seed)
        once, once_by_t_test = False, False
        for known in heard({"a": 3.0, "b": 3.0}, 20, rng):
            (ranking,) = settled(known, alpha=0.05)
            once |= ranking.settled
            apart = differences(known)
            if len(apart) > 2 and apart.std() > 0:
                once_by_t_test |= stats.ttest_1samp(apart, 0.0).pvalue < 0.05
        stopped += once
        by_t_test += once_by_t_test
    assert stopped / tests < 0.05 < 0.15 < by_t_test / tests


def test_systems_that_differ_are_settled_the_right_way_round() -> None:
    (*_, early), late = _after(15), _after(90)[-1]
    (before,), (after,) = settled(early), settled(late)
    assert before.undecided
    assert not before.settled
    assert after.settled
    assert after.systems == ["good", "fair", "poor"]
    for (low, high), (before_low, before_high) in zip(
        after.intervals, before.intervals, strict=True
    ):
        assert high - low < before_high - before_low
    for (low, high), mean in zip(after.intervals, after.means, strict=True):
        assert low < mean < high


def _after(raters: int) -> list[list[Standing]]:
    means = {"poor": 1.9, "fair": 3.0, "good": 4.1}
    return list(heard(means, raters, np.random.default_rng(1), each=12))


def test_who_has_not_finished_is_left_out() -> None:
    *_, before, after = heard({"a": 2.0, "b": 4.0}, 20, np.random.default_rng(3))
    done = [f"r{number}" for number in range(19)]
    assert settled(after, finished=done) == settled(before)
    assert settled(after) != settled(before)
    assert settled(after, finished=[]) == []


def test_what_nobody_heard_comes_last_and_is_undecided() -> None:
    (*_, known) = heard({"a": 2.0, "b": 4.0}, 40, np.random.default_rng(4))
    known.append(Standing("c", "add", np.empty((0, 3)), raters=[]))
    (ranking,) = settled(known)
    assert ranking.systems == ["b", "a", "c"]
    assert ranking.means[-1] is None
    assert ranking.intervals[-1] == (1.0, 5.0)
    assert ranking.undecided == [("b", "c"), ("a", "c")]


def test_votes_of_nobody_are_refused() -> None:
    with pytest.raises(ValueError, match="the rater of each vote"):
        settled([Standing("a", "add", np.ones((2, 3)))])


def test_every_axis_has_a_ranking_and_costs_evidence() -> None:
    (*_, known) = heard({"a": 2.5, "b": 3.5}, 30, np.random.default_rng(5))
    three = [pair._replace(votes=np.repeat(pair.votes[:, :1], 3, axis=1)) for pair in known]
    (one,) = settled(known)
    rankings = settled(three)
    assert [ranking.axis for ranking in rankings] == ["quality", "relevance", "faithfulness"]
    assert all(ranking.means == one.means for ranking in rankings)
    for wide, narrow in zip(rankings[0].intervals, one.intervals, strict=True):
        assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_a_claim_needs_the_evidence_of_holms_method() -> None:
    """20 raters who all tell a from b by a point, one system or two beside them."""
    votes = {"a": 4.0, "b": 3.0, "c": 1.0}

    def known(names: str) -> list[Standing]:
        who = [f"r{number}" for number in range(22)]
        return [
            Standing(name, "add", np.tile([votes[name], np.nan, np.nan], (22, 1)), raters=who)
            for name in names
        ]

    evidence = {d: log_wealth(np.full(22, (d / 4 + 1) / 2), 0.5) for d in (1, 2, 3)}
    # All of three systems: 6 claims; those of 3 and 2 points first, then 4 claims are left.
    level = 4 * np.exp(-evidence[1])
    for alpha, expected in ((level * 1.001, []), (level * 0.999, [("a", "b")])):
        (ranking,) = settled(known("abc"), alpha)
        assert isinstance(ranking, Ranking)
        assert ranking.undecided == expected
    assert evidence[1] < evidence[2] < evidence[3]

"""Pairwise accuracy: its ends, its ties, its symmetry, and that silence never pays."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from auditeval.metrics.pairwise import contrasts, outcome, pairwise_result
from auditeval.types import Undefined

NAN = float("nan")


def scores(seed: int, count: int = 200) -> tuple[list[float], list[float]]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 9, count).tolist(), rng.integers(0, 9, count).tolist()


def test_a_constant_scorer_gets_exactly_half() -> None:
    for count in (1, 3, 200):
        result = pairwise_result([0.1] * count, [0.1] * count)
        assert result.accuracy == result.with_losses == 0.5


def test_swapped_pairs_give_the_complement_and_order_of_scale_does_not_matter() -> None:
    positive, negative = scores(1)
    rate = pairwise_result(positive, negative).accuracy
    assert isinstance(rate, float)
    assert pairwise_result(negative, positive).accuracy == pytest.approx(1 - rate)
    exps = [[math.exp(x) for x in side] for side in (positive, negative)]
    assert pairwise_result(*exps).accuracy == rate


def test_it_is_the_mann_whitney_probability_when_every_pair_is_formed() -> None:
    """All pairs of two samples: the same number as scipy's U / (n m), which counts ties half."""
    a, b = scores(2, 40)
    every = [(x, y) for x in a for y in b]
    expected = stats.mannwhitneyu(a, b).statistic / (len(a) * len(b))
    assert pairwise_result(*zip(*every, strict=True)).accuracy == pytest.approx(expected)


@pytest.mark.parametrize("bad", [NAN, None, math.inf])
def test_a_missing_score_is_no_win_and_no_loss_but_counted(bad: float | None) -> None:
    result = pairwise_result([1, bad, 3, 0], [0, 0, bad, 1])
    assert (result.scored, result.pairs) == (2, 4)
    assert result.accuracy == 0.5
    assert result.with_losses == 0.25


@pytest.mark.parametrize("bad", [NAN, None, math.inf])
def test_taking_scores_away_never_raises_the_rate_that_counts_losses(bad: float | None) -> None:
    positive, negative = scores(3)
    whole = pairwise_result(positive, negative).with_losses
    rng = np.random.default_rng(0)
    for _ in range(20):
        gone = rng.random(len(positive)) < rng.random()
        fewer: list[float | None] = [bad if g else p for g, p in zip(gone, positive, strict=True)]
        result = pairwise_result(fewer, negative)
        assert result.with_losses <= whole
        if isinstance(result.accuracy, float):
            assert result.with_losses <= result.accuracy


def test_the_logarithm_of_zero_is_the_lowest_of_scores() -> None:
    assert outcome(-1e300, -math.inf) == 1
    assert outcome(-math.inf, -math.inf) == 0.5


def test_nothing_scored_is_undefined_over_what_was_scored_and_zero_with_losses() -> None:
    result = pairwise_result([NAN], [1.0])
    assert isinstance(result.accuracy, Undefined)
    assert result.with_losses == 0
    empty = pairwise_result([], [])
    assert all(isinstance(value, Undefined) for value in empty[:3])
    with pytest.raises(ValueError, match="zip"):
        pairwise_result([1.0], [])


@pytest.mark.parametrize(("wins", "pairs"), [(0, 7), (7, 7), (31, 50), (180, 200)])
def test_the_interval_is_that_of_scipy(wins: int, pairs: int) -> None:
    result = pairwise_result([1.0] * wins + [0.0] * (pairs - wins), [0.5] * pairs)
    expected = stats.binomtest(wins, pairs).proportion_ci(0.95, method="wilson")
    assert result.interval == pytest.approx((expected.low, expected.high))


VARIANTS = ("wrong", "hiss", "untouched")


def drawn(seed: int, count: int = 80) -> list[dict[str, float | None]]:
    """Trials with ties, and with a score missing now and then."""
    rng = np.random.default_rng(seed)
    return [
        {
            name: None if rng.random() < 0.1 else float(rng.integers(0, 5))
            for name in ("right", *VARIANTS)
        }
        for _ in range(count)
    ]


def test_a_contrast_is_the_pairwise_accuracy_of_its_variant() -> None:
    trials = drawn(3)
    found = contrasts(trials)
    assert list(found) == [*VARIANTS, "total"]
    outcomes = []
    for name in VARIANTS:
        sides = ([trial[side] for trial in trials] for side in ("right", name))
        one = pairwise_result(*sides)
        assert found[name].accuracy == pytest.approx(one.accuracy)
        assert found[name].trials == one.scored
        outcomes += [outcome(trial["right"], trial[name]) for trial in trials]
    known = [value for value in outcomes if value is not None]
    assert found["total"].accuracy == pytest.approx(np.mean(known))


def test_a_scorer_that_says_one_thing_wins_half_of_each_contrast() -> None:
    same = [dict.fromkeys(("right", *VARIANTS), 3.0) for _ in range(9)]
    assert {one.accuracy for one in contrasts(same).values()} == {0.5}
    assert all(low < 0.5 < high for low, high in (one.interval for one in contrasts(same).values()))


def test_contrasts_count_whole_trials() -> None:
    """All variants of a trial won or lost together: four copies of a column narrow nothing."""
    rng = np.random.default_rng(0)
    wins = rng.random(60) < 0.7
    one = [{"right": float(win), "a": 0.5} for win in wins]
    four = [{"right": float(win), **dict.fromkeys("abcd", 0.5)} for win in wins]
    assert contrasts(four)["total"].interval == contrasts(one)["a"].interval
    low, high = contrasts(one)["a"].interval  # type: ignore[misc]
    spread = 2 * 1.96 * math.sqrt(wins.mean() * (1 - wins.mean()) / 60)
    assert high - low == pytest.approx(spread, rel=0.15)


def test_a_contrast_without_scores_is_undefined() -> None:
    found = contrasts([{"right": None, "hiss": 1.0}, {"right": 2.0, "hiss": NAN}])
    assert isinstance(found["hiss"].accuracy, Undefined)
    assert isinstance(found["total"].interval, Undefined)
    assert found["hiss"].trials == 0


@pytest.mark.parametrize(("count", "chance"), [(1, 0.7), (3, 0.7), (10, 0.95), (60, 0.99)])
def test_an_interval_holds_the_chance_to_win_where_all_or_few_trials_were_won(
    count: int, chance: float
) -> None:
    """Variants of a trial are won or lost together, and some trials have more of them."""
    rng = np.random.default_rng(count)
    held = dict.fromkeys(("a", "total"), 0)
    for _ in range(400):
        wins = rng.random(count) < chance
        names = ["a" if rng.random() < 0.5 else "abcd" for _ in wins]
        trials = [
            {"right": float(win), **dict.fromkeys(of, 0.5)}
            for win, of in zip(wins, names, strict=True)
        ]
        found = contrasts(trials)
        for name in held:
            low, high = found[name].interval  # type: ignore[misc]
            held[name] += low <= chance <= high
    assert min(held.values()) >= 0.92 * 400


def test_no_variant_can_be_called_as_their_total() -> None:
    with pytest.raises(ValueError, match="a variant is called 'total'"):
        contrasts([{"right": 3.0, "total": 1.0}] * 6)

"""Agreement with ratings, against textbook formulas written out here and published tables."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from auditeval.metrics.agreement import (
    LEVELS,
    LOWER_IS_BETTER,
    STATISTICS,
    agreement,
    coverage,
    paired_difference,
    percentiles,
    system_means,
)
from auditeval.types import AXES, Undefined

REFERENCE = Path(__file__).parents[2].parent / "shared" / "reference"


def pearson(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.corrcoef(x, y)[0, 1])


def ranks(x: np.ndarray) -> np.ndarray:
    """Average ranks: how many are smaller, and half of the equal ones."""
    smaller, equal = (x[:, None] > x).sum(axis=1), (x[:, None] == x).sum(axis=1)
    return smaller + (equal + 1) / 2


def spearman(x: np.ndarray, y: np.ndarray) -> float:
    return pearson(ranks(x), ranks(y))


def kendall_b(x: np.ndarray, y: np.ndarray) -> float:
    """Concordant minus discordant over the geometric mean of the untied pairs of each side."""
    upper = np.triu_indices(len(x), 1)
    dx, dy = (np.sign(np.subtract.outer(v, v))[upper] for v in (x, y))
    return float((dx * dy).sum() / np.sqrt(np.abs(dx).sum() * np.abs(dy).sum()))


REFERENCES: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "MSE": lambda x, y: float(sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) / len(x)),
    "LCC": pearson,
    "SRCC": spearman,
    "KTAU": kendall_b,
}


def noisy(n: int, systems: int, noise: float, seed: int = 0) -> tuple[list, list, list]:
    """Ratings with ties, predictions of them, systems of unequal size."""
    rng = np.random.default_rng(seed)
    names = [f"s{i}" for i in rng.integers(systems, size=n)]
    level = {f"s{i}": rng.uniform(2, 4) for i in range(systems)}
    rated = [float(np.clip(round(2 * (level[s] + rng.normal(0, 0.7))) / 2, 1, 5)) for s in names]
    predicted = [r + rng.normal(0, noise) for r in rated]
    return predicted, rated, names


@pytest.mark.parametrize("seed", range(5))
def test_both_levels_match_the_formulas(seed: int) -> None:
    predicted, rated, systems = noisy(60, 8, 0.8, seed)
    predicted = [round(p, 1) for p in predicted]  # ties on this side too
    found = agreement(predicted, rated, systems, resamples=0)
    x, y = np.array(predicted), np.array(rated)
    order = sorted(set(systems))
    mean_x, mean_y = (
        np.array([np.mean([v for v, s in zip(values, systems, strict=True) if s == name])
                  for name in order])
        for values in (x, y)
    )  # fmt: skip
    assert set(found) == set(LEVELS)
    for name, reference in REFERENCES.items():
        assert found["utterance"][name].value == pytest.approx(reference(x, y), abs=1e-12)
        assert found["system"][name].value == pytest.approx(reference(mean_x, mean_y), abs=1e-12)
        assert found["utterance"][name].items == 60
        assert found["system"][name].items == len(order)


def test_hand_computed_case() -> None:
    # Ranks of predicted 1 2 3 4, of rated 2 1 4 3: four concordant pairs, two discordant.
    found = agreement([1, 2, 3, 4], [2, 1, 4, 3], list("aabb"), resamples=0)["utterance"]
    assert found["MSE"].value == 1.0
    assert found["LCC"].value == pytest.approx(0.6)
    assert found["SRCC"].value == pytest.approx(0.6)
    assert found["KTAU"].value == pytest.approx(1 / 3)


def test_hand_computed_tie() -> None:
    # (1,1) (2,2) (2,3): two concordant pairs, one tied on the left: 2 / sqrt(2 * 3).
    found = agreement([1, 2, 2], [1, 2, 3], list("abc"), resamples=0)["utterance"]
    assert found["KTAU"].value == pytest.approx(2 / np.sqrt(6))


def test_system_level_is_over_means_not_pairs() -> None:
    # Within each system the order is reversed, between systems it is right.
    predicted, rated = [2, 1, 4, 3, 6, 5], [1, 2, 3, 4, 5, 6]
    found = agreement(predicted, rated, list("aabbcc"), resamples=0)
    assert found["system"]["MSE"].value == 0
    assert found["system"]["SRCC"].value == pytest.approx(1)
    assert found["utterance"]["SRCC"].value == pytest.approx(1 - 6 * 6 / (6 * 35))


CORRELATIONS = sorted(set(STATISTICS) - LOWER_IS_BETTER)


@pytest.mark.parametrize("votes", [3, 7])
def test_equal_means_are_level_in_whatever_order_the_rows_come(votes: int) -> None:
    """Against sums of votes, which are whole numbers and as many in each system."""
    rng = np.random.default_rng(votes)
    sums = {f"s{n:02}": rng.integers(3 * votes, 4 * votes, 6) for n in range(20)}
    names = list(sums)
    exact = np.array([row.sum() for row in sums.values()])
    assert len(set(exact)) < len(names) - 2  # some are equal
    guesses = dict(zip(names, exact + rng.integers(-9, 10, len(names)), strict=True))
    rows = [(name, total / votes) for name, row in sums.items() for total in row]
    for _ in range(20):
        systems, rated = zip(*(rows[n] for n in rng.permutation(len(rows))), strict=True)
        predicted = [guesses[name] / 7 for name in systems]
        found = agreement(predicted, rated, systems, resamples=0)["system"]
        for name in ("SRCC", "KTAU"):
            expected = REFERENCES[name](np.array([*guesses.values()]), exact)
            assert found[name].value == pytest.approx(expected, abs=1e-12)
            difference = paired_difference(predicted, rated, rated, systems, name, resamples=0)
            assert difference["system"].value == pytest.approx(expected - 1, abs=1e-12)
        means = system_means(rated, systems)
        assert len(set(means.values())) == len(set(exact))


@pytest.mark.parametrize(("scale", "offset"), [(1e-10, 0), (0.1, 1.7e9), (1e-5, -4e5)])
def test_a_correlation_knows_neither_scale_nor_offset(scale: float, offset: float) -> None:
    """That of numbers which are few and far from 0, or all near to it, is one as well."""
    values = np.array([1.0, 2.0, 4.0, 3.0, 7.0])
    rated = [1.0, 2.0, 3.0, 4.0, 5.0]
    found = agreement(offset + scale * values, rated, list("abcde"), resamples=0)
    plain = agreement(values, rated, list("abcde"), resamples=0)
    for level in LEVELS:
        for name in CORRELATIONS:
            assert found[level][name].value == pytest.approx(plain[level][name].value, abs=1e-6)


@pytest.mark.parametrize(
    ("predicted", "rated", "systems", "level", "reason"),
    [
        ([3, 3, 3, 3], [1, 2, 3, 4], "abcd", "utterance", "all predictions are equal"),
        ([1, 2, 3, 4], [3, 3, 3, 3], "abcd", "utterance", "all ratings are equal"),
        ([1, 2], [1, 2], "ab", "utterance", "2 items"),
        ([1, 2, 3, 4], [1, 2, 3, 5], "aabb", "system", "2 items"),
        ([1, 2, 3, 4], [1, 2, 3, 5], "aaaa", "system", "1 item"),
        # Means of 0.1, 0.2 in another order differ in the last place only.
        ([0.1, 0.2, 0.3, 0.3, 0.2, 0.1, 0.2, 0.3, 0.1], [1, 2, 3, 4, 5, 1, 2, 3, 2], "aaabbbccc",
         "system", "all predictions are equal"),
    ],
)  # fmt: skip
def test_correlation_is_undefined_with_its_reason(
    predicted: list[float], rated: list[float], systems: str, level: str, reason: str
) -> None:
    found = agreement(predicted, rated, list(systems), resamples=10)[level]
    for name in CORRELATIONS:
        value = found[name].value
        assert isinstance(value, Undefined)
        assert reason in value.reason
    assert isinstance(found["MSE"].value, float)  # an error of equal or few values is still one


def test_missing_system_leaves_values_but_no_system_level_and_no_interval() -> None:
    predicted, rated, _ = noisy(20, 4, 0.3)
    found = agreement(predicted, rated, [*["a"] * 19, None], resamples=20)
    for name, reference in REFERENCES.items():
        expected = reference(np.array(predicted), np.array(rated))
        assert found["utterance"][name].value == pytest.approx(expected)
        for value in (*found["system"][name][:2], found["utterance"][name].interval):
            assert isinstance(value, Undefined)
            assert "system" in value.reason


def test_one_system_has_no_interval() -> None:
    found = agreement([1, 2, 3, 5], [1, 2, 4, 3], ["a"] * 4, resamples=50)
    assert all(isinstance(f.interval, Undefined) for f in found["utterance"].values())
    assert isinstance(found["utterance"]["SRCC"].value, float)


@pytest.mark.parametrize(
    ("predicted", "rated", "systems"),
    [
        ([1, 2], [1, 2, 3], ["a"] * 3),
        ([1, 2, 3], [1, 2, 3], ["a"] * 2),
        ([], [], []),
        ([1, float("nan"), 3], [1, 2, 3], ["a"] * 3),
        ([1, 2, 3], [1, 2, float("inf")], ["a"] * 3),
    ],
)
def test_bad_arrays_raise(predicted: list, rated: list, systems: list) -> None:
    with pytest.raises(ValueError, match=r"predictions"):
        agreement(predicted, rated, systems)


def test_bootstrap_is_seeded_and_brackets_the_value() -> None:
    data = noisy(200, 12, 0.4)
    first, again, other = (agreement(*data, resamples=200, seed=s) for s in (1, 1, 2))
    assert first == again
    for level in LEVELS:
        for name, found in first[level].items():
            low, high = found.interval
            assert low < found.value < high, (level, name)
            assert found.interval != other[level][name].interval


def test_bootstrap_draws_whole_systems() -> None:
    """Copies of a pair within its system are no new evidence: the interval must not narrow."""
    predicted, rated, systems = noisy(40, 10, 0.6)
    once = agreement(predicted, rated, systems, resamples=100)
    tenfold = agreement(predicted * 10, rated * 10, systems * 10, resamples=100)
    for level in LEVELS:
        for name in STATISTICS:
            assert tenfold[level][name].interval == pytest.approx(once[level][name].interval)
    # Had each copy been a system of its own, it would have narrowed.
    apart = [f"{s}-{i}" for i in range(10) for s in systems]
    low, high = agreement(predicted * 10, rated * 10, apart, resamples=100)["utterance"][
        "MSE"
    ].interval
    wide = once["utterance"]["MSE"].interval
    assert high - low < 0.6 * (wide[1] - wide[0])


def test_interval_matches_a_bootstrap_written_out() -> None:
    """Same law, another generator: percentiles of 2000 draws agree to a tenth of the width."""
    predicted, rated, systems = noisy(120, 10, 0.7)
    x, y, s = np.array(predicted), np.array(rated), np.array(systems)
    rng = np.random.default_rng(99)
    order, draws = np.unique(s), []
    for _ in range(2000):
        rows = np.concatenate([np.flatnonzero(s == o) for o in rng.choice(order, len(order))])
        draws.append(pearson(x[rows], y[rows]))
    expected = np.percentile(draws, (0.855, 99.145))  # as of 10 systems
    found = agreement(predicted, rated, systems, resamples=1000)["utterance"]["LCC"].interval
    assert found == pytest.approx(expected, abs=0.1 * (expected[1] - expected[0]))


def test_few_clusters_have_wider_percentiles_and_many_the_plain_ones() -> None:
    """Student's quantiles, by hand: t(.975, n - 1) sqrt(n / (n - 1)) of a normal distribution."""
    draws = np.linspace(0, 100, 100_001).tolist()
    for clusters, low in ((5, 0.0954), (10, 0.855), (20, 1.588), (100_000, 2.5)):
        assert percentiles(draws, clusters) == pytest.approx((low, 100 - low), abs=1e-3)


def test_an_interval_of_a_mean_of_six_holds_it_as_often_as_it_says() -> None:
    """Of normal numbers; the 2.5 and 97.5 percentiles hold it in .84."""
    rng = np.random.default_rng(0)
    picks = rng.integers(6, size=(1000, 6))
    intervals = [percentiles(rng.normal(0, 1, 6)[picks].mean(axis=1), 6) for _ in range(1000)]
    assert 0.925 < np.mean([low <= 0 <= high for low, high in intervals]) < 0.965


def of_systems(values: list[float], systems: list[str]) -> np.ndarray:
    """Means by system, written out."""
    names = sorted(set(systems))
    pairs = list(zip(values, systems, strict=True))
    return np.array([np.mean([value for value, of in pairs if of == name]) for name in names])


@pytest.mark.parametrize("statistic", sorted(STATISTICS))
def test_paired_difference_has_the_sign_of_the_better_one(statistic: str) -> None:
    better, rated, systems = noisy(150, 10, 0.2)
    worse = list(np.array(rated) + np.random.default_rng(5).normal(0, 1.5, len(rated)))
    found = paired_difference(better, worse, rated, systems, statistic, resamples=200)
    swapped = paired_difference(worse, better, rated, systems, statistic, resamples=200)
    sides = [better, worse, rated]
    levels = {
        "utterance": [np.array(side) for side in sides],
        "system": [of_systems(side, systems) for side in sides],
    }
    reference = REFERENCES[statistic]
    assert set(found) == set(LEVELS)
    for level, (x, z, y) in levels.items():
        value, interval, items = found[level]
        assert value == pytest.approx(reference(x, y) - reference(z, y))
        assert swapped[level].value == pytest.approx(-value)
        assert swapped[level].interval == pytest.approx((-interval[1], -interval[0]))
        assert items == len(y) == {"utterance": 150, "system": 10}[level]
    assert all(
        (bound < 0) == (statistic in LOWER_IS_BETTER) for bound in found["utterance"].interval
    )


def test_both_levels_of_a_paired_difference_are_of_the_same_draws() -> None:
    """Those of `agreement`: its intervals are those of the difference to a perfect evaluator."""
    predicted, rated, systems = noisy(80, 8, 0.8)
    own = agreement(predicted, rated, systems, resamples=100, seed=4)
    found = paired_difference(rated, predicted, rated, systems, resamples=100, seed=4)
    for level in LEVELS:  # SRCC of the ratings with themselves is 1 on every draw
        low, high = own[level]["SRCC"].interval
        assert found[level].interval == pytest.approx((1 - high, 1 - low))


def test_a_real_difference_of_systems_is_found_and_one_of_pairs_is_none() -> None:
    """Noise on its many pairs goes out of a system's mean, what all of them share does not."""
    _, rated, systems = noisy(1200, 12, 0)
    rng = np.random.default_rng(3)
    noise = list(np.array(rated) + rng.normal(0, 0.8, len(rated)))
    shift = {name: rng.normal(0, 1.5) for name in sorted(set(systems))}
    shifted = [r + shift[s] for r, s in zip(rated, systems, strict=True)]
    found = paired_difference(noise, shifted, rated, systems, resamples=300)
    assert found["system"].interval[0] > 0
    found = paired_difference(noise, rated, rated, systems, resamples=300)
    assert found["utterance"].interval[1] < 0
    assert found["system"].value > found["utterance"].value + 0.1


def test_paired_difference_of_equal_evaluators_is_zero() -> None:
    predicted, rated, systems = noisy(50, 6, 0.5)
    found = paired_difference(predicted, predicted, rated, systems, resamples=50)
    assert found["utterance"] == (0.0, (0.0, 0.0), 50)
    assert found["system"] == (0.0, (0.0, 0.0), 6)


def test_paired_difference_is_undefined_for_a_constant_and_for_few_systems() -> None:
    predicted, rated, systems = noisy(50, 6, 0.5)
    for found in paired_difference(predicted, [3.0] * 50, rated, systems, resamples=50).values():
        assert isinstance(found.value, Undefined)
        assert isinstance(found.interval, Undefined)
    two = ["a"] * 25 + ["b"] * 25
    found = paired_difference(predicted, rated, rated, two, resamples=50)
    assert isinstance(found["utterance"].value, float)
    assert found["system"].value == Undefined("2 items; a correlation needs 3")
    found = paired_difference(predicted, rated, rated, [*systems[:-1], None], resamples=50)
    assert isinstance(found["utterance"].value, float)
    for value in (*found["system"][:2], found["utterance"].interval):
        assert value == Undefined("not every pair names its system")


def test_the_published_system_table_follows_from_the_one_by_operation() -> None:
    if not REFERENCE.is_dir():
        pytest.skip(f"{REFERENCE} is not there")
    with (REFERENCE / "auditscore_by_operation.csv").open(newline="") as file:
        by_operation = list(csv.DictReader(file))
    with (REFERENCE / "auditscore_by_system.csv").open(newline="") as file:
        by_system = {row["system_id"]: row for row in csv.DictReader(file)}
    assert len(by_operation) == 69
    systems = [row["system_id"] for row in by_operation]
    unbalanced = {"sys8", "sys23"}
    for axis in AXES:
        means = system_means([float(row[axis]) for row in by_operation], systems)
        assert list(means) == list(dict.fromkeys(systems))
        assert set(means) == set(by_system)
        for system, mean in means.items():
            tolerance = 0.007 if system in unbalanced else 0.001
            # Published with three digits: the last one is a rounding of its own.
            assert abs(mean - float(by_system[system][axis])) <= tolerance + 1e-9, (system, axis)


def test_coverage_counts_the_ratings_inside_and_measures_the_intervals() -> None:
    rng = np.random.default_rng(0)
    rated = rng.normal(3, 1, 4000)
    reach = 1.6449  # of the middle 90 % of a normal distribution
    found = coverage([(3 - reach, 3 + reach)] * 4000, rated.tolist())
    assert found.share == pytest.approx(0.9, abs=0.015)
    assert found.width == pytest.approx(2 * reach)
    assert coverage([(1, 2), (1, 2)], [1, 2]).share == 1  # ends included
    assert coverage([(1, 2), (1, 2)], [0.99, 2.01]).share == 0
    lengths = (([], []), ([(1, 2)], [1.0, 2.0]))
    for bounds, values in (*lengths, ([(1, 2)], [np.nan]), ([(1, np.nan)], [1.0])):
        with pytest.raises(ValueError, match="intervals"):
            coverage(bounds, values)


def test_a_stray_prediction_makes_no_ties_of_other_systems() -> None:
    """By how much equal means may differ is a matter of each system's own values."""
    systems, rated = list("abcdef") * 2, np.linspace(1, 5, 12)
    stray = [*rated[:-1], 1e16]
    found = agreement(stray, rated, systems, resamples=0)["system"]
    assert [found["SRCC"].value, found["KTAU"].value] == pytest.approx([1, 1])
    by_hand = pearson(*(np.array(side).reshape(2, 6).mean(axis=0) for side in (stray, rated)))
    assert found["LCC"].value == pytest.approx(by_hand)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("factor", [2.0**700, 2.0**-700])
def test_a_correlation_is_that_of_any_unit(factor: float) -> None:
    """And an error that no number can hold is undefined, not infinite."""
    predicted, rated, systems = noisy(60, 8, 0.5)
    as_given = agreement(predicted, rated, systems, resamples=50)
    found = agreement([factor * value for value in predicted], rated, systems, resamples=50)
    for level in LEVELS:
        for name in set(STATISTICS) - LOWER_IS_BETTER:
            assert found[level][name] == as_given[level][name]
        error = found[level]["MSE"]
        assert isinstance(error.value, Undefined) == isinstance(error.interval, Undefined)
        assert isinstance(error.value, Undefined) == (factor > 1)

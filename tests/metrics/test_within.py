"""Agreement within groups against scipy group by group, and the laws of its ceiling."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats

from auditeval.metrics.raters import rater_ceiling
from auditeval.metrics.within import ceiling_within, within
from auditeval.types import Undefined

SONGS, VERSIONS = 12, 6
GROUPS = [f"song{song:02}" for song in range(SONGS) for _ in range(VERSIONS)]


def truth(songs: int = SONGS, seed: int = 0) -> np.ndarray:
    """What is thought of the versions of each song :: (songs, VERSIONS)."""
    return np.random.default_rng(seed).normal(0, 1, (songs, VERSIONS))


def picks(liked: np.ndarray, listeners: int, seed: int) -> list[dict[str, float]]:
    """The votes of listeners who each pick one version of a song, one dict a version.

    The best of what they heard, by their own noise: of Gumbel's kind, so that the shares are known.
    """
    rng = np.random.default_rng(seed)
    best = (liked[:, None] + rng.gumbel(0, 1, (len(liked), listeners, VERSIONS))).argmax(axis=2)
    return [
        {f"l{n}": 5.0 if chosen == version else 1.0 for n, chosen in enumerate(of_song)}
        for of_song in best
        for version in range(VERSIONS)
    ]


def test_it_is_the_mean_of_scipys_values_group_by_group() -> None:
    rng = np.random.default_rng(1)
    rated = rng.integers(1, 6, (SONGS, VERSIONS)).astype(float)  # with ties
    predicted = rated + rng.normal(0, 2, rated.shape)
    found = within(predicted.ravel(), rated.ravel(), GROUPS)
    for name, function in (("SRCC", stats.spearmanr), ("KTAU", stats.kendalltau)):
        expected = [function(x, y).statistic for x, y in zip(predicted, rated, strict=True)]
        assert list(found[name].groups.values()) == pytest.approx(expected)
        assert found[name].value == pytest.approx(np.mean(expected))
        low, high = found[name].interval
        # Of a mean over songs it is known: Student's interval.
        width = 2 * stats.t.ppf(0.975, SONGS - 1) * stats.sem(expected)
        assert high - low == pytest.approx(width, rel=0.15)
        assert low < found[name].value < high
    shuffled = rng.permutation(len(GROUPS))
    again = within(predicted.ravel()[shuffled], rated.ravel()[shuffled], np.array(GROUPS)[shuffled])
    assert again["SRCC"].value == pytest.approx(found["SRCC"].value)
    assert again["SRCC"].interval == pytest.approx(found["SRCC"].interval)


def test_what_differs_between_groups_makes_no_difference() -> None:
    rated = truth()
    predicted = rated + np.random.default_rng(2).normal(0, 1, rated.shape)
    found = within(predicted.ravel(), rated.ravel(), GROUPS)
    apart = predicted + 10 * np.arange(SONGS)[:, None]
    assert within(apart.ravel(), rated.ravel(), GROUPS) == found
    backwards = rated - 10 * np.arange(SONGS)[:, None]
    assert within(apart.ravel(), backwards.ravel(), GROUPS) == found
    # Over all songs at once the order of songs would be all that is seen.
    assert stats.spearmanr(apart.ravel(), backwards.ravel()).statistic < -0.8 < found["SRCC"].value


def test_a_group_without_a_correlation_is_named_and_out_of_the_mean() -> None:
    groups = [*["level"] * 3, *["tied"] * 3, *["small"] * 2, *["one"] * 3, *["other"] * 3]
    predicted = [2, 2, 2, 1, 2, 3, 1, 2, 1, 2, 3, 3, 2, 1]
    rated = [1, 2, 3, 4, 4, 4, 1, 2, 1, 2, 3, 1, 3, 2]
    found = within(predicted, rated, groups)["SRCC"]
    assert found.undefined == {
        "level": Undefined("all predictions are equal"),
        "tied": Undefined("all ratings are equal"),
        "small": Undefined("2 items; a correlation needs 3"),
    }
    assert found.value == pytest.approx((1 - 0.5) / 2)
    assert found.interval == Undefined("2 groups; an interval over groups needs 5")


def test_without_five_groups_there_is_no_interval_and_without_one_no_value() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one = within([1, 2, 3], [1, 2, 3], ["a"] * 3)["KTAU"]
        none = within([1, 1, 1], [1, 2, 3], ["a"] * 3)["SRCC"]
        nobody = ceiling_within([[5.0], [1.0], []], ["a"] * 3)
        level = ceiling_within([[2.0, 2.0]] * 3, ["a"] * 3, splits=3)
    assert (one.value, one.groups) == (1, {"a": 1})
    assert one.interval == Undefined("1 group; an interval over groups needs 5")
    assert none.value == Undefined("no group has a correlation (all predictions are equal)")
    assert nobody.value == Undefined("no group has a correlation (there is none)")
    assert level.undefined == {"a": Undefined("all means of one half of the votes are equal")}
    assert isinstance(none.interval, Undefined)
    assert isinstance(nobody.interval, Undefined)


@pytest.mark.parametrize(
    ("predicted", "rated", "groups", "said"),
    [
        ([1, 2], [1, 2, 3], ["a"] * 3, "2 predictions, 3 ratings"),
        ([1, 2, 3], [1, 2, 3], ["a"] * 2, "2 groups"),
        ([1, 2, np.nan], [1, 2, 3], ["a"] * 3, "finite"),
        ([], [], [], "0 predictions"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    predicted: list[float], rated: list[float], groups: list[str], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        within(predicted, rated, groups)


def test_the_ceiling_is_that_of_the_same_rows_in_another_order() -> None:
    rng = np.random.default_rng(3)
    votes = rng.integers(1, 6, (30, 6)).tolist()
    groups = [str(row % 6) for row in range(30)]
    order = rng.permutation(30)
    there = ceiling_within(votes, groups)
    here = ceiling_within([votes[row] for row in order], [groups[row] for row in order])
    assert here.value == pytest.approx(there.value, abs=1e-12)
    assert here.interval == pytest.approx(there.interval, abs=1e-12)


def test_votes_that_cannot_be_split_are_refused() -> None:
    with pytest.raises(ValueError, match="votes of 1 pairs, 2 groups"):
        ceiling_within([[1.0, 2.0]], ["a", "a"])
    with pytest.raises(ValueError, match="finite"):
        ceiling_within([{"x": 1.0, "y": np.inf}], ["a"])


@pytest.mark.parametrize("listeners", [11, 40])
def test_the_ceiling_is_what_the_truth_reaches_or_a_little_above(listeners: int) -> None:
    """Ranks of six versions, some tied, are stepped up too far, by less than a tenth."""
    songs = 100
    liked = truth(songs)
    votes = picks(liked, listeners, seed=3)
    groups = [f"song{song:02}" for song in range(songs) for _ in range(VERSIONS)]
    shares = [np.mean(list(given.values())) for given in votes]
    reached = within(liked.ravel(), shares, groups, resamples=0)["SRCC"].value
    found = ceiling_within(votes, groups, splits=10)
    low, high = found.interval
    assert reached < found.value < reached + 0.1
    assert low < found.value < high < 1
    # Listeners who pick by chance alone leave nothing to agree with.
    by_chance = ceiling_within(picks(0 * liked, listeners, seed=3), groups, splits=10)
    assert by_chance.value < 0.3


def test_the_interval_of_the_ceiling_holds_that_of_many_songs() -> None:
    groups = [f"song{song:02}" for song in range(200) for _ in range(VERSIONS)]
    many = ceiling_within(picks(truth(200, seed=99), 21, seed=99), groups, 10, resamples=0).value
    held = 0
    for seed in range(20):
        votes = picks(truth(SONGS, seed), 21, seed)
        low, high = ceiling_within(votes, GROUPS, splits=5, resamples=200).interval
        held += low < many < high
    assert held >= 15


def test_of_one_group_it_is_the_ceiling_of_raters() -> None:
    votes = picks(truth(1), 21, seed=4)
    found = ceiling_within(votes, ["song"] * VERSIONS, splits=1)
    known = rater_ceiling(votes, ["song"] * VERSIONS, splits=1)["utterance"]["SRCC"]
    assert found.value == pytest.approx(known.value)


def test_nobody_is_on_both_sides_of_a_split() -> None:
    """Votes that one listener gives hang together: five of them are 1 because one is 5."""
    listeners = range(60)
    same = [
        {f"l{n}": 5.0 if n % VERSIONS == version else 1.0 for n in listeners}
        for version in range(VERSIONS)
    ]
    # All shares are equal: what one half of the listeners has less of, the other has more of.
    found = ceiling_within(same, ["song"] * VERSIONS, splits=20)
    assert found.groups["song"] == pytest.approx(-1)
    assert found.value == 0


def test_a_seed_makes_one_ceiling() -> None:
    votes = picks(truth(), 21, seed=5)
    found = [ceiling_within(votes, GROUPS, splits=10, seed=seed) for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]

"""Raters against published tables and another package, and the laws of the rater ceiling."""

from __future__ import annotations

from typing import Any, NamedTuple

import krippendorff
import numpy as np
import pytest
from scipy import stats

from auditeval.metrics.agreement import LEVELS, agreement
from auditeval.metrics.rater_halves import Correlations
from auditeval.metrics.raters import (
    CORRELATIONS,
    icc_one_way,
    icc_two_way,
    krippendorff_alpha,
    rater_ceiling,
    reliability,
    screened,
)
from auditeval.types import Undefined

NAN = float("nan")
# Four observers, twelve units [Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, D].
KRIPPENDORFF = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
).T
# Six targets, four judges [Shrout and Fleiss 1979, Table 2].
SHROUT_FLEISS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float
)


class Panel(NamedTuple):
    """What listeners would say on average, their votes :: (pairs, raters), and the systems."""

    truth: np.ndarray
    votes: np.ndarray
    systems: list[str]

    @property
    def with_ids(self) -> list[dict[str, float]]:
        return [{f"r{i}": v for i, v in enumerate(row)} for row in self.votes.tolist()]


def panel(
    pairs: int, systems: int, raters: int, noise: float, bias: float = 0.0, seed: int = 0
) -> Panel:
    rng = np.random.default_rng(seed)
    codes = rng.integers(systems, size=pairs)
    truth = 3 + rng.normal(0, 0.4, systems)[codes] + rng.normal(0, 0.5, pairs)
    votes = truth[:, None] + rng.normal(0, noise, (pairs, raters)) + rng.normal(0, bias, raters)
    return Panel(truth, votes, [f"s{code}" for code in codes])


def test_alpha_of_krippendorffs_own_example() -> None:
    assert round(krippendorff_alpha(KRIPPENDORFF), 3) == 0.849
    assert round(krippendorff_alpha(KRIPPENDORFF, ordinal=True), 3) == 0.815


@pytest.mark.parametrize("step", [1.0, 0.5, 0.04])
@pytest.mark.parametrize("seed", range(3))
def test_alpha_is_that_of_another_package(seed: int, step: float) -> None:
    rng = np.random.default_rng(seed)
    votes = np.clip(panel(40, 5, 6, 0.8, bias=0.3, seed=seed).votes, 1, 5)
    votes = np.round(votes / step) * step
    votes[rng.random(votes.shape) < 0.5] = NAN  # some pairs keep one vote, or none
    for level in ("interval", "ordinal"):
        expected = krippendorff.alpha(votes.T, level_of_measurement=level)
        found = krippendorff_alpha(votes, ordinal=level == "ordinal")
        assert found == pytest.approx(expected, abs=1e-12)


def test_intraclass_correlations_of_shrout_and_fleiss() -> None:
    found = icc_one_way(SHROUT_FLEISS) | icc_two_way(SHROUT_FLEISS)
    rounded = {name: round(value, 2) for name, value in found.items()}
    assert rounded == {"ICC(1,1)": 0.17, "ICC(1,k)": 0.44, "ICC(2,1)": 0.29, "ICC(2,k)": 0.62}
    with pytest.raises(ValueError, match="every pair"):
        icc_two_way(np.where(SHROUT_FLEISS == 9, np.nan, SHROUT_FLEISS))


def test_of_raters_who_disagree_no_reliability_is_above_1() -> None:
    for votes in ([[4, 2, 3], [2, 4, 3], [3, 3, 4]], [[1, 5], [5, 1.2]]):
        assert isinstance(icc_two_way(np.array(votes, float))["ICC(2,k)"], Undefined)


def test_intraclass_correlations_are_those_of_another_package() -> None:
    rng = np.random.default_rng(5)
    votes = 3 + rng.normal(0, 0.8, (30, 1)) + rng.normal(0, 0.4, (1, 4))
    votes = np.clip(np.round(votes + rng.normal(0, 0.6, (30, 4))), 1, 5)
    expected = {  # pingouin 0.7.0, intraclass_corr; it takes balanced votes only
        "ICC(1,1)": 0.550808254,
        "ICC(1,k)": 0.830648638,
        "ICC(2,1)": 0.552645201,
        "ICC(2,k)": 0.831690881,
    }
    assert icc_one_way(votes) | icc_two_way(votes) == pytest.approx(expected, abs=1e-9)


def test_unequal_votes_follow_the_analysis_of_variance() -> None:
    """Against scipy's F of the same groups: ICC(1,1) = (F - 1) / (F - 1 + k)."""
    rng = np.random.default_rng(0)
    made = panel(40, 5, 7, 0.8).votes
    counts = rng.integers(2, 8, size=40)
    made[np.arange(7) >= counts[:, None]] = NAN
    f = stats.f_oneway(*(row[:n] for row, n in zip(made, counts, strict=True))).statistic
    k = (counts.sum() - np.square(counts).sum() / counts.sum()) / 39
    found = icc_one_way(made)
    assert found["ICC(1,1)"] == pytest.approx((f - 1) / (f - 1 + k))
    assert found["ICC(1,k)"] == pytest.approx(1 - 1 / f)
    # One vote tells nothing of how far votes differ.
    assert icc_one_way(np.vstack([made, [5.0] + [NAN] * 6])) == found


@pytest.mark.parametrize("raters", [2, 5])
def test_the_mean_of_a_panel_is_as_reliable_as_known(raters: int) -> None:
    made = panel(4000, 400, raters, 0.8)
    variance = 0.41  # of the truth, as `panel` draws it
    known = variance / (variance + 0.64 / raters)
    found = reliability(made.with_ids, made.systems, resamples=0)
    assert found["ICC(1,k)"].value == pytest.approx(known, abs=0.03)
    assert found["ICC(2,k)"].value == pytest.approx(known, abs=0.03)
    assert found["ICC(1,1)"].value == pytest.approx(found["alpha interval"].value, abs=0.001)
    # Rooted, it is the ceiling that halves of the panel give.
    ceiling = rater_ceiling(made.with_ids, made.systems, splits=20)["utterance"]["LCC"].value
    assert ceiling**2 == pytest.approx(found["ICC(2,k)"].value, abs=0.02)


def test_reliabilities_say_what_they_are_over() -> None:
    made = panel(50, 6, 4, 0.5)
    votes = made.with_ids
    for row in range(10):
        del votes[row]["r1"]
    votes[10] = {"r0": 3.0}
    found = reliability(votes, made.systems, resamples=60)
    assert {name: value.items for name, value in found.items()} == {
        **dict.fromkeys(("alpha interval", "alpha ordinal", "ICC(1,1)", "ICC(1,k)"), 49),
        **dict.fromkeys(("ICC(2,1)", "ICC(2,k)"), 39),
    }
    assert found["ICC(2,1)"].value == icc_two_way(made.votes[11:])["ICC(2,1)"]
    for value, (low, high), _ in found.values():
        assert low < value < high
    assert found == reliability(votes, made.systems, resamples=60)
    lists = reliability([list(given.values()) for given in votes], made.systems, resamples=0)
    assert lists["alpha ordinal"].value == found["alpha ordinal"].value
    assert lists["ICC(2,1)"] == (
        (none := Undefined("not all raters are known by id")),
        *lists["ICC(2,1)"][1:],
    )
    assert lists["ICC(2,k)"].value == none


def test_reliabilities_that_do_not_exist_say_why() -> None:
    apart = [{"a": 3.0, "b": 4.0}, {"b": 2.0, "c": 5.0}, {"a": 1.0, "c": 2.0}]
    assert "rated by all of 3 raters" in reliability(apart, list("xyz"))["ICC(2,1)"].value.reason
    equal = reliability([[3.0, 3.0]] * 4, list("xyxy"))
    assert equal["alpha ordinal"].value == Undefined("all votes are equal")
    assert equal["ICC(1,k)"].value == Undefined("all pairs have the same mean vote")
    for votes in ([[1.0], []], []):
        for value, interval, items in reliability(votes, ["s"] * len(votes)).values():
            assert isinstance(value, Undefined)
            assert isinstance(interval, Undefined)
            assert items == 0
    unnamed = reliability([[1.0, 2.0], [3.0, 4.0], [2.0, 2.0]], ["s", None, "t"])["alpha interval"]
    assert isinstance(unnamed.value, float)
    assert "names its system" in unnamed.interval.reason


def test_the_rater_who_votes_at_random_is_first_and_nobody_is_dropped() -> None:
    made = panel(200, 5, 6, 0.4)
    rng = np.random.default_rng(9)
    made.votes[:, 2] = rng.uniform(1, 5, 200)
    made.votes[:, 4] += 1.0
    votes = made.with_ids
    for row in range(150):
        del votes[row]["r5"]
    found = screened([*votes, {"alone": 3.0}, [1.0, 5.0], {"r0": 2.0, "same": 3.0}])
    assert {row.rater for row in found} == {"alone", "same", *(f"r{i}" for i in range(6))}
    by_name = {row.rater: row for row in found}
    assert [row.rater for row in found[:3]] == ["alone", "same", "r2"]
    assert by_name["alone"].agreement == Undefined("rated no pair that another one rated")
    assert by_name["alone"].votes == 0
    assert by_name["same"].agreement == Undefined("1 item; a correlation needs 3")
    assert [row.agreement for row in found[2:]] == sorted(row.agreement for row in found[2:])
    assert by_name["r5"].votes == 50
    assert by_name["r0"].votes == 201
    others = np.delete(made.votes[:150, :5], 4, axis=1).mean(axis=1).tolist()
    others += np.delete(made.votes[150:], 4, axis=1).mean(axis=1).tolist()
    assert by_name["r4"].bias == pytest.approx(np.mean(made.votes[:, 4] - others))
    assert by_name["r4"].agreement == pytest.approx(np.corrcoef(made.votes[:, 4], others)[0, 1])
    assert by_name["r4"].bias > 0.8


def test_lists_of_votes_name_nobody_to_screen() -> None:
    assert screened([[1.0, 2.0], [3.0]]) == []


@pytest.mark.parametrize("raters", [2, 3, 4, 5, 8])
@pytest.mark.parametrize("noise", [0.3, 1.0])
def test_knowing_the_truth_reaches_the_ceiling(raters: int, noise: float) -> None:
    made = panel(4000, 40, raters, noise)
    reached = agreement(made.truth, made.votes.mean(axis=1), made.systems, resamples=0)
    found = rater_ceiling(made.votes.tolist(), made.systems, splits=20)
    for level, tolerance in (("utterance", 0.03), ("system", 0.03)):
        for name in CORRELATIONS:
            value = found[level][name].value
            assert value == pytest.approx(reached[level][name].value, abs=tolerance), level


def test_the_ceiling_is_the_root_of_how_well_another_panel_agrees() -> None:
    made = panel(4000, 30, 5, 1.0)
    rng = np.random.default_rng(1)
    another = (made.truth[:, None] + rng.normal(0, 1.0, (4000, 5))).mean(axis=1)
    reliability = np.corrcoef(another, made.votes.mean(axis=1))[0, 1]
    found = rater_ceiling(made.votes.tolist(), made.systems, splits=20)["utterance"]["LCC"]
    assert found.value**2 == pytest.approx(reliability, abs=0.02)
    # Of one factor with equal noise it is known: var(truth) / (var(truth) + noise / raters).
    known = 0.41 / (0.41 + 1 / 5)
    assert found.value**2 == pytest.approx(known, abs=0.05)


def test_two_raters_are_correlated_and_stepped_up_as_the_formula_says() -> None:
    made = panel(50, 6, 2, 1.0)
    found = rater_ceiling(made.with_ids, made.systems, splits=3)["utterance"]
    for name, function in (("LCC", stats.pearsonr), ("SRCC", stats.spearmanr)):
        r = function(*made.votes.T).statistic
        assert found[name].value == pytest.approx(np.sqrt(2 * r / (1 + r)))


def test_of_three_votes_a_half_is_one_and_the_panel_three_times_that() -> None:
    made = panel(60, 6, 3, 0.5)
    found = rater_ceiling(made.with_ids, made.systems, splits=100)["utterance"]["LCC"].value
    r = np.corrcoef(made.votes.T)[np.triu_indices(3, 1)].mean()
    assert found == pytest.approx(np.sqrt(3 * r / (1 + 2 * r)), abs=0.01)


def test_a_rater_of_the_whole_set_costs_nothing_by_being_harsh() -> None:
    fair, biased = panel(300, 10, 4, 0.5), panel(300, 10, 4, 0.5, bias=1.5)
    assert np.allclose(biased.truth, fair.truth)
    known = rater_ceiling(biased.with_ids, biased.systems, splits=20)
    plain = rater_ceiling(fair.with_ids, fair.systems, splits=20)
    for level in LEVELS:
        for name in CORRELATIONS:
            assert known[level][name].value == pytest.approx(plain[level][name].value, abs=0.05)
    # Split pair by pair, the same bias counts as noise.
    unknown = rater_ceiling(biased.votes.tolist(), biased.systems, splits=20)
    assert unknown["utterance"]["LCC"].value < known["utterance"]["LCC"].value - 0.1


def test_raters_of_a_few_pairs_each_are_split_pair_by_pair() -> None:
    made = panel(300, 10, 20, 0.5)
    rng = np.random.default_rng(0)
    heard = [sorted(rng.choice(20, 4, replace=False)) for _ in made.votes]
    by_id = [
        {f"r{i}": float(row[i]) for i in who} for row, who in zip(made.votes, heard, strict=True)
    ]
    lists = [list(given.values()) for given in by_id]
    found = [rater_ceiling(votes, made.systems, splits=10) for votes in (by_id, lists)]
    assert found[0] == found[1]


def test_a_missing_vote_or_two_leave_raters_split_by_rater() -> None:
    made = panel(200, 10, 5, 0.5, bias=1.5)
    votes = made.with_ids
    for row in range(0, 200, 3):
        del votes[row][f"r{row % 5}"]
    missing = rater_ceiling(votes, made.systems, splits=20)["utterance"]["LCC"].value
    lists = [list(given.values()) for given in votes]
    assert missing > rater_ceiling(lists, made.systems, splits=20)["utterance"]["LCC"].value + 0.1


def test_intervals_bracket_the_value_and_count_systems_not_votes() -> None:
    made = panel(400, 12, 5, 0.7)
    votes, systems = made.with_ids, made.systems
    found, again = (rater_ceiling(votes, systems, splits=30) for _ in range(2))
    assert found == again
    assert found != rater_ceiling(votes, systems, splits=30, seed=1)
    fivefold = rater_ceiling(votes * 5, systems * 5, splits=30)
    for level in LEVELS:
        for name in CORRELATIONS:
            low, high = found[level][name].interval
            assert low < found[level][name].value < high <= 1
            # Copies of a pair within its system are no new evidence.
            assert fivefold[level][name].interval == pytest.approx((low, high))


def test_that_splits_differ_does_not_widen_the_interval() -> None:
    """One rater of five votes at random, and is now in a half, now left out."""
    made = panel(2000, 400, 5, 0.3)
    made.votes[:, 4] = np.random.default_rng(7).uniform(1, 5, 2000)
    votes = made.with_ids
    apart = [rater_ceiling(votes, made.systems, 1, seed)["utterance"]["LCC"] for seed in range(9)]
    assert np.ptp([found.value for found in apart]) > 0.1
    low, high = rater_ceiling(votes, made.systems, splits=40)["utterance"]["LCC"].interval
    # As wide as that of an evaluator which knows the truth, on the same pairs.
    reached = agreement(made.truth, made.votes.mean(axis=1), made.systems, resamples=200)
    width = np.diff(reached["utterance"]["LCC"].interval)
    assert 0.5 * width < high - low < 1.5 * width


def test_pairs_of_one_vote_are_left_out_and_counted() -> None:
    made = panel(60, 6, 4, 0.5)
    votes = made.votes.tolist()
    more = rater_ceiling([*votes, [5.0], [1.0], []], [*made.systems, "s0", "new", "s1"], splits=5)
    assert more == rater_ceiling(votes, made.systems, splits=5)
    assert more["utterance"]["LCC"].items == 60
    assert more["system"]["LCC"].items == 6


def test_raters_who_do_not_agree_leave_no_room() -> None:
    rng = np.random.default_rng(0)
    first = rng.normal(3, 1, 40)
    votes = [{"a": x, "b": 6 - x} for x in first.tolist()]
    found = rater_ceiling(votes, ["s", "t"] * 20, splits=5)["utterance"]
    assert found["LCC"].value == 0
    assert found["SRCC"].value == 0


UNDEFINED: dict[str, tuple[list[Any], list[str | None], str]] = {
    "no votes": ([[1.0], []], ["a", "b"], "no pair has 2 votes"),
    "nothing": ([], [], "no pair has 2 votes"),
    "two pairs": ([[1.0, 2.0], [3.0, 4.0]], ["a", "b"], "2 items; a correlation needs 3"),
    "equal votes": ([[3.0, 3.0]] * 5, list("abcde"), "all means of one half of the votes are eq"),
}


@pytest.mark.parametrize(("votes", "systems", "reason"), UNDEFINED.values(), ids=UNDEFINED)
def test_a_ceiling_that_does_not_exist_says_why(
    votes: list[Any], systems: list[str | None], reason: str
) -> None:
    found = rater_ceiling(votes, systems, splits=5)
    for level in LEVELS:
        for name in CORRELATIONS:
            value, interval, _ = found[level][name]
            assert isinstance(value, Undefined)
            assert reason in value.reason
            assert isinstance(interval, Undefined)


def test_without_systems_there_is_no_system_level_and_no_interval() -> None:
    made = panel(40, 4, 4, 0.5)
    found = rater_ceiling(made.votes.tolist(), [*made.systems[:-1], None], splits=5)
    assert isinstance(found["utterance"]["LCC"].value, float)
    for value in (*found["system"]["LCC"][:2], found["utterance"]["LCC"].interval):
        assert isinstance(value, Undefined)
        assert "names its system" in value.reason


@pytest.mark.parametrize(
    ("votes", "systems"),
    [([[1.0, 2.0]], []), ([[1.0, float("nan")]], ["a"]), ([{"r": 1.0, "q": float("inf")}], ["a"])],
)
def test_bad_votes_raise(votes: list[Any], systems: list[str]) -> None:
    with pytest.raises(ValueError, match="votes"):
        rater_ceiling(votes, systems)


def test_correlations_of_draws_are_those_of_numpy_and_scipy_to_the_last_bit() -> None:
    rng = np.random.default_rng(3)
    for pairs in (4, 7, 40):
        means = (2 * rng.normal(size=(2, pairs))).round() / 2  # many are equal
        clusters = [np.flatnonzero(np.arange(pairs) % 4 == system) for system in range(4)]
        made = Correlations(means, clusters)
        for pick in (np.arange(4), *rng.integers(4, size=(20, 4))):
            systems = np.stack([means[:, clusters[n]].mean(axis=1) for n in pick], axis=1)
            pairs_of = np.hstack([clusters[system] for system in pick])
            both = {"system": systems, "utterance": means[:, pairs_of]}
            found = made.of(pick)
            for level, halves in both.items():
                halves = halves.round(9)
                if isinstance(found[level, "LCC"], Undefined):
                    assert np.ptp(halves, axis=1).min() <= 1e-9 * np.abs(halves).max()
                    continue
                assert found[level, "LCC"] == np.corrcoef(halves)[0, 1]
                assert found[level, "SRCC"] == np.corrcoef(stats.rankdata(halves, axis=1))[0, 1]


@pytest.mark.parametrize("known", [0, 4, 9])
def test_the_order_of_pairs_and_votes_moves_no_bit(known: int) -> None:
    """Of 4 raters, all known by id, of 9, or of such as nobody knows."""
    made, rng = panel(40, 5, 4, 0.5), np.random.default_rng(0)
    votes: list[Any] = [
        {f"r{i}": v for i, v in zip(rng.choice(known or 4, 4, replace=False), row, strict=True)}
        for row in np.rint(2 * made.votes) / 2
    ]
    other = [dict(reversed(given.items())) for given in votes]
    if not known:
        votes, other = ([[*given.values()] for given in rows] for rows in (votes, other))
    order = rng.permutation(len(other)).tolist()
    other, systems = [other[row] for row in order], [made.systems[row] for row in order]
    assert rater_ceiling(other, systems, 3) == rater_ceiling(votes, made.systems, 3)
    assert screened(other) == screened(votes)

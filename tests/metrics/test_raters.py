"""Laws of the human ceiling: what an evaluator that knows the truth reaches, and none exceeds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import stats

from auditeval.metrics.agreement import LEVELS, agreement
from auditeval.metrics.raters import CORRELATIONS, human_ceiling
from auditeval.types import Undefined


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


@pytest.mark.parametrize("raters", [2, 3, 4, 5, 8])
@pytest.mark.parametrize("noise", [0.3, 1.0])
def test_knowing_the_truth_reaches_the_ceiling(raters: int, noise: float) -> None:
    made = panel(4000, 40, raters, noise)
    reached = agreement(made.truth, made.votes.mean(axis=1), made.systems, resamples=0)
    found = human_ceiling(made.votes.tolist(), made.systems, splits=20)
    for level, tolerance in (("utterance", 0.03), ("system", 0.03)):
        for name in CORRELATIONS:
            value = found[level][name].value
            assert value == pytest.approx(reached[level][name].value, abs=tolerance), level


def test_the_ceiling_is_the_root_of_how_well_another_panel_agrees() -> None:
    made = panel(4000, 30, 5, 1.0)
    rng = np.random.default_rng(1)
    another = (made.truth[:, None] + rng.normal(0, 1.0, (4000, 5))).mean(axis=1)
    reliability = np.corrcoef(another, made.votes.mean(axis=1))[0, 1]
    found = human_ceiling(made.votes.tolist(), made.systems, splits=20)["utterance"]["LCC"]
    assert found.value**2 == pytest.approx(reliability, abs=0.02)
    # Of one factor with equal noise it is known: var(truth) / (var(truth) + noise / raters).
    known = 0.41 / (0.41 + 1 / 5)
    assert found.value**2 == pytest.approx(known, abs=0.05)


def test_two_raters_are_correlated_and_stepped_up_as_the_formula_says() -> None:
    made = panel(50, 6, 2, 1.0)
    found = human_ceiling(made.with_ids, made.systems, splits=3)["utterance"]
    for name, function in (("LCC", stats.pearsonr), ("SRCC", stats.spearmanr)):
        r = function(*made.votes.T).statistic
        assert found[name].value == pytest.approx(np.sqrt(2 * r / (1 + r)))


def test_of_three_votes_a_half_is_one_and_the_panel_three_times_that() -> None:
    made = panel(60, 6, 3, 0.5)
    found = human_ceiling(made.with_ids, made.systems, splits=200)["utterance"]["LCC"].value
    r = np.corrcoef(made.votes.T)[np.triu_indices(3, 1)].mean()
    assert found == pytest.approx(np.sqrt(3 * r / (1 + 2 * r)), abs=0.01)


def test_a_rater_of_the_whole_set_costs_nothing_by_being_harsh() -> None:
    fair, biased = panel(300, 10, 4, 0.5), panel(300, 10, 4, 0.5, bias=1.5)
    assert np.allclose(biased.truth, fair.truth)
    known = human_ceiling(biased.with_ids, biased.systems, splits=20)
    plain = human_ceiling(fair.with_ids, fair.systems, splits=20)
    for level in LEVELS:
        for name in CORRELATIONS:
            assert known[level][name].value == pytest.approx(plain[level][name].value, abs=0.05)
    # Split pair by pair, the same bias counts as noise.
    unknown = human_ceiling(biased.votes.tolist(), biased.systems, splits=20)
    assert unknown["utterance"]["LCC"].value < known["utterance"]["LCC"].value - 0.1


def test_raters_of_a_few_pairs_each_are_split_pair_by_pair() -> None:
    made = panel(300, 10, 20, 0.5)
    rng = np.random.default_rng(0)
    heard = [sorted(rng.choice(20, 4, replace=False)) for _ in made.votes]
    by_id = [
        {f"r{i}": float(row[i]) for i in who} for row, who in zip(made.votes, heard, strict=True)
    ]
    lists = [list(given.values()) for given in by_id]
    found = [human_ceiling(votes, made.systems, splits=10) for votes in (by_id, lists)]
    assert found[0] == found[1]


def test_a_missing_vote_or_two_leave_raters_split_by_rater() -> None:
    made = panel(200, 10, 5, 0.5, bias=1.5)
    votes = made.with_ids
    for row in range(0, 200, 3):
        del votes[row][f"r{row % 5}"]
    missing = human_ceiling(votes, made.systems, splits=20)["utterance"]["LCC"].value
    lists = [list(given.values()) for given in votes]
    assert missing > human_ceiling(lists, made.systems, splits=20)["utterance"]["LCC"].value + 0.1


def test_intervals_bracket_the_value_and_count_systems_not_votes() -> None:
    made = panel(400, 12, 5, 0.7)
    votes, systems = made.with_ids, made.systems
    found, again = (human_ceiling(votes, systems, splits=30) for _ in range(2))
    assert found == again
    assert found != human_ceiling(votes, systems, splits=30, seed=1)
    fivefold = human_ceiling(votes * 5, systems * 5, splits=30)
    for level in LEVELS:
        for name in CORRELATIONS:
            low, high = found[level][name].interval
            assert low < found[level][name].value < high <= 1
            # Copies of a pair within its system are no new evidence.
            assert fivefold[level][name].interval == pytest.approx((low, high))


def test_pairs_of_one_vote_are_left_out_and_counted() -> None:
    made = panel(60, 6, 4, 0.5)
    votes = made.votes.tolist()
    more = human_ceiling([*votes, [5.0], [1.0], []], [*made.systems, "s0", "new", "s1"], splits=5)
    assert more == human_ceiling(votes, made.systems, splits=5)
    assert more["utterance"]["LCC"].items == 60
    assert more["system"]["LCC"].items == 6


def test_raters_who_do_not_agree_leave_no_room() -> None:
    rng = np.random.default_rng(0)
    first = rng.normal(3, 1, 40)
    votes = [{"a": x, "b": 6 - x} for x in first.tolist()]
    found = human_ceiling(votes, ["s", "t"] * 20, splits=5)["utterance"]
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
    found = human_ceiling(votes, systems, splits=5)
    for level in LEVELS:
        for name in CORRELATIONS:
            value, interval, _ = found[level][name]
            assert isinstance(value, Undefined)
            assert reason in value.reason
            assert isinstance(interval, Undefined)


def test_without_systems_there_is_no_system_level_and_no_interval() -> None:
    made = panel(40, 4, 4, 0.5)
    found = human_ceiling(made.votes.tolist(), [*made.systems[:-1], None], splits=5)
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
        human_ceiling(votes, systems)

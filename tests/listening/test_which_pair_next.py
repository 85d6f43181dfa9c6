"""The order of pairs: what each rule promises, and beliefs against dense normal laws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from auditeval.listening.beliefs import beliefs
from auditeval.listening.selection import (
    GOALS,
    RULES,
    SHARE,
    Standing,
    known,
    order,
    ranking_gain,
    training_gain,
)


def pair(
    votes: list[float] | None = None,
    system: str = "a",
    operation: str = "add",
    interval: tuple[float, float] | None = None,
) -> Standing:
    given = np.array([[vote, np.nan, vote] for vote in votes or []]).reshape(-1, 3)
    low, high = (None, None) if interval is None else (np.full(3, end) for end in interval)
    return Standing(system, operation, given, low, high)


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("rule", RULES)
def test_every_rule_names_the_pairs_that_lack_votes_once(rule: str, goal: str) -> None:
    pairs = [pair([3.0] * n, system="ab"[n % 2]) for n in (0, 5, 2, 5, 1, 6)]
    assert sorted(order(rule, goal, pairs, 5, seed=1)) == [0, 2, 4]
    assert order(rule, goal, pairs, 5, seed=1) == order(rule, goal, pairs, 5, seed=1)
    assert sorted(order(rule, goal, pairs, [1, 9, 0, 0, 2, 0], seed=1)) == [0, 1, 4]
    assert order(rule, goal, [pair() for _ in range(3)], 5, 1) != []
    assert order(rule, goal, [], 5, 1) == order(rule, goal, [pair([3.0])], 1, 1) == []
    orders = {tuple(order(rule, goal, [pair() for _ in range(6)], 5, seed)) for seed in range(20)}
    assert len(orders) > 10  # ties by seed


def test_a_rule_that_there_is_not_is_refused() -> None:
    for rule, goal in (("best", "ranking"), ("uncertain", "fun")):
        with pytest.raises(ValueError, match="expected one of"):
            order(rule, goal, [pair()], 5, 1)


def test_balanced_is_fewest_votes_first() -> None:
    pairs = [pair([3.0] * n) for n in (3, 0, 2, 0, 1)]
    found = order("balanced", "ranking", pairs, 9, seed=3)
    assert set(found[:2]) == {1, 3}
    assert found[2:] == [4, 2, 0]


@pytest.mark.parametrize("goal", GOALS)
def test_no_pair_is_starved(goal: str) -> None:
    """Taken first each time, pairs that say nothing new still get their share."""
    rng = np.random.default_rng(2)
    means = {"a": 3.0, "b": 3.0, "far": 1.1}
    systems = ["a", "b", "far"] * 3 + ["far"] * 3
    votes: list[list[float]] = [[] for _ in systems]
    for given in range(1, 500):
        pairs = [
            pair(own, system, interval=(1.0, 1.2) if system == "far" else None)
            for own, system in zip(votes, systems, strict=True)
        ]
        first = order("uncertain", goal, pairs, 10**6, seed=given, ahead=1)[0]
        votes[first].append(float(np.clip(means[systems[first]] + rng.normal(0, 0.7), 1, 5)))
        assert min(map(len, votes)) >= int(SHARE * given / len(votes)) - 1
    assert max(map(len, votes)) > 3 * min(map(len, votes))  # and others get far more


def test_systems_that_are_close_are_heard_before_those_that_are_not() -> None:
    close = [pair([3, 3.5, 4, 3], "a"), pair([3.5, 3, 3.5, 4], "b")]
    apart = [pair([1, 1.5, 1, 1.5], "c"), pair([5, 4.5, 5, 4.5], "d")]
    gain = ranking_gain(known([*close, *apart]))
    assert gain[:2].min() > 3 * gain[2:].max()
    assert set(order("uncertain", "ranking", [*close, *apart], 9, 1)[:2]) == {0, 1}


def test_within_a_system_the_fewest_votes_come_first() -> None:
    pairs = [pair([3, 4] * n, system) for system in "ab" for n in (1, 2, 3)]
    assert np.argmax(ranking_gain(known(pairs))) in (0, 3)
    assert (np.diff(ranking_gain(known(pairs))[:3]) < 0).all()


def test_a_raters_block_is_of_all_systems_that_are_close() -> None:
    """Chosen one after the other; by the gains of one moment it would be a system's alone."""
    rng = np.random.default_rng(6)
    pairs = [pair(list(rng.uniform(2, 4, 3)), system) for system in "abcd" for _ in range(6)]
    block = [pairs[place].system for place in order("uncertain", "ranking", pairs, 9, 1)[:8]]
    assert min(block.count(system) for system in "abcd") >= 1


def test_only_what_may_be_a_tie_can_be_ranked_wrongly() -> None:
    """The formula of ranking_gain's docstring, integrated: the error for small standard errors."""
    d, s, e = 0.6, 0.5, 0.02
    wrong, _ = integrate.quad(
        lambda x: stats.norm.pdf(x, d, s) * stats.norm.cdf(-abs(x) / e), -0.5, 0.5, points=[0]
    )
    assert wrong == pytest.approx(np.sqrt(2 / np.pi) * e * stats.norm.pdf(0, d, s), rel=0.01)


def test_wide_intervals_and_new_pairs_train_most() -> None:
    wide, narrow = pair(interval=(1.5, 4.5)), pair(interval=(2.9, 3.1))
    assert np.diff(training_gain(known([narrow, wide])))[0] > 0
    gain = training_gain(known([pair(), pair([3.0]), pair([3.0, 4.0])]))
    assert (np.diff(gain) < 0).all()


@pytest.mark.parametrize("name", ["system", "operation"])
def test_what_is_seldom_heard_trains_more(name: str) -> None:
    pairs = [pair([3.0, 4.0])._replace(**{name: "often"}) for _ in range(5)]
    pairs += [pair()._replace(**{name: group}) for group in ("often", "seldom")]
    gain = training_gain(known(pairs))
    assert gain[-1] > 1.5 * gain[-2]


@pytest.mark.parametrize("with_intervals", [False, True])
def test_beliefs_are_those_of_the_joint_normal_law(with_intervals: bool) -> None:
    """Means and variances against conditioning on the votes by dense matrices."""
    rng = np.random.default_rng(3)
    system = np.array([0, 0, 0, 1, 1, 2])
    counts = np.array([0, 2, 3, 1, 4, 0])
    at = np.repeat(np.arange(6), counts)
    votes = rng.uniform(1, 5, len(at))
    low = rng.uniform(1, 3, 6) if with_intervals else np.full(6, np.nan)
    made = beliefs(at, votes, system, low, low + rng.uniform(0.5, 2, 6))
    spread = np.bincount(system, made.between) / np.bincount(system)

    def posterior(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        together = np.where(system[:, None] == system, spread[system][:, None], 0.0)
        law = together + np.diag(made.within)
        seen = law[np.ix_(at, at)] + np.diag(made.noise[at])
        return law[:, at] @ np.linalg.inv(seen), law

    gain, law = posterior(at)
    rating = made.prior + gain @ (votes - made.prior[at])
    left = law - gain @ law[at]
    shares = (np.arange(3)[:, None] == system) / np.bincount(system)[:, None]
    mean, variance, after = made.systems()
    assert mean == pytest.approx(shares @ rating)
    assert variance == pytest.approx(np.diag(shares @ left @ shares.T))
    for more in range(6):
        gain, law = posterior(np.append(at, more))
        then = law - gain @ law[np.append(at, more)]
        assert after[more] == pytest.approx((shares @ then @ shares.T)[system[more], system[more]])
        assert made.reduction()[more] == pytest.approx(left[more, more] - then[more, more])
        expected = made.heard(more)
        assert expected.ratings() == pytest.approx(made.ratings())
        assert expected.systems()[1][system[more]] == pytest.approx(after[more])


def test_variances_are_those_that_votes_were_made_with() -> None:
    rng = np.random.default_rng(4)
    system = np.repeat(np.arange(20), 40)
    rating = rng.normal(3.0, 0.3, 20)[system] + rng.normal(0, 0.5, 800)
    at = np.repeat(np.arange(800), 5)
    votes = rating[at] + rng.normal(0, 0.8, len(at))
    nowhere = np.full(800, np.nan)
    made = beliefs(at, votes, system, nowhere, nowhere)
    assert made.noise.mean() == pytest.approx(0.8**2, rel=0.05)
    assert made.within.mean() == pytest.approx(0.5**2, rel=0.1)


def test_raters_agree_at_the_ends_of_the_scale() -> None:
    """The same spread of votes elsewhere: SOS has its variance largest in the middle."""
    system, at = np.array([0, 1]), np.repeat([0, 1], 6)
    votes = np.array([3, 4, 2, 3, 2, 4, 5, 5, 4.5, 5, 4.5, 5])
    made = beliefs(at, votes, system, np.full(2, np.nan), np.full(2, np.nan))
    level = np.array([3.0, votes[6:].mean()])
    assert made.noise[1] / made.noise[0] == pytest.approx(
        (level[1] - 1) * (5 - level[1]) / 4, rel=1e-9
    )

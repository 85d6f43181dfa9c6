"""Laws of the simulated panel: faults cost, more of them cost more, and votes are whole points."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from auditeval.data import listeners
from auditeval.data.listeners import LISTENERS, LOSSES, expected, rate
from auditeval.types import AXES


def votes_of(faults: dict[str, float], pairs: int, panel: int = 0) -> np.ndarray:
    """Votes :: (pairs, LISTENERS, axes) of one panel."""
    vote = np.random.default_rng(1)
    rated = [rate(faults, np.random.default_rng(panel), vote) for _ in range(pairs)]
    return np.array([[votes[axis] for axis in AXES] for votes in rated]).transpose(0, 2, 1)


def test_a_faultless_edit_is_a_five() -> None:
    assert expected({}) == dict.fromkeys(AXES, 5.0)


@pytest.mark.parametrize("fault", LOSSES)
def test_one_full_fault_costs_its_points(fault: str) -> None:
    for axis in AXES:
        assert expected({fault: 1.0})[axis] == pytest.approx(5 - getattr(LOSSES[fault], axis))


@pytest.mark.parametrize("fault", LOSSES)
def test_a_worse_fault_never_rates_higher_and_lowers_some_axis(fault: str) -> None:
    ladder = [expected({fault: s}) for s in np.linspace(0, 1, 11)]
    for axis in AXES:
        assert all(a[axis] >= b[axis] for a, b in itertools.pairwise(ladder))
    assert any(ladder[0][axis] > ladder[-1][axis] for axis in AXES)


@pytest.mark.parametrize(("one", "other"), itertools.combinations(LOSSES, 2))
def test_two_faults_cost_at_least_the_worse_and_their_order_is_nothing(
    one: str, other: str
) -> None:
    both, turned = expected({one: 0.7, other: 0.6}), expected({other: 0.6, one: 0.7})
    for axis in AXES:
        worse = min(expected({one: 0.7})[axis], expected({other: 0.6})[axis])
        assert 1.0 <= both[axis] <= worse + 1e-12
        assert both[axis] == pytest.approx(turned[axis])


def test_all_faults_together_stay_on_the_scale() -> None:
    assert all(rating >= 1.0 for rating in expected(dict.fromkeys(LOSSES, 1.0)).values())


@pytest.mark.parametrize("severity", [-0.01, 1.01, float("nan")])
def test_a_severity_off_its_range_is_refused(severity: float) -> None:
    with pytest.raises(ValueError, match="severity of noise is"):
        expected({"noise": severity})


def test_votes_are_whole_points_on_the_scale() -> None:
    votes = votes_of({"noise": 0.5, "edit_absent": 1.0}, 200)
    assert votes.shape == (200, LISTENERS, len(AXES))
    assert set(np.unique(votes)) <= {1.0, 2.0, 3.0, 4.0, 5.0}


def test_the_mean_vote_is_that_of_a_rounded_normal_around_expectation_and_bias() -> None:
    faults = {"clipping": 0.55, "edit_absent": 0.5, "background_lost": 0.45}
    panel, pairs = 3, 4000
    bias = np.random.default_rng(panel).normal(0, listeners._BIAS_SD, (LISTENERS, len(AXES)))
    centre = np.array([expected(faults)[axis] for axis in AXES]) + bias
    # A vote of k is everything that rounds to k; 1 and 5 also take what lies beyond them.
    edges = np.array([-np.inf, 1.5, 2.5, 3.5, 4.5, np.inf])
    below = stats.norm.cdf(edges[:, None, None], centre, listeners._VOTE_SD)
    share = np.diff(below, axis=0)
    points = np.arange(1, 6)[:, None, None]
    mean = (points * share).sum(axis=0)
    spread = np.sqrt(((points - mean) ** 2 * share).sum(axis=0) / pairs)
    assert np.all(np.abs(votes_of(faults, pairs, panel).mean(axis=0) - mean) < 4.5 * spread + 1e-3)


def test_a_listener_keeps_their_bias_from_pair_to_pair() -> None:
    faults = {"clipping": 0.55, "edit_absent": 0.5, "background_lost": 0.45}
    votes = votes_of(faults, 2000)
    halves = votes[:1000].mean(axis=0).ravel(), votes[1000:].mean(axis=0).ravel()
    assert np.corrcoef(*halves)[0, 1] > 0.95
    other = votes_of(faults, 1000, panel=99).mean(axis=0).ravel()
    assert np.corrcoef(halves[0], other)[0, 1] < 0.9


def test_the_same_generators_give_the_same_votes() -> None:
    assert np.array_equal(votes_of({"noise": 0.3}, 20), votes_of({"noise": 0.3}, 20))

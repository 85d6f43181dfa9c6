"""Laws of the simulated panel: faults cost, more of them cost more, and votes keep the mean."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from auditeval.data.simulation import panel
from auditeval.data.simulation.faults import FAULTS
from auditeval.data.simulation.faults.fault import Dose
from auditeval.data.simulation.panel import LISTENERS, rate
from auditeval.types import AXES, Axis

LENGTH = 1000


def whole(faults: dict[str, float]) -> dict[str, Dose]:
    return {name: Dose(severity) for name, severity in faults.items()}


def expected(faults: dict[str, float]) -> dict[Axis, float]:
    return panel.expected(whole(faults), LENGTH)


def votes_of(faults: dict[str, float], pairs: int, listeners: int = 0) -> np.ndarray:
    """Votes :: (pairs, LISTENERS, axes) of one panel."""
    vote = np.random.default_rng(1)
    doses = whole(faults)
    rated = [rate(doses, LENGTH, np.random.default_rng(listeners), vote) for _ in range(pairs)]
    return np.array([[votes[axis] for axis in AXES] for votes in rated]).transpose(0, 2, 1)


def test_a_faultless_edit_is_a_five() -> None:
    assert expected({}) == dict.fromkeys(AXES, 5.0)


def test_a_telephone_costs_what_the_e_model_says() -> None:
    """300 to 3400 Hz together: 3.25 where speech of full bandwidth has 4.5 [ITU-T G.107.2]."""

    def severity(fault: str, hz: float) -> float:
        ladder = np.linspace(0, 1, 1001)
        return float(min(ladder, key=lambda s: abs(FAULTS[fault].amount(s) - hz)))

    line = {"low_pass": severity("low_pass", 3400), "high_pass": severity("high_pass", 300)}
    assert 5 - expected(line)["quality"] == pytest.approx(4.5 - 3.25, abs=0.1)


@pytest.mark.parametrize("fault", FAULTS)
def test_one_fault_costs_its_points_and_less_where_it_is_short(fault: str) -> None:
    for severity in (0.3, 1.0):
        every = expected({fault: severity})
        part = panel.expected({fault: Dose(severity, (500, 750))}, LENGTH)
        for axis, points in zip(AXES, FAULTS[fault].lost(severity), strict=True):
            assert every[axis] == pytest.approx(5 - points)
            assert part[axis] == pytest.approx(5 - points / 2)


@pytest.mark.parametrize(("one", "other"), itertools.combinations(list(FAULTS)[::3], 2))
def test_two_faults_cost_at_least_the_worse_and_their_order_is_nothing(
    one: str, other: str
) -> None:
    both, turned = expected({one: 0.7, other: 0.6}), expected({other: 0.6, one: 0.7})
    for axis in AXES:
        worse = min(expected({one: 0.7})[axis], expected({other: 0.6})[axis])
        assert 1.0 <= both[axis] <= worse + 1e-12
        assert both[axis] == pytest.approx(turned[axis])


def test_all_faults_together_stay_on_the_scale() -> None:
    assert all(rating >= 1.0 for rating in expected(dict.fromkeys(FAULTS, 1.0)).values())


def test_noise_harms_the_quality_more_than_the_kept_sound_and_mnru_both() -> None:
    """Of equal quality, modulated noise is the less faithful: it is in the sound itself."""
    noise, mnru = expected({"noise_white": 0.6}), expected({"mnru": 0.6})
    assert noise["quality"] == pytest.approx(mnru["quality"], abs=0.35)
    assert noise["faithfulness"] > mnru["faithfulness"] + 1


@pytest.mark.parametrize("severity", [-0.01, 1.01, float("nan")])
def test_a_severity_off_its_range_is_refused(severity: float) -> None:
    with pytest.raises(ValueError, match="severity of hum is"):
        expected({"hum": severity})


def test_votes_are_half_points_on_the_scale() -> None:
    votes = votes_of({"noise_white": 0.5, "edit_absent": 1.0}, 200)
    assert votes.shape == (200, LISTENERS, len(AXES))
    assert set(np.unique(2 * votes)) <= set(range(2, 11))


@pytest.mark.parametrize("severity", [0.1, 0.2, 0.33, 0.47, 0.6, 0.75, 0.9])
def test_the_mean_vote_is_the_expected_rating(severity: float) -> None:
    """Of any panel: the biases sum to nothing. The amount of an absent edit is its severity."""
    for listeners in (0, 1984):
        votes = votes_of({"edit_absent": severity}, 3000, listeners)[..., AXES.index("relevance")]
        spread = votes.mean(axis=1).std() / np.sqrt(len(votes))
        assert votes.mean() == pytest.approx(5 - 4 * severity, abs=0.02 + 4 * spread)
        assert 0.05 < votes.mean(axis=1).std() < 0.15  # what a model has to put up with


def test_at_the_ends_of_the_scale_the_mean_vote_is_off_by_a_tenth_at_most() -> None:
    votes = votes_of({"edit_absent": 1.0}, 2000).mean(axis=(0, 1))
    found = dict(zip(AXES, votes, strict=True))
    assert 1.0 <= found["relevance"] < 1.1
    assert 4.9 < found["quality"] <= 5.0


def test_a_listener_keeps_their_bias_from_pair_to_pair() -> None:
    faults = {"clipping": 0.55, "edit_absent": 0.5, "background_lost": 0.45}
    votes = votes_of(faults, 2000)
    halves = votes[:1000].mean(axis=0), votes[1000:].mean(axis=0)
    of_pairs = [half - half.mean(axis=0) for half in halves]
    assert np.corrcoef(of_pairs[0].ravel(), of_pairs[1].ravel())[0, 1] > 0.9
    other = votes_of(faults, 1000, listeners=99).mean(axis=0)
    other = other - other.mean(axis=0)
    assert np.corrcoef(of_pairs[0].ravel(), other.ravel())[0, 1] < 0.8


def test_an_axis_that_is_not_asked_for_has_no_votes_and_changes_no_other() -> None:
    generators = [np.random.default_rng(2) for _ in range(4)]
    doses = {"hum": Dose(0.4)}
    every = rate(doses, LENGTH, generators[0], generators[1])
    some = rate(doses, LENGTH, generators[2], generators[3], axes=("quality", "faithfulness"))
    assert some == {axis: every[axis] for axis in ("quality", "faithfulness")}


def test_the_same_generators_give_the_same_votes() -> None:
    faults = {"noise_white": 0.3}
    assert np.array_equal(votes_of(faults, 20), votes_of(faults, 20))
    assert panel.VOTE_STEP == 0.5

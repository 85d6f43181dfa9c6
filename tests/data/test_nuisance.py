"""Laws of what must not change a rating: how little it does to a clip."""

from __future__ import annotations

import numpy as np
import pytest

from auditeval.data.simulation import nuisance
from auditeval.data.simulation.signals import RATE_HZ, below
from auditeval.data.soundbank import synthesize


@pytest.fixture(scope="module")
def clip() -> np.ndarray:
    bark = below(synthesize("dog_bark", 1, 1.5, RATE_HZ), 9000)
    bark[:1600] = bark[-1600:] = 0  # what a delay pushes out
    return bark


@pytest.mark.parametrize("seconds", [0.0, 0.0001, 0.0123456, 0.04, -0.0001, -0.04])
def test_a_delay_is_of_its_time_also_between_samples(seconds: float) -> None:
    time = np.arange(RATE_HZ) / RATE_HZ
    pulse = np.exp(-(((time - 0.3) / 0.001) ** 2))
    late = np.exp(-(((time - 0.3 - seconds) / 0.001) ** 2))
    np.testing.assert_allclose(nuisance.delayed(pulse, seconds), late, atol=1e-6)


@pytest.mark.parametrize("seed", range(60))
def test_a_nuisance_leaves_the_clip_but_for_level_polarity_time_and_silence(
    seed: int, clip: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And but for those that change the wave form alone, which have tests of their own."""
    monkeypatch.setattr(nuisance, "_WAVE", 0.0)
    made, later = nuisance.nuisance(clip, np.random.default_rng(seed))
    reach = nuisance.DELAY_SECONDS
    assert -reach <= later <= reach + nuisance.PADDING_SECONDS
    assert len(clip) <= len(made) <= len(clip) + nuisance.PADDING_SECONDS * RATE_HZ + 1
    size = len(made) + RATE_HZ // 2
    expected = nuisance.delayed(np.pad(clip, (0, size - len(clip))), later)[: len(made)]
    gain = expected @ made / (expected @ expected)
    assert abs(20 * np.log10(abs(gain))) <= nuisance.GAIN_DB + 0.01
    error = np.sum(np.square(made - gain * expected)) / np.sum(np.square(made))
    assert error < 10**-2.5  # the best Ogg and a cut tail of 40 ms; else far less


def test_a_nuisance_is_of_many_kinds(clip: np.ndarray) -> None:
    rng = np.random.default_rng(0)
    made = [nuisance.nuisance(clip, rng) for _ in range(60)]
    assert 0.1 < np.mean([len(x) > len(clip) for x, _ in made]) < 0.6
    assert 0.05 < np.mean([later != 0 and len(x) == len(clip) for x, later in made]) < 0.6
    assert 0.05 < np.mean([clip @ x[: len(clip)] < 0 for x, later in made if later == 0]) < 0.5


@pytest.mark.parametrize("seed", range(5))
def test_dispersion_leaves_each_frequency_and_delays_it_by_its_time_at_most(seed: int) -> None:
    click = np.zeros(RATE_HZ // 2)
    click[8000] = 1.0
    made = nuisance.dispersed(click, np.random.default_rng(seed))
    spectrum = np.fft.rfft(made) / np.fft.rfft(click)
    audible = slice(25, 7900)  # 50 Hz to 15.8 kHz
    np.testing.assert_allclose(np.abs(spectrum[audible]), 1, atol=0.05)
    later = -np.diff(np.unwrap(np.angle(spectrum[audible]))) / (2 * np.pi * 2)
    assert later.min() > -2e-4
    assert later.max() < nuisance._SPREAD_SECONDS + 2e-4
    assert later.max() - later.min() > 2e-4  # it is not one delay


@pytest.mark.parametrize("seed", range(5))
def test_a_sway_bends_a_tone_by_a_few_cents(seed: int) -> None:
    time = np.arange(4 * RATE_HZ) / RATE_HZ
    made = nuisance.swaying(np.sin(2 * np.pi * 1000 * time), np.random.default_rng(seed))
    crossings = np.flatnonzero((made[:-1] < 0) & (made[1:] >= 0))
    periods = np.diff(crossings + made[crossings] / (made[crossings] - made[crossings + 1]))
    hz = RATE_HZ / periods[100:-100]
    assert np.abs(hz / 1000 - 1).max() < 0.0021  # wow of .2 %
    assert np.abs(hz / 1000 - 1).max() > 0.0004
    assert len(made) == len(time)

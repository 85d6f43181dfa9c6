"""Laws of damage and of lost content: each does what its name and parameter say, measured."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from processors_at_hand import AtHand
from scipy import signal

from auditeval.data.simulation.faults import FAULTS
from auditeval.data.simulation.faults.fault import ALL_OR_NOTHING, ContentFault, Damage
from auditeval.data.simulation.processors import Processors
from auditeval.data.simulation.signals import (
    FADE,
    RATE_HZ,
    active_rms,
    bandwidth_hz,
    below,
    coloured,
    resynthesized,
    spectrum,
    stretched,
)
from auditeval.data.soundbank import synthesize

SEVERITIES = (0.0, 0.3, 0.6, 1.0)
DAMAGE = [name for name, fault in FAULTS.items() if isinstance(fault, Damage) and not fault.needs]
CONTENT = [name for name, fault in FAULTS.items() if isinstance(fault, ContentFault)]
GRADED = [name for name in DAMAGE if FAULTS[name].scale is not ALL_OR_NOTHING]


@cache
def processors() -> Processors:
    return AtHand()


def generator() -> np.random.Generator:
    return np.random.default_rng(3)


@pytest.fixture(scope="module")
def speech() -> np.ndarray:
    return 0.3 * synthesize("speech", 1, 2.0, RATE_HZ)


@pytest.fixture(scope="module")
def rain() -> np.ndarray:
    return 0.3 * synthesize("rain", 1, 2.0, RATE_HZ)


def damaged(fault: str, x: np.ndarray, severity: float) -> np.ndarray:
    amount, runs = FAULTS[fault].amount(severity), bool(FAULTS[fault].processor)
    given = [processors()] if runs else []
    made: np.ndarray = FAULTS[fault].effect(x, amount, generator(), *given)
    return made


def rms(x: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(x, dtype=np.float64))))


def db(ratio: float) -> float:
    return 20 * float(np.log10(ratio))


def levels(x: np.ndarray, *bands_hz: tuple[float, float]) -> list[float]:
    """Power of each band in dB."""
    hz, power = signal.welch(x, RATE_HZ, nperseg=4096)
    return [10 * np.log10(power[(hz >= low) & (hz < high)].mean()) for low, high in bands_hz]


@pytest.mark.parametrize("fault", DAMAGE)
def test_damage_keeps_the_length_and_follows_from_the_generator(
    fault: str, speech: np.ndarray
) -> None:
    for severity in (0.2, 1.0):
        once, again = (damaged(fault, speech, severity) for _ in "ab")
        assert once.shape == speech.shape
        assert np.isfinite(once).all()
        assert np.array_equal(once, again)


@pytest.mark.parametrize(
    "fault",
    [name for name in GRADED if name not in ("reverberation", "phase", "vocoder", "dropouts")],
)
def test_the_worse_the_damage_the_further_from_the_original(fault: str, speech: np.ndarray) -> None:
    made = [damaged(fault, speech, s) for s in SEVERITIES]
    if fault == "clipping":  # what is cut, without the level that is given back
        made = [x * (active_rms(speech) / active_rms(x)) for x in made]
    errors = [rms(x - speech) for x in made]
    assert all(a < b for a, b in pairwise(errors))


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize(
    ("fault", "octave_db"), [("noise_white", 0.0), ("noise_pink", -3.0), ("noise_brown", -6.0)]
)
def test_noise_has_its_ratio_and_its_colour(
    fault: str, octave_db: float, severity: float, speech: np.ndarray
) -> None:
    snr_db = FAULTS[fault].amount(severity)
    noise = damaged(fault, speech, severity) - speech
    assert db(active_rms(speech) / rms(noise)) == pytest.approx(snr_db, abs=0.01)
    octaves = levels(noise, (300, 600), (600, 1200), (1200, 2400))
    np.testing.assert_allclose(np.diff(octaves), octave_db, atol=1.0)


def test_the_active_level_leaves_pauses_out(rain: np.ndarray) -> None:
    half = np.concatenate([rain, np.zeros(len(rain))])
    assert db(active_rms(half) / active_rms(rain)) == pytest.approx(0, abs=0.1)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_hum_is_at_its_ratio_and_in_harmonics_of_the_mains(
    severity: float, speech: np.ndarray
) -> None:
    snr_db = FAULTS["hum"].amount(severity)
    tone = damaged("hum", speech, severity) - speech
    assert db(active_rms(speech) / rms(tone)) == pytest.approx(snr_db, abs=0.01)
    power = np.square(np.abs(np.fft.rfft(tone)))  # 0.5 Hz a bin
    lines = [power[2 * base * np.arange(1, 9)].sum() / power.sum() for base in (50, 60)]
    assert max(lines) > 0.999


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("top_hz", [3500.0, 8000.0])
def test_mnru_has_its_q_is_silent_in_pauses_and_in_the_band_of_the_clip(
    severity: float, top_hz: float
) -> None:
    q_db = FAULTS["mnru"].amount(severity)
    x = 0.1 * coloured(-3, 2 * RATE_HZ, np.random.default_rng(8), top_hz)
    pause = np.zeros(RATE_HZ)
    pause[2000:-2000] = signal.get_window(("tukey", 0.5), RATE_HZ - 4000)
    x[:RATE_HZ] *= 1 - pause
    noise = damaged("mnru", x, severity) - x
    assert db(rms(x) / rms(noise)) == pytest.approx(q_db, abs=1.0)
    middle = slice(RATE_HZ // 2 - 3000, RATE_HZ // 2 + 3000)
    assert rms(noise[middle]) < 0.01 * rms(noise)
    inside, outside = levels(noise, (300, 0.9 * top_hz), (1.2 * top_hz, 15000))
    assert outside < inside - 50


@pytest.mark.parametrize("severity", SEVERITIES[1:])
def test_a_low_pass_keeps_below_and_removes_above(severity: float) -> None:
    x = generator().standard_normal(2 * RATE_HZ)
    cutoff_hz = FAULTS["low_pass"].amount(severity)
    bands = (50, 0.8 * cutoff_hz), (1.5 * cutoff_hz, 16000)
    before, after = levels(x, *bands), levels(damaged("low_pass", x, severity), *bands)
    assert after[0] - before[0] == pytest.approx(0, abs=0.7)
    assert after[1] - before[1] < -35


@pytest.mark.parametrize("severity", SEVERITIES)
def test_a_high_pass_keeps_above_and_removes_below(severity: float) -> None:
    x = generator().standard_normal(4 * RATE_HZ)
    cutoff_hz = FAULTS["high_pass"].amount(severity)
    bands = (1.4 * cutoff_hz, 15000), (8, 0.5 * cutoff_hz)
    before, after = levels(x, *bands), levels(damaged("high_pass", x, severity), *bands)
    assert after[0] - before[0] == pytest.approx(0, abs=0.7)
    assert after[1] - before[1] < -20


def test_the_bandwidth_is_that_of_the_material() -> None:
    for top_hz in (3000.0, 7500.0, 12000.0):
        found = bandwidth_hz(coloured(-3, 2 * RATE_HZ, generator(), top_hz))
        assert found == pytest.approx(top_hz, rel=0.1)
    assert bandwidth_hz(generator().standard_normal(RATE_HZ)) == RATE_HZ / 2


@pytest.mark.parametrize("severity", SEVERITIES)
def test_clipping_cuts_what_is_above_its_threshold_and_only_that(
    severity: float, speech: np.ndarray
) -> None:
    above_db = FAULTS["clipping"].amount(severity)
    made = damaged("clipping", speech, severity)
    threshold = active_rms(speech) * 10 ** (above_db / 20)
    high, low = np.abs(speech) > 1.01 * threshold, np.abs(speech) < 0.99 * threshold
    top = np.abs(made).max()
    np.testing.assert_allclose(np.abs(made[high]), top, rtol=1e-5)
    np.testing.assert_allclose(made[low] / top, speech[low] / threshold, atol=1e-5)
    assert top <= np.abs(speech).max() * 1.0001


@pytest.mark.parametrize("severity", SEVERITIES)
def test_quantisation_has_as_many_steps_as_its_bits_give(severity: float, rain: np.ndarray) -> None:
    bits = FAULTS["quantisation"].amount(severity)
    made = damaged("quantisation", rain, severity)
    assert len(np.unique(np.round(made, 9))) <= 2**bits + 2
    assert np.abs(made - rain).max() <= np.abs(rain).max() * 2.0**-bits * 1.001


@pytest.mark.parametrize("severity", SEVERITIES)
def test_dropouts_lose_their_share_and_nothing_else(severity: float, rain: np.ndarray) -> None:
    share = FAULTS["dropouts"].amount(severity)
    made = damaged("dropouts", rain, severity)
    silent, kept = (made == 0) & (rain != 0), made == rain
    assert 0.6 * share < silent.mean() < 1.2 * share + 0.02
    assert 1 - kept.mean() == pytest.approx(share, abs=0.2 * share + 0.03)


@pytest.mark.parametrize("severity", [0.3, 0.6, 1.0])
def test_reverberation_is_at_its_ratio_to_the_direct_sound(severity: float) -> None:
    direct_db = FAULTS["reverberation"].amount(severity)
    click = np.zeros(2 * RATE_HZ)
    click[100] = 1.0
    made = damaged("reverberation", click, severity)
    made = made / made[100]
    # A tail louder than the direct sound is cut at it: that is the peak of a response.
    assert -db(rms(made[101:]) * np.sqrt(len(made) - 101)) == pytest.approx(direct_db, abs=1.0)
    assert db(rms(made[RATE_HZ:]) / rms(made[101 : RATE_HZ // 10])) < -8


def test_fewer_bands_and_fewer_iterations_are_further_from_the_spectrum(
    speech: np.ndarray,
) -> None:
    def distance(made: np.ndarray) -> float:
        one, other = (np.log10(np.abs(spectrum(x)) + 1e-4) for x in (made, speech))
        return float(np.abs(one - other).mean())

    for fault in ("vocoder", "phase"):
        made = [damaged(fault, speech, s) for s in SEVERITIES]
        found = [distance(x) for x in made]
        assert all(a < b for a, b in pairwise(found)), (fault, found)


def test_a_spectrum_gives_its_clip_back_and_stretching_keeps_the_pitch() -> None:
    x = np.sin(2 * np.pi * 440 * np.arange(2 * RATE_HZ) / RATE_HZ)
    np.testing.assert_allclose(resynthesized(spectrum(x), len(x)), x, atol=1e-4)
    for factor in (0.7, 1.3):
        made = stretched(x, factor)
        assert len(made) == pytest.approx(factor * len(x), abs=2)
        peak = np.argmax(np.abs(np.fft.rfft(made * np.hanning(len(made)))))
        assert peak * RATE_HZ / len(made) == pytest.approx(440, abs=1.5)


# --- content


def of_content(
    fault: str, x: np.ndarray, severity: float, other: np.ndarray, seed: int = 3
) -> tuple[np.ndarray, tuple[int, int]]:
    spare = [other] if FAULTS[fault].needs else []
    rng = np.random.default_rng(seed)
    made: tuple[np.ndarray, tuple[int, int]]
    made = FAULTS[fault].effect(x, FAULTS[fault].amount(severity), rng, *spare)
    return made


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("fault", CONTENT)
def test_what_is_touched_lies_within_the_span(
    fault: str, severity: float, speech: np.ndarray, rain: np.ndarray
) -> None:
    made, (start, stop) = of_content(fault, speech, severity, rain)
    assert made.shape == speech.shape
    assert 0 <= start < stop <= len(speech)
    np.testing.assert_array_equal(made[:start], speech[:start])
    np.testing.assert_array_equal(made[stop:], speech[stop:])
    assert rms(made[start:stop] - speech[start:stop]) > 0


@pytest.mark.parametrize("severity", SEVERITIES)
def test_lost_and_replaced_content_have_their_share(
    severity: float, speech: np.ndarray, rain: np.ndarray
) -> None:
    share = FAULTS["background_lost"].amount(severity)
    lost, span = of_content("background_lost", speech, severity, rain)
    assert (span[1] - span[0]) / len(speech) == pytest.approx(share, abs=1e-3)
    edge = FADE + 1
    inside = slice(span[0] + edge, span[1] - edge)
    np.testing.assert_allclose(lost[inside], 0.01 * speech[inside], atol=1e-6)
    for fault in ("background_replaced", "background_regenerated"):
        made, span = of_content(fault, speech, severity, rain)
        inside = slice(span[0] + edge, span[1] - edge)
        np.testing.assert_allclose(made[inside], rain[inside], atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("severity", SEVERITIES)
def test_reordered_content_has_its_blocks_in_another_order(
    severity: float, seed: int, rain: np.ndarray
) -> None:
    made, _ = of_content("background_reordered", rain, severity, rain, seed)
    before, after = rain.reshape(-1, RATE_HZ // 4), made.reshape(-1, RATE_HZ // 4)
    assert Counter(map(bytes, after)) == Counter(map(bytes, before))
    displaced = sum(not np.array_equal(a, b) for a, b in zip(after, before, strict=True))
    assert displaced == max(2, round(FAULTS["background_reordered"].amount(severity) * len(before)))


@pytest.mark.parametrize("severity", SEVERITIES)
def test_shifts_and_levels_are_of_their_size(severity: float, rain: np.ndarray) -> None:
    made, _ = of_content("background_shifted", rain, severity, rain)
    by = round(FAULTS["background_shifted"].amount(severity) * RATE_HZ)
    assert any(np.array_equal(np.roll(rain, way * by), made) for way in (1, -1))
    made, _ = of_content("background_level", rain, severity, rain)
    change_db = FAULTS["background_level"].amount(severity)
    assert abs(db(rms(made) / rms(rain))) == pytest.approx(change_db, abs=0.01)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_pitched_content_is_higher_or_lower_by_its_semitones(severity: float) -> None:
    tone = np.sin(2 * np.pi * 500 * np.arange(2 * RATE_HZ) / RATE_HZ)
    made, _ = of_content("background_pitched", tone, severity, tone)
    part = made[:RATE_HZ] * np.hanning(RATE_HZ)
    peak_hz = int(np.argmax(np.abs(np.fft.rfft(part))))
    semitones = 12 * np.log2(peak_hz / 500)
    assert abs(semitones) == pytest.approx(FAULTS["background_pitched"].amount(severity), abs=0.06)


def test_below_leaves_a_clip_whole_where_the_cutoff_is_above_its_band(rain: np.ndarray) -> None:
    assert below(rain, RATE_HZ) is rain

"""acoustics: each measure follows what it is called after, by the amount where it has one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import signal

from auditeval.data.simulation import effects
from auditeval.data.simulation.signals import below, coloured
from auditeval.data.soundbank import synthesize
from auditeval.features.alignment import EDGE_FRAMES, Alignment, align
from auditeval.features.extractors.acoustics import MEASURES, TOLERANCE, Acoustics, measure
from auditeval.features.extractors.spectrum import Spectrum

RATE_HZ = Spectrum.rate_hz
LENGTH = 3 * RATE_HZ
TIME = np.arange(LENGTH) / RATE_HZ


def measured(x: np.ndarray) -> dict[str, float]:
    frames = Spectrum().encode_clip(x.astype(np.float32)).frames["mel"]
    return dict(zip(MEASURES, measure(frames).tolist(), strict=True))


def noise(octave_db: float = 0.0, seed: int = 0) -> np.ndarray:
    return 0.05 * coloured(octave_db, LENGTH, np.random.default_rng(seed), RATE_HZ / 2)


@pytest.fixture(scope="module")
def speech() -> np.ndarray:
    return 0.2 * synthesize("speech", 1, 3.0, RATE_HZ)


def test_the_longer_the_reverberation_the_longer_the_decay() -> None:
    bursts = np.zeros(LENGTH)
    rng = np.random.default_rng(0)
    for start in (6400, 38400, 70400):
        bursts[start : start + 3200] = 0.1 * rng.standard_normal(3200)
    found = []
    for seconds in (0.2, 0.4, 0.8):
        tail = rng.standard_normal(2 * RATE_HZ) * 10 ** (-3 * TIME[: 2 * RATE_HZ] / seconds)
        made = signal.fftconvolve(bursts, tail / np.linalg.norm(tail))[:LENGTH]
        found.append(np.exp(measured(made)["decay"]))
        assert found[-1] == pytest.approx(seconds, rel=0.2)
    assert all(a < b for a, b in pairwise(found))


def test_reverberation_of_speech_lengthens_its_decay_by_strength(speech: np.ndarray) -> None:
    made = [speech, *(effects.apply("reverb", speech, strength, 0) for strength in (0.5, 1, 2))]
    decay = [measured(x)["decay"] for x in made]
    assert all(a + 0.1 < b for a, b in pairwise(decay))


def test_compression_lowers_dynamics_by_strength(speech: np.ndarray) -> None:
    made = [speech, *(effects.apply("compression", speech, s, 0) for s in (0.5, 1, 2))]
    dynamics = [measured(x)["dynamics"] for x in made]
    assert all(a > b for a, b in pairwise(dynamics))


def test_dynamics_are_those_of_the_level_in_tens_of_decibels() -> None:
    steps = np.where(TIME < 1.5, 1.0, 0.1)
    found = measured(noise() * steps)["dynamics"]
    assert found - measured(noise())["dynamics"] == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("octave_db", [-6.0, -3.0, 3.0])
def test_tilt_is_in_decibels_an_octave(octave_db: float) -> None:
    change = measured(noise(octave_db))["tilt"] - measured(noise())["tilt"]
    assert change == pytest.approx(octave_db, abs=0.2)


def test_a_shelf_of_twice_the_decibels_tilts_twice_as_much(speech: np.ndarray) -> None:
    """The shelf of `brightness`: 3, 6 and 12 dB above 2 kHz."""
    for dry in (noise(-3.0), noise(-6.0)):
        before = measured(dry)["tilt"]
        up = [
            measured(effects.apply("brightness", dry, s, 0))["tilt"] - before for s in (0.5, 1, 2)
        ]
        assert up[1] == pytest.approx(2 * up[0], rel=0.1)
        assert up[2] == pytest.approx(2 * up[1], rel=0.1)
        assert 0.7 < up[1] < 1.4  # 6 dB over the octaves from 50 Hz to 14 kHz, of which 3 are above


@pytest.mark.parametrize("level", [1.0, 0.1])
def test_a_low_pass_lowers_bandwidth_by_its_octaves(level: float) -> None:
    """Also of clips so soft that what is gone lies at the floor of the frames."""
    found = [measured(level * below(noise(), hz))["bandwidth"] for hz in (8000, 4000, 2000)]
    steps = -np.diff([measured(level * noise())["bandwidth"], *found])
    assert steps[1:] == pytest.approx([1.0, 1.0], abs=0.25)
    assert 0.3 < steps[0] < 0.9  # from 14 kHz


def test_a_tremolo_raises_the_modulation_of_its_speed() -> None:
    dry = measured(noise())
    for hz, most in ((1.0, "slow"), (3.0, "middle"), (5.0, "middle"), (12.0, "fast")):
        made = measured(noise() * (1 + 0.6 * np.sin(2 * np.pi * hz * TIME)))
        rise = {name: made[name] - dry[name] for name in ("slow", "middle", "fast")}
        assert max(rise, key=rise.__getitem__) == most
        assert rise[most] > 0.3


def test_a_comb_is_rougher_than_a_smooth_spectrum() -> None:
    comb = noise()
    comb[16:] += noise()[:-16]  # dips 2 kHz apart, which bands resolve
    assert measured(comb)["roughness"] > measured(noise())["roughness"] + 1.0


def compared(before: np.ndarray, after: np.ndarray) -> tuple[dict[str, float], Alignment]:
    alignment = align(
        *(Spectrum().encode_clip(np.float32(x)).frames["mel"] for x in (before, after))
    )
    row = Acoustics().compare({}, {}, alignment)
    return dict(zip(Acoustics.alignment, row.tolist(), strict=True)), alignment


def test_of_two_clips_it_says_by_how_much_and_which_way() -> None:
    """By what both share, without its ends, beyond what nobody hears."""
    dry = noise(-3.0)
    bright = effects.apply("brightness", dry, 1.0, 0)
    for pair in ((dry, bright), (bright, dry), (dry, dry)):
        found, alignment = compared(*pair)
        assert alignment.shared().all()
        first, second = (measure(x[EDGE_FRAMES:-EDGE_FRAMES]) for x in alignment.overlap())
        for name, change, least in zip(MEASURES, second - first, TOLERANCE, strict=True):
            assert found[f"{name}_up"] == pytest.approx(max(change - least, 0), abs=1e-6)
            assert found[f"{name}_down"] == pytest.approx(max(-change - least, 0), abs=1e-6)
        assert (found["tilt_up"] > 0.5) == (pair[1] is bright and pair[0] is dry)
        assert (found["tilt_down"] > 0.5) == (pair[0] is bright)
    assert not Acoustics().compare({}, {}, None).any()


def test_a_reverberation_is_heard_as_it_came_and_went(speech: np.ndarray) -> None:
    wet = effects.apply("reverb", speech, 1.0, 0)
    assert compared(speech, wet)[0]["decay_up"] > 0.2
    assert compared(wet, speech)[0]["decay_down"] > 0.2


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
@pytest.mark.parametrize("other", ["nothing", "siren"])
def test_what_was_lost_or_replaced_says_nothing_of_the_rest(share: float, other: str) -> None:
    """However much it is: an effect is heard by what both clips have."""
    rain, start = synthesize("rain", 1, 3.0, RATE_HZ), round((1 - share) * LENGTH)
    instead = np.zeros(LENGTH) if other == "nothing" else synthesize(other, 1, 3.0, RATE_HZ)
    made = np.concatenate([rain[:start], instead[start:]])
    assert max(compared(rain, made)[0].values()) < 0.05


def test_neither_does_a_soft_part_that_fell_silent() -> None:
    """Too soft to count as lost: nothing of it is left, and that is no change of dynamics."""
    rain = synthesize("rain", 1, 3.0, RATE_HZ) * np.where(TIME < 1.5, 1.0, 0.05)
    made = np.where(TIME < 1.8, rain, 0.0)
    assert max(compared(rain, made)[0].values()) < 0.05


def test_silence_around_a_clip_and_a_delay_change_nothing(speech: np.ndarray) -> None:
    heard = Spectrum()
    for before, after in ((9600, 0), (0, 9600), (640, 0)):
        made = np.pad(speech, (before, after)).astype(np.float32)
        mel = [heard.encode_clip(x).frames["mel"] for x in (speech.astype(np.float32), made)]
        row = Acoustics().compare({}, {}, align(*mel))
        assert np.abs(row).max() < 0.02


@pytest.mark.parametrize("length", [1, 3200, 4000])
def test_silence_and_short_clips_have_numbers(length: int) -> None:
    for x in (np.zeros(length), noise()[:length]):
        assert np.isfinite(list(measured(x).values())).all()

"""What nobody hears as damage is small against faint damage: delay, gain, format, silence."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from auditeval import audio
from auditeval.audio import files
from auditeval.data.simulation.nuisance import delayed
from auditeval.data.soundbank import synthesize
from auditeval.features.alignment import ALIGNMENT_NAMES, align
from auditeval.features.delay import find_fraction
from auditeval.features.extractors.spectrum import Spectrum

RATE_HZ = Spectrum.rate_hz
Change = Callable[[np.ndarray], np.ndarray]


def silence(seconds: float) -> np.ndarray:
    return np.zeros(round(seconds * RATE_HZ))


def there_and_back(clip: np.ndarray, rate_hz: int) -> np.ndarray:
    there = audio.resample(audio.Waveform(clip.astype(np.float32), RATE_HZ), rate_hz)
    return audio.resample(audio.Waveform(there, rate_hz), RATE_HZ)


NUISANCES: dict[str, Change] = {
    "delay of 0.4 ms": lambda x: delayed(x, 0.0004),
    "delay of 3.7 ms": lambda x: delayed(x, 0.0037),
    "delay of 15 ms": lambda x: delayed(x, 0.015),
    "delay of 20 ms": lambda x: delayed(x, 0.020),
    "1 dB up": lambda x: x * 10 ** (1 / 20),
    "1 dB down": lambda x: x * 10 ** (-1 / 20),
    "44.1 kHz and back": lambda x: there_and_back(x, 44100),
    "48 kHz and back": lambda x: there_and_back(x, 48000),
    "0.3 s of silence before": lambda x: np.concatenate([silence(0.3), x]),
    "0.137 s of silence before": lambda x: np.concatenate([silence(0.137), x]),
    "0.3 s of silence after": lambda x: np.concatenate([x, silence(0.3)]),
    "16 bits": lambda x: np.round(x * 32768) / 32768,
    "the best Ogg Vorbis": lambda x: files.recoded(
        x.astype(np.float32), RATE_HZ, "OGG", "VORBIS", 0.0
    ),
}


def noisy(clip: np.ndarray, decibels: float) -> np.ndarray:
    noise = np.random.default_rng(1).standard_normal(len(clip))
    return clip + noise * np.sqrt(np.mean(clip**2)) * 10 ** (-decibels / 20)


def modulated(clip: np.ndarray, decibels: float) -> np.ndarray:
    """MNRU at Q = decibels."""
    noise = np.random.default_rng(2).standard_normal(len(clip))
    return clip * (1 + noise * 10 ** (-decibels / 20))


@pytest.fixture(scope="module")
def clips() -> list[np.ndarray]:
    made = []
    for number, name in enumerate(("crickets", "speech", "piano_notes", "helicopter")):
        clip = synthesize(name, 30 + number, 3.0, RATE_HZ).astype(float)
        clip += 0.02 * synthesize("rain", 30 + number, 3.0, RATE_HZ)
        made.append(0.5 * clip / np.abs(clip).max())
    return made


def mel(clip: np.ndarray) -> np.ndarray:
    return Spectrum().encode_clip(clip.astype(np.float32)).frames["mel"].astype(np.float32)


def found(clips: list[np.ndarray], change: Change) -> np.ndarray:
    """Features of each clip against itself, changed :: (clips, K)."""
    return np.array([align(mel(clip), mel(change(clip))).values for clip in clips])


@pytest.fixture(scope="module")
def faintest(clips: list[np.ndarray]) -> np.ndarray:
    """Of noise 35 dB down and MNRU at 35 dB, the lesser in the mean :: (clips, K)."""
    faults = [found(clips, lambda x: noisy(x, 35)), found(clips, lambda x: modulated(x, 35))]
    return min(faults, key=np.sum)


@pytest.mark.parametrize("name", NUISANCES)
def test_a_nuisance_is_small_against_the_faintest_damage(
    name: str, clips: list[np.ndarray], faintest: np.ndarray
) -> None:
    """Measured: the sum over features at most .12 of it, the log-spectral distance .23 (delays)."""
    nuisance = found(clips, NUISANCES[name])
    assert nuisance.sum() < 0.2 * faintest.sum()
    lsd = ALIGNMENT_NAMES.index("lsd")
    assert (nuisance[:, lsd] < 0.3 * faintest[:, lsd]).all()


@pytest.mark.parametrize("fault", [noisy, modulated])
@pytest.mark.parametrize("feature", ["lsd", "lsd_active", "up_active_top"])
def test_damage_is_seen_through_a_nuisance(
    fault: Callable[[np.ndarray, float], np.ndarray], feature: str, clips: list[np.ndarray]
) -> None:
    """Shifted by parts of a frame and a decibel up, damage is what it was."""
    column = ALIGNMENT_NAMES.index(feature)
    plain = found(clips, lambda x: fault(x, 30))[:, column]
    moved = found(clips, lambda x: 1.122 * delayed(fault(x, 30), 0.0137))[:, column]
    assert moved == pytest.approx(plain, rel=0.15, abs=0.02)


@pytest.mark.parametrize("frames", [-0.5, -0.25, 0.125, 0.375])
def test_a_part_of_a_frame_is_found(frames: float, clips: list[np.ndarray]) -> None:
    for clip in clips[:3]:
        middle = slice(RATE_HZ // 5, -RATE_HZ // 5)
        earlier = delayed(clip, 0.02)[middle]
        later = delayed(clip, 0.02 + frames * 0.01)[middle]
        assert find_fraction(mel(earlier), mel(later)) == pytest.approx(frames, abs=0.13)

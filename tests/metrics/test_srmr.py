"""SRMR against SRMRpy (jfsantos/SRMRpy at fee0097, with gammatone 1.0.3), and its laws."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import signal

from auditeval.audio import Waveform, decode, resample
from auditeval.metrics.srmr import srmr
from auditeval.types import Undefined

RATE_HZ = 16000


def modulated(seconds: int, rt60: float) -> Waveform:
    """Noise in pulses of 4 Hz, in a room of noise that decays."""
    generator = np.random.default_rng(0)
    times = np.arange(seconds * RATE_HZ) / RATE_HZ
    samples = generator.standard_normal(len(times)) * np.maximum(0, np.sin(2 * np.pi * 4 * times))
    if rt60:
        tail = generator.standard_normal(8000) * 10 ** (-3 * np.arange(8000) / RATE_HZ / rt60)
        samples = np.convolve(samples, tail)[: len(times)]
    return Waveform((0.1 * samples / np.abs(samples).max()).astype(np.float32), RATE_HZ)


@pytest.mark.parametrize(
    ("seconds", "rt60", "theirs"),
    [(2, 0.0, 17.53840816729816), (2, 0.3, 13.565785208718854), (3, 0.6, 8.25372716537571)],
)
def test_equal_to_srmrpy(seconds: int, rt60: float, theirs: float) -> None:
    assert srmr(modulated(seconds, rt60)) == pytest.approx(theirs, rel=1e-6)


@pytest.mark.parametrize(
    ("above_hz", "theirs"),
    [
        (1000, 14.443405703629473),
        (1750, 17.831849440517455),
        (3000, 19.7680577935653),
        (4000, 31.05011218473939),
    ],
)
def test_equal_to_srmrpy_where_fewer_fast_bands_count(above_hz: int, theirs: float) -> None:
    filters = signal.butter(4, above_hz, "highpass", fs=RATE_HZ, output="sos")
    samples = signal.sosfilt(filters, modulated(2, 0.3).samples).astype(np.float32)
    assert srmr(Waveform(samples, RATE_HZ)) == pytest.approx(theirs, rel=1e-6)


def test_neither_level_nor_rate_counts() -> None:
    clip = modulated(2, 0.3)
    quiet = Waveform(clip.samples * np.float32(0.01), RATE_HZ)
    at_44k = Waveform(resample(clip, 44100), 44100)
    assert srmr(quiet) == pytest.approx(srmr(clip), rel=1e-5)
    assert srmr(at_44k) == pytest.approx(srmr(clip), rel=0.05)


def test_reverberation_lowers_it(shared_data: Path) -> None:
    generator = np.random.default_rng(0)
    times = np.arange(RATE_HZ) / RATE_HZ
    noise = generator.standard_normal(RATE_HZ)
    for path in sorted((shared_data / "librispeech10").glob("*.flac"))[:4]:
        dry = resample(decode(path), RATE_HZ)
        rooms = [noise * 10 ** (-3 * times / rt60) for rt60 in (0.3, 0.6, 1.0)]
        wet = [signal.fftconvolve(dry, room)[: len(dry)].astype(np.float32) for room in rooms]
        small, middle, large = (srmr(Waveform(samples, RATE_HZ)) for samples in wet)
        assert small > middle > large  # type: ignore[operator]


@pytest.mark.parametrize("samples", [np.zeros(48000), np.ones(4000), np.ones(100)])
def test_without_modulation_it_is_undefined(samples: np.ndarray) -> None:
    assert isinstance(srmr(Waveform(samples.astype(np.float32), RATE_HZ)), Undefined)

"""What must not change a rating: done to many edited clips, also to perfect ones, without a cost.

Nobody would rate a clip lower because it was saved in another good format, a decibel up, or with a
moment of silence before it; or because its wave form is another where it sounds the same.
"""

from __future__ import annotations

import numpy as np
import scipy.fft
from scipy.interpolate import CubicSpline

from auditeval.audio import Waveform, files, resample
from auditeval.data.simulation.signals import RATE_HZ, bandwidth_hz, decibels

SHARE = 0.5
"""Of the edited clips."""

_EACH = 0.35  # chance of each kind among them
GAIN_DB, DELAY_SECONDS, PADDING_SECONDS = 1.5, 0.04, 0.3
_RATES_HZ = (22050, 44100, 48000)
# Differences of group delay are heard from 2 ms on between 1 and 4 kHz, in clicks [Blauert and Laws
# 1978, 10.1121/1.381841]; wow from .2 % on.
_WAVE = 0.25  # chance of each that changes the wave form alone
_SPREAD_SECONDS, _OCTAVES = 0.0015, 10
_SWAY_SECONDS, _SWAY_HZ = 0.0015, 0.2


def nuisance(x: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """The clip as another tool would have saved it, and by how many seconds it is later.

    Some of: gain within 1.5 dB, up to 40 ms later or earlier (also by parts of a sample), another
    sampling rate and back (22.05 kHz only where there is nothing above), silence up to 0.3 s before
    or after, the best Ogg Vorbis, polarity, group delays that differ by up to 1.5 ms, a slow sway
    of 1.5 ms.
    """
    later = 0.0
    if rng.random() < _EACH:
        x = x * decibels(rng.uniform(-GAIN_DB, GAIN_DB))
    if rng.random() < _EACH:
        rate_hz = int(rng.choice(_RATES_HZ))
        if bandwidth_hz(x) < 0.45 * rate_hz:
            there = resample(Waveform(np.asarray(x, np.float32), RATE_HZ), rate_hz)
            back = resample(Waveform(there, rate_hz), RATE_HZ)
            x = np.pad(back, (0, max(0, len(x) - len(back))))[: len(x)]
    if rng.random() < _EACH:
        seconds = rng.uniform(-DELAY_SECONDS, DELAY_SECONDS) * rng.choice([0.1, 1.0])
        x, later = delayed(x, seconds), seconds
    if rng.random() < _EACH / 2:
        x = -x
    if rng.random() < _WAVE:
        x = dispersed(x, rng)
    if rng.random() < _WAVE:
        x = swaying(x, rng)
    if rng.random() < _EACH:
        silence = np.zeros(round(rng.uniform(0.02, PADDING_SECONDS) * RATE_HZ))
        if rng.random() < 0.5:
            x, later = np.concatenate([silence, x]), later + len(silence) / RATE_HZ
        else:
            x = np.concatenate([x, silence])
    if rng.random() < _EACH / 2:
        x = files.recoded(np.asarray(x, np.float32), RATE_HZ, "OGG", "VORBIS", 0.0)
    return x, later


def delayed(x: np.ndarray, seconds: float) -> np.ndarray:
    """Later by any time, or earlier, as long as before: its end is cut off, or its beginning."""
    margin = 256  # so that a part of a sample does not wrap around
    size = scipy.fft.next_fast_len(len(x) + round(abs(seconds) * RATE_HZ) + margin, real=True)
    turns = np.exp(-2j * np.pi * np.fft.rfftfreq(size) * seconds * RATE_HZ)
    return scipy.fft.irfft(scipy.fft.rfft(x, size) * turns, size)[: len(x)]


def dispersed(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """An all-pass: each octave later by a time of its own, straight between."""
    margin = 1024
    size = scipy.fft.next_fast_len(len(x) + margin, real=True)
    hz = np.fft.rfftfreq(size, 1 / RATE_HZ)
    octaves = np.log2(np.maximum(hz, 16.0) / 16.0)
    later = np.interp(octaves, range(_OCTAVES + 1), rng.uniform(0, 1, _OCTAVES + 1))
    turns = 2 * np.pi * np.cumsum(later * _SPREAD_SECONDS) * (hz[1] - hz[0])
    return scipy.fft.irfft(scipy.fft.rfft(x, size) * np.exp(-1j * turns), size)[: len(x)]


def swaying(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Read a little later and earlier in turn: its pitch sways by .2 %."""
    time = np.arange(len(x)) / RATE_HZ
    turn = 2 * np.pi * (_SWAY_HZ * rng.uniform(0.5, 1.0) * time + rng.random())
    at = np.clip((time + _SWAY_SECONDS * np.sin(turn)) * RATE_HZ, 0, len(x) - 1)
    return CubicSpline(np.arange(len(x)), x)(at)

"""What the faults are made of: levels, bandwidths, short-time spectra, noise; float (N,) clips."""

from __future__ import annotations

import numpy as np
import scipy.fft
from scipy import signal

RATE_HZ = 32000
"""Of all that is simulated."""

Span = tuple[int, int]
"""Samples [start, stop)."""

WINDOW, HOP = 1024, 256
FADE = round(0.01 * RATE_HZ)
_FRAME = round(0.02 * RATE_HZ)
_QUIET_DB = 30.0
_BAND_FLOOR_DB = 75.0


def decibels(db: float) -> float:
    """The factor of amplitude."""
    return float(10 ** (db / 20))


def active_rms(x: np.ndarray) -> float:
    """RMS of the frames of 20 ms within 30 dB of the loudest: pauses do not count.

    As the active speech level of ITU-T P.56 does, so that a ratio to it is heard alike in a bark
    and in rain.
    """
    x = np.asarray(x, np.float64)
    count = max(1, len(x) // _FRAME)
    power = np.array([part @ part / len(part) for part in np.array_split(x, count)])
    return float(np.sqrt(power[power >= power.max() * 10 ** (-_QUIET_DB / 10)].mean()))


def bandwidth_hz(x: np.ndarray) -> float:
    """The highest frequency within 75 dB of the strongest :: 200 Hz to half of RATE_HZ."""
    frames = max(1, len(x) // WINDOW)
    x = np.resize(np.asarray(x, np.float32), frames * WINDOW).reshape(-1, WINDOW)
    # A Hann window's sidelobes would hide what is 75 dB down.
    window = signal.get_window("blackmanharris", WINDOW).astype(np.float32)
    power = np.square(np.abs(scipy.fft.rfft(x * window, axis=1))).mean(axis=0)
    inside = np.flatnonzero(power >= power.max() * 10 ** (-_BAND_FLOOR_DB / 10))
    return float(max(inside[-1] * RATE_HZ / WINDOW, 200.0))


def below(x: np.ndarray, cutoff_hz: float) -> np.ndarray:
    """Butterworth of order 8, twice: without delay; whole where the cutoff is above the band."""
    if cutoff_hz >= 0.47 * RATE_HZ:
        return x
    return signal.sosfiltfilt(signal.butter(8, cutoff_hz, fs=RATE_HZ, output="sos"), x)


def above(x: np.ndarray, cutoff_hz: float) -> np.ndarray:
    """Butterworth of order 4, twice: without delay."""
    sections = signal.butter(4, cutoff_hz, "highpass", fs=RATE_HZ, output="sos")
    return signal.sosfiltfilt(sections, x)


def coloured(slope: float, length: int, rng: np.random.Generator, top_hz: float) -> np.ndarray:
    """Gaussian noise of unit power, `slope` dB an octave from 20 Hz up to `top_hz`."""
    size = scipy.fft.next_fast_len(length, real=True)
    hz = np.fft.rfftfreq(size, 1 / RATE_HZ)
    gain = np.maximum(hz, 20.0) ** (slope / (20 * np.log10(2)))
    gain[(hz < 20.0) | (hz > top_hz)] = 0
    parts = rng.standard_normal((2, len(hz)))
    noise = scipy.fft.irfft(gain * (parts[0] + 1j * parts[1]), size)[:length]
    return noise / np.sqrt(np.mean(noise**2))


def spectrum(x: np.ndarray) -> np.ndarray:
    """Short-time spectra :: (N,) -> (frames, WINDOW // 2 + 1), Hann windows, edges mirrored."""
    padded = np.pad(
        np.asarray(x, np.float32), WINDOW, mode="reflect" if len(x) > WINDOW else "wrap"
    )
    frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP]
    return scipy.fft.rfft(frames * _hann(), axis=1)


def resynthesized(spectra: np.ndarray, length: int) -> np.ndarray:
    """The clip that is closest to the spectra :: (frames, bins) -> (length,)."""
    window = _hann()
    frames = scipy.fft.irfft(spectra, WINDOW, axis=1) * window
    total = np.zeros((len(frames) - 1) * HOP + WINDOW, np.float32)
    weight = np.zeros_like(total)
    steps = WINDOW // HOP
    for phase in range(steps):  # frames of one phase do not overlap
        some = frames[phase::steps]
        start, size = phase * HOP, some.size
        total[start : start + size] += some.ravel()
        weight[start : start + size] += np.tile(window**2, len(some))
    found = total / np.maximum(weight, 1e-3)
    return np.pad(found[WINDOW:], (0, max(0, length)))[:length]


def times_conjugate(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x times the conjugate of y, with the same last bit on every Python.

    Where numpy multiplies in the place of a temporary, which depends on the Python, it may swap the
    factors, and a product of complex numbers is not commutative to the last bit.
    """
    return np.conj(y) * x


def stretched(x: np.ndarray, factor: float) -> np.ndarray:
    """`factor` times as long at the same pitch, by a phase vocoder [Flanagan and Golden 1966]."""
    spectra = spectrum(x)
    times = np.arange(0, len(spectra) - 2, 1 / factor)
    first, share = times.astype(int), (times % 1)[:, None]
    sizes = (1 - share) * np.abs(spectra[first]) + share * np.abs(spectra[first + 1])
    turns = np.angle(times_conjugate(spectra[1:], spectra[:-1]))
    natural = 2 * np.pi * HOP * np.arange(spectra.shape[1]) / WINDOW
    turns = natural + (turns - natural + np.pi) % (2 * np.pi) - np.pi
    phases = np.angle(spectra[0]) + np.cumsum(turns[first], axis=0) - turns[first[0]]
    # The mirrored edges are stretched too: what comes out starts a little later.
    made = resynthesized((sizes * np.exp(1j * phases)).astype(np.complex64), len(times) * HOP)
    late = max(0, round((factor - 1) * WINDOW))
    return made[late : late + round(factor * len(x))]


def blended(x: np.ndarray, other: np.ndarray, span: Span) -> np.ndarray:
    """`other` within the span and `x` outside, passing over 10 ms inside the span."""
    weight = np.zeros(len(x))
    start, stop = span
    weight[start:stop] = 1
    n = min(FADE, (stop - start) // 2)
    if start > 0:
        weight[start : start + n] = np.linspace(0, 1, n, endpoint=False)
    if stop < len(x):
        weight[stop - n : stop] = np.linspace(1, 0, n, endpoint=False)
    return x + weight * (other - x)


def somewhere(size: int, length: int, rng: np.random.Generator) -> Span:
    """A random stretch of that size in a clip."""
    start = int(rng.integers(length - size + 1))
    return start, start + size


def _hann() -> np.ndarray:
    return signal.get_window("hann", WINDOW).astype(np.float32)

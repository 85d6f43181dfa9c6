"""How much faster and higher a clip is than another, of any sound. No weights.

Found by what turns one clip into the other: the stretch of time under which the bands of both go
together, then the shift on a scale of octaves under which their partials do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import fft
from scipy.ndimage import uniform_filter1d

from auditeval.features.alignment import percentiles
from auditeval.features.mel import SILENCE_DB, hann

RATE_HZ = 16000
HOP_SECONDS = 0.02
_HOP, _N_FFT = round(HOP_SECONDS * RATE_HZ), 2048
BINS_PER_OCTAVE, LOWEST_HZ, BINS = 24, 80.0, 152  # to 6.4 kHz
_RANGE_DB, _MOST_FRAMES = 60.0, 3000
_BLOCK = 1024  # frames at a time: an hour takes the memory of half a minute
_BANDS = 12  # coarse ones, by which clips are stretched onto each other
_STRETCHES = 2.0 ** (np.arange(-16, 17) / 16)  # an octave of pace either way
_SHIFTS = np.arange(-36, 37)  # bins: a semitone is two of them
_FREE = 0.04  # of correlation: so much better must a stretch or a shift be than none


def tones(samples: np.ndarray) -> np.ndarray:
    """Mono float32 (N,) at 16 kHz to dB on a scale of octaves :: float16 (T, 152), 20 ms apart.

    Bins a quarter tone apart from 80 Hz to 6.4 kHz, relative to full scale.
    """
    padded = np.pad(samples.astype(np.float32), (_N_FFT // 2, _N_FFT))
    frames = np.lib.stride_tricks.sliding_window_view(padded, _N_FFT)[::_HOP]
    window = hann(_N_FFT)
    at = LOWEST_HZ * 2.0 ** (np.arange(BINS) / BINS_PER_OCTAVE) * _N_FFT / RATE_HZ
    low = np.floor(at).astype(int)
    share = (at - low).astype(np.float32)
    made = np.empty((-(-len(samples) // _HOP), BINS), np.float16)
    for start in range(0, len(made), _BLOCK):
        some = frames[start : min(start + _BLOCK, len(made))]
        power = np.square(np.abs(fft.rfft(some * window, axis=1))) / window.sum() ** 2
        found = (1 - share) * power[:, low] + share * power[:, low + 1]
        decibels = np.maximum(10 * np.log10(found + 1e-12), SILENCE_DB)
        made[start : start + len(some)] = decibels
    return made


class Turned(NamedTuple):
    """What turns a clip into another: times faster, semitones higher, and how sure both are."""

    pace: float
    """1: as fast; 2: twice."""
    pace_sure: float
    """0..1: how well the bands go together."""
    semitones: float
    semitones_sure: float
    """0..1: how well the partials do; of noise there are none."""


def turned(original: np.ndarray, edited: np.ndarray) -> Turned:
    """`tones` of two clips :: (T1, 152), (T2, 152)."""
    x, y = _heard(original), _heard(edited)
    if min(len(x), len(y)) < 5:
        return Turned(1.0, 0.0, 0.0, 0.0)
    fine_x, at_once = _fine(x), len(_STRETCHES) // 2
    by_bands, by_level = (
        [_best_lag(of_x, _resampled(of_y, factor)) for factor in _STRETCHES]
        for of_x, of_y in ((_coarse(x), _coarse(y)), (_level(x), _level(y)))
    )
    fits = np.array([fit for fit, _ in by_bands])
    fits[at_once] += _FREE
    best, level_best = int(np.argmax(fits)), int(np.argmax([fit for fit, _ in by_level]))
    # A melody that is higher lies in other bands: its level, and its start, tell the lag as well.
    candidates = {
        *((best, by_bands[best][1]), (at_once, by_bands[at_once][1]), (at_once, 0)),
        *((level_best, by_level[level_best][1]),),
    }
    found = []
    for place, lag in sorted(candidates):
        shift, sure = _best_shift(fine_x, _fine(_resampled(y, float(_STRETCHES[place]))), lag)
        found.append((float(fits[place]) + sure, place, shift, sure))
    _, best, shift, sure = max(found)
    pace = float(2.0 ** ((best + _vertex(fits, best)) / 16 - 1))
    pace_sure = float(np.clip(fits[best], 0, 1))
    return Turned(pace, pace_sure, shift * 12 / BINS_PER_OCTAVE, sure)


def _heard(frames: np.ndarray) -> np.ndarray:
    """A minute at most without silence before it, and nothing below the range of the loudest."""
    x = frames.astype(np.float32)
    loud = percentiles(x.max(axis=1), 95)[0]
    x = np.maximum(x, max(loud - _RANGE_DB, SILENCE_DB))
    there = np.flatnonzero(x.max(axis=1) > loud - 40)
    return x[there[0] : there[-1] + 1][:_MOST_FRAMES]


def _coarse(x: np.ndarray) -> np.ndarray:
    """Levels of twelve bands, each about its mean :: (T, 152) -> (T, 12)."""
    edges = np.linspace(0, x.shape[1], _BANDS + 1).astype(int)[:-1]
    bands = 10 * np.log10(np.add.reduceat(10 ** (x / 10), edges, axis=1))
    return bands - bands.mean(axis=0)


def _level(x: np.ndarray) -> np.ndarray:
    """Of the whole, about its mean :: (T, 152) -> (T, 1)."""
    level = 10 * np.log10(np.sum(10 ** (x / 10), axis=1, keepdims=True))
    return level - level.mean()


def _fine(x: np.ndarray) -> np.ndarray:
    """Partials: what stands out of the spectrum around it :: (T, 152), loud frames weigh more."""
    detail = x - uniform_filter1d(x, 17, axis=1, mode="nearest")
    level = x.max(axis=1)
    return np.maximum(detail, 0) * np.clip((level - level.max() + 30) / 30, 0, 1)[:, None]


def _resampled(x: np.ndarray, factor: float) -> np.ndarray:
    """`factor` times as many rows, straight between."""
    if factor == 1.0:
        return x
    count = max(round(len(x) * factor), 2)
    at = np.linspace(0, len(x) - 1, count)
    low = np.minimum(at.astype(int), len(x) - 2)
    share = (at - low).astype(np.float32)[:, None]
    return (1 - share) * x[low] + share * x[low + 1]


def _best_lag(x: np.ndarray, y: np.ndarray) -> tuple[float, int]:
    """Correlation of two clips at the lag where it is greatest, and that lag of y in rows.

    Over the energy of both, so that what overlaps little goes little together.
    """
    size = fft.next_fast_len(len(x) + len(y), real=True)
    spectra = np.conj(fft.rfft(x, size, axis=0)) * fft.rfft(y, size, axis=0)
    lags = np.arange(1 - len(x), len(y))
    product = fft.irfft(spectra.sum(axis=1), size)[lags]
    best = int(np.argmax(product))
    energy = float(np.sqrt((x * x).sum() * (y * y).sum()))
    return float(product[best]) / max(energy, 1e-9), int(lags[best])


def _best_shift(x: np.ndarray, y: np.ndarray, lag: int) -> tuple[float, float]:
    """Bins by which the partials of y are higher, and how well they then go with those of x."""
    begin, end = max(0, -lag), min(len(x), len(y) - lag)
    x, y = x[begin:end], y[begin + lag : end + lag]
    energy = float(np.sqrt((x * x).sum() * (y * y).sum()))
    if energy < 1e-6:
        return 0.0, 0.0
    padded = np.pad(y, ((0, 0), (_SHIFTS[-1], _SHIFTS[-1])))
    windows = np.lib.stride_tricks.sliding_window_view(padded, y.shape[1], axis=1)
    fits = np.einsum("tf,tsf->s", x, windows, optimize=True) / energy
    fits[len(fits) // 2] += _FREE
    best = int(np.argmax(fits))
    others = float(np.median(fits))
    sure = float(np.clip((fits[best] - others) / (1 - others + 1e-6), 0, 1))
    return float(_SHIFTS[best]) + (_vertex(fits, best) if _SHIFTS[best] else 0.0), sure


def _vertex(values: np.ndarray, best: int) -> float:
    """Of the parabola through a greatest value and its neighbours, within half a step."""
    if not 0 < best < len(values) - 1 or best == len(values) // 2:
        return 0.0
    before, here, after = values[best - 1 : best + 2]
    curvature = 2 * here - before - after
    return float(np.clip((after - before) / (2 * curvature), -0.5, 0.5)) if curvature > 0 else 0.0

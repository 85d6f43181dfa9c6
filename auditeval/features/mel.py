"""Mel filters and the window before them, bit for bit those of transformers and scipy.signal.

Both take most of a second to import, which is a good part of the time to a first score. And powers
of ten, which numpy takes four times as long for as for those of e.
"""

from __future__ import annotations

from functools import cache

import numpy as np

SILENCE_DB = -100.0  # the floor of frames in dB: digital silence and dither count as the same


def htk_filters(n_fft: int, bands: int, low_hz: float, high_hz: float, rate_hz: int) -> np.ndarray:
    """Triangles of height 1, even on HTK's mel scale :: (n_fft / 2 + 1, bands)."""
    edges = _edges(bands, low_hz, high_hz)
    above = edges - np.linspace(0, rate_hz // 2, n_fft // 2 + 1)[:, None]
    rising, falling = -above[:, :-2] / np.diff(edges[:-1]), above[:, 2:] / np.diff(edges[1:])
    return np.maximum(np.minimum(rising, falling), 0)


def centres(bands: int, low_hz: float, high_hz: float) -> np.ndarray:
    """Where the triangles have their tips, in Hz :: (bands,)."""
    return _edges(bands, low_hz, high_hz)[1:-1]


def _edges(bands: int, low_hz: float, high_hz: float) -> np.ndarray:
    low, high = (2595 * np.log10(1 + hz / 700) for hz in (low_hz, high_hz))
    return 700 * (10 ** (np.linspace(low, high, bands + 2) / 2595) - 1)


@cache
def hann(length: int) -> np.ndarray:
    """Periodic Hann window :: float32 (length,), made once and not to be written to."""
    window = np.hanning(length + 1)[:-1].astype(np.float32)
    window.flags.writeable = False
    return window


def from_db(level: np.ndarray) -> np.ndarray:
    """10 ** (dB / 10), in the precision of the input."""
    return np.exp(level * level.dtype.type(np.log(10) / 10))


def to_db(power: np.ndarray) -> np.ndarray:
    """10 log10, in the precision of the input."""
    return np.log(power) * power.dtype.type(10 / np.log(10))

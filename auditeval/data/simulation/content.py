"""Faults of the kept content: lost, replaced, out of order, in another place, pitch or tempo.

Pure functions of the background :: float (N,), the fault's parameter, another sound :: (N,) and a
generator. Each gives the clip and the samples [start, stop) that it touched.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from auditeval.audio import Waveform, resample
from auditeval.data.simulation.signals import RATE_HZ, decibels, stretched

Span = tuple[int, int]
ContentFault = Callable[
    [np.ndarray, float, np.ndarray, np.random.Generator], tuple[np.ndarray, Span]
]

FADE = round(0.01 * RATE_HZ)
_BLOCK = round(0.25 * RATE_HZ)


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


def span_of(share: float, length: int, rng: np.random.Generator) -> Span:
    """A random stretch that is that share of the clip."""
    size = max(1, round(share * length))
    start = int(rng.integers(length - size + 1))
    return start, start + size


def lost(
    x: np.ndarray, share: float, other: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, Span]:
    """40 dB down over a share of the clip."""
    span = span_of(share, len(x), rng)
    return blended(x, 0.01 * x, span), span


def replaced(
    x: np.ndarray, share: float, other: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, Span]:
    """`other` over a share of the clip: another take, or another kind of sound."""
    span = span_of(share, len(x), rng)
    return blended(x, other, span), span


def reordered(
    x: np.ndarray, share: float, other: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, Span]:
    """Blocks of 0.25 s, a share of them permuted; a rest at the end stays."""
    count = len(x) // _BLOCK
    if count < 2:
        return x[::-1], (0, len(x))
    moved = np.sort(rng.choice(count, max(2, round(share * count)), replace=False))
    order = np.arange(count)
    order[moved] = np.roll(moved, 1)  # one cycle: none of them stays where it was
    blocks = x[: count * _BLOCK].reshape(count, _BLOCK)[order].ravel()
    span = int(moved[0]) * _BLOCK, int(moved[-1] + 1) * _BLOCK
    return np.concatenate([blocks, x[count * _BLOCK :]]), span


def shifted(
    x: np.ndarray, seconds: float, other: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, Span]:
    """Earlier or later, the end that is pushed out coming back at the other."""
    return np.roll(x, round(seconds * RATE_HZ) * int(rng.choice([-1, 1]))), (0, len(x))


def resized(
    x: np.ndarray, percent: float, other: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, Span]:
    """Longer or shorter at the same pitch; cut off, or begun again, at its old length."""
    factor = (1 + percent / 100) ** int(rng.choice([-1, 1]))
    return np.resize(stretched(x, factor), len(x)), (0, len(x))


def pitched(
    x: np.ndarray, semitones: float, other: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, Span]:
    """Higher or lower at the same tempo."""
    factor = 2 ** (semitones * int(rng.choice([-1, 1])) / 12)
    longer = stretched(x, factor).astype(np.float32)
    made = resample(Waveform(longer, round(RATE_HZ * factor)), RATE_HZ)
    return np.resize(made, len(x)), (0, len(x))


def level(
    x: np.ndarray, db: float, other: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, Span]:
    return x * decibels(db * int(rng.choice([-1, 1]))), (0, len(x))


CONTENT: dict[str, ContentFault] = {
    "background_pitched": pitched,
    "background_stretched": resized,
    "background_shifted": shifted,
    "background_reordered": reordered,
    "background_regenerated": replaced,
    "background_replaced": replaced,
    "background_lost": lost,
    "background_level": level,
}

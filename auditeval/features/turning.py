"""An original as words ask it to be, higher or lower, faster or slower: what an edit is held by.

Without it another pitch or pace, which was asked for, is unlike the original everywhere, and damage
beside it is told by nothing. `changes.pace_and_pitch` measures how far a change was made, whatever
was asked, by partials, of which noise has none; here the way is known, and the bands tell the rest,
damaged or not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import fft
from scipy.ndimage import uniform_filter1d

from auditeval.features.mel import SILENCE_DB

_MOST, _STEPS, _FINER = (12.0, 1.25), 20, 16  # semitones, octaves of pace; looked at, and between
_FREE, _LEAST = 0.04, 0.1  # of correlation: so much better than none, and as much, must one be
_AROUND, _MOST_FRAMES = 31, 6000  # of 10 ms: a minute tells
_RANGE_DB = 50.0


class Turn(NamedTuple):
    """How much higher and, in octaves of pace, faster; as a way to go 1, -1 or 0 of each."""

    semitones: float = 0.0
    octaves: float = 0.0


NO_TURN = Turn()


def apply_turn(mel: np.ndarray, hz: np.ndarray, turn: Turn) -> np.ndarray:
    """dB frames :: (T, F) of bands centred at `hz` :: (F,), as they would be; `mel` of no turn.

    What would come from beyond the bands is as the last of them.
    """
    if turn.octaves:
        mel = at_pace(mel.astype(np.float32), turn.octaves)
    return mel.astype(np.float32) @ _moved(hz, turn.semitones) if turn.semitones else mel


def at_pace(rows: np.ndarray, octaves: float) -> np.ndarray:
    """Rows that lie evenly in time :: (T, F), so much faster: fewer of them, straight between."""
    at = np.arange(max(round(len(rows) / 2**octaves), 1)) * 2.0**octaves
    low = np.minimum(at.astype(int), len(rows) - 1)
    share = np.minimum(at - low, 1).astype(rows.dtype)[:, None]
    return (1 - share) * rows[low] + share * rows[np.minimum(low + 1, len(rows) - 1)]


def find_turn(original: np.ndarray, edited: np.ndarray, hz: np.ndarray, way: Turn) -> Turn:
    """By how much the edit is the original turned that way; no turn where it is nearer as it is, or
    turned the other way.

    By what bands do within a third of a second :: (T1, F), (T2, F), at any delay, which nothing
    shares that was made anew. What is to become both goes as a tape does.
    """
    x, y = _own(original), _own(edited)
    if not way.octaves:  # what all bands do at once is the same at any pitch
        x, y = (z - z.mean(axis=1, keepdims=True) for z in (x, y))
    size = fft.next_fast_len(round(len(x) * 2 ** _MOST[1]) + len(y), real=True)
    of_y, energy_y = fft.rfft(y, size, axis=0), float(np.square(y).sum())

    def fit(amount: float) -> float:
        moved = apply_turn(x, hz, _turn(way, amount))
        product = np.conj(fft.rfft(moved, size, axis=0)) * of_y
        energy = float(np.sqrt(np.square(moved).sum() * energy_y))
        return float(fft.irfft(product.sum(axis=1), size).max()) / max(energy, 1e-6)

    coarse = {x: fit(x) for x in (np.arange(-_STEPS, _STEPS + 1) / _STEPS).tolist()}
    best = max(coarse, key=coarse.__getitem__)
    if best < 0 or coarse[best] < max(coarse[0.0] + _FREE, _LEAST):
        return NO_TURN
    around = (best + np.arange(-_FINER, _FINER + 1) / (_STEPS * _FINER)).tolist()
    return _turn(way, max(around, key=fit))


def _turn(way: Turn, amount: float) -> Turn:
    """That way by -1 to 1 times the most that is looked for."""
    semitones, octaves = (x * most * amount for x, most in zip(way, _MOST, strict=True))
    return Turn(12 * octaves * abs(way.semitones), octaves) if way.octaves else Turn(semitones)


def _moved(hz: np.ndarray, semitones: float) -> np.ndarray:
    """What bands have of those of a clip before it was moved :: float32 (F, F)."""
    at = np.interp(hz / 2 ** (semitones / 12), hz, np.arange(len(hz)))
    low = np.minimum(at.astype(int), len(hz) - 2)
    shares, bands = np.zeros((len(hz), len(hz)), np.float32), np.arange(len(hz))
    shares[low, bands], shares[low + 1, bands] = 1 - (at - low), at - low
    return shares


def _own(mel: np.ndarray) -> np.ndarray:
    """What each band does beside what it did around a moment :: dB (T, F) -> (T, F)."""
    x = mel[:_MOST_FRAMES].astype(np.float32)
    x = np.maximum(x, max(np.percentile(x.max(axis=1), 95) - _RANGE_DB, SILENCE_DB))
    return x - uniform_filter1d(x, _AROUND, axis=0, mode="nearest")

"""Musical sounds without recordings: beeps, chords and melodies of harmonic tones."""

from __future__ import annotations

import numpy as np

from auditeval.data.soundbank import PEAK

TONES = ("beep", "chords", "melody")

_SCALE = (0, 2, 4, 5, 7, 9, 11, 12)
_CHORDS = ((0, 4, 7), (0, 3, 7), (0, 5, 9), (0, 4, 7, 11))


def tones(name: str, rng: np.random.Generator, seconds: float, rate_hz: int) -> np.ndarray:
    """A clip of one of `TONES` :: float32 (round(seconds * rate_hz),), its peak `PEAK`."""
    count = round(seconds * rate_hz)
    clip = np.zeros(count)
    root = 110 * 2 ** rng.uniform(0, 2)
    timbre = 10 ** (-rng.uniform(3, 14) * np.arange(10) / 20) * rng.uniform(0.3, 1, 10)
    if name == "beep":
        length, gap = rng.uniform(0.08, 0.6), rng.uniform(0.05, 0.5)
        root *= 2 ** rng.uniform(1, 3)
        timbre[rng.integers(1, 4) :] = 0
    else:
        length, gap = rng.uniform(*((0.15, 0.5) if name == "melody" else (0.5, 1.5))), 0.0
    decay = rng.uniform(0.2, 2.0)
    at = 0.0
    while at < seconds:
        steps: tuple[int, ...] = (0,)
        if name == "melody":
            steps = (int(rng.choice(_SCALE)),)
        elif name == "chords":
            shift = int(rng.choice(_SCALE))
            steps = tuple(shift + step for step in _CHORDS[rng.integers(len(_CHORDS))])
        start = round(at * rate_hz)
        n = min(round(length * rate_hz), count - start)
        time = np.arange(n) / rate_hz
        fade = np.minimum(1, np.minimum(time, time[::-1]) / 0.008) * np.exp(-time / decay)
        for step in steps:
            hz = root * 2 ** (step / 12)
            partials = [
                share * np.sin(2 * np.pi * hz * (k + 1) * time)
                for k, share in enumerate(timbre)
                if share and hz * (k + 1) < 0.45 * rate_hz
            ]
            clip[start : start + n] += fade * np.sum(partials, axis=0)
        at += length + gap
    return (clip * (PEAK / max(float(np.abs(clip).max()), 1e-12))).astype(np.float32)

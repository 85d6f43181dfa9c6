"""Audio effects of a producer's, at a strength: 1 is usual, 2 twice as much. float (N,) clips.

Two that differ in the seed alone are two makes of one effect at the same setting.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import signal

from auditeval.data.simulation.signals import RATE_HZ, active_rms, coloured, decibels

Effect = Callable[[np.ndarray, float, np.random.Generator], np.ndarray]


def reverb(x: np.ndarray, strength: float, rng: np.random.Generator) -> np.ndarray:
    """A tail that decays by 60 dB in 0.7 s, 6 dB below the direct sound; both by strength."""
    seconds = 0.7 * strength
    time = np.arange(round(min(seconds, 3.0) * RATE_HZ)) / RATE_HZ
    tail = rng.standard_normal(len(time)) * 10 ** (-3 * time / seconds)
    tail *= decibels(-6.0) * np.sqrt(strength / np.sum(tail**2))
    return x + signal.fftconvolve(x, tail)[: len(x)]


def echo(x: np.ndarray, strength: float, rng: np.random.Generator) -> np.ndarray:
    """Repeats 0.24 s apart (by 3 %), each a third of the one before."""
    step = round(0.24 * rng.uniform(0.97, 1.03) * RATE_HZ)
    gain = 1 - (1 - 0.35) ** strength
    made = x.copy()
    for count in range(1, 5):
        if count * step < len(x):
            made[count * step :] += gain**count * x[: len(x) - count * step]
    return made


def chorus(x: np.ndarray, strength: float, rng: np.random.Generator) -> np.ndarray:
    """A second voice, its delay swinging by 2 ms around 15."""
    time = np.arange(len(x)) / RATE_HZ
    swing = np.sin(2 * np.pi * (1.2 * time + rng.random()))
    delayed = np.interp(time - 0.015 - 0.002 * strength * swing, time, x, left=0.0)
    return x + 0.7 * min(strength, 1.4) * delayed


def tremolo(x: np.ndarray, strength: float, rng: np.random.Generator) -> np.ndarray:
    """The level swinging five times a second by 40 %."""
    time = np.arange(len(x)) / RATE_HZ
    depth = 1 - (1 - 0.4) ** strength
    return x * (1 - depth * (0.5 + 0.5 * np.sin(2 * np.pi * (5 * time + rng.random()))))


def compression(x: np.ndarray, strength: float, rng: np.random.Generator) -> np.ndarray:
    """4 : 1 above 18 dB below the active level, within 5 ms, released over 80 to 120 ms."""
    level = np.square(x)
    for seconds in (0.005, rng.uniform(0.08, 0.12)):
        keep = np.exp(-1 / (seconds * RATE_HZ))
        level = signal.lfilter([1 - keep], [1, -keep], level)
    over_db = 10 * np.log10(np.maximum(level, 1e-12)) - 20 * np.log10(active_rms(x) + 1e-9) + 18
    return x * 10 ** (-np.maximum(over_db, 0) * (1 - 1 / (1 + 3 * strength)) / 20)


def distortion(x: np.ndarray, strength: float, rng: np.random.Generator) -> np.ndarray:
    """A soft limit at the active level; two makes differ in how lopsided it is."""
    driven = strength * x / max(active_rms(x), 1e-9)
    lean = rng.uniform(-0.2, 0.2)
    return np.tanh(driven + lean) - np.tanh(lean)


def brightness(x: np.ndarray, strength: float, rng: np.random.Generator) -> np.ndarray:
    """6 dB more above 2 kHz, by a shelf whose corner differs by a sixth of an octave."""
    corner = np.tan(np.pi * 2000 * 2 ** rng.uniform(-1 / 6, 1 / 6) / RATE_HZ)
    low = signal.lfilter([corner / (1 + corner)] * 2, [1, (corner - 1) / (corner + 1)], x)
    return low + decibels(6 * strength) * (x - low)


def darkness(x: np.ndarray, strength: float, rng: np.random.Generator) -> np.ndarray:
    """A low-pass of second order at 3 kHz, lower where it is stronger."""
    corner = 3000 / strength * 2 ** rng.uniform(-1 / 12, 1 / 12)
    sections = signal.butter(2, min(corner, 0.45 * RATE_HZ), fs=RATE_HZ, output="sos")
    return signal.sosfilt(sections, x)


def hiss(x: np.ndarray, strength: float, rng: np.random.Generator) -> np.ndarray:
    """Noise 26 dB below the clip, as of a tape."""
    noise = coloured(0.0, len(x), rng, 10000.0)
    return x + noise * active_rms(x) * decibels(-26) * strength


EFFECTS: dict[str, Effect] = {
    effect.__name__: effect
    for effect in (
        *(reverb, echo, chorus, tremolo, compression),
        *(distortion, brightness, darkness, hiss),
    )
}


def apply(name: str, x: np.ndarray, strength: float, seed: int) -> np.ndarray:
    """At the active level of the dry clip: how loud it is is no part of an effect."""
    made = EFFECTS[name](np.asarray(x, np.float64), strength, np.random.default_rng(seed))
    return made * (active_rms(x) / max(active_rms(made), 1e-9))

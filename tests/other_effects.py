"""Effects by another hand than the simulation's, at a strength: 1 is usual, 2 twice as much.

float (N,) clips at `RATE_HZ`. Two that differ in the generator alone are two makes of one effect.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from scipy import signal

from auditeval.data.simulation.signals import RATE_HZ, active_rms


def tremolo(x: np.ndarray, strength: float, rng: Generator) -> np.ndarray:
    time = np.arange(len(x)) / RATE_HZ + rng.random()
    depth = 1 - (1 - 0.5) ** strength
    return x * (1 - depth * (0.5 + 0.5 * signal.sawtooth(2 * np.pi * 6.5 * time, 0.5)))


def chorus(x: np.ndarray, strength: float, rng: Generator) -> np.ndarray:
    """Two voices more, their delays rising and falling in straight lines."""
    time, made = np.arange(len(x)) / RATE_HZ, x.copy()
    for seconds in (0.020, 0.027):
        swing = signal.sawtooth(2 * np.pi * (0.8 * time + rng.random()), 0.5)
        heard = np.interp(time - seconds - 0.0015 * strength * swing, time, x, left=0.0)
        made = made + 0.45 * min(strength, 1.4) * heard
    return made


def reverb(x: np.ndarray, strength: float, rng: Generator) -> np.ndarray:
    """Four combs [Schroeder 1962], whose tails are so much longer."""
    wet = np.zeros_like(x)
    for seconds, gain in ((0.0297, 0.85), (0.0371, 0.83), (0.0411, 0.82), (0.0437, 0.80)):
        delay = round(seconds * (1 + 0.03 * rng.uniform(-1, 1)) * RATE_HZ)
        feedback = np.zeros(delay + 1)
        feedback[0], feedback[delay] = 1.0, -(gain ** (1 / strength))
        wet += signal.lfilter([1.0], feedback, x)
    return x + 0.12 * np.sqrt(strength) * wet


def echo(x: np.ndarray, strength: float, rng: Generator) -> np.ndarray:
    delay = round(0.31 * (1 + 0.03 * rng.uniform(-1, 1)) * RATE_HZ)
    gain, made = 1 - (1 - 0.4) ** strength, x.copy()
    for count in (1, 2, 3):
        made[count * delay :] += gain**count * x[: -count * delay]
    return made


def distortion(x: np.ndarray, strength: float, rng: Generator) -> np.ndarray:
    """A hard limit, a little lopsided."""
    limit = 0.9 * np.sqrt(np.mean(x**2)) / strength
    return np.clip(x + 0.1 * limit * rng.uniform(-1, 1), -limit, limit)


def muffling(x: np.ndarray, strength: float, rng: Generator) -> np.ndarray:
    corner = 2500 / strength * 2 ** rng.uniform(-1 / 12, 1 / 12)
    return signal.sosfilt(signal.butter(3, corner, fs=RATE_HZ, output="sos"), x)


def noise(x: np.ndarray, strength: float, rng: Generator) -> np.ndarray:
    made = signal.lfilter([1.0], [1.0, -0.9], rng.standard_normal(len(x)))
    return x + 0.05 * strength * active_rms(x) * made / made.std()


OTHER_EFFECTS: dict[str, Callable[[np.ndarray, float, Generator], np.ndarray]] = {
    effect.__name__: effect
    for effect in (tremolo, chorus, reverb, echo, distortion, muffling, noise)
}

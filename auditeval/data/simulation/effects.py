"""Audio effects of a producer's, at a strength: 1 is usual, 2 twice as much. float (N,) clips.

Two that differ in the seed alone are two makes of one effect at the same setting. How fast, how
long or how high it is, is its character, the same at every strength: a usual one, or one of many.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import signal

from auditeval.data.simulation.signals import RATE_HZ, active_rms, coloured, decibels

Vary = Callable[[float, float, float], float]
"""Of what an effect can be set to: least, usual and most -> this time's."""

Effect = Callable[[np.ndarray, float, np.random.Generator, Vary], np.ndarray]


def reverb(x: np.ndarray, strength: float, rng: np.random.Generator, vary: Vary) -> np.ndarray:
    """A tail that decays by 60 dB in 0.7 s, 6 dB below the direct sound; both by strength."""
    seconds, amplitude = vary(0.35, 0.7, 1.6) * strength, vary(0.3, decibels(-6.0), 0.8)
    time = np.arange(round(min(seconds, 3.0) * RATE_HZ)) / RATE_HZ
    tail = rng.standard_normal(len(time)) * 10 ** (-3 * time / seconds)
    tail *= amplitude * np.sqrt(strength / np.sum(tail**2))
    return x + signal.fftconvolve(x, tail)[: len(x)]


def echo(x: np.ndarray, strength: float, rng: np.random.Generator, vary: Vary) -> np.ndarray:
    """Repeats 0.24 s apart (by 3 %), each a third of the one before."""
    step = round(vary(0.12, 0.24, 0.5) * rng.uniform(0.97, 1.03) * RATE_HZ)
    gain = 1 - (1 - vary(0.22, 0.35, 0.5)) ** strength
    made = x.copy()
    for count in range(1, 5):
        if count * step < len(x):
            made[count * step :] += gain**count * x[: len(x) - count * step]
    return made


def chorus(x: np.ndarray, strength: float, rng: np.random.Generator, vary: Vary) -> np.ndarray:
    """A second voice, its delay swinging by 2 ms around 15; of another character up to four."""
    time, made = np.arange(len(x)) / RATE_HZ, x.copy()
    around, by, hertz = vary(0.01, 0.015, 0.03), vary(0.001, 0.002, 0.003), vary(0.4, 1.2, 2.5)
    voices = round(vary(0.51, 1.0, 3.49))
    for voice in range(voices):
        swing = np.sin(2 * np.pi * (hertz * time + rng.random()))
        delayed = around * (1 + 0.35 * voice) + by * strength * swing
        heard = np.interp(time - delayed, time, x, left=0.0)
        made += 0.7 * min(strength, 1.4) / np.sqrt(voices) * heard
    return made


def tremolo(x: np.ndarray, strength: float, rng: np.random.Generator, vary: Vary) -> np.ndarray:
    """The level swinging five times a second by 40 %, as a sine or nearer to steps."""
    time = np.arange(len(x)) / RATE_HZ
    hertz, depth = vary(2.5, 5.0, 9.0), 1 - (1 - vary(0.3, 0.4, 0.6)) ** strength
    swing, steep = np.sin(2 * np.pi * (hertz * time + rng.random())), vary(0.01, 0.01, 4.0)
    return x * (1 - depth * (0.5 + 0.5 * np.tanh(steep * swing) / np.tanh(steep)))


def compression(x: np.ndarray, strength: float, rng: np.random.Generator, vary: Vary) -> np.ndarray:
    """4 : 1 above 18 dB below the active level, within 5 ms, released over 80 to 120 ms."""
    level, below_db = np.square(x), vary(12.0, 18.0, 24.0)
    for seconds in (0.005, vary(0.6, 1.0, 2.5) * rng.uniform(0.08, 0.12)):
        keep = np.exp(-1 / (seconds * RATE_HZ))
        level = signal.lfilter([1 - keep], [1, -keep], level)
    over_db = 10 * np.log10(np.maximum(level, 1e-12)) - 20 * np.log10(active_rms(x) + 1e-9)
    over_db += below_db
    return x * 10 ** (-np.maximum(over_db, 0) * (1 - 1 / (1 + 3 * strength)) / 20)


def distortion(x: np.ndarray, strength: float, rng: np.random.Generator, vary: Vary) -> np.ndarray:
    """A soft limit at the active level; two makes differ in how lopsided it is."""
    driven = vary(0.7, 1.0, 1.5) * strength * x / max(active_rms(x), 1e-9)
    lean = rng.uniform(-0.2, 0.2)
    return np.tanh(driven + lean) - np.tanh(lean)


def brightness(x: np.ndarray, strength: float, rng: np.random.Generator, vary: Vary) -> np.ndarray:
    """6 dB more above 2 kHz, by a shelf whose corner differs by a sixth of an octave."""
    corner_hz = vary(1200.0, 2000.0, 4000.0) * 2 ** rng.uniform(-1 / 6, 1 / 6)
    corner = np.tan(np.pi * corner_hz / RATE_HZ)
    low = signal.lfilter([corner / (1 + corner)] * 2, [1, (corner - 1) / (corner + 1)], x)
    return low + decibels(6 * strength) * (x - low)


def darkness(x: np.ndarray, strength: float, rng: np.random.Generator, vary: Vary) -> np.ndarray:
    """A low-pass of second order at 3 kHz, lower where it is stronger."""
    corner = vary(2000.0, 3000.0, 4500.0) / strength * 2 ** rng.uniform(-1 / 12, 1 / 12)
    sections = signal.butter(2, min(corner, 0.45 * RATE_HZ), fs=RATE_HZ, output="sos")
    return signal.sosfilt(sections, x)


def hiss(x: np.ndarray, strength: float, rng: np.random.Generator, vary: Vary) -> np.ndarray:
    """Noise 26 dB below the clip, as of a tape."""
    noise = coloured(0.0, len(x), rng, vary(7000.0, 10000.0, 16000.0))
    return x + noise * active_rms(x) * vary(0.025, decibels(-26), 0.1) * strength


EFFECTS: dict[str, Effect] = {
    effect.__name__: effect
    for effect in (
        *(reverb, echo, chorus, tremolo, compression),
        *(distortion, brightness, darkness, hiss),
    )
}


def usual(least: float, usual: float, most: float) -> float:
    """The character that an effect has unless it has another."""
    return usual


def varied(character: int, away: float = 0.0) -> Vary:
    """One of many, evenly between the least and the most in octaves; or one that lies `away` from
    it, a share of what is between them, in all that it is.
    """
    rng = np.random.default_rng(character)
    return lambda least, _, most: float(least * (most / least) ** ((rng.random() + away) % 1.0))


def apply(name: str, x: np.ndarray, strength: float, seed: int, vary: Vary = usual) -> np.ndarray:
    """At the active level of the dry clip: how loud it is is no part of an effect."""
    made = EFFECTS[name](np.asarray(x, np.float64), strength, np.random.default_rng(seed), vary)
    return made * (active_rms(x) / max(active_rms(made), 1e-9))

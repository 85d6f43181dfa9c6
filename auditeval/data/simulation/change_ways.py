"""How each change that words can ask for is made: clips are float (N,) at RATE_HZ.

A way takes a clip and an amount in its own unit (a ratio, or steps to add), the signs of opposite
changes being opposite, and makes that much of the change. Nothing here knows what it costs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy import signal

from auditeval.audio import Waveform, resample
from auditeval.data.simulation import effects
from auditeval.data.simulation.scenes import Scene
from auditeval.data.simulation.signals import RATE_HZ, active_rms, coloured, decibels, stretched

Make = Callable[[np.ndarray, float, Scene, Generator], np.ndarray]


class Way(NamedTuple):
    """`span` :: least and greatest amount that a user may ask for.

    `unit` names it as amounts in words do, "" for a strength that nobody tells in numbers. Where it
    `undoes` something, the original is what the way makes and the edit what it was made of.
    """

    make: Make
    span: tuple[float, float]
    unit: str = ""
    undoes: bool = False
    opposite: str = ""


def _as_loud(make: Make) -> Make:
    """With the level of what it was made of: how loud a clip is has ways of its own."""

    def levelled(x: np.ndarray, amount: float, scene: Scene, rng: Generator) -> np.ndarray:
        made = make(x, amount, scene, rng)
        return made * (active_rms(x) / max(active_rms(made), 1e-9))

    return levelled


def _at_rate(x: np.ndarray, factor: float) -> np.ndarray:
    """Played that many times faster, pitch and all."""
    rate_hz = round(RATE_HZ / factor)
    return resample(Waveform(np.asarray(x, np.float32), RATE_HZ), rate_hz)


@_as_loud
def _pitch(x: np.ndarray, semitones: float, scene: Scene, rng: Generator) -> np.ndarray:
    """By the vocoder WORLD (voices, where it is at hand), or stretched and played faster."""
    if scene.is_speech and "world" in scene.processors and rng.random() < 0.5:
        return scene.processors.run("world", x, semitones)
    factor = 2 ** (semitones / 12)
    return _at_rate(stretched(x, factor), factor)


@_as_loud
def _pace(x: np.ndarray, octaves: float, scene: Scene, rng: Generator) -> np.ndarray:
    """By a phase vocoder, or as a tape that runs faster."""
    factor = 2**octaves
    return _at_rate(x, factor) if rng.random() < 0.2 else stretched(x, 1 / factor)


def _level(x: np.ndarray, db: float, scene: Scene, rng: Generator) -> np.ndarray:
    return x * decibels(db)


def _effect(name: str) -> Make:
    """Of one character in all edits of a scene."""

    def make(x: np.ndarray, strength: float, scene: Scene, rng: Generator) -> np.ndarray:
        vary = effects.usual if scene.character is None else effects.varied(scene.character)
        return effects.apply(name, x, strength, int(rng.integers(2**31)), vary)

    return make


def _noise(x: np.ndarray, db: float, scene: Scene, rng: Generator) -> np.ndarray:
    """Noise so many dB above 36 below the clip."""
    noise = coloured(rng.uniform(-4, 0), len(x), rng, rng.uniform(6000, RATE_HZ / 2))
    return x + noise * active_rms(x) * decibels(db - 36)


@_as_loud
def _narrow(x: np.ndarray, octaves: float, scene: Scene, rng: Generator) -> np.ndarray:
    """The band of a telephone, narrower or wider by octaves on both sides together."""
    low_hz, high_hz = 300 * 2 ** ((octaves - 1) / 2), 3400 * 2 ** ((1 - octaves) / 2)
    band = signal.butter(
        4, (low_hz, min(high_hz, 0.45 * RATE_HZ)), "band", fs=RATE_HZ, output="sos"
    )
    return signal.sosfilt(band, x)


_SEMITONES, _PACE, _DB, _NOISE_DB = (2.0, 7.0), (0.25, 0.85), (5.0, 14.0), (12.0, 30.0)
_STRENGTH = (0.8, 1.8)

WAYS: dict[str, Way] = {
    "pitch_up": Way(_pitch, _SEMITONES, "semitones", opposite="pitch_down"),
    "pitch_down": Way(
        lambda x, amount, scene, rng: _pitch(x, -amount, scene, rng),
        *(_SEMITONES, "semitones"),
        opposite="pitch_up",
    ),
    "faster": Way(_pace, _PACE, "ratio", opposite="slower"),
    "slower": Way(
        lambda x, amount, scene, rng: _pace(x, -amount, scene, rng),
        *(_PACE, "ratio"),
        opposite="faster",
    ),
    "louder": Way(_level, _DB, "decibels", opposite="softer"),
    "softer": Way(
        lambda x, amount, scene, rng: _level(x, -amount, scene, rng),
        *(_DB, "decibels"),
        opposite="louder",
    ),
    "more_reverb": Way(_effect("reverb"), _STRENGTH, opposite="less_reverb"),
    "less_reverb": Way(_effect("reverb"), _STRENGTH, undoes=True, opposite="more_reverb"),
    "brighter": Way(_effect("brightness"), _STRENGTH, opposite="duller"),
    "duller": Way(_effect("darkness"), _STRENGTH, opposite="brighter"),
    "narrow": Way(_narrow, (0.8, 1.6)),
    "echo": Way(_effect("echo"), _STRENGTH),
    "distorted": Way(_effect("distortion"), (1.0, 3.0)),
    "noisier": Way(_noise, _NOISE_DB, opposite="cleaner"),
    "cleaner": Way(_noise, _NOISE_DB, undoes=True, opposite="noisier"),
    "tremolo": Way(_effect("tremolo"), _STRENGTH),
    "chorus": Way(_effect("chorus"), (1.0, 2.0)),
    "compressed": Way(_effect("compression"), (1.0, 2.5)),
}
"""By the names of `change_words.vocabulary.CHANGES`: those that there is a way for here."""

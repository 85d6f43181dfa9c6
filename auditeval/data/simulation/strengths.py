"""Clips with an effect, which comes out stronger, weaker, not at all, or as it was.

Whoever makes an effect anew at the same setting gives another wave form and the same impression; at
half or twice the setting it may lie nearer, frame by frame, and is another sound. So is one that
swings, rings or repeats twice as fast.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from auditeval.data.simulation import captions, effects, panel
from auditeval.data.simulation.edits import Words, render
from auditeval.data.simulation.faults import FAULTS
from auditeval.data.simulation.faults.fault import Dose
from auditeval.data.simulation.scenes import UNEDITED, Scene
from auditeval.data.simulation.signals import bandwidth_hz
from auditeval.data.simulation.systems import draw_damage
from auditeval.data.simulation.variants import Variants
from auditeval.types import Axis

AXES: tuple[Axis, ...] = ("quality", "faithfulness")
_STRENGTHS = 0.6, 1.6
_EFFECTS = tuple(effects.EFFECTS)

_AWAY = 0.5  # of an effect of another character: twice as fast, long or high, or half
_AN_OCTAVE = 0.35  # severity of `effect_strength`, as which that counts


class Variant(NamedTuple):
    """Which way the strength goes, None where there is no effect."""

    way: float | None = 0.0
    damaged: bool = False
    other: bool = False  # of another character


VARIANTS: dict[str, Variant] = {
    "anew": Variant(),
    "weaker": Variant(-1.0),
    "stronger": Variant(1.0),
    "missing": Variant(None),
    "anew_damaged": Variant(damaged=True),
    "other": Variant(other=True),
}


def edit(scene: Scene, variants: Variants, number: int, rng: Generator) -> None:
    """All variants of a scene, under one effect of all in turn."""
    effect, strength = _EFFECTS[number % len(_EFFECTS)], rng.uniform(*_STRENGTHS)
    dry, character = scene.background, int(rng.integers(2**31))

    def treated(octaves: float | None, away: float = 0.0) -> np.ndarray:
        """By a make of its own each time."""
        make, vary = int(rng.integers(2**31)), effects.varied(character, away)
        if octaves is None:
            return dry
        return effects.apply(effect, dry, strength * 2**octaves, make, vary)

    given = treated(0.0)
    said = captions.alone(scene.words, rng)
    variants.begin(given, Words(said, said, False))
    for variant, (way, damaged, other) in VARIANTS.items():
        doses, octaves = _moved(way, rng)
        if other:
            doses = {"effect_strength": Dose(_AN_OCTAVE)}
        made = scene._replace(background=treated(octaves, _AWAY if other else 0.0))
        damage = draw_damage(made, UNEDITED, bandwidth_hz(dry), rng) if damaged else {}
        samples, changed = render(made, UNEDITED, damage, rng)
        doses = {**doses, **damage}
        variants.add(variant, samples, panel.expected(doses, len(samples)), doses, changed)


def _moved(way: float | None, rng: Generator) -> tuple[dict[str, Dose], float | None]:
    """What that costs, and by how many octaves the strength is another; None: there is none."""
    if way is None:
        return {"effect_missing": Dose(1.0)}, None
    if way == 0:
        return {"effect_anew": Dose(1.0)}, 0.0
    dose = Dose(float(rng.uniform()))
    return {"effect_strength": dose}, way * FAULTS["effect_strength"].amount(dose.severity)

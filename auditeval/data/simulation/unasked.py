"""Edits that did what was asked, and to the rest what nobody asked for, beside right ones.

Where something was to go or to come, what else went or came can be told by the words alone. Only
faithfulness is rated: nearly all of these edits sound right and are right.
"""

from __future__ import annotations

from numpy.random import Generator

from auditeval.data.simulation import panel
from auditeval.data.simulation.edits import original_of, render, word
from auditeval.data.simulation.scenes import OPERATIONS, Scene
from auditeval.data.simulation.signals import bandwidth_hz
from auditeval.data.simulation.systems import draw_one
from auditeval.data.simulation.variants import Variants
from auditeval.types import Axis

AXES: tuple[Axis, ...] = ("faithfulness",)

VARIANTS: dict[str, tuple[str, ...]] = {
    "right": (),
    "lost": ("background_lost",),
    "lost_again": ("background_lost",),  # of another length, elsewhere
    "replaced": ("background_replaced",),
    "reordered": ("background_reordered",),
    "regenerated": ("background_regenerated",),
}
"""What befalls the rest, where it can."""


def operation_of(number: int) -> str:
    return OPERATIONS[number % len(OPERATIONS)]


def edit(scene: Scene, variants: Variants, number: int, rng: Generator) -> None:
    """All variants of a scene that it can have, by one operation of all in turn."""
    operation = operation_of(number)
    variants.begin(original_of(scene, operation), word(scene, operation, {}, rng))
    band_hz = bandwidth_hz(scene.background)
    for variant, faults in VARIANTS.items():
        doses = draw_one(faults, scene, operation, band_hz, rng)
        if faults and not doses:
            continue
        samples, changed = render(scene, operation, doses, rng)
        variants.add(variant, samples, panel.expected(doses, len(samples)), doses, changed)

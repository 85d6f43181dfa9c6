"""Voices whose words, or whose talker, are asked to be others: spoken anew, and damaged or not.

Nothing of the original answers to a sentence that is spoken anew, so damage is to be heard in the
edit alone. Of what is said, and by whom, only the kind is right here: relevance is not rated.
"""

from __future__ import annotations

from numpy.random import Generator

from auditeval.data.simulation import captions, panel
from auditeval.data.simulation.edits import Words, render
from auditeval.data.simulation.faults.fault import Dose
from auditeval.data.simulation.scenes import UNEDITED, Scene, Spare
from auditeval.data.simulation.signals import bandwidth_hz
from auditeval.data.simulation.systems import draw_damage, draw_one
from auditeval.data.simulation.variants import Variants
from auditeval.types import Axis

AXES: tuple[Axis, ...] = ("quality", "faithfulness")
OPERATION = "change"

CHANGES: dict[str, Spare] = {"said": "other_words", "other_talker": "reading"}
"""What is asked for, as `change_words.vocabulary` names it, and what it comes out as."""

VARIANTS = ("right", "damaged", "damaged_again", "unrelated")

# Whether voice and words are the right ones decides how faithful it is, between a 5 and a 2.
_LOST: dict[Axis, float] = {"quality": 0.3, "relevance": 0.0, "faithfulness": 1.4}


def suits(scene: Scene) -> bool:
    return scene.is_speech and any(spare in scene.offers for spare in CHANGES.values())


def edit(scene: Scene, variants: Variants, number: int, rng: Generator) -> None:
    """All variants of a scene that it can have, by one change of all in turn where it can."""
    able = [change for change, spare in CHANGES.items() if spare in scene.offers]
    change = able[number % len(able)]
    said, after, instruction = captions.of_change(scene.words, change, rng)
    variants.begin(scene.background, Words(said, after, False), instruction)
    anew = scene._replace(background=scene.spare(CHANGES[change]))
    band_hz = bandwidth_hz(anew.background)
    for variant in VARIANTS:
        doses: dict[str, Dose] = {}
        if variant == "unrelated":
            doses = draw_one(("clip_unrelated",), scene, UNEDITED, band_hz, rng)
        elif variant != "right":
            doses = draw_damage(anew, UNEDITED, band_hz, rng)
        samples, changed = render(anew, UNEDITED, doses, rng)
        means = panel.less(panel.expected(doses, len(samples)), _LOST)
        variants.add(variant, samples, means, doses, changed)

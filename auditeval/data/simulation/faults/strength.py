"""Faults of an effect that the original has: an editor made it anew, too weakly or too strongly."""

from __future__ import annotations

from numpy.random import Generator

from auditeval.data.simulation.faults.fault import Edit, Fault, Scale, Stage


# By ear: twice or half is another setting, which any listener tells beside the first; four times
# or a quarter is another sound. [Reverberation: 5 % of its time is just noticed, ISO 3382-1.]
@Fault(
    Scale("octaves of strength", ((0, 0.3), (1, 2.3))),
    quality=((0.3, 0.0), (1, 0.2), (2.3, 0.7)),
    faithfulness=((0.3, 0.4), (1, 1.1), (2.3, 2.3)),
    stage=Stage.BACKGROUND,
    needs="effect",
    since=13,
)
def effect_strength(edit: Edit, octaves: float, rng: Generator) -> None:
    """The effect of the kept sound that much stronger or weaker, by another make."""
    sign, seed = int(rng.choice([-1, 1])), int(rng.integers(2**31))
    edit.background = edit.scene.treated(2.0 ** (sign * octaves), seed)
    edit.touched.append((0, len(edit.background)))


# Another make of the same effect at the same setting: hardly told apart.
@Fault(faithfulness=((0, 0.0), (1, 0.2)), stage=Stage.BACKGROUND, needs="effect", since=13)
def effect_anew(edit: Edit, amount: float, rng: Generator) -> None:
    edit.background = edit.scene.treated(1.0, int(rng.integers(2**31)))
    edit.touched.append((0, len(edit.background)))


# Gone altogether.
@Fault(
    quality=((0, 0.0), (1, 0.1)),
    faithfulness=((0, 0.0), (1, 2.0)),
    stage=Stage.BACKGROUND,
    needs="effect",
    since=13,
)
def effect_missing(edit: Edit, amount: float, rng: Generator) -> None:
    edit.background = edit.scene.treated(0.0, 0)
    edit.touched.append((0, len(edit.background)))

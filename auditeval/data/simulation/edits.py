"""One edit of a scene: its captions, its sound with the faults asked for, where it changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from auditeval.data.simulation import captions
from auditeval.data.simulation.faults import FAULTS
from auditeval.data.simulation.faults.fault import Dose, Edit, Stage
from auditeval.data.simulation.scenes import SLOTS, UNEDITED, Scene, Sound
from auditeval.data.simulation.signals import Span

_ABOVE_FULL_SCALE = 0.99
_UNNAMED_SHARE = 0.3  # of what is taken from a mixture: "other sounds", "background noise"


class Words(NamedTuple):
    """`told`: the target caption says when the wanted event is heard."""

    original: str
    target: str
    told: bool


def original_of(scene: Scene, operation: str) -> np.ndarray:
    """The clip that is edited :: float32 (N,), as `render` rounds what is left as it is."""
    present = SLOTS[operation][0]
    original = scene.background + scene.events[present].samples if present else scene.background
    return original.astype(np.float32)


def word(scene: Scene, operation: str, doses: Mapping[str, Dose], rng: Generator) -> Words:
    """Captions of original and target; of another event than the edit's where a fault says so.

    That is the one to add or, in both captions, the one to delete. Both captions often share the
    words for what stays; else these are drawn anew. What is taken from a mixture may have no name.
    """
    apart = rng.spawn(1)[0]  # does not move the draws of what is heard
    present, wanted = SLOTS[operation]
    if operation == UNEDITED:
        said = captions.alone(scene.words, rng)
        return Words(said, said, False)
    misnamed = any(FAULTS[name].stage is Stage.WORDS for name in doses)
    event = scene.wrong() if misnamed else scene.events[wanted or "B"]

    def both(background: captions.Phrase, event: Sound) -> tuple[str, bool]:
        length = len(scene.background)
        # Which of three sounds comes when is not told.
        centre = length / 2 if scene.companion else sum(event.span) / 2
        return captions.together(background, event.words, centre, length, rng)

    original = captions.alone(scene.words, rng)
    again = scene.words if rng.random() < 0.5 else scene.phrased(rng)
    if present:
        original, _ = both(scene.words, scene.events[present] if wanted else event)
    nameless = operation == "delete" and scene.is_mixture and not misnamed
    if nameless and apart.random() < _UNNAMED_SHARE:
        original = captions.amid(scene.words, apart)
    target, told = both(again, event) if wanted else (captions.alone(again, rng), False)
    return Words(original, target, told)


def render(
    scene: Scene, operation: str, doses: Mapping[str, Dose], rng: Generator
) -> tuple[np.ndarray, list[Span]]:
    """The edited clip :: float32 (N,), and the stretches in samples that edit and faults touched.

    Damage to the whole clip is in no stretch.
    """
    edit = Edit(scene, operation)
    faults = [fault for name, fault in FAULTS.items() if name in doses]

    def act(stage: Stage) -> None:
        for fault in faults:
            if fault.stage is stage:
                fault.apply(edit, doses[fault.name], rng)

    act(Stage.BACKGROUND)
    act(Stage.ESTIMATE)
    act(Stage.EVENT)
    edit.clip = edit.background + (edit.event * edit.gain + edit.before * edit.residue)
    act(Stage.CLIP)
    edit.clip = edit.clip * min(1.0, _ABOVE_FULL_SCALE / max(float(np.abs(edit.clip).max()), 1e-9))
    act(Stage.FILE)
    return edit.clip.astype(np.float32), merged([*edit.places, *edit.touched])


def merged(spans: list[Span]) -> list[Span]:
    """In order of time, what overlaps as one."""
    apart: list[Span] = []
    for start, stop in sorted(spans):
        if apart and start <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(stop, apart[-1][1]))
        else:
            apart.append((start, stop))
    return apart

"""Faults of the edit itself: not done, something else done, or done badly."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from auditeval.data.simulation.faults.fault import Edit, EditFault, Fault, Scale, Stage
from auditeval.data.simulation.scenes import Sound
from auditeval.data.simulation.signals import RATE_HZ, Span, active_rms, blended, coloured, decibels

_GAP_SECONDS = (0.01, 0.04)


def _moved(event: Sound, rng: Generator) -> tuple[np.ndarray, Span]:
    """The event as far from its place as the clip allows, or anywhere at least half as far."""
    (start, stop), length = event.span, len(event.samples)
    by = round(max(start, length - stop) * rng.uniform(0.5, 1.0))
    begin = start - by if start >= length - stop else start + by
    span = begin, begin + stop - start
    moved = np.zeros_like(event.samples)
    moved[slice(*span)] = event.samples[start:stop]
    return moved, span


# Relevance 1 is "missing, incorrect, or misleading modifications": nothing that was asked for is
# there, the clip is intact.
@EditFault(relevance=((0, 0), (1, 4.0)), whole=True)
def edit_absent(edit: Edit, amount: float, rng: Generator) -> None:
    edit.event, edit.places = edit.before, []


# A modification, but "semantically incorrect": between poor match (2) and mismatch (1).
@EditFault(
    relevance=((0, 0), (1, 3.6)), needs="wrong", whole=True, implies={"delete": "background_lost"}
)
def edit_wrong(edit: Edit, amount: float, rng: Generator) -> None:
    if edit.operation == "delete":  # what should go is there, and what should stay is lost
        edit.event, edit.places = edit.before, []
    else:
        wrong = edit.scene.wrong()
        edit.event, edit.places = wrong.samples, [*edit.places, wrong.span]


# A hiss of the event's length and loudness: no such event, and noise where it should be.
@EditFault(quality=((0, 0), (1, 1.2)), relevance=((0, 0), (1, 3.8)), whole=True)
def edit_hiss(edit: Edit, amount: float, rng: Generator) -> None:
    samples, (start, stop) = edit.subject.samples, edit.subject.span
    noise = coloured(rng.uniform(-3, 1), stop - start, rng, RATE_HZ / 2)
    edit.event = np.zeros_like(samples)
    edit.event[start:stop] = noise * active_rms(samples[start:stop])


# The old event gone and no new one there, or both: "partial match" (3) at best.
@EditFault(relevance=((0, 0), (1, 2.4)), operations=("replace",), whole=True)
def edit_halfway(edit: Edit, amount: float, rng: Generator) -> None:
    if rng.random() < 0.5:
        edit.event, edit.places = np.zeros_like(edit.event), edit.places[:1]
    else:
        edit.event, edit.places = edit.before + edit.event, edit.places[1:]


# Something that nobody asked for came too: "noticeable changes" (3) to the rest, wherever it is.
@Fault(
    Scale("dB down", ((0, 20), (1, 0))),
    relevance=((0, 0.3), (20, 0.0)),
    faithfulness=((0, 1.7), (10, 1.2), (20, 0.5)),
    stage=Stage.EVENT,
    needs="wrong",
    since=20,
)
def event_unasked(edit: Edit, down_db: float, rng: Generator) -> None:
    """Another event, half a clip away from where the edit is."""
    event, length = edit.scene.wrong(), len(edit.background)
    size = event.span[1] - event.span[0]
    start = (event.span[0] + length // 2) % length
    start = min(start, max(length - size, length // 2))  # or next to nothing of it would come
    stop = min(start + size, length)
    came = event.samples[event.span[0] :][: stop - start]
    edit.background = edit.background.copy()
    edit.background[start:stop] += decibels(-down_db) * came
    edit.touched.append((start, stop))


# Removed where it should be added, or added once more where it should be removed.
@EditFault(
    relevance=((0, 0), (1, 4.0)),
    faithfulness=((0, 0), (1, 1.0)),
    operations=("add", "delete"),
    whole=True,
)
def edit_opposite(edit: Edit, amount: float, rng: Generator) -> None:
    if edit.operation == "add":  # something is taken away where something should come
        span = edit.subject.span
        edit.background = blended(edit.background, 0.03 * edit.background, span)
        edit.event, edit.places = np.zeros_like(edit.event), [span]
    else:
        again, elsewhere = _moved(edit.subject, rng)
        edit.event, edit.places = edit.before + again, [elsewhere]


# The same sound, but the words ask for another event.
edit_otherwise = EditFault(
    relevance=((0, 0), (1, 3.6)),
    name="edit_otherwise",
    stage=Stage.WORDS,
    needs="wrong",
    whole=True,
)


# "Somewhat misaligned with the description" (3) where words tell the place; else hardly.
@EditFault(
    relevance=((0, 0), (1, 1.6)),
    operations=("add", "replace"),
    needs="elsewhere",
    untold=0.2,
    since=20,
)
def edit_misplaced(edit: Edit, amount: float, rng: Generator) -> None:
    edit.event, elsewhere = _moved(edit.subject, rng)
    edit.places = [*edit.places[:-1], elsewhere]


# Too loud: "unnatural execution", and it masks what should be kept.
@EditFault(
    Scale("dB up", ((0, 3), (1, 18))),
    quality=((3, 0), (9, 0.5), (18, 1.4)),
    relevance=((3, 0), (9, 0.5), (18, 1.4)),
    faithfulness=((3, 0), (9, 0.2), (18, 0.7)),
    operations=("add", "replace"),
)
def edit_loud(edit: Edit, up_db: float, rng: Generator) -> None:
    edit.gain = decibels(up_db)


# The wanted event below its place; 5 to 14 dB above the background it is heard down to -15.
@EditFault(
    Scale("dB down", ((0, 0), (1, 30))),
    relevance=((0, 0), (6, 0.4), (12, 1.2), (20, 2.6), (30, 3.7)),
    operations=("add", "replace"),
)
def edit_faint(edit: Edit, down_db: float, rng: Generator) -> None:
    edit.gain = decibels(-down_db)


# What is left of an event that should be gone: "faint remnants after deletion" are a 4.
@EditFault(
    Scale("dB down", ((0, 36), (1, 2))),
    relevance=((2, 3.6), (6, 2.9), (12, 2.0), (20, 1.1), (30, 0.3), (36, 0.0)),
    operations=("delete", "replace"),
)
def edit_residue(edit: Edit, down_db: float, rng: Generator) -> None:
    edit.residue = decibels(-down_db)


# "Slightly abrupt additions" are a 4 of relevance; cuts are a discontinuity (quality 3).
@EditFault(
    Scale("cuts", ((0, 1), (1, 5))),
    quality=((1, 0.5), (5, 1.6)),
    relevance=((1, 0.5), (5, 1.4)),
    stage=Stage.CLIP,
)
def edit_abrupt(edit: Edit, cuts: float, rng: Generator) -> None:
    """Short hard gaps: one where the edit begins, the others within it."""
    for start, stop in edit.places[:1]:
        edit.clip = edit.clip.copy()
        for at in [start, *rng.integers(start, stop, round(cuts) - 1)]:
            gap = round(rng.uniform(*_GAP_SECONDS) * RATE_HZ)
            edit.clip[at : min(at + gap, stop)] = 0

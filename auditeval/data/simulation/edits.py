"""One edit of a scene: its captions, its sound with the faults asked for, where it changed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from auditeval.data.listeners import parameter
from auditeval.data.simulation import captions
from auditeval.data.simulation.content import CONTENT, Span, blended
from auditeval.data.simulation.damage import DAMAGE
from auditeval.data.simulation.scenes import Scene, Sound
from auditeval.data.simulation.signals import RATE_HZ, active_rms, coloured, decibels
from auditeval.data.simulation.systems import UNEDITED, Dose

SLOTS: dict[str, tuple[str | None, str | None]] = {
    "add": (None, "B"),
    "delete": ("B", None),
    "replace": ("B", "C"),
    UNEDITED: (None, None),
}
"""Which event the original has, and which one the edit should have in its place."""

_EMPTIED = 0.03
_GAP_SECONDS = (0.01, 0.04)
_ABOVE_FULL_SCALE = 0.99
# Where in the chain of damage a real background joins.
_CHAIN = ("noise_real", *DAMAGE)


class Rendered(NamedTuple):
    """The edited clip :: float32 (N,), and the stretches in samples that edit and faults touched.

    Damage to the whole clip is in no stretch.
    """

    samples: np.ndarray
    changed: list[Span]


class Words(NamedTuple):
    """`told`: the target caption says when the wanted event is heard."""

    original: str
    target: str
    told: bool


def original_of(scene: Scene, operation: str) -> np.ndarray:
    present = SLOTS[operation][0]
    return scene.background + scene.events[present].samples if present else scene.background


def word(scene: Scene, operation: str, rng: np.random.Generator, otherwise: bool = False) -> Words:
    """Captions of original and target; `otherwise`: for another event than the edit was about.

    That is the one to add or, in both captions, the one to delete. Both captions often share the
    words for what stays; else these are drawn anew.
    """
    present, wanted = SLOTS[operation]
    if operation == UNEDITED:
        said = captions.alone(scene.words, rng)
        return Words(said, said, False)
    event = scene.wrong() if otherwise else scene.events[wanted or "B"]
    told = False
    said_before, said_after = captions.alone(scene.words, rng), ""
    again = scene.words if rng.random() < 0.5 else captions.phrase(scene.name, rng)
    if present:
        there = scene.events[present] if wanted else event
        said_before, _ = _both(scene, scene.words, there, rng)
    if wanted:
        said_after, told = _both(scene, again, event, rng)
    else:
        said_after = captions.alone(again, rng)
    return Words(said_before, said_after, told)


def _both(
    scene: Scene, background: captions.Phrase, event: Sound, rng: np.random.Generator
) -> tuple[str, bool]:
    length = len(scene.background)
    return captions.together(background, event.words, sum(event.span) / 2, length, rng)


def render(
    scene: Scene, operation: str, faults: dict[str, Dose], rng: np.random.Generator
) -> Rendered:
    """The edited clip: A with the wanted event where the present one was, and the faults.

    Faults of the edit act on the events, faults of the content on A, damage on the sum.
    """
    if "clip_unrelated" in faults:
        return Rendered(scene.foreign().astype(np.float32), [(0, len(scene.background))])
    background, touched = scene.background, []
    for name, fault in CONTENT.items():
        if name in faults:
            other = scene.other_take if name == "background_regenerated" else scene.foreign
            needed = name in ("background_regenerated", "background_replaced")
            amount = parameter(name, faults[name].severity)
            background, span = fault(background, amount, other() if needed else background, rng)
            touched.append(span)
    if "clip_regenerated" in faults:
        background = scene.other_take()
        touched.append((0, len(background)))
    background, foreground, changed = _edited(scene, operation, background, faults, rng)
    clip = background + foreground
    if "edit_abrupt" in faults and changed:
        clip = _cut(
            clip, changed[0], round(parameter("edit_abrupt", faults["edit_abrupt"].severity)), rng
        )
    for name in _CHAIN:
        if name in faults:
            amount, local = parameter(name, faults[name].severity), faults[name].span
            if name == "noise_real":
                noise = scene.noise()
                level = active_rms(clip) / max(active_rms(noise), 1e-9)
                damaged = clip + noise * level * decibels(-amount)
            else:
                damaged = DAMAGE[name](clip, amount, rng)
            clip = damaged if local is None else blended(clip, damaged, local)
            touched += [local] if local else []
    clip = clip * min(1.0, _ABOVE_FULL_SCALE / max(float(np.abs(clip).max()), 1e-9))
    return Rendered(clip.astype(np.float32), merged([*changed, *touched]))


def merged(spans: list[Span]) -> list[Span]:
    """In order of time, what overlaps as one."""
    found: list[Span] = []
    for start, stop in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(stop, found[-1][1]))
        else:
            found.append((start, stop))
    return found


def _edited(
    scene: Scene,
    operation: str,
    background: np.ndarray,
    faults: dict[str, Dose],
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, list[Span]]:
    """Background and events of the edited clip, and the stretches that the edit touched."""
    present, wanted = SLOTS[operation]
    silence = np.zeros(len(background), np.float32)
    before = scene.events[present].samples if present else silence
    after = scene.events[wanted].samples if wanted else silence
    if "clip_regenerated" in faults and wanted:
        after = scene.other_event(wanted)
    places = [scene.events[slot].span for slot in (present, wanted) if slot]
    if "edit_absent" in faults or operation == UNEDITED:
        return background, before, []
    if "edit_wrong" in faults:
        if operation == "delete":  # what should go is there; see `systems.implied`
            return background, before, []
        wrong = scene.wrong()
        return background, wrong.samples, [*places, wrong.span]
    if "edit_hiss" in faults:
        return background, _hiss(scene.events[wanted or "B"], rng), places
    if "edit_halfway" in faults:
        if rng.random() < 0.5:
            return background, silence, places[:1]
        return background, before + after, places[1:]
    if "edit_opposite" in faults:
        span = scene.events["B"].span
        if operation == "add":  # something is taken away where something should come
            return blended(background, _EMPTIED * background, span), silence, [span]
        moved, elsewhere = _moved(scene.events["B"], rng)
        return background, before + moved, [elsewhere]
    if "edit_misplaced" in faults and wanted:
        after, elsewhere = _moved(scene.events[wanted], rng)
        places = [*places[:-1], elsewhere]
    if "edit_faint" in faults:
        after = after * decibels(-parameter("edit_faint", faults["edit_faint"].severity))
    elif "edit_loud" in faults:
        after = after * decibels(parameter("edit_loud", faults["edit_loud"].severity))
    if "edit_residue" in faults:
        residue = decibels(-parameter("edit_residue", faults["edit_residue"].severity))
        after = after + residue * before
    return background, after, places


def _moved(event: Sound, rng: np.random.Generator) -> tuple[np.ndarray, Span]:
    """The event as far from its place as the clip allows, or anywhere at least half as far."""
    (start, stop), length = event.span, len(event.samples)
    size = stop - start
    reach = max(start, length - stop)
    by = round(reach * rng.uniform(0.5, 1.0))
    begin = start - by if start >= length - stop else start + by
    moved = np.zeros_like(event.samples)
    moved[begin : begin + size] = event.samples[start:stop]
    return moved, (begin, begin + size)


def _hiss(event: Sound, rng: np.random.Generator) -> np.ndarray:
    start, stop = event.span
    sound = np.zeros_like(event.samples)
    noise = coloured(rng.uniform(-3, 1), stop - start, rng, RATE_HZ / 2)
    sound[start:stop] = noise * active_rms(event.samples[start:stop])
    return sound


def _cut(clip: np.ndarray, span: Span, cuts: int, rng: np.random.Generator) -> np.ndarray:
    """Short hard gaps: one where the edit begins, the others within it."""
    clip = clip.copy()
    start, stop = span
    for at in [start, *rng.integers(start, stop, cuts - 1)]:
        gap = round(rng.uniform(*_GAP_SECONDS) * RATE_HZ)
        clip[at : min(at + gap, stop)] = 0
    return clip

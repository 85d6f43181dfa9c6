"""Faults of the kept content: lost, replaced, out of order, in another place, pitch or tempo."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from auditeval.audio import Waveform, resample
from auditeval.data.simulation.faults.fault import (
    ContentFault,
    Edit,
    EditFault,
    Fault,
    Scale,
    Stage,
)
from auditeval.data.simulation.signals import RATE_HZ, Span, blended, decibels, somewhere, stretched

_BLOCK = round(0.25 * RATE_HZ)
_FULL = 0.99  # of full scale
_SHARE = Scale("share", ((0.0, 0.05), (1.0, 1.0)))

Touched = tuple[np.ndarray, Span]


def _take_anew(edit: Edit, background: np.ndarray) -> None:
    edit.background = background
    edit.touched.append((0, len(background)))
    if edit.wanted:
        edit.event = edit.scene.other_event(edit.wanted)


# The one of two events that should stay is gone, and the other is still there. Before what befalls
# all of the background, as it takes samples away.
@EditFault(
    relevance=((0, 0), (1, 3.6)),
    faithfulness=((0, 0), (1, 2.0)),
    operations=("delete",),
    stage=Stage.BACKGROUND,
    needs="companion",
    whole=True,
    since=19,
)
def companion_instead(edit: Edit, amount: float, rng: Generator) -> None:
    _take_away(edit)
    edit.event, edit.places = edit.before, []


# An event that should stay is gone too: "major" where it is one of two sounds.
@EditFault(
    relevance=((0, 0), (1, 0.3)),
    faithfulness=((0, 0), (1, 2.0)),
    operations=("add", "delete"),
    stage=Stage.BACKGROUND,
    needs="companion",
    since=19,
)
def companion_lost(edit: Edit, amount: float, rng: Generator) -> None:
    _take_away(edit)


def _take_away(edit: Edit) -> None:
    if (companion := edit.scene.companion) is not None:
        edit.background = edit.background - companion.samples
        edit.touched.append(companion.span)


# The whole clip taken anew: only its kind is left, the edit is there. First, so that the others of
# this stage act on what was taken.
@Fault(
    quality=((0, 0), (1, 0.2)),
    faithfulness=((0, 0), (1, 2.7)),
    stage=Stage.BACKGROUND,
    needs="other_take",
    of_speech=False,
    since=18,
)
def clip_regenerated(edit: Edit, amount: float, rng: Generator) -> None:
    """Other takes of background and wanted event."""
    _take_anew(edit, edit.scene.spare("other_take"))


# Somebody says something else: the kind of sound is left, what was said is not. As unnatural as the
# same words spoken anew (`speech_respoken`), from which nothing in a clip tells it apart.
@Fault(
    quality=((0, 0), (1, 1.5)),
    faithfulness=((0, 0), (1, 3.3)),
    stage=Stage.BACKGROUND,
    needs="other_words",
    speech_only=True,
)
def speech_otherwise(edit: Edit, amount: float, rng: Generator) -> None:
    """Other words in the place of the background's, and another take of the wanted event."""
    _take_anew(edit, edit.scene.spare("other_words"))


# Pitch: a quarter tone passes, a whole tone is another voice, five are another being.
@ContentFault(
    Scale("semitones", ((0, 0.3), (1, 6))),
    quality=((0.3, 0.2), (2, 0.6), (6, 1.3)),
    faithfulness=((0.3, 0.4), (1, 1.0), (2, 1.6), (6, 2.6)),
)
def background_pitched(x: np.ndarray, semitones: float, rng: Generator) -> Touched:
    """Higher or lower at the same tempo."""
    factor = 2 ** (semitones * int(rng.choice([-1, 1])) / 12)
    longer = stretched(x, factor).astype(np.float32)
    made = resample(Waveform(longer, round(RATE_HZ * factor)), RATE_HZ)
    return np.resize(made, len(x)), (0, len(x))


# Tempo: 2 % passes, 10 % is noticeable, half as long again is another rhythm (2).
@ContentFault(
    Scale("% longer or shorter", ((0, 3), (1, 40))),
    quality=((3, 0.2), (10, 0.5), (40, 1.2)),
    faithfulness=((3, 0.4), (10, 1.2), (40, 2.4)),
)
def background_stretched(x: np.ndarray, percent: float, rng: Generator) -> Touched:
    """Longer or shorter at the same pitch; cut off, or begun again, at its old length."""
    factor = (1 + percent / 100) ** int(rng.choice([-1, 1]))
    return np.resize(stretched(x, factor), len(x)), (0, len(x))


# Moved in time: from 0.1 s on against the edit and the original it can be told.
@ContentFault(
    Scale("s", ((0, 0.1), (1, 1.5))),
    quality=((0.1, 0.0), (1.5, 0.2)),
    faithfulness=((0.1, 0.3), (0.5, 1.2), (1.5, 2.0)),
)
def background_shifted(x: np.ndarray, seconds: float, rng: Generator) -> Touched:
    """Earlier or later, the end that is pushed out coming back at the other."""
    return np.roll(x, round(seconds * RATE_HZ) * int(rng.choice([-1, 1]))), (0, len(x))


# "Noticeable changes in rhythm or sequence" are a 3, "major changes in ordering" a 2.
@ContentFault(
    Scale("share", ((0, 0.15), (1, 1))),
    quality=((0.15, 0.3), (1, 0.8)),
    faithfulness=((0, 0.5), (0.15, 1.0), (0.5, 2.2), (1, 3.0)),
)
def background_reordered(x: np.ndarray, share: float, rng: Generator) -> Touched:
    """Blocks of 0.25 s, a share of them permuted; a rest at the end stays."""
    count = len(x) // _BLOCK
    if count < 2:
        return x[::-1], (0, len(x))
    moved = np.sort(rng.choice(count, max(2, round(share * count)), replace=False))
    order = np.arange(count)
    order[moved] = np.roll(moved, 1)  # one cycle: none of them stays where it was
    blocks = x[: count * _BLOCK].reshape(count, _BLOCK)[order].ravel()
    span = int(moved[0]) * _BLOCK, int(moved[-1] + 1) * _BLOCK
    return np.concatenate([blocks, x[count * _BLOCK :]]), span


# Another take of the same kind of sound: style remains, the content does not.
@ContentFault(
    _SHARE,
    faithfulness=((0, 0.0), (0.1, 0.6), (0.3, 1.2), (0.6, 1.9), (1, 2.5)),
    needs="other_take",
    of_speech=False,
)
def background_regenerated(
    x: np.ndarray, share: float, rng: Generator, other: np.ndarray
) -> Touched:
    """`other` over a share of the clip."""
    span = somewhere(max(1, round(share * len(x))), len(x), rng)
    return blended(x, other, span), span


# Another sound in its place: what was there bears no resemblance.
background_replaced = ContentFault(
    _SHARE,
    quality=((0.05, 0.1), (1, 0.3)),
    relevance=((0.05, 0.1), (0.5, 0.7), (1, 1.5)),
    faithfulness=((0, 0.0), (0.1, 1.2), (0.3, 2.1), (0.6, 3.0), (1, 3.8)),
    name="background_replaced",
    effect=background_regenerated.effect,
    needs="foreign",
)


# "Missing altogether" is faithfulness 1; a short gap is noticed at once, and one of a second is the
# worst that a clip has.
@ContentFault(
    _SHARE,
    quality=((0.05, 0.3), (0.2, 1.0), (1, 1.0)),
    relevance=((0.05, 0.0), (1, 0.4)),
    faithfulness=((0, 0.0), (0.1, 1.3), (0.3, 2.3), (0.6, 3.2), (1, 4.0)),
    since=17,
)
def background_lost(x: np.ndarray, share: float, rng: Generator) -> Touched:
    """40 dB down over a share of the clip."""
    span = somewhere(max(1, round(share * len(x))), len(x), rng)
    return blended(x, 0.01 * x, span), span


# "Slight variation in loudness" is a 4; more than a mix would ever have, a 3.
@ContentFault(
    Scale("dB up or down", ((0, 2), (1, 18))),
    quality=((2, 0.0), (8, 0.2), (18, 0.6)),
    faithfulness=((2, 0.2), (4, 0.8), (8, 1.4), (18, 2.3)),
)
def background_level(x: np.ndarray, db: float, rng: Generator) -> Touched:
    return x * decibels(db * int(rng.choice([-1, 1]))), (0, len(x))


# Another clip altogether: "bears little or no resemblance", and nothing that was asked for.
@Fault(
    quality=((0, 0), (1, 0.4)),
    relevance=((0, 0), (1, 3.8)),
    faithfulness=((0, 0), (1, 4.0)),
    stage=Stage.FILE,
    needs="foreign",
    since=20,
)
def clip_unrelated(edit: Edit, amount: float, rng: Generator) -> None:
    other = edit.scene.spare("foreign")
    edit.clip = other * min(1.0, _FULL / max(float(np.abs(other).max()), 1e-9))
    edit.places = [(0, len(edit.clip))]

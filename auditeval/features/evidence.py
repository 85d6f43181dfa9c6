"""How well what changed in the sound fits what changed in the words, in numbers free of classes.

From the patches of two clips in a space shared with words: `joint` frames. A model that has learnt
what to make of these numbers can use them for words and sounds that it was never taught.

`weigh_labels` is for a space whose dimensions are labels (log-probability above a floor), and the
weights that words give to these labels: no label has a number of its own. What only one clip has is
also heard alone (`only_*`), where most of it is: a tagger that hears it with the rest names the
rest. There labels count too by how far they are above what edits show of them (`unusual`).
`weigh_similarity` is for a space of unit embeddings, such as CLAP's, in which only products say
something.

A tagger's answer jumps when a clip is shifted by a fraction of a patch. Patches whose bands are as
they were count as unchanged (`comparison.match`). Of the others, what changes in the mean over time
(`mean_*`) is steadier than what changes at some time, and as telling; for the latter, patches of
labels are averaged with their neighbours. What a nuisance may change is no change (SHIFT_FLOOR,
GAIN_FLOOR), and shares and ranks fade out towards it: of nothing there is no share. Means are over
the time that changed, LEAST_PATCHES at least: an event is no less there in a longer clip.

Where words ask for one thing to come and another to go, either may be done without the other:
`least_*` are of the side that has less of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from auditeval.features.alignment import Alignment
from auditeval.features.comparison import Frames, match, smooth
from auditeval.features.extractor import Texts


class Alone(NamedTuple):
    """What a clip has and another has not.

    `heard` :: (J,), in the joint space; `unusual` :: (J,), in deviations from what edits show of
    each label, 0 where it is nothing; `loud`, its share of the clip's magnitude at its loudest.
    """

    heard: np.ndarray
    unusual: np.ndarray
    loud: float


HearAlone = Callable[[np.ndarray, np.ndarray, int], Alone]
"""That, from the log-mel frames of both. Where they are the same, the other comes `lag` frames
later."""


# Of simulated clips that were saved anew and else untouched, had all their patches counted, the
# median over clips of the greatest change of any label in the mean over time, and in a patch
# against three; those of edits with no fault are 2.7 and 5.
SHIFT_FLOOR, GAIN_FLOOR = 0.25, 0.5
LEAST_PATCHES = 10  # 5 s: what these floors and most of the training are of
_SUM_FLOOR, _NORM_FLOOR = 5.0, 0.5  # sum and norm of changes below which shares fade out
_SOFTNESS = 0.4  # exponent of the weights: labels of like meaning count as well
_ASKED = 0.25  # labels of at least this share of the largest weight are what the words ask for
_RELATED = 0.05  # and of this share of the largest softened weight, what is like it
_SIDE_NAMES = (
    "mean_along",  # change of the labels asked for in the mean over time; below 0: the other way
    "mean_share",  # the change the right way, as cosine with that of all labels,
    "mean_sharp",  # the same for the weights as they are
    "mean_hit",  # change the right way of the label asked for that changed most,
    "mean_lead",  # above the greatest of labels unlike the words,
    "mean_rank",  # log of how many labels changed more
    "along",  # change against the same time +-1 patch, rms over time, of the labels asked for,
    "share",  # as cosine,
    "moment",  # at the time of the greatest,
    "stray",  # where these hardly change: labels unlike the words, above those asked for,
    "rank",  # log of how many labels changed more
    "before",  # the labels asked for at their loudest in the clip that should have less of them,
    "after",  # and in the one that should have more,
    "top",  # there above all labels unlike the words
    "only_along",  # what only the clip has that should have more: the labels asked for there,
    "only_share",  # as cosine,
    "only_hit",  # the greatest of them,
    "only_lead",  # above the greatest of labels unlike the words,
    "only_rank",  # log of how many labels are greater,
    "only_unusual",  # the labels asked for, above what edits show of them,
    "only_unusual_hit",  # the greatest of them,
    "only_unusual_lead",  # above the greatest of labels unlike the words,
    "only_loud",  # and its share of the magnitude of the clip at its loudest
)
_ONLY = sum(name.startswith("only_") for name in _SIDE_NAMES)
_LEAST_NAMES = ("mean_along", "mean_hit", "along", "only_along", "only_hit")
_CHANGE_NAMES = ("mean", "most", "entropy", "span")  # of the mean over labels; share of patches
LABEL_NAMES: tuple[str, ...] = (
    *(f"{side}_{name}" for side in ("added", "removed") for name in _SIDE_NAMES),
    *(f"{side}_{name}" for side in ("rise", "fall") for name in _CHANGE_NAMES),
    "captions_along",  # change of the labels that differ between the captions,
    "captions_share",  # as cosine
    "target_after",  # labels of the target caption in the edit, at their loudest
    "kept_fall",  # loss of the labels that both captions name,
    "kept_moment",  # at the time of the greatest, above that of the labels that are to go,
    "kept_lead",  # and where each loses most, below 0: those went that were to go
    *(f"least_{name}" for name in _LEAST_NAMES),  # of the sides asked for, 0 without any
)
_FADE = 0.1  # length of a change of a mean unit embedding below which its share fades out
SIMILARITY_NAMES: tuple[str, ...] = (
    *(
        f"{side}_{name}"
        for side in ("added", "removed")
        for name in (
            "mean_along",  # change of the likeness to the words in the mean over time,
            "mean_share",  # as cosine with all that changed
            "moment",  # the greatest against the same time
            "before",  # likeness at most, in the clip that should have less of them,
            "after",  # and in the one that should have more
        )
    ),
    "captions_along",  # change along the difference of the captions,
    "captions_share",  # as cosine
    "target_after",  # likeness of the edit to the target caption at most
)
CAPTION_NAMES = (
    "captions_like",  # cosine of the captions
    "words_added",  # 1 if there are any
)


def weigh_labels(
    original: Frames,
    edited: Frames,
    alignment: Alignment | None,
    texts: Texts,
    hear_alone: HearAlone,
) -> np.ndarray:
    """`joint` frames of two clips and weights of labels to the values of LABEL_NAMES.

    `only_*` are 0 where nobody aligned the clips.
    """
    matched = match("joint", original, edited, alignment)
    before, after = matched.settled(original["joint"], edited["joint"])
    steady = smooth(before), smooth(after)
    rises = _changes(*steady, matched.before)
    falls = _changes(*steady[::-1], matched.after)
    rises_over, falls_over = _over(matched.changed), _over(matched.changed[matched.after])
    rise = _beyond((after - before[matched.before]).sum(axis=0) / rises_over)
    fall = _beyond((before - after[matched.after]).sum(axis=0) / falls_over)
    peaks = steady[0].max(axis=0), steady[1].max(axis=0)
    alone: list[tuple[np.ndarray, np.ndarray, int]] = []
    if alignment is not None:
        # Both at one level: a tagger names what is softer otherwise.
        x, y, lag = alignment.original, alignment.edited - alignment.gain, alignment.lag
        alone = [(y, x, -lag), (x, y, lag)]
    values: list[float] = []
    sides: list[dict[str, float]] = []
    for side, (weights, change, gains, over, less, more) in enumerate(
        (
            (texts.added, rise, rises, rises_over, *peaks),
            (texts.removed, fall, falls, falls_over, *peaks[::-1]),
        )
    ):
        if not weights.any():
            values += [0.0] * len(_SIDE_NAMES)
            continue
        asked = _Asked.of(weights)
        found = asked.weigh_change(change, gains, over, less, more)
        if alone:
            found += asked.weigh_difference(hear_alone(*alone[side]))
        else:
            found += [0.0] * _ONLY
        values += found
        sides.append(dict(zip(_SIDE_NAMES, found, strict=True)))
    values += [
        *_change(np.maximum(rise, 0), rises, rises_over),
        *_change(np.maximum(fall, 0), falls, falls_over),
        *_captions(
            texts.original, texts.target, (rise - fall) / 2, _rms(falls, falls_over), peaks[1]
        ),
        *_kept(texts, falls),
        *(min((found[name] for found in sides), default=0.0) for name in _LEAST_NAMES),
    ]
    return np.array(values, np.float32)


def weigh_similarity(
    original: Frames, edited: Frames, alignment: Alignment | None, texts: Texts
) -> np.ndarray:
    """`joint` frames of two clips and words, unit embeddings, to the values of SIMILARITY_NAMES."""
    matched = match("joint", original, edited, alignment)
    before, after = matched.settled(original["joint"], edited["joint"])
    shift = after.mean(axis=0) - before.mean(axis=0)
    length = np.hypot(np.linalg.norm(shift), _FADE)
    values: list[float] = []
    for asked, change, x, y, nearest in (
        (texts.added, shift, before, after, matched.before),
        (texts.removed, -shift, after, before, matched.after),
    ):
        less, more = x @ asked, y @ asked
        along = change @ asked
        moment = (more - less[nearest]).max()
        values += [along, along / length, moment, less.max(), more.max()]
    asked = texts.target - texts.original
    asked = asked / max(float(np.linalg.norm(asked)), 1e-6)
    values += [shift @ asked, shift @ asked / length, (after @ texts.target).max()]
    return np.array(values, np.float32)


def weigh_captions(texts: Texts) -> np.ndarray:
    """Unit embeddings of the captions to the values of CAPTION_NAMES."""
    return np.array([texts.original @ texts.target, texts.added.any()], np.float32)


def _changes(before: np.ndarray, after: np.ndarray, times: np.ndarray) -> np.ndarray:
    """How far each patch of `after` is above three of `before` and GAIN_FLOOR :: (P2, J), >= 0.

    The middle one of the three is that in the row of `times`.
    """
    last = len(before) - 1
    near = before[times]
    for step in (-1, 1):
        near = np.maximum(near, before[np.clip(times + step, 0, last)])
    return np.maximum(after - near - GAIN_FLOOR, 0)


class _Asked(NamedTuple):
    """What words ask for :: (J,) each: weights of labels, softened, and which are meant or not."""

    words: np.ndarray
    soft: np.ndarray
    meant: np.ndarray
    unlike: np.ndarray

    @classmethod
    def of(cls, words: np.ndarray) -> _Asked:
        soft = _soften(words)
        return cls(words, soft, words >= _ASKED * words.max(), soft < _RELATED * soft.max())

    def weigh_change(
        self,
        shift: np.ndarray,
        gains: np.ndarray,
        over: float,
        before: np.ndarray,
        after: np.ndarray,
    ) -> list[float]:
        """Evidence that labels gained :: (J,), (P, J), patches of the mean, 2 x (J,)."""
        gain, typical = np.maximum(shift, 0), _rms(gains, over)
        return [
            self.soft @ shift,
            self.soft @ _unit(gain),
            self.words @ _unit(gain),
            *self._lead(gain),
            self.soft @ typical,
            self.soft @ _unit(typical),
            (gains @ self.soft).max(),
            self._stray(gains),
            _rank(typical, typical[self.meant].max()),
            self.soft @ before,
            self.soft @ after,
            self._lead(after)[1],
        ]

    def weigh_difference(self, alone: Alone) -> list[float]:
        """Evidence of what only one clip has."""
        heard, unusual, loud = alone
        return [
            self.soft @ heard,
            self.soft @ _unit(heard),
            *self._lead(heard),
            self.soft @ unusual,
            *self._lead(unusual)[:2],
            loud,
        ]

    def _stray(self, gains: np.ndarray) -> float:
        along = gains @ self.soft
        elsewhere = gains[along < max(_ASKED * float(along.max()), GAIN_FLOOR)]
        others = elsewhere[:, self.unlike].max(axis=1, initial=0)
        return float((others - elsewhere[:, self.meant].max(axis=1)).max(initial=0))

    def _lead(self, gain: np.ndarray) -> list[float]:
        hit = gain[self.meant].max()
        return [hit, hit - gain[self.unlike].max(initial=0), _rank(gain, hit)]


def _change(gain: np.ndarray, gains: np.ndarray, over: float) -> list[float]:
    share = gain / (gain.sum() + _SUM_FLOOR)
    entropy = -(share * np.log(share + 1e-9)).sum()
    span = np.clip(gains.max(axis=1) - 0.5, 0, 1).sum() / over
    return [gain.mean(), gain.max(), entropy, min(span, 1.0)]


def _captions(
    original_text: np.ndarray,
    target_text: np.ndarray,
    shift: np.ndarray,
    fall: np.ndarray,
    after: np.ndarray,
) -> list[float]:
    original, target = _soften(original_text), _soften(target_text)
    asked = target - original
    return [
        asked @ shift,
        asked @ _unit(shift),
        target @ after,
        np.minimum(original, target) @ fall,
    ]


def _kept(texts: Texts, falls: np.ndarray) -> list[float]:
    """Whether what is to stay went, or what is to go."""
    kept = np.minimum(_soften(texts.original), _soften(texts.target))
    kept, gone = kept / max(float(kept.sum()), 1e-6), _soften(texts.removed)
    moment = (falls @ kept - falls @ gone).max(initial=0)
    most = falls.max(axis=0)
    return [moment, most @ kept - most @ gone]


def _soften(weights: np.ndarray) -> np.ndarray:
    soft = np.maximum(weights, 0) ** _SOFTNESS
    return soft / max(float(soft.sum()), 1e-6)


def _over(changed: np.ndarray) -> float:
    """How many patches of a clip a mean is over; see LEAST_PATCHES."""
    return min(len(changed), max(float(changed.sum()), LEAST_PATCHES))


def _beyond(shift: np.ndarray) -> np.ndarray:
    return shift - np.clip(shift, -SHIFT_FLOOR, SHIFT_FLOOR)


def _rms(changes: np.ndarray, over: float) -> np.ndarray:
    return np.sqrt(np.square(changes).sum(axis=0) / over)


def _unit(x: np.ndarray) -> np.ndarray:
    return x / np.hypot(np.linalg.norm(x), _NORM_FLOOR)


def _rank(gain: np.ndarray, hit: float) -> float:
    """Log of how many labels gained more; one that gained hardly more counts in part."""
    return float(np.log1p(np.clip(2 * (gain - hit), 0, 1).sum()))

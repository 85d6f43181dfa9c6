"""Where two clips differ: how unlike they are at each moment, from log-mel frames alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.ndimage import maximum_filter1d, minimum_filter1d, uniform_filter1d

from auditeval.features.delay import find_delays, find_gain

RANGE_DB = (
    50.0  # what lies further below the loudest cells of the original is not heard beside them
)
STEP_DB = 30.0  # a cell that changed by more counts as this
SCALE_DB = 6.0  # unlikeness above the typical that makes a change of 1 - 1/e
SMOOTH_FRAMES = 25
_LOST_DB = 20.0  # a band that the whole edit lost says nothing of when
_WORTH_A_SPLIT = 0.7  # of the unlikeness at one delay
_SAME_LENGTH = 5  # frames; codecs pad by less


class Course(NamedTuple):
    """Frame t of an edit belongs to frame t - before of the original, from split on to t - after.

    One delay for most edits; two where something was cut out or spliced in and the rest moved.
    """

    before: int
    after: int
    split: int

    def frames(self, start: int, stop: int, length: int) -> slice:
        """The part of an original of `length` frames that belongs to [start, stop) of the edit."""
        first = start - (self.before if start < self.split else self.after)
        last = stop - (self.before if stop <= self.split else self.after)
        first = min(max(first, 0), length - 1)
        return slice(first, min(max(last, first + 1), length))


def find_course(original: np.ndarray, edited: np.ndarray) -> Course:
    """dB frames :: (T1, 64), (T2, 64) -> the delays under which the edit is most like it."""
    original, edited = _heard(original, edited)
    longer = len(edited) - len(original)
    unlike = {
        delay: _unlike(original, edited, Course(delay, delay, 0))
        for delay in (*find_delays(original, edited), 0, longer)
    }
    # What a delay moves beyond the other clip is not compared: each frame of it costs.
    lag = min(unlike, key=lambda delay: unlike[delay].sum() + SCALE_DB * abs(delay))
    if abs(longer) <= _SAME_LENGTH:
        return Course(lag, lag, 0)
    # What the edit has more of lies between the two delays and belongs to nothing.
    ends = np.append(np.cumsum(unlike[longer][::-1])[::-1], 0)
    following = np.minimum(np.arange(len(ends)) + max(longer, 0), len(edited))
    costs = np.append(0, np.cumsum(unlike[0])) + ends[following]
    split = int(np.argmin(costs))
    one = Course(lag, lag, 0)
    return Course(0, longer, split) if costs[split] < _WORTH_A_SPLIT * unlike[lag].sum() else one


def find_change(original: np.ndarray, edited: np.ndarray, course: Course) -> np.ndarray:
    """How unlike the original the edit is :: (T1, 64), (T2, 64) -> (T2,) in 0..1, one a frame.

    1 - exp(-excess / SCALE_DB), excess being the rms over bands of what was added and taken away
    in 250 ms, in dB above the lower quartile of the clip: a fault of the whole clip hides no local
    edit. Free of level, of the tilt of the whole clip, and of delay.
    """
    unlike = uniform_filter1d(
        _unlike(*_heard(original, edited), course), SMOOTH_FRAMES, mode="nearest"
    )
    excess = np.maximum(unlike - np.percentile(unlike, 25), 0).astype(float)
    return (1 - np.exp(-excess / SCALE_DB)).round(6)


def _heard(original: np.ndarray, edited: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both clips in float32 at one level, floored where the original is no longer heard."""
    original, edited = (x.astype(np.float32) for x in (original, edited))
    lag = find_delays(original, edited)[0]
    begin, end = max(0, -lag), min(len(original), len(edited) - lag)
    edited = edited - find_gain(original[begin:end], edited[begin + lag : end + lag])
    floor = np.percentile(original.max(axis=1), 95) - RANGE_DB
    return np.maximum(original, floor), np.maximum(edited, floor)


def _unlike(original: np.ndarray, edited: np.ndarray, course: Course) -> np.ndarray:
    """Unlikeness of each frame of the edit, dB :: (T2,); beyond the original there is silence."""
    frame, silence = np.arange(len(edited)), min(original.min(), edited.min())
    source = frame - np.where(frame < course.split, course.before, course.after)
    spliced = (frame >= course.split) & (frame < course.split + course.after - course.before)
    matched = (source >= 0) & (source < len(original)) & ~spliced
    aligned = np.where(matched[:, None], original[source.clip(0, len(original) - 1)], silence)
    unlike = _steps(aligned, edited, matched)
    if course.after < course.before:  # a cut shows where its ends meet
        lost = original[course.split - course.before : course.split - course.after]
        seam = slice(max(course.split - SMOOTH_FRAMES // 2, 0), course.split + SMOOTH_FRAMES // 2)
        unlike[seam] = np.maximum(unlike[seam], _rms(np.clip(lost - silence, 0, STEP_DB)).mean())
    at, length = course.split - course.before, course.after - course.before
    sides = original[max(at - length, 0) : at], original[at : max(at + length, at)]
    if spliced.any() and all(map(len, sides)):  # silence too, where sound on both sides goes on
        around = np.minimum(*(side.mean(axis=0) for side in sides))
        missed = _rms(np.clip(around - edited[spliced], 0, STEP_DB))
        unlike[spliced] = np.maximum(unlike[spliced], missed)
    return unlike


def _steps(original: np.ndarray, edited: np.ndarray, matched: np.ndarray) -> np.ndarray:
    """What each frame gained or lost, dB :: (T, 64), (T, 64), (T,) -> (T,)."""
    there = matched if matched.any() else np.ones(len(edited), bool)
    kept = np.median((edited - original)[there], axis=0) > -_LOST_DB
    if not kept.any():
        kept[:] = True
    original, edited = original[:, kept], edited[:, kept]
    bed, edited_bed = (np.percentile(x[there], 20, axis=0) for x in (original, edited))
    # Noise under the whole edit fills what was quieter than it; only what exceeds it was added.
    filled = np.where(edited_bed > bed + 3, np.maximum(original, edited_bed), original)
    # One frame of tolerance on both sides: a residual delay is no difference.
    added = edited - maximum_filter1d(filled, 3, axis=0, mode="nearest")
    lost = minimum_filter1d(original, 3, axis=0, mode="nearest") - edited
    return _rms(np.clip(np.maximum(added, lost), 0, STEP_DB))


def _rms(x: np.ndarray) -> np.ndarray:
    return np.sqrt(np.mean(np.square(x), axis=1))

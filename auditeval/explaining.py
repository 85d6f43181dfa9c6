"""Where in a clip its scores come from: the model on a window that slides over both clips."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from auditeval.features.alignment import align
from auditeval.features.change import Course, find_change, find_course
from auditeval.features.comparison import Frames
from auditeval.features.encoder import Clip, EncodedPair, Encoder
from auditeval.features.extractors.parts import ChangeParts, Parts, take_apart
from auditeval.features.extractors.spectrum import Spectrum
from auditeval.features.store import Failure
from auditeval.features.turning import Turn
from auditeval.models.three_head import Regressor
from auditeval.pretrained.threads import one_thread
from auditeval.scoring import Evaluator
from auditeval.types import AXES, Axis, EditPair, Scores, Undefined, UserError

WINDOW_SECONDS, HOP_SECONDS = 1.0, 0.1
FLAT = 0.05  # a curve that varies by less has no worst stretch
_WINDOWS = 256  # rated at a time


class Segment(NamedTuple):
    """A stretch of the edited clip: `peak` is its outermost moment, `value` the curve there."""

    start_seconds: float
    end_seconds: float
    peak_seconds: float
    value: float


class Explanation(NamedTuple):
    """The scores of a pair over the time of the edited clip, one value each HOP_SECONDS.

    `curves` :: (T,) in 1..5 for each axis the model was trained on: what the model says of the
    window of WINDOW_SECONDS around that moment alone. `change` :: (T,) in 0..1: how unlike the
    clips are there (`features.change`); what was done well changes, too, and costs nothing.
    `changed` is the stretch of the greatest change, `lowest` that of the lowest score. Relevance is
    low wherever nothing was done: look at it where `changed` is.
    """

    pair: EditPair
    scores: Scores
    seconds: np.ndarray
    curves: dict[Axis, np.ndarray]
    change: np.ndarray
    changed: Segment | Undefined
    lowest: dict[Axis, Segment | Undefined]
    course: Course
    # Log-mel frames of the clips, dB :: (T1, 64), (T2, 64); of the original at the pitch and pace
    # that were asked for, where the edit has these.
    original: np.ndarray
    edited: np.ndarray
    turn: Turn
    parts: Parts | None  # of the change, by time and band, where the evaluator hears them


@one_thread()
def explain(evaluator: Evaluator, pair: EditPair) -> Explanation:
    """Rate a pair as a whole and moment by moment; each clip is encoded once.

    Where the model looks at embeddings of the clips, each window has those of the whole clips.
    Raises UserError for a pair that cannot be scored and an evaluator without log-mel frames.
    """
    model, store = evaluator.checkpoint.model, evaluator.store
    if not isinstance(model, Regressor):
        raise UserError(
            f"{evaluator.name}: hears a pair as a whole, so it cannot say where; explain takes an "
            "evaluator that compares frames, such as the shipped one"
        )
    (scores,) = evaluator.score([pair])
    if scores.status == "error":
        raise UserError(scores.reason)
    (encoded,) = store.encoded([pair])
    if isinstance(encoded, Failure):  # of what the score of such a pair does without
        raise UserError(encoded.reason)
    if Spectrum.name not in encoded.original:
        raise UserError(
            f"{evaluator.name}: its features {store.encoder.name} keep no log-mel frames, so it "
            f"cannot say where; those with {Spectrum.name} do"
        )
    frames = _mel(encoded.original), _mel(encoded.edited)
    turn = Spectrum.found_turn(*frames, store.encoder.way(encoded.texts))
    frames = Spectrum.turned(frames[0], turn), frames[1]
    course = find_course(*frames)
    hop = round(HOP_SECONDS / Spectrum.HOP_SECONDS)
    centres = np.arange(hop // 2, max(len(frames[1]), hop // 2 + 1), hop)
    pick = store.encoder.inputs.pick(model.given)
    windows = [
        pick(store.encoder.pair(_window(store.encoder, encoded, course, turn, int(centre))))
        for centre in centres
    ]
    rated = np.concatenate(
        [
            model.predict(windows[start : start + _WINDOWS]).double().clamp(1, 5).numpy()
            for start in range(0, len(windows), _WINDOWS)
        ]
    )
    trained = model.trained.tolist()
    curves = {
        axis: row for axis, row, known in zip(AXES, rated.T.round(6), trained, strict=True) if known
    }
    seconds = (centres * Spectrum.HOP_SECONDS).round(3)
    change = find_change(*frames, course)[np.minimum(centres, len(frames[1]) - 1)]
    return Explanation(
        pair,
        scores,
        seconds,
        curves,
        change,
        find_segment(seconds, change),
        {axis: find_segment(seconds, curve, lowest=True) for axis, curve in curves.items()},
        course,
        *frames,
        turn,
        None if any(turn) else _parts(encoded),
    )


def find_segment(
    seconds: np.ndarray, curve: np.ndarray, lowest: bool = False
) -> Segment | Undefined:
    """The stretch around the highest value (or lowest) :: (T,), (T,).

    It reaches as far as the curve is nearer to that value than to its median; Undefined where the
    curve varies by less than FLAT.
    """
    height = -curve if lowest else curve
    peak = int(np.argmax(height))
    typical = float(np.median(height))
    if height[peak] - height.min() < FLAT:
        return Undefined(f"the curve varies by less than {FLAT}")
    outside = np.flatnonzero(height < (height[peak] + typical) / 2)
    before, after = outside[outside < peak], outside[outside > peak]
    first = int(before[-1]) + 1 if len(before) else 0
    last = int(after[0]) - 1 if len(after) else len(curve) - 1
    return Segment(
        round(max(float(seconds[first]) - HOP_SECONDS / 2, 0.0), 3),
        round(float(seconds[last]) + HOP_SECONDS / 2, 3),
        float(seconds[peak]),
        float(curve[peak]),
    )


def _mel(clip: Clip) -> np.ndarray:
    return clip[Spectrum.name].frames["mel"]


def _parts(encoded: EncodedPair) -> Parts | None:
    name = ChangeParts.name
    if name not in encoded.original:
        return None
    before, after = (x[name].frames["wave"][:, 0] for x in (encoded.original, encoded.edited))
    return take_apart(before, after, align(_mel(encoded.original), _mel(encoded.edited)))[1]


def _window(
    encoder: Encoder, encoded: EncodedPair, course: Course, turn: Turn, centre: int
) -> EncodedPair:
    """The pair as it is around one frame of the edit; at the ends the window stays inside.

    `course` is that of the original at the pace of `turn`.
    """
    pace, before = 2.0**turn.octaves, len(_mel(encoded.original))
    lengths = max(round(before / pace), 1), len(_mel(encoded.edited))
    width = min(round(WINDOW_SECONDS / Spectrum.HOP_SECONDS), lengths[1])
    start = min(max(centre - width // 2, 0), lengths[1] - width)
    stop = start + width
    part = course.frames(start, stop, lengths[0])
    first = min(round(part.start * pace), before - 1)
    part = slice(first, min(max(round(part.stop * pace), first + 1), before))
    return encoded._replace(
        original=_cut(encoder, encoded.original, part),
        edited=_cut(encoder, encoded.edited, slice(start, stop)),
    )


def _cut(encoder: Encoder, clip: Clip, part: slice) -> Clip:
    """The frames of each extractor in a part of the log-mel frames; the embeddings stay."""
    return {
        name: made._replace(frames=_cut_frames(made.frames, part, encoder.extractors[name].steps))
        for name, made in clip.items()
    }


def _cut_frames(frames: Frames, part: slice, steps: Mapping[str, float]) -> Frames:
    """At least one patch; those whose times are not known are all kept."""
    if steps:
        cut = dict(frames)
        for name, seconds in steps.items():
            first, stop = (
                round(x * Spectrum.HOP_SECONDS / seconds) for x in (part.start, part.stop)
            )
            # A part of two short frames is none of longer ones: at least one of each.
            first = min(first, len(frames[name]) - 1)
            cut[name] = frames[name][first : max(stop, first + 1)]
        return cut
    if "span" not in frames:
        return frames
    middles = frames["span"].mean(axis=1)
    first = min(int(np.searchsorted(middles, part.start)), len(middles) - 1)
    patches = slice(first, max(int(np.searchsorted(middles, part.stop)), first + 1))
    cut = {name: rows[patches] for name, rows in frames.items()}
    cut["span"] = (cut["span"] - part.start).clip(0, part.stop - part.start)
    return cut

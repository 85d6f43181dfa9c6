"""When and how often a sound is to come: order, place in the clip and number, as captions ask."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from scipy.ndimage import binary_closing, label, uniform_filter1d

from auditeval.features.alignment import FRAME_SECONDS
from auditeval.features.comparison import same_words

_NUMBERS = {"once": 1, "one time": 1, "twice": 2, "two times": 2} | {
    f"{word} times": number
    for number, word in enumerate(["three", "four", "five", "six", "seven", "eight"], 3)
}
_CLAUSE = re.compile(r"[,;:.]| while | and | with | as ")
_ORDER = (
    (re.compile(r",? (?:and )?(?:then|afterwards|followed by|before)\b "), False),
    (re.compile(r",? after\b "), True),
)
_PLACE = re.compile(
    r"\b(?:at|in|near|towards?|right at) the (?:very )?(?P<which>end|beginning|start)\b"
)
_COUNT = re.compile(rf"(?<!at )\b(?P<number>{'|'.join(_NUMBERS)})\b")
_APART, _TOLD = 0.5, 0.15  # seconds of one sound before the other; of a clip beside its middle
_GAP_SECONDS, _CHANGED_DB = 0.25, 3.0
_MOST = 0.45  # of the patches


class Occasions(NamedTuple):
    """What words say of when a sound comes: phrases, "" where they say nothing of the kind.

    `first` comes before `second`; `placed` at the end (`late` 1) or at the beginning (0);
    `times` is how often something is to come, 0 for what is not counted.
    """

    first: str = ""
    second: str = ""
    placed: str = ""
    late: float = 0.0
    times: int = 0


def asked_occasions(before: str, after: str, instruction: str) -> Occasions:
    """Of the target caption, but for what the original one says too; else of the instruction.

    >>> asked_occasions("Rain.", "Rain, a dog barks, then a bell rings.", "")[:2]
    ('a dog barks', 'a bell rings')
    >>> asked_occasions("Rain.", "Rain.", "Add a bark twice, after thunder.").times
    2
    """
    texts = ("", instruction) if same_words(before, after) else (before, after)
    was, now = map(_occasions, texts)
    if now[:2] == was[:2]:
        now = now._replace(first="", second="")
    if now[2:4] == was[2:4]:
        now = now._replace(placed="", late=0.0)
    return now._replace(times=0) if now.times == was.times else now


def _occasions(text: str) -> Occasions:
    """Of one text; of several of a kind the first."""
    text = " ".join(text.lower().split())
    found = Occasions()
    for pattern, turned in _ORDER:
        if (at := pattern.search(text)) and not found.first:
            sides = _CLAUSE.split(text[: at.start()])[-1], _CLAUSE.split(text[at.end() :])[0]
            first, second = (side.strip() for side in (sides[::-1] if turned else sides))
            if first and second:
                found = found._replace(first=first, second=second)
    if at := _PLACE.search(text):
        placed = _CLAUSE.split(text[: at.start()].rstrip(" ,"))[-1].strip()
        found = found._replace(placed=placed, late=float(at["which"] == "end"))
    if at := _COUNT.search(text):
        found = found._replace(times=_NUMBERS[at["number"]])
    return found


def in_order(first: np.ndarray, second: np.ndarray, seconds: np.ndarray) -> float:
    """Whether one sound comes before another, 0 to 1; .5 at once.

    :: (P,), (P,) how much each is heard at these times (P,) of their patches. 1 where one of them
    is not heard, or lasts: nobody says when.
    """
    if _lasts(first) or _lasts(second):
        return 1.0
    apart = [
        _centre(track * track / np.maximum(first + second, 1e-6), seconds)
        for track in (first, second)
    ]
    return float(np.clip(0.5 + (apart[1] - apart[0]) / (2 * _APART), 0, 1))


def in_place(track: np.ndarray, seconds: np.ndarray, late: float) -> float:
    """Whether a sound :: (P,) comes late, or early, in a clip of patches at these times, 0 to 1."""
    if _lasts(track):
        return 1.0
    span = max(float(seconds[-1] - seconds[0]), 1e-6)
    where = (_centre(track, seconds) - float(seconds[0])) / span
    beside = where - 0.5 if late else 0.5 - where
    return float(np.clip(0.5 + beside / (2 * _TOLD), 0, 1))


def as_often(change: np.ndarray, times: int) -> float:
    """How near the number of stretches that changed is to the one asked for, 0 to 1.

    `change` :: (T,) dB by which each frame of the edit differs from the original.
    """
    changed = uniform_filter1d(change.astype(float), 5) > max(_CHANGED_DB, 0.25 * change.max())
    joined = binary_closing(changed, np.ones(round(_GAP_SECONDS / FRAME_SECONDS)))
    count = int(label(joined)[1])
    return max(0.0, 1 - abs(count - times) / (1 + times / 2)) if count else 1.0


def _lasts(track: np.ndarray) -> bool:
    """Whether a sound is in most patches, or in none."""
    return bool(np.mean(track >= 0.5 * track.max()) > _MOST)


def _centre(track: np.ndarray, seconds: np.ndarray) -> float:
    weights = np.square(track)
    return float(weights @ seconds / max(float(weights.sum()), 1e-9))

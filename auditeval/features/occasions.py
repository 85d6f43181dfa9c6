"""When and how often a sound is to come: order, place in the clip and number, as captions ask."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from scipy.ndimage import binary_closing, label, uniform_filter1d

from auditeval.features.alignment import FRAME_SECONDS
from auditeval.features.changes.numerals import NUMBERS
from auditeval.features.changes.polarity import said_apart
from auditeval.features.comparison import same_words

_NUMBERS = {"once": 1, "one time": 1, "twice": 2, "thrice": 3} | {
    f"{word} times": number for word, number in NUMBERS.items() if 1 < number <= 20
}
_CLAUSE = re.compile(r"[,;:.]| while | and | with | as ")
_ORDER = (
    (
        re.compile(
            r",? (?:and )?(?:then|afterwards?|after (?:that|this|which)|followed by|"
            r"before(?! (?:an?|the) (?:\w+ )?(?:crowd|audience|court|jury|class)\b))\b,? "
        ),
        False,
    ),
    (re.compile(r"(?<!runs)(?<!running)(?<!looks)(?<!looking),? after\b "), True),
)
_FIRST = re.compile(r"(?P<word>after|before) (?P<one>[^,;.]+), (?P<other>[^,;.]+)")
_AROUND = re.compile(
    r"^(?:(?:please|and|first(?:ly)?,?|add|insert|put|place|play|include) )+|"
    r" (?:right|shortly|just|soon|immediately|directly)$"
)
# Nothing that sounds at a moment: a time, what was named before, an end, or another order.
_NO_SOUND = re.compile(
    r"^(?:(?:and|that|this|it|which|another|the other|a (?:while|moment|bit|few)|long|some time|"
    r"\d.*|stops?|ends?|pauses?|continues?|silence|nothing|make|raise|lower|turn|change|convert|"
    r"replace|remove|delete|mute|cut|increase|decrease|reduce|boost|speed|slow|apply|give|let|"
    r"keep|shift|louder|quieter|softer|faster|slower|higher|deeper|repeat|"
    r"duplicate)\b|$)|\b(?:stops?|ends?|fad(?:es?|ing)|ceases?|disappears?|no|without)\b|"
    r"\b(?:louder|quieter|softer|faster|slower|higher|deeper)$"
)
_PLACE = re.compile(
    r"\b(?:at|in|near|towards?|right at) the (?:very )?(?P<which>end|beginning|start|middle)\b"
    r"(?: of (?:it|(?:the|this) (?:\w+ )?(?:clip|recording|audio|track|sounds?|file|scene))\b|"
    r"(?! of\b))"
)
_LATE = {"beginning": 0.0, "start": 0.0, "middle": 0.5, "end": 1.0}
_MOMENT = r"(?:\d+:\d\d|\d+(?:\.\d+)?)"
_UNIT = r"(?: ?(?:s|secs?|seconds?)\b)"
_TIME = re.compile(
    rf"(?:\b(?:(?:from|between) (?:about )?(?P<begin>{_MOMENT}){_UNIT}? ?"
    rf"(?:to|and|until|till|-|–) ?(?:about )?(?P<end>{_MOMENT})|"
    rf"(?P<word>at|from|after|until|till) (?:about |around )?(?P<one>{_MOMENT}))"
    rf"(?:{_UNIT}|(?<=:\d\d)\b))(?! later)"
)
# Not "twice as loud", "once the rain stops", "once more", "at least twice".
_COUNT = re.compile(
    rf"(?<!at )(?<!least )(?<!than )(?<!or )\b(?:(?P<number>{'|'.join(_NUMBERS)})|"
    r"(?P<digits>\d{1,2})(?: times\b| ?[x×]))(?!\w)"
    r"(?! (?:as|more|again|upon|or|an?|the|it|he|she|they|its|\w+er)\b)"
)
_PACE = re.compile(r"\b(?:speed|sped|slow|fast|tempo|pace|rate|playback)")
_APART, _TOLD = 0.5, 0.15  # seconds of one sound before the other; of a clip beside its middle
_NEAR_SECONDS = 0.75  # a patch lasts a second
_GAP_SECONDS, _CHANGED_DB = 0.25, 3.0
_MOST = 0.45  # of the patches


class Occasions(NamedTuple):
    """What words say of when a sound comes: phrases, "" where they say nothing of the kind.

    `first` comes before `second`; `placed` at the end (`late` 1), in the middle (0.5) or at the
    beginning (0); `times` is how often something is to come, 0 for what is not counted. `timed` is
    to sound from `begin` to `end`, in seconds; where both are the same, it begins then.
    """

    first: str = ""
    second: str = ""
    placed: str = ""
    late: float = 0.0
    times: int = 0
    timed: str = ""
    begin: float = 0.0
    end: float = 0.0


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
    if now[5:] == was[5:]:
        now = now._replace(timed="", begin=0.0, end=0.0)
    if now.times == was.times:
        return now._replace(times=0)
    if was.times and now.times and same_words(*(_COUNT.sub("", x.lower()) for x in texts)):
        now = now._replace(times=abs(now.times - was.times))  # so often it comes, or goes
    return now


def _occasions(text: str) -> Occasions:
    """Of one text, but for what it quotes; of several of a kind the first."""
    text = said_apart(text)
    found = Occasions()
    orders = [
        (_CLAUSE.split(text[: at.start()])[-1], _CLAUSE.split(text[at.end() :])[0], turned)
        for pattern, turned in _ORDER
        if (at := pattern.search(text))
    ]
    if at := _FIRST.match(text):
        orders.insert(0, (at["one"], _CLAUSE.split(at["other"])[0], at["word"] == "before"))
    for one, other, turned in orders:
        first, second = map(_named, (other, one) if turned else (one, other))
        if first and second and first != second and not found.first:
            found = found._replace(first=first, second=second)
    if (at := _PLACE.search(text)) and (placed := _beside(text, at)):
        found = found._replace(placed=placed, late=_LATE[at["which"]])
    if (at := _TIME.search(text)) and (timed := _beside(text, at)):
        begin, end = (_seconds(at[side] or at["one"]) for side in ("begin", "end"))
        if at["word"] in ("until", "till"):
            begin = 0.0
        elif at["word"] in ("from", "after"):
            end = np.inf
        found = found._replace(timed=timed, begin=begin, end=end)
    if (at := _COUNT.search(text)) and not (at["digits"] and _PACE.search(text)):
        found = found._replace(times=int(at["digits"] or _NUMBERS[at["number"]]))
    return found


def _beside(text: str, at: re.Match[str]) -> str:
    """The sound whose place a match tells: named before it, or behind it where nothing is."""
    before = _CLAUSE.split(text[: at.start()])
    behind = _CLAUSE.split(text[at.end() :].lstrip(" ,"))[0]
    return _named(before[-1].strip() or behind or "".join(before[-2:-1]))


def _seconds(moment: str) -> float:
    minutes, _, seconds = moment.rpartition(":")
    return 60 * float(minutes or 0) + float(seconds)


def _named(side: str) -> str:
    """The sound that a part of a clause names, "" of none that comes at a moment."""
    left = _AROUND.sub("", side.strip())
    return "" if _NO_SOUND.search(left) or '"word"' in left else left


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
    """Whether a sound :: (P,) comes as late in a clip of patches at these times, 0 to 1."""
    if _lasts(track):
        return 1.0
    span = max(float(seconds[-1] - seconds[0]), 1e-6)
    where = (_centre(track, seconds) - float(seconds[0])) / span
    beside = 0.25 - abs(where - 0.5) if late == 0.5 else (where - 0.5) * (2 * late - 1)
    return float(np.clip(0.5 + beside / (2 * _TOLD), 0, 1))


def in_time(track: np.ndarray, seconds: np.ndarray, begin: float, end: float) -> float:
    """How much of a sound :: (P,) is between two times of the clip, or begins at one, 0 to 1."""
    if _lasts(track):
        return 1.0
    if begin == end:
        onset = float(seconds[np.argmax(track >= 0.5 * track.max())])
        return float(np.clip(2 - abs(onset - begin) / _NEAR_SECONDS, 0, 1))
    inside = (seconds >= begin - _NEAR_SECONDS) & (seconds <= end + _NEAR_SECONDS)
    weights = np.square(track)
    return float(weights[inside].sum() / max(float(weights.sum()), 1e-9))


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

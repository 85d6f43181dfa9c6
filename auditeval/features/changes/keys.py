"""From one key or note to another: by how many semitones, as words for changes have it."""

from __future__ import annotations

import re

_NOTES = {"c": 0, "d": 2, "e": 4, "f": 5, "g": 7, "a": 9, "b": 11}
_ACCIDENTALS = {"sharp": 1, "#": 1, "♯": 1, "flat": -1, "b": -1, "♭": -1}
_NOTE = (
    r"(?P<note>[a-g])[ -]?(?P<accidental>sharp|flat|#|b|♯|♭)?(?P<octave>\d)?"
    r"(?P<mode> ?(?:major|minor|maj|min)\b)?(?![\w#])"
)


def _named(group: str) -> str:
    return re.sub(r"\?P<(\w+)>", rf"?P<\1_{group}>", _NOTE)


_FROM_TO = re.compile(
    rf"\bfrom (?:the key of )?{_named('from')} (?:up |down )?(?:in)?to "
    rf"(?:the key of )?{_named('to')}"
)
_OF_PITCH = re.compile(
    r"\b(?:transpos\w+|pitch\w*|keys?|notes?|tun(?:e|ed|ing)|modulat\w+|major|minor)\b"
)


def in_semitones(text: str) -> str:
    """A text with the interval in the place of two keys or notes; the nearest one of two keys.

    Lower case throughout, as `polarity.said_apart` leaves it.

    >>> in_semitones("transpose it from c major to e flat major")
    'transpose it up by 3 semitones'
    >>> in_semitones("shift the note from a4 to c5"), in_semitones("go from a to b")
    ('shift the note up by 3 semitones', 'go from a to b')
    """
    return _FROM_TO.sub(_interval, text) if _OF_PITCH.search(text) else text


def _interval(found: re.Match[str]) -> str:
    start, end = (_semitone(found, side) for side in ("from", "to"))
    octaves = found["octave_from"], found["octave_to"]
    apart = end - start
    if None in octaves:
        apart = (apart + 5) % 12 - 5  # -5 to 6
    else:
        apart += 12 * (int(octaves[1]) - int(octaves[0]))
    modes = ((found[f"mode_{side}"] or "").strip()[:3] for side in ("from", "to"))
    if not apart or len({*modes} - {""}) > 1:  # to the relative minor nothing is transposed
        return found[0]
    return f"{'up' if apart > 0 else 'down'} by {abs(apart)} semitone{'s' * (abs(apart) > 1)}"


def _semitone(found: re.Match[str], side: str) -> int:
    accidental = found[f"accidental_{side}"]
    return _NOTES[found[f"note_{side}"]] + (_ACCIDENTALS[accidental] if accidental else 0)

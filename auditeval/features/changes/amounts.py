"""By how much a change is asked for: what English words and digits say, by rules."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Literal, NamedTuple

from auditeval.features.changes.numerals import NUMBERS, in_digits
from auditeval.features.changes.polarity import said_apart


class Amount(NamedTuple):
    """`value` > 0 in its `unit`; which way it goes is a matter of the change.

    A ratio is new to old, of the speed, or of what else the text names (2 is twice as loud).
    """

    value: float
    unit: Literal["semitones", "ratio", "decibels"]


MEASURED = {
    "semitones": ("pitch_up", "pitch_down"),
    "ratio": ("faster", "slower"),
    "decibels": ("louder", "softer"),
}
"""Of which changes what was made is measured in each unit."""
_NUMBERS: dict[str, float] = {
    "zero": 0.0,
    **NUMBERS,
    **{"a": 1.0, "an": 1.0, "half": 0.5, "half a": 0.5, "half an": 0.5, "a half": 0.5},
    **{"a quarter": 0.25, "quarter": 0.25, "a couple of": 2.0, "a couple": 2.0},
}
_ONE = "|".join(sorted(map(re.escape, _NUMBERS), key=len, reverse=True))
_NUMBER = rf"(?P<number>\d+(?:\.\d+)?|\.\d+|(?:{_ONE}))"
_UNIT = r"(?:d ?b\b|decibels?|st\b|semi ?tones?|half|cents?|octaves?|%|percent|per cent)"
_SIGN = (
    r"(?:\b(?:by|(?<!instead )of|to|at) ?SIGN ?(?=\.?\d)|(?:^|(?<=[:=(])|(?<= )(?<![\d%] )(?<!\ba )"
    r"(?<!from )(?<!above )(?<!below )(?<!threshold )(?<!ceiling ))SIGN"
    rf"(?=(?:\d+(?:\.\d+)?|\.\d+) ?{_UNIT})|(?:(?<=pitch )|(?<=transpose ))SIGN(?=\d+$))"
    r"(?!.*(?:lufs|db ?fs))"
)
BELOW, ABOVE = (re.compile(_SIGN.replace("SIGN", sign)) for sign in ("[-−–]", r"\+"))
"""A sign that says which way: "by -3", "volume -3 dB", but not "3 -5 dB", "threshold -24 dB"; a
level in LUFS or dBFS is below 0 by itself."""
_FRACTIONS = {"half": 1 / 2, "third": 1 / 3, "quarter": 1 / 4, "fourth": 1 / 4, "fifth": 1 / 5}
_INTERVALS = {
    **{"minor second": 1, "major second": 2, "minor third": 3, "major third": 4, "fourth": 5},
    **{"tritone": 6, "fifth": 7, "minor sixth": 8, "major sixth": 9},
    **{"minor seventh": 10, "major seventh": 11},
}
_PITCH = re.compile(r"\b(pitch\w*|transpos\w+|key|tun\w+|higher|deeper|notes?|tones?|voice)\b")
_SPEED = re.compile(
    r"\b(speed\w*|sped|fast\w*|slow\w*|tempo|pace|rate|quick\w*|playback|play\w*|long\w*|short\w*)\b"
)
_LEVEL = re.compile(r"\b(volume|loud\w*|level|quiet\w*|softer)\b")
_OF_PITCH = re.compile(r"\b(pitch\w*|transpos\w+|fundamental|deeper)\b")
_FEWER = re.compile(
    r"\b(slow\w*|less|lower\w*|reduc\w+|decreas\w+|drop\w*|down|cut|quieter|softer|lengthen)\b"
)
_LONGER = re.compile(
    r"\b(longer|lengthen\w*|as long|length|duration|lasts?|"
    r"stretch\w*(?!.* (?:speed|tempo|pace|rate)\b))\b"
)
_SHORTER = re.compile(
    r"\b(shorter|shorten\w*|half the (?:length|duration)|shrink\w*|"
    r"(?:reduc|decreas|cut|trim|lower|shrink)\w* (?:\S+ ){0,4}?(?:length|duration))\b|"
    r"\b(?:length|duration) (?:down|reduced|decreased|cut)\b|\blasts? .*\bless\b"
)


_LEFT = re.compile(r"\b(?:speed|tempo|pace|rate|volume|loudness|level) (?:of|is) $")
_TOLD = re.compile(
    r"(?:^|[,;] ?)(?:(?:playback|speaking) )?(?:speed|tempo|pace|rate|volume) ?[:=]? $"
)
"""Before what is left, where no more follows: "rate 85%"."""
_CHANGED = re.compile(r"\b(?:increas|decreas|reduc|chang|boost|drop|cut|rise|rais|lower)")


def find_amount(text: str) -> Amount | None:
    """The amount that a text names, None where it names none; quotations are not looked at.

    >>> find_amount("raise the pitch by two semitones"), find_amount("20% slower").value
    (Amount(value=2.0, unit='semitones'), 0.8)

    An octave is 12 semitones, a fifth 7 where pitch is meant. "By 20 percent" is 1.2, or 0.8 where
    the words say slower, lower or less. Twice as long is half as fast.
    """
    text = ABOVE.sub("up by ", BELOW.sub("down by ", said_apart(text)))
    text = in_digits(text.replace("-", " "))
    for pattern, make in _RULES:
        for found in re.finditer(pattern, text):
            amount = make(found, text)
            if amount is not None and amount.value > 0:
                return _interval_of(amount) if _is_of_pitch(text) else amount
    return None


def _is_of_pitch(text: str) -> bool:
    return bool(_OF_PITCH.search(text) and not _SPEED.search(text) and not _LEVEL.search(text))


def _interval_of(amount: Amount) -> Amount | None:
    """A ratio of frequencies as the interval that it is."""
    if amount.unit != "ratio":
        return amount
    semitones = round(12 * abs(math.log2(amount.value)), 6)
    return Amount(semitones, "semitones") if semitones else None


Make = Callable[["re.Match[str]", str], Amount | None]


def _number(found: re.Match[str]) -> float:
    word = found["number"]
    value = _NUMBERS.get(word)
    return (float(word) if value is None else value) + (0.5 if "half" in found.groupdict() else 0.0)


def _steps(semitones: float) -> Make:
    return lambda found, text: Amount(_number(found) * semitones, "semitones")


def _interval(found: re.Match[str], text: str) -> Amount | None:
    meant = found["perfect"] or found["name"].startswith(("minor", "major", "tritone"))
    meant = meant or (_PITCH.search(text) and not _SPEED.search(text))
    meant = meant or (re.search(r"\b(up|down) (by )?a", text) and not _SPEED.search(text))
    if not meant or _LEVEL.search(text):
        return None
    return Amount(float(_INTERVALS[found["name"]]), "semitones")


def _ratio(value: float, text: str) -> Amount:
    """Of what is named, which is speed where it is a length: its inverse."""
    inverse = _LONGER.search(text) or _SHORTER.search(text)
    return Amount(round(1 / value if inverse else value, 6), "ratio")


def _share(part: float, text: str) -> Amount | None:
    """So much more, or less: where a clip gets longer or shorter, of its length."""
    less = _SHORTER.search(text) or (_FEWER.search(text) and not _LONGER.search(text))
    value = 1 - part if less else 1 + part
    return _ratio(value, text) if value > 0 else None


def _percent(found: re.Match[str], text: str) -> Amount | None:
    part, before = _number(found) / 100, text[: found.start()]
    if before.endswith("from "):  # to nothing, or the rule of both ends had fitted
        return None
    if _is_left(found, text):
        return _ratio(part, text)
    return _share(part, text)


def _is_left(found: re.Match[str], text: str) -> bool:
    """Whether so much is to be left; "by 10% of the speed" is what it changes by."""
    before = text[: found.start()]
    if before.endswith("by "):
        return False
    said = _LEFT.search(before) and not _CHANGED.search(before)
    said = said or (_TOLD.search(before) and not text[found.end() :].strip(" .!"))
    return bool(found["of"] or said or re.search(r"\b(at|to) $", before))


def _fraction(found: re.Match[str], text: str) -> Amount | None:
    if not (_SPEED.search(text) or _LEVEL.search(text) or found["by"]):
        return None
    alone = found["name"] == "half" or (found["name"] == "quarter" and found["of"])
    if not (found["by"] or found["parts"] or found["article"] or alone):
        return None  # "the third car"
    parts = _NUMBERS[found["parts"]] if found["parts"] else 1.0
    part = parts * _FRACTIONS[found["name"]]
    if not found["by"] and _is_left(found, text):
        return _ratio(part, text)
    return _share(part, text)


def _from_to(found: re.Match[str], text: str) -> Amount | None:
    """New to old, of a pace or of a share; of a pitch in Hz the interval."""
    old, new = float(found["old"]), float(found["new"])
    if not old or not new or old == new:
        return None
    if not found["unit"] and not re.search(
        r"\b(speed\w*|sped|fast\w*|slow\w*|tempo|pace|bpm)\b", text
    ):
        return None
    if found["unit"] != "hz":
        return _ratio(new / old, text)
    pitch = re.search(r"\b(pitch|fundamental|f0|frequency of|tun(?:e|ed|ing)|hums?)\b", text)
    return Amount(round(12 * abs(math.log2(new / old)), 6), "semitones") if pitch else None


def _times(found: re.Match[str], text: str) -> Amount | None:
    value = _number(found)
    if re.match(r"(a )?(half|quarter)", found["number"]):  # "by half" is a share
        return None
    # "two times slower", but "0.8 times the speed", and "too slow, make it two times faster"
    fewer = re.search(r"(?<!too )\b(?:slow|quiet|soft|reduce|lower)", text)
    return _ratio(1 / value if fewer and value > 1 else value, text)


def _twice(found: re.Match[str], text: str) -> Amount:
    value = _MULTIPLES[found["word"]]
    slower = re.search(r"^\s*as (?:slow|quiet|soft)", text[found.end() :])
    return _ratio(1 / value if slower else value, text)


_MULTIPLES = {
    **{"twice": 2.0, "double": 2.0, "doubl": 2.0, "thrice": 3.0, "triple": 3.0, "tripl": 3.0},
    **{"quadruple": 4.0, "quadrupl": 4.0},
}


def _doubled(faster: bool) -> Amount:
    return Amount(2.0 if faster else 0.5, "ratio")


def _half(found: re.Match[str], text: str) -> Amount:
    slower = re.search(r"^half as (?:slow|quiet)", text[found.start() :])
    return _ratio(2.0 if slower else 0.5, text)


# What follows a multiple that is one of a quantity: no "double bass", no "barks three times".
_THAN = (
    r"as\b|the (?:\w+ )?(?:speed|tempo|pace|rate|volume|loudness|level|pitch|length|duration)|"
    r"(?:its|their|his|her) |(?:normal|original) (?:speed|tempo|pace)|faster|slower|quicker|louder|"
    r"quieter|softer|longer|shorter|higher|lower|speed|tempo|volume"
)
_MEASURE = (
    r"(?:speed|tempo|pace|volume)\b"
    r"(?! (?:increase|boost|rise|raise|up|cut|reduction|decrease|drop|down|change))"
)
# The first that fits, in this order.
_RULES: tuple[tuple[str, Make], ...] = (
    (
        r"(?:\bfrom |\b(?=\d+ ?bpm))(?P<old>\d+(?:\.\d+)?) ?(?:[a-z%]+(?: per minute)? )?"
        r"(?:up |down )?to (?P<new>\d+(?:\.\d+)?)(?: ?(?P<unit>%|percent|bpm|beats per minute|"
        r"wpm|words per minute|hz|x)(?!\w)|(?=[.,!]?$))",
        _from_to,
    ),
    (
        r"\b(?P<number>a|one) (?:d ?b|decibel) and (?P<half>a half)\b",
        lambda found, text: Amount(_number(found), "decibels"),
    ),
    (
        rf"\b{_NUMBER} ?(?:d ?bs?|decibels?)\b",
        lambda found, text: Amount(_number(found), "decibels"),
    ),
    (r"\b(?P<number>a|one) (?:semitone|half step) and (?P<half>a half)\b", _steps(1)),
    (r"\b(?P<number>a|one) (?:whole )?(?:tone|step) and (?P<half>a half)\b", _steps(2)),
    (r"\b(?P<number>half) (?:a |of a )?step\b", _steps(2)),
    (r"\b(?P<number>an?|one) octave and (?P<half>a half)\b", _steps(12)),
    (
        r"\b(?P<name>half|third|quarter|fourth) (?:of )?(?:an )?octave\b",
        lambda found, text: Amount(12.0 * _FRACTIONS[found["name"]], "semitones"),
    ),
    (rf"(?<![\w.]){_NUMBER} ?(?:semi ?tones?|half ?(?:steps?|tones?)|st\b)", _steps(1)),
    (rf"(?<![\w.]){_NUMBER} (?:whole ?(?:steps?|tones?)|tones?\b(?! of))", _steps(2)),
    (rf"(?<![\w.]){_NUMBER} ?cents?\b", _steps(0.01)),
    (rf"(?<![\w.]){_NUMBER} octaves?\b", _steps(12)),
    (r"\boctave\b", lambda found, text: Amount(12.0, "semitones")),
    (
        r"\b(?P<perfect>perfect )?(?P<name>(?:minor |major )(?:second|third|sixth|seventh)|fourth|"
        r"tritone|fifth)\b(?! (?:of|faster|slower))",
        _interval,
    ),
    (
        rf"(?<![\w.]){_NUMBER} ?(?:%|percent\b|per cent\b)"
        rf"(?P<of> of the| of its| the| as| {_MEASURE})?",
        _percent,
    ),
    (rf"(?<![\w.]){_NUMBER} ?(?:x\b|×|times (?={_THAN}))", _times),
    (
        r"\bby (?P<number>\d+(?:\.\d+)?)$",  # "transpose by 4"
        lambda found, text: _steps(1)(found, text) if _is_of_pitch(text) else None,
    ),
    (rf"\b(?:by a factor of|by|(?:up|down)(?= \S+ times)) {_NUMBER}(?: times)?$", _times),
    (r"(?<![\w.%])(?P<number>\d?\.\d+) (?:speed|tempo)\b", _times),
    (r"\bx ?(?P<number>\d+(?:\.\d+)?)\b", _times),
    (r"\b(?P<number>\d+(?:\.\d+)?|two|three|four|five|ten) ?fold\b", _times),
    (
        r"\b(?:speed|tempo|pace|rate)(?: factor| multiplier| it)?(?: (?:of|to|at|is))? ?[:=]? ?"
        r"(?P<number>[0-4]?\.\d+|[0-4](?:\.\d+)?)(?=$|[,;!?]|\.(?!\d)| and\b)",
        _times,
    ),
    (
        r"\b(?P<word>twice|thrice|(?:double|triple|quadruple)|(?:doubl|tripl|quadrupl)(?=ing))"
        rf"(?:ing|d)? (?={_THAN})",
        _twice,
    ),
    (
        r"\bin(?:to)? (?P<word>half|double|twice) the time\b|"
        r"^(?:play (?:it|this|the \w+) )?(?:in |at )?(?P<beat>half|double) time$",
        lambda found, text: _doubled(found["beat"] == "double" or found["word"] == "half"),
    ),
    (r"\b(?:halve|halving|halved|in half)\b|\bhalf (?:as|the|its|speed|tempo)\b", _half),
    (
        r"\b(?P<by>by )?(?:(?P<parts>two|three|four) |(?P<article>one|an?) )?"
        r"(?<!first )(?<!second )(?<!last )(?<!other )(?P<name>half|third|quarter|fourth|fifth)s?\b"
        r"(?! (?:of )?(?:an? )?(?:second|minute|hour|bar|beat|note)s?\b)"
        rf"(?P<of> of (?:the|its)\b| as\b| (?:the |its )?{_MEASURE})?",
        _fraction,
    ),
)

"""Numbers as people write them, as one that a rule can read."""

from __future__ import annotations

import re

_ONES, _TENS = (
    words.split()
    for words in (
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
        "sixteen seventeen eighteen nineteen",
        "twenty thirty forty fifty sixty seventy eighty ninety",
    )
)
NUMBERS: dict[str, int] = {
    **{word: number for number, word in enumerate(_ONES, 1)},
    **{word: 10 * number for number, word in enumerate(_TENS, 2)},
    **{
        f"{ten} {one}": 10 * tens + ones
        for tens, ten in enumerate(_TENS, 2)
        for ones, one in enumerate(_ONES[:9], 1)
    },
}
"""One to ninety-nine; between tens and ones a space."""
_BELOW_HUNDRED = "|".join(sorted(NUMBERS, key=len, reverse=True))
_HUNDRED = re.compile(
    rf"\b(?:(?P<hundreds>an?|{'|'.join(_ONES[:9])}) )?hundred"
    rf"(?:(?: and)? (?P<rest>{_BELOW_HUNDRED}))?\b"
)
_DIGIT = rf"(?:zero|{'|'.join(_ONES[:9])})"
_BELOW_THOUSAND = (
    rf"(?:(?:an?|{'|'.join(_ONES[:9])}) hundred(?:(?: and)? (?:{_BELOW_HUNDRED}))?|"
    rf"{_BELOW_HUNDRED})"
)
_SAID = re.compile(
    rf"\b(?:(?P<thousands>an?|{_BELOW_THOUSAND}) thousand"
    rf"(?:(?: and)? (?P<rest>{_BELOW_THOUSAND}))?|(?P<alone>{_BELOW_THOUSAND}))\b"
)
_POINT = re.compile(
    rf"\b(?P<whole>\d+|zero|{_BELOW_HUNDRED}) point "
    rf"(?P<part>\d+|{_DIGIT}(?: {_DIGIT})*|{_BELOW_HUNDRED})\b"
)
_AND_PART = re.compile(
    rf"\b(?P<whole>\d+|{_BELOW_HUNDRED}) and "
    r"(?P<part>(?:a|one) half|a quarter|three quarters|a third)\b"
)
_PARTS = {
    **{"a half": ".5", "one half": ".5", "a third": ".333"},
    **{"a quarter": ".25", "three quarters": ".75"},
}
_SIGNS = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4"}
_FRACTIONS = {
    **{"1/2": "half", "1/3": "a third", "2/3": "two thirds"},
    **{"1/4": "a quarter", "3/4": "three quarters"},
}
_FRACTION = re.compile(r"(?<![\d/.])(?:(?P<whole>\d) )?(?P<up>\d)/(?P<down>[1-9])(?![\d/])")
_ABOUT = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|approx\.?|nearly|almost|exactly|only|some) |"
    rf"[~≈] ?)(?=[\d.]+\b|(?:an?|half|twice|double|{'|'.join((*_ONES, *_TENS))})\b)"
)


def in_digits(text: str) -> str:
    """A text in lower case with its longer numbers in digits, and without words for "about".

    >>> in_digits("two hundred and fifty cents"), in_digits("at about 1,200 or one point five")
    ('250 cents', 'at 1200 or 1.5')
    >>> in_digits("1½ times, at 3/4 speed")
    '1.5 times, at three quarters speed'
    """
    for sign, digits in _SIGNS.items():
        text = re.sub(rf"(\d?){sign}", rf"\1 {digits}", text).lstrip()
    text = _FRACTION.sub(_fraction, " ".join(text.split()))
    text = re.sub(r"(?<![\d.,])([1-9]\d{0,2}),(\d{3})(?![\d,])", r"\1\2", text)
    text = re.sub(r"(\d),(\d)", r"\1.\2", text)
    text = _POINT.sub(_point, text)
    text = _AND_PART.sub(lambda found: _digits(found["whole"]) + _PARTS[found["part"]], text)
    text = _HUNDRED.sub(_hundreds, text)
    return _ABOUT.sub("", text)


def _digits(word: str) -> str:
    return word if word.isdigit() else str(NUMBERS.get(word, 0))


def _point(found: re.Match[str]) -> str:
    part = found["part"]
    whole_word = NUMBERS.get(part)  # "one point twenty five"
    digits = str(whole_word) if whole_word else "".join(map(_digits, part.split()))
    return f"{_digits(found['whole'])}.{digits}"


def _fraction(found: re.Match[str]) -> str:
    if found["whole"]:
        return f"{int(found['whole']) + int(found['up']) / int(found['down']):.4g}"
    return _FRACTIONS.get(found[0], found[0])


def _hundreds(found: re.Match[str]) -> str:
    return str(100 * NUMBERS.get(found["hundreds"], 1) + NUMBERS.get(found["rest"], 0))


def words_in_digits(words: str) -> str:
    """Words in lower case, the numbers that are spelled out in digits, as recognisers write them.

    >>> words_in_digits("two hundred and five of twenty one in nineteen ninety")
    '205 of 21 in 19 90'
    """
    return _SAID.sub(_said, words)


def _said(found: re.Match[str]) -> str:
    thousands, rest = (_value(found[part] or "") for part in ("thousands", "rest"))
    return str(1000 * thousands + rest if found["thousands"] else _value(found["alone"]))


def _value(words: str) -> int:
    """Below a thousand; "a" is one, and nothing 0."""
    hundreds, hundred, rest = words.rpartition(" hundred")
    alone = NUMBERS.get(rest.strip().removeprefix("and "), int(words in ("a", "an")))
    return 100 * NUMBERS.get(hundreds, 1) + alone if hundred else alone

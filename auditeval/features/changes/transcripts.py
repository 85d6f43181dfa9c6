"""How far the spoken words that are asked for came and went, by transcripts of both clips."""

from __future__ import annotations

import difflib
import math
import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from auditeval.features.changes.numerals import words_in_digits
from auditeval.features.changes.spoken import Spoken

_ALIKE, _SAME = 0.6, 0.95  # of letters: below the one two words are others, from the other on one
_TOGETHER = 8  # words that are looked for in one stretch: of a longer phrase each part by itself
_MISHEARD = 2  # words that may all be: of more, one is heard as it is, or they are others
_MONEY = {"$": "dollars", "£": "pounds", "€": "euros"}


class Done(NamedTuple):
    """How far the asked words came and went, -1 (the opposite) to 1; and the share of others."""

    asked: float
    others: float


def done(asked: Spoken, before: str, after: str) -> Done:
    """Transcripts of the original and the edit, compared.

    A phrase counts by how alike its letters are to a stretch of as many words, since recognisers
    mishear; `others` is the share of the original's words that came or went besides.

    >>> done(Spoken(("blue",), ("red",)), "the red car", "the blue car")
    Done(asked=1.0, others=0.0)
    """
    was, now = words_of(before), words_of(after)
    new, gone = ([words_of(phrase) for phrase in phrases] for phrases in asked)
    changes = [_change(phrase, was, now) for phrase in new if phrase]
    changes += [_change(phrase, now, was) for phrase in gone if phrase]
    matcher = difflib.SequenceMatcher(None, was, now, autojunk=False)
    came = went = 0
    for kind, start, stop, first, last in matcher.get_opcodes():
        if kind != "equal" and _likeness("".join(was[start:stop]), "".join(now[first:last])) < 1:
            went += stop - start
            came += last - first
    came = max(came - sum(map(len, new)), 0)
    went = max(went - sum(map(len, gone)), 0)
    share = min(max(came, went) / max(len(was), 1), 1.0)
    return Done(sum(changes) / max(len(changes), 1), share)


def words_of(text: str) -> list[str]:
    """In lower case, without accents and apostrophes, numbers in digits.

    >>> words_of("It’s a café: twenty-one dollars."), words_of("its a cafe $21")
    (['its', 'a', 'cafe', '21', 'dollars'], ['its', 'a', 'cafe', '21', 'dollars'])
    """
    text = unicodedata.normalize("NFKD", re.sub("['‘’ʼ]", "", text).casefold())
    text = "".join(sign for sign in text if not unicodedata.combining(sign))
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text).replace("%", " percent ")
    text = re.sub(r"([$£€])(\d+)", lambda sum_: f"{sum_[2]} {_MONEY[sum_[1]]} ", text)
    return words_in_digits(" ".join(re.findall(r"[^\W_]+", text))).split()


def _change(phrase: Sequence[str], was: list[str], now: list[str]) -> float:
    """How much oftener it is said, -1 to 1; of a long phrase the mean of its parts."""
    parts = math.ceil(len(phrase) / _TOGETHER)
    ends = [round(len(phrase) * part / parts) for part in range(parts + 1)]
    changes = [
        _count(phrase[start:end], now) - _count(phrase[start:end], was)
        for start, end in pairwise(ends)
    ]
    return sum(max(-1.0, min(change, 1.0)) for change in changes) / parts


def _count(wanted: Sequence[str], words: list[str]) -> float:
    """How often it is said, the words of no two places being the same."""
    target = "".join(wanted)

    @cache
    def fit(place: int, size: int) -> float:
        stretch = words[place : place + size]
        if len(wanted) > _MISHEARD and not {*wanted} & {*stretch}:
            return 0.0
        return _likeness(target, "".join(stretch))

    total, place = 0.0, 0
    while place < len(words):
        sizes = {max(len(wanted) - 1, 1), len(wanted), len(wanted) + 1}
        fits = [(fit(place, size), size) for size in sizes]
        likest, size = max(fits, key=lambda fit: (fit[0], -abs(fit[1] - len(wanted))))
        if likest > 0 and likest >= fit(place + 1, len(wanted)):
            total += likest
            place += size
        else:
            place += 1
    return total


def _likeness(x: str, y: str) -> float:
    """Of letters, 0 (other words) to 1 (the same); of numbers there is nothing between."""
    if x.isdigit() or y.isdigit() or x == y:
        return float(x == y)
    matcher = difflib.SequenceMatcher(None, x, y, autojunk=False)
    if matcher.real_quick_ratio() <= _ALIKE or matcher.quick_ratio() <= _ALIKE:
        return 0.0
    return min(max((matcher.ratio() - _ALIKE) / (_SAME - _ALIKE), 0.0), 1.0)

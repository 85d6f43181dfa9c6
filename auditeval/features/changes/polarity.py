"""Whether words ask for more or for less of what they name.

A sentence embedding hardly tells "less muffled" from "muffled", nor "raise" from "lower".
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from math import prod

from auditeval.features.caveats import unquoted, without_caveats
from auditeval.features.changes.keys import in_semitones

_MORE = (
    "more raise raised raising boost boosted up upward upwards higher greater bigger add added "
    "adding put apply applied lots plenty much strong stronger heavy extra lift lifted increase "
    "increased increasing with have give use introduce insert into plus rise rises grow grows"
)
_LESS = (
    "less fewer little reduce reduced reducing decrease decreased lower lowered lowering cut drop "
    "dropped down downward downwards remove removed removing delete deleted erase without no not "
    "never too strip stripped eliminate eliminated suppress suppressed hardly undo diminish lessen "
    "gone don't away smaller weak weaker enough minus wipe wash scrub falls "
    "shrinks kill"
)
POLARITY: dict[str, int] = dict.fromkeys(_MORE.split(), 1) | dict.fromkeys(_LESS.split(), -1)
"""Words that say which way. Two that say less say more: "not bright enough", "too quiet"."""

_BEFORE, _AFTER = 6, 4  # words between such a word and what it is about
_SLOW = ("slow", "calm")  # "slow down" is no less slow

# Phrases as the one word that they stand for.
_REWRITTEN = tuple(
    (re.compile(rf"\b{pattern}\b"), word)
    for pattern, word in (
        (r"a (?:little|bit)", "slightly"),
        (
            r"(?:take|taken|get|pull|wipe|wash|filter|cut|strip|edit|leave|cross) (.{0,40}?) ?"
            r"(?:out of|out|off|away)",
            r"remove \1",
        ),
        (r"(?:free|rid|clean) (?:of|from)", "without"),
        (r"too little", "more"),
        (r"get without", "remove"),
        (r"no longer|not any ?more|instead of|rather than|in place of", "not"),
        (r"(?:half|a third|a quarter|not(?: quite)?) (?:as|so)", "less"),
        (r"\d{1,2}(?:\.\d+)? ?(?:%|percent|per cent) as", "less"),
        (r"halv(?:e|ed|ing)", "reduce"),
        (
            r"at \d{1,2}(?:\.\d+)? ?(?:%|percent|per cent)(?: of (?:the|its)(?: \w+)?)?"
            r" (speed|tempo|pace|rate|volume|loudness|level)",
            r"at less \1",
        ),
    )
)
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»|(?<!\w)'[^']+'(?!\w)|(?<!\w)‘[^’]+’(?!\w)")
_WORD = re.compile(r"[a-z']+|\"word\"")


def said_apart(text: str) -> str:
    """Lower case without a full stop or `caveats`, and "word" for what stands in quotation marks.

    What is spoken asks for nothing: `say "louder"`. Marks around all of a text say nothing. Two
    keys are an interval.
    """
    left = without_caveats(_QUOTED.sub('"word"', unquoted(text))).lower().rstrip(" .!?")
    return in_semitones(left)


def terms(text: str) -> set[str]:
    """The words of a text, each two side by side, and each with the way that those around it point.

    >>> sorted(terms("less noise"))
    ['->noise', '-noise', 'less', 'less noise', 'noise']
    """
    found: set[str] = set()
    for words in _clauses(text):
        found |= {" ".join(two) for two in itertools.pairwise(words)}
        for place, word in enumerate(words):
            found.add(word)
            before = _signs(words[max(0, place - _BEFORE) : place])
            after = _signs(words[place + 1 : place + 1 + _AFTER])
            if before:
                found |= {f"{_MARKS[prod(before)]}{word}", f"{_MARKS[before[-1]]}>{word}"}
            if after:
                found |= {f"{word}<{_MARKS[prod(after)]}", f"{word}<<{_MARKS[after[0]]}"}
    return found


_MARKS = {1: "+", -1: "-"}


def direction(text: str) -> int:
    """1, or -1 where the last clause asks for less; the one before is at times a complaint.

    >>> direction("it is too noisy, remove the hiss"), direction("make it brighter")
    (-1, 1)
    """
    sign, slow = 1, False
    for word in list(_clauses(text))[-1]:
        slow |= word.startswith(_SLOW)
        if POLARITY.get(word) == -1 and not (slow and word == "down"):
            sign = -sign
    return sign


def _clauses(text: str) -> Iterator[list[str]]:
    for pattern, word in _REWRITTEN:
        text = pattern.sub(word, text)
    for clause in re.split(r"[,;.:]| so | and not ", text):
        yield _WORD.findall(clause)


def _signs(words: list[str]) -> list[int]:
    return [POLARITY[word] for word in words if word in POLARITY]

"""The words of two captions, and which of them differ."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

# A word, or one character of a script that writes none between spaces.
_WORD = re.compile(r"[぀-ヿ㐀-鿿豈-﫿가-힯]|[^\W_぀-ヿ㐀-鿿豈-﫿가-힯]+(?:['’-][^\W_]+)*")

Parts = list[tuple[str, bool]]
"""A text in parts, each with whether it differs."""


def words(text: str) -> list[str]:
    """In lower case, without punctuation.

    >>> words("A dog's bark, 雨声.")
    ['a', "dog's", 'bark', '雨', '声']
    """
    return [found.group().lower() for found in _WORD.finditer(text)]


def marked(original: str, target: str) -> tuple[Parts, Parts]:
    """Both captions in parts, those marked whose words the other lacks at that place.

    Of a caption that is not there nothing can be told: where one has no words, none are marked.

    >>> marked("Rain falls.", "Rain falls, a dog barks.")[1]
    [('Rain falls, ', False), ('a dog barks', True), ('.', False)]
    """
    if not (words(original) and words(target)):
        return _parts(original, []), _parts(target, [])
    places = [[found.span() for found in _WORD.finditer(text)] for text in (original, target)]
    matcher = SequenceMatcher(None, words(original), words(target), autojunk=False)
    changes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    before = _parts(original, [places[0][a:b] for _, a, b, _, _ in changes])
    return before, _parts(target, [places[1][a:b] for _, _, _, a, b in changes])


def _parts(text: str, changed: list[list[tuple[int, int]]]) -> Parts:
    found: Parts = []
    end = 0
    for spans in filter(None, changed):
        start, stop = spans[0][0], spans[-1][1]
        found += [(text[end:start], False), (text[start:stop], True)]
        end = stop
    found.append((text[end:], False))
    return [part for part in found if part[0]]

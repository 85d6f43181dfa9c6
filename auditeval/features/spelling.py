"""Spellings of one word: British and American, and as it is mistyped."""

from __future__ import annotations

import re

_AMERICAN = {
    "aeroplane": "airplane",
    "centre": "center",
    "colour": "color",
    "favourite": "favorite",
    "grey": "gray",
    "harbour": "harbor",
    "humour": "humor",
    "labour": "labor",
    "mould": "mold",
    "moustache": "mustache",
    "mum": "mom",
    "neighbour": "neighbor",
    "plough": "plow",
    "pyjama": "pajama",
    "rumour": "rumor",
    "theatre": "theater",
    "tyre": "tire",
    "vapour": "vapor",
}
_WORDS = _AMERICAN | {f"{british}s": f"{american}s" for british, american in _AMERICAN.items()}


def american(word: str) -> str:
    """A word in lower case as it is spelled in America; where that is no other, as it is.

    >>> american("aeroplanes"), american("rain")
    ('airplanes', 'rain')
    """
    return _WORDS.get(word, word)


_ORDERS = (
    *("remove", "delete", "insert", "replace", "increase", "decrease", "reduce", "change"),
    *("raise", "lower", "louder", "quieter", "softer", "faster", "slower", "higher"),
)


def _letters(word: str) -> tuple[str, ...]:
    return word[0], *sorted(word)


_SWAPPED = {_letters(word): word for word in _ORDERS}
_SHORTENED = {
    word[:place] + word[place + 1 :]: word for word in _ORDERS[:7] for place in range(1, len(word))
}
_WORD = re.compile(r"(?<![\w'])[^\W\d_]{5,}(?![\w'])")


def mistyped(text: str) -> str:
    """A text in which words that ask for something have all their letters, in their order.

    >>> mistyped("Repalce the dog, incrase the pitch and mak it loduer.")
    'replace the dog, increase the pitch and mak it louder.'
    """
    return _WORD.sub(_mended, text)


def _mended(found: re.Match[str]) -> str:
    word = found[0].lower()
    mended = _SWAPPED.get(_letters(word)) or _SHORTENED.get(word, word)
    return found[0] if mended == word else mended

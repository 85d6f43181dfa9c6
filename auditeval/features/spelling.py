"""British and American spellings of one word, as captions of sounds have them."""

from __future__ import annotations

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

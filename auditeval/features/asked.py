"""Which sounds an edit is to add and to take away: by captions or, if these are alike, as told."""

from __future__ import annotations

import re

from auditeval.features.comparison import changed_words

_REPLACE = r"(?:replac\w*|swap\w*|substitut\w*|exchang\w*|chang\w*|turn\w*|convert\w*|transform\w*)"
_ADD = (
    r"(?:add\w*|insert\w*|includ\w*|introduc\w*|overlay\w*|layer\w*|bring in|mix in|put(?: in)?|"
    r"mix)"
)
_REMOVE = (
    r"(?:remov\w*|delet\w*|eras\w*|eliminat\w*|suppress\w*|silenc\w*|mut(?:e|ing)|drop\w*|"
    r"take (?:out|away)|get rid of|cut(?: out)?|filter(?: out)?|strip(?: out)?|leave out)"
)
_ASKED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_REPLACE}\s+(?P<gone>.+?)\s+(?:with|by|for|to|into)\s+(?P<new>.+)",
        rf"(?:\b{_ADD}\s+|^)(?P<new>.+?)\s+(?:instead of|in place of)\s+(?P<gone>.+)",
        rf"\b{_ADD}\s+(?P<new>.+?)\s+and\s+{_REMOVE}\s+(?P<gone>.+)",
        rf"\b{_REMOVE}\s+(?P<gone>.+?)\s+and\s+{_ADD}\s+(?P<new>.+)",
        rf"\b{_REMOVE}\s+(?P<gone>.+)",
        rf"\b{_ADD}\s+(?P<new>.+)",
    )
)
_WHERE = re.compile(
    r"\s+(?:from|to|in|into|on|onto|over|under|behind|throughout|at|of)\s+(?:the|this|that|my|it)\b"
    r"(?:\s+(?:audio|recording|clip|sound|track|scene|mix|mixture|background|file|original|whole|"
    r"entire|end|beginning|start|middle)\b.*)?$",
    re.IGNORECASE,
)
_NAMED = re.compile(r"^(?:the\s+|a\s+)?(?:sounds?|noises?|recording)\s+of\s+", re.IGNORECASE)


def asked_words(original_caption: str, target_caption: str, instruction: str) -> tuple[str, str]:
    """The words for what the edit is to add, and for what it is to take away; either may be "".

    Of the two captions (see `changed_words`); where these do not differ, of an instruction in
    English that names sounds. Other instructions ask for no sound to come or go.

    >>> asked_words("Rain.", "Rain with a dog barking.", "")
    ('with a dog barking', '')
    >>> asked_words("Rain.", "Rain.", "Please add a dog barking in the background.")
    ('a dog barking', '')
    >>> asked_words("Rain.", "Rain.", "Make it louder.")
    ('', '')
    """
    added, removed = changed_words(original_caption, target_caption)
    if added or removed:
        return added, removed
    for pattern in _ASKED:
        if found := pattern.search(instruction):
            named = found.groupdict()
            return _name(named.get("new")), _name(named.get("gone"))
    return "", ""


def _name(words: str | None) -> str:
    """Without where it is, the words "the sound of", and stops."""
    words = (words or "").strip(" .!?,;:\"'")
    return _NAMED.sub("", _WHERE.sub("", words)).strip(" .!?,;:\"'").lower()

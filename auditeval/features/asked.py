"""Which sounds an edit is to add and to take away: by captions or, if these are alike, as told."""

from __future__ import annotations

import re

from auditeval.features.caveats import without_caveats
from auditeval.features.comparison import changed_words

_START = (  # where an instruction tells what to do: elsewhere "drops" and "cuts" are things
    r"(?:(?:^|[,;:.!?]|\b(?:please|and|then|to|also|now|just|you|must|should|can|could|simply|first|"
    r"or|by|that|which|it|\w+ly))\s*\b)"
)
_REPLACE = r"(?:replac\w*|swap\w*|substitut\w*|exchang\w*|chang\w*|turn\w*|convert\w*|transform\w*)"
_ADD = (
    r"(?:add\w*|insert\w*|includ\w*|introduc\w*|overlay\w*|layer\w*|bring in|mix in|put(?: in)?|"
    r"mix)"
)
_REMOVE = (
    r"(?:remov\w*|delet\w*|eras\w*|eliminat\w*|suppress\w*|silenc\w*|mut(?:e|ing)|drop\w*|"
    r"take (?:out|away)|get rid of|cut(?: out)?|filter(?: out)?|strip(?: out| away)?|leave out)"
)
_AND = r"(?:\s*[,;.])?\s+(?:and |then |and then |but )(?:also )?"
_NEXT = re.compile(
    r"(?:\s*[,;.])?\s+(?:and|but|then|and then)\s+(?:also\s+)?(?:make|turn|raise|lower|increase|"
    r"decrease|reduce|boost|add|remove|change|convert|speed|slow|keep|leave|apply|give|set|let|have|"
    r"shift|mute|delete|replace)\b.*|\s*,\s*(?:convert|make|change)\b.*",
    re.IGNORECASE,
)
"""Where a name ends and another thing is asked for."""
_ASKED = tuple(
    re.compile(_START + pattern, re.IGNORECASE)
    for pattern in (
        r"substitut\w*\s+(?P<new>.+?)\s+for\s+(?P<gone>.+)",
        rf"{_REPLACE}\s+(?P<gone>.+?)\s+(?:with|by|for|to|into)\s+(?P<new>.+)",
        rf"(?:{_ADD}\s+|(?<!.))(?P<new>.+?)\s+(?:instead of|in place of)\s+(?P<gone>.+)",
        rf"{_ADD}\s+(?P<new>.+?){_AND}{_REMOVE}\s+(?P<gone>.+)",
        rf"{_REMOVE}\s+(?P<gone>.+?){_AND}{_ADD}\s+(?P<new>.+)",
        r"(?:take|cut|filter|get|pull|strip|edit|leave)\s+(?!out\b|away\b|rid\b)"
        r"(?P<gone>.+?)\s+(?:out|away)\b",
        rf"{_REMOVE}\s+(?P<gone>.+)",
        rf"{_ADD}\s+(?P<new>.+)",
    )
)
# How a sound sounds, and all but something, which names nothing that is to go.
_NO_SOUND = re.compile(
    r"\b(?:volume|loudness|level|gain|pitch|key|tempo|pace|speed|rate|length|duration)\b|"
    r"^(?:it|up|down)\b|\b(?:up|down)$|"
    r"^(?:everything|every|all|anything)\b.*\b(?:except|but|besides|apart from|other than)\b",
    re.IGNORECASE,
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
    text = without_caveats(instruction)
    found = [match for pattern in _ASKED if (match := pattern.search(text))]
    if not found:
        return "", ""
    # The first verb decides, and of the patterns that begin with it the first.
    named = min(found, key=lambda match: match.start()).groupdict()
    new, gone = (_name(named.get(side)) for side in ("new", "gone"))
    return ("", "") if _NO_SOUND.search(gone) else (new, gone)


def _name(words: str | None) -> str:
    """Without where it is, the words "the sound of", and stops."""
    words = _NEXT.sub("", words or "").strip(" .!?,;:\"'")
    return _NAMED.sub("", _WHERE.sub("", words)).strip(" .!?,;:\"'").lower()

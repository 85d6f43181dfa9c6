"""Which sounds an edit is to add and to take away: by captions or, if these are alike, as told."""

from __future__ import annotations

import re

from auditeval.features.caveats import without_caveats, without_courtesies
from auditeval.features.comparison import changed_words
from auditeval.features.kept import kept_alone, others
from auditeval.features.named import is_manner, is_no_sound, name, stems
from auditeval.features.wishes import wished

_START = (  # where an instruction tells what to do: elsewhere "drops" and "cuts" are things
    r"(?:(?:^|[,;:.!?]|\b(?:please|and|then|to|also|now|just|you|must|should|can|could|simply|first|"
    r"or|by|that|which|it|\w+ly)|"
    r"^(?:at|from|after|before|during|between|while|when)\b(?!.*[,;:.!?].)[^,;:.!?]{2,60}?\s)\s*\b)"
)
_REPLACE = (
    r"(?:replac\w*|swap\w*(?: out)?|substitut\w*|exchang\w*|chang\w*|turn\w*|convert\w*|"
    r"transform\w*)"
)
_ADD = (
    r"(?:add\w*|insert\w*|includ\w*|introduc\w*|overlay\w*|layer\w*|bring in|mix in|put(?: in)?|"
    r"mix)"
)
_REMOVE = (
    r"(?:remov\w*|delet\w*|eras\w*|eliminat\w*|suppress\w*|silenc\w*|mut(?:e|ing)|drop\w*(?! in\b)|"
    r"take (?:out|away)|get rid of|cut(?: out)?|filter(?: out)?|strip(?: out| away)?|leave out)"
)
_HERE = (
    r"(?:(?:(?:i|we)(?:'d| would)? (?:want|like|need|prefer)(?: to (?:hear|have))?|there should be|"
    r"(?:can|could) (?:we|i) (?:have|hear)|use|have|play|make it|give me|let me hear|"
    r"(?:the )?same(?: \w+)?,? (?:but )?with)\s+(?!you\b))?"
)
_AND = r"(?:(?:\s*[,;.])?\s+(?:and |then |and then |but )|\s*[,;.]\s+)(?:also )?"
_THEN = r":?\s+"
_LEAD = re.compile(
    r"\b(?:let's|lets|let us|(?:how|what) about|(?:would|do) you mind|help (?:me|us)|why not|"
    r"i(?:'d)? (?:would )?suggest|i(?:'d)? (?:would )?recommend|i'd|i would|we'd) "
    r"(?=(?!\w+(?:ed|s) )\w)",
    re.IGNORECASE,
)
# "I don't want to remove" asks for nothing.
_NEVER = re.compile(
    r"\b(?:do not|don't|never|not) (?:want|need|wish|like|have)(?: you| us)? to "
    rf"(?:{_REPLACE}|{_ADD}|{_REMOVE})\b[^,;.!?]*",
    re.IGNORECASE,
)
# Over what a sound is laid is there already.
_UPON = re.compile(
    r"\b((?:overlay|layer|superimpos|sprinkl)\w* [^,;:.!?]{2,80}?) "
    r"(?:over|on|onto|on top of|under|underneath|beneath|above|across) (?:the|this|that|my|it)\b"
    r"[^,;:.!?]*?(?=$|[,;:.!?]| and )",
    re.IGNORECASE,
)
_ASKED = tuple(
    re.compile(_START + pattern, re.IGNORECASE)
    for pattern in (
        rf"substitut\w*{_THEN}(?P<new>.+?)\s+for\s+(?P<gone>.+)",
        rf"{_REPLACE}{_THEN}(?P<gone>.+?)\s+(?:with|by|for|to|into)\s+(?P<new>.+)",
        rf"(?:{_ADD}\s+|(?<!.){_HERE})(?P<new>.+?)\s+(?:instead of|in place of)\s+(?P<gone>.+)",
        rf"{_ADD}{_THEN}(?P<new>.+?){_AND}{_REMOVE}{_THEN}(?P<gone>.+)",
        rf"{_REMOVE}{_THEN}(?P<gone>.+?){_AND}{_ADD}{_THEN}(?P<new>.+)",
        r"(?:take|cut|filter|get|pull|strip|edit|leave)\s+(?!out\b|away\b|rid\b)"
        r"(?P<gone>.+?)\s+(?:out|away)\b",
        rf"{_REMOVE}{_THEN}(?P<gone>.+)",
        r"(?:mix|put)\s+(?!in\b)(?P<new>[^,;.!?]+?)\s+in(?=$|[,;.!?])",
        rf"{_ADD}{_THEN}(?P<new>.+)",
    )
)


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
    text = _UPON.sub(r"\1", _NEVER.sub(" ", without_caveats(instruction)))
    new, gone = _told(text)
    kept = kept_alone(without_courtesies(instruction))
    if kept and not new and stems(gone) <= stems(kept):  # as in "pull the dog out on its own"
        return "", others(original_caption, kept)
    if not (new or gone) and not is_manner(led := _LEAD.sub("", text)):
        new, gone = _told(led)
        if new or gone:
            return new, gone
    if not (new and gone) and (wish := wished(text, original_caption)):
        new, gone = new or wish.new, gone or wish.gone
    return new, gone


def _told(text: str) -> tuple[str, str]:
    """What orders say: the first verb decides, and of the patterns that begin with it the first."""
    found = [match for pattern in _ASKED if (match := pattern.search(text))]
    if not found:
        return "", ""
    named = min(found, key=lambda match: match.start()).groupdict()
    new, gone = (name(named.get(side)) for side in ("new", "gone"))
    return ("", "") if is_no_sound(gone) else (new, gone)

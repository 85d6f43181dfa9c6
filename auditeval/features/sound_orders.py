"""Sounds that orders add, remove or exchange, one after the other: "replace the dog with a cat"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from auditeval.features.described import sounds
from auditeval.features.named import is_degree, is_manner, is_no_sound, name, qualities, stems

_START = (  # where an instruction tells what to do: elsewhere "drops" and "cuts" are things
    r"(?:(?:^|[,;:.!?]|\b(?:please|and|then|to|also|now|just|you|must|should|can|could|simply|first|"
    r"besides|apart from|aside from|in addition to|as well as|after|or|by|that|which|it|\w+ly)|"
    r"^(?:at|from|after|before|during|between|while|when)\b(?!.*[,;:.!?].)[^,;:.!?]{2,60}?\s)\s*\b)"
)
_REPLACE = (
    r"(?:replac\w*|swap\w*(?: out)?|substitut\w*|exchang\w*|chang\w*|turn\w*|convert\w*|"
    r"transform\w*|sub(?:b(?:ed|ing))?(?: out)?(?= the ))"
)
_ADD = (
    r"(?:add\w*|insert\w*|includ\w*|introduc\w*|overlay\w*|layer\w*|bring in|mix in|put(?: in)?|"
    r"mix)"
)
_REMOVE = (
    r"(?:remov\w*|delet\w*|eras\w*|eliminat\w*|suppress\w*|silenc\w*|mut(?:e|ing)|"
    r"drop\w*(?! (?:in|out)\b)|take (?:out|away)|get rid of|cut(?: out| off)?|filter(?: out)?|"
    r"strip(?: out| away)?|leave out)"
)
_HERE = (
    r"(?:(?:(?:i|we)(?:'d| would)? (?:want|like|need|prefer)(?: to (?:hear|have))?|there should be|"
    r"(?:can|could) (?:we|i) (?:have|hear)|use|have|(?:let|make)(?= (?:an?|some|another|the)\b)|"
    r"play|make it|give me|let me hear|(?:the )?same(?: \w+)?,? (?:but )?with)\s+(?!you\b))?"
)
_THEN = r":?\s+"
# "I don't want to remove" asks for nothing.
_NEVER = re.compile(
    r"\b(?:(?:do not|don't|never|not) (?:want|need|wish|like|have)(?: you| us)?|"
    rf"nothing(?: else)?) to (?:{_REPLACE}|{_ADD}|{_REMOVE})\b[^,;.!?]*",
    re.IGNORECASE,
)
# "Add, in the background, a crowd".
_ASIDE = re.compile(
    rf"\b({_ADD}|{_REMOVE}),\s+(?:in|at|near|behind|after|before|during) [^,;.!?]+,\s+",
    re.IGNORECASE,
)
_MAKE_IT = re.compile(
    r"\bmake (?:it|that|this) (?=(?:an?|some) [^,;.!?]+ instead\b(?! of))", re.IGNORECASE
)
_SUBSTITUTE = re.compile(r"\bsubstitut\w*\s.*\sfor\s", re.IGNORECASE)
# Over what a sound is laid is there already.
_UPON = re.compile(
    r"\b((?:overlay|layer|superimpos|sprinkl)\w* [^,;:.!?]{2,80}?) "
    r"(?:over|on|onto|on top of|under|underneath|beneath|above|across) (?:the|this|that|my|it)\b"
    r"[^,;:.!?]*?(?=$|[,;:.!?]| and )",
    re.IGNORECASE,
)
# Of what is told apart, the last: "the dog, not the rain".
_BUT_NOT = re.compile(
    r",?\s+(?:but |and )?not (?:the|an?|any|my|his|her|their)\b[^,;.!?]*", re.IGNORECASE
)
_NEXT_ORDER = re.compile(
    r"(?:^\s*|\s*[,;.&/+]\s*|\s+(?:and|then|but)\s+|\s+(?=\(?\d[.)]))"
    r"(?:(?:and|then|but|also|please|first|second|third|next|finally)(?:ly)?,?\s+|\(?\d[.)]\s*){0,4}"
    rf"(?=(?:{_REPLACE}|{_ADD}|{_REMOVE})\b)",
    re.IGNORECASE,
)
_ORDER = re.compile(rf"(?:{_REPLACE}|{_ADD}|{_REMOVE})\b", re.IGNORECASE)
_SEVERAL_ARROWS = re.compile(r"(?:->|=>|→|⇒).*(?:->|=>|→|⇒)")
_ARROW = re.compile(r"(?:^|[,;]\s*)([^,;:.!?<>=→⇒-]{2,60}?)\s*(?:->|=>|→|⇒)\s*")
_DROPPED = re.compile(rf"{_START}drop\w* (?:an?|some) ", re.IGNORECASE)
_PLACES = {"first": 0, "second": 1, "third": 2, "last": -1}
_NTH = re.compile(rf"the (?P<which>{'|'.join(_PLACES)}) (?:sound|event|noise|one|thing)")
_ALL_OF_IT = re.compile(
    r"everything|all of (?:it|this)|the whole (?:thing|clip|scene|audio|recording)"
)
_SOUNDS_ON = re.compile(
    r"\b(?:music|song|melod\w+|tune|sing\w*|speak\w*|talk\w*|speech|voice|sa(?:y|id)\w*|m[ae]n|"
    r"wom[ae]n|piano|guitar|violin|drum\w*)\b",
    re.IGNORECASE,
)
_OUTRIGHT = re.compile(r"\b(?:replac|swap|exchang|substitut)", re.IGNORECASE)
_NO_OTHER = re.compile(r"^the\b|\b(?:loop|ringtone|jingle|remix|sample)\b", re.IGNORECASE)
_THE_SAME = frozenset(("it", "that", "this", "them", "these", "those"))
_ASKED = tuple(
    re.compile(_START + pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:substitut\w*|(?:swap\w*|sub|switch\w*) in){_THEN}(?P<new>.+?)\s+for\s+(?P<gone>.+)",
        rf"(?:{_ADD}|use|place|play){_THEN}(?P<new>.+?)\s+where\s+(?P<gone>.+?)\s+"
        r"(?:was|were|is|are|used to be)(?=$|[,;.!?])",
        r"(?:replac\w*|swap\w*(?: out)?|substitut\w*)\s+(?P<by>with|by):?\s+(?P<new>.+)",
        rf"{_REPLACE}{_THEN}(?P<gone>.+?)\s+(?P<by>with|by|for|to|into)\s+(?P<new>.+)",
        rf"(?:{_ADD}\s+|(?:(?<!.)|(?<=: )){_HERE})(?P<new>[^:]+?)\s+"
        r"(?:instead of|in place of|in lieu of)\s+(?P<gone>.+)",
        r"(?:take|cut|filter|get|pull|strip|edit|leave)\s+(?!out\b|away\b|rid\b)"
        r"(?P<gone>.+?)(?<!\bfar)(?<!\bfurther)(?<!\bfarther)\s+(?:out|away)\b",
        rf"{_REMOVE}{_THEN}(?!(?:(?:out|off|away) )?(?:at|over|during|after|before)\b)(?P<gone>.+)",
        r"(?:mix|put)\s+(?!in\b)(?P<new>[^,;.!?]+?)\s+in(?=$|[,;.!?])",
        r"(?:mix|blend)\s+(?:it|(?:the|this|my|his|her) [^,;.!?]+?)\s+with\s+"
        r"(?P<new>(?!the\b)[^,;.!?]+)",
        rf"{_ADD}{_THEN}(?P<new>.+)",
    )
)
_SWAPPED = re.compile(
    rf"{_START}((?:swap|exchang|switch)\w*\s+)([^,;:.!?]{{2,60}}?)\s+and\s+([^,;:.!?]{{2,60}}?)(?=$|[.!?])",
    re.IGNORECASE,
)
# Where something is put that is there: "put the dog in a hall".
_PLACED = re.compile(
    r"(?:it|him|her|them|me|us|(?P<one>(?:the|this|my|his|her) \w+(?: \w+)?)) "
    r"(?:in|into|inside|behind|under|through|on|near|at|beside|next to)\b"
)
_KNOWN = re.compile(r"(?:the|this|my|his|her) ", re.IGNORECASE)
# When, or beside which sound of the caption, one is to come.
_BESIDE = re.compile(
    r"\s+(?:(?:right|just|shortly|immediately) )?(?:(?:after|before|while|when|once|during) "
    r"(?:the|it|he|she|they|that|this|his|her)\b.*|"
    r"(?:(?:next )?to|over|under|behind) the (?P<one>\w+)$)"
)
# "The instrument from piano" to another.
_FROM = re.compile(
    r"(?:it|this|that|(?P<what>(?:the|its|his|her|this|my) \w+(?: \w+)?)) from (?P<one>.+)",
    re.IGNORECASE,
)


def simpler(text: str, caption: str) -> str:
    """A text without caveats in orders that say the same, without those that are denied.

    >>> simpler("Swap the dog and the cat.", "A dog barks.")
    'replace the dog with the cat.'
    """
    text = _SWAPPED.sub(lambda found: _swap(found, caption), text)
    text = _UPON.sub(r"\1", _NEVER.sub(" ", text))
    text = _MAKE_IT.sub("replace it with ", _ASIDE.sub(r"\1 ", text))
    if _SEVERAL_ARROWS.search(text):
        text = _ARROW.sub(r"; replace \1 with ", text)
    return _BUT_NOT.sub("", text)


def ordered(text: str, caption: str) -> tuple[str, str]:
    """Names of what a text orders to come, and to go, beside this caption; "" where it does not.

    >>> ordered("remove the dog and add a bell", "A dog barks.")
    ('a bell', 'the dog')
    """
    new: dict[str, None] = {}
    gone: dict[str, None] = {}
    for order in _NEXT_ORDER.split(text):
        for comes, goes in _exchanged(order, caption):
            if _DROPPED.match(order) and not comes and _is_new(goes, caption):
                comes, goes = goes, ""  # "drop a thunderclap at 0:03"
            comes = _to_come(comes, caption)
            if goes in _THE_SAME:
                alone = "" if gone else _all_of(caption, order, comes)
                if not (gone or alone) and (goes == "it" or not comes or is_manner(comes)):
                    continue  # "find the dogs and delete them": a wish
                goes = alone  # none of "remove the dog and replace it with a cat"
            goes = _counted(goes, caption, comes)
            said = re.search(r"[\"“”«»]", order)
            how = not said and (is_degree(goes) or qualities(goes))  # "louder instead of quieter"
            if not (how or is_no_sound(goes)) and comes != "nothing":
                new |= dict.fromkeys([comes] if comes else [])
                gone |= dict.fromkeys([goes] if goes else [])
    return " and ".join(new), " and ".join(gone)


def begins_order(text: str) -> bool:
    """Whether a text begins with a verb that orders a sound to come or to go."""
    return bool(_ORDER.match(text))


def _swap(found: re.Match[str], caption: str) -> str:
    """Of two sounds that are to be swapped the one that is there gives way to one that is not."""
    one, other = found[2], found[3]
    there = [bool(stems(x) & stems(caption)) for x in (one, other)]
    if there[0] == there[1]:
        return found[0]
    start = found[0][: found.start(1) - found.start()]
    return start + ("replace {} with {}" if there[0] else "replace {1} with {0}").format(one, other)


def _all_of(caption: str, order: str, comes: str) -> str:
    """The one sound of a caption, where "it" is to give way to another; "" where it may be meant
    how it sounds: what is not replaced outright, and is a voice or music, stays one."""
    parts = sounds(caption)
    if len(parts) != 1 or not stems(caption) or not comes or is_manner(comes):
        return ""
    stays = _SOUNDS_ON.search(caption) or _NO_OTHER.search(comes)
    return "" if stays and not _OUTRIGHT.search(order) else name(parts[0])


def _counted(goes: str, caption: str, comes: str) -> str:
    """What goes by its name in the caption where it is called "the second sound", or, if something
    comes, all of it."""
    parts = sounds(caption)
    if (nth := _NTH.fullmatch(goes)) and (place := _PLACES[nth["which"]]) < len(parts):
        return name(parts[place])
    whole = comes and not is_manner(comes) and _ALL_OF_IT.fullmatch(goes)
    return " and ".join(map(name, parts)) if whole else goes


def _to_come(words: str, caption: str) -> str:
    """The name of what comes, "" of what is there; without what it is to come beside."""
    known = stems(caption)
    if (at := _PLACED.match(words)) and (not at["one"] or stems(at["one"]) <= known):
        return ""
    if _KNOWN.match(words) and (
        stems(words) <= known or (is_degree(words) and stems(words) & known)
    ):
        return ""  # "put the music in the background", "put the clock farther away"
    at = None if is_manner(words) else _BESIDE.search(words)
    return words[: at.start()] if at and (not at["one"] or stems(at["one"]) <= known) else words


def _exchanged(order: str, caption: str) -> Iterator[tuple[str, str]]:
    """Names of what comes and goes: the first verb decides, and of the patterns that begin with it
    the first. "The dog with a cat and the rain with wind" are two of each."""
    found = [match for pattern in _ASKED if (match := pattern.search(order))]
    if not found:
        return
    named = min(found, key=lambda match: match.start()).groupdict()
    new, gone, by = (named.get(part) or "" for part in ("new", "gone", "by"))
    if by and not gone:
        gone = "it"
    if _SUBSTITUTE.search(order) and _is_there(new, caption) and not _is_there(gone, caption):
        new, gone = gone, new  # "substitute the flute for a violin"
    of = _FROM.fullmatch(gone)
    if of and by in ("to", "into") and not is_no_sound(of["what"] or ""):
        gone = of["one"]
    again = re.compile(rf"(.+?)(?:,? and |, )([^,;.!?]{{2,60}}?) {by or 'for'} (.+)", re.IGNORECASE)
    while found_again := again.fullmatch(new if by else gone):
        first, second, third = found_again.groups()
        if not _is_there(second if by else third, caption):
            break
        yield name(first if by else new), name(gone if by else first)
        new, gone = (third, second) if by else (second, third)
    if new.lower() != "what if":  # "what if instead of the dog we had a cat": a wish
        yield name(new), name(gone)


def _is_new(words: str, caption: str) -> bool:
    """Whether words name a sound that the caption does not: no measure, part or manner of one."""
    return not (is_no_sound(words) or is_manner(words) or stems(words) & stems(caption))


def _is_there(words: str, caption: str) -> bool:
    if not caption:
        return words.lower().startswith("the ")
    return bool(stems(words) & stems(caption))

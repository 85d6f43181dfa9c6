"""Which sounds an edit is to add and to take away: by captions or, if these are alike, as told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from auditeval.features.caveats import unquoted, without_caveats, without_courtesies
from auditeval.features.changes.differing import asked_alone, of_measure
from auditeval.features.comparison import changed_words, same_words
from auditeval.features.described import captions_of, others, pieces_of
from auditeval.features.kept import kept_alone
from auditeval.features.named import is_manner, is_no_sound, name, stems
from auditeval.features.reworded import Alike, called_in, in_words_of
from auditeval.features.wishes import wished

_START = (  # where an instruction tells what to do: elsewhere "drops" and "cuts" are things
    r"(?:(?:^|[,;:.!?]|\b(?:please|and|then|to|also|now|just|you|must|should|can|could|simply|first|"
    r"besides|apart from|aside from|in addition to|as well as|after|or|by|that|which|it|\w+ly)|"
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
    r"(?:remov\w*|delet\w*|eras\w*|eliminat\w*|suppress\w*|silenc\w*|mut(?:e|ing)|"
    r"drop\w*(?! (?:in|out)\b)|take (?:out|away)|get rid of|cut(?: out| off)?|filter(?: out)?|"
    r"strip(?: out| away)?|leave out)"
)
_HERE = (
    r"(?:(?:(?:i|we)(?:'d| would)? (?:want|like|need|prefer)(?: to (?:hear|have))?|there should be|"
    r"(?:can|could) (?:we|i) (?:have|hear)|use|have|let(?= (?:an?|some|another)\b)|play|make it|"
    r"give me|let me hear|(?:the )?same(?: \w+)?,? (?:but )?with)\s+(?!you\b))?"
)
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
# No verb at all: "thunder at the end".
_BARE = re.compile(
    r"(?!(?:silen\w+|quiet|nothing|stop|cut|end|fade|more|less|no|not|only|just|is|are|\w+ing)\b)"
    r"([^\W\d_]+(?: [^\W\d_]+)?) (?:at|in) the (?:end|beginning|start|middle|background|distance)"
    r"(?: of (?:it|the \w+))?[.!]*$",
    re.IGNORECASE,
)
_MOST = 2000  # characters of a caption
# "Music without vocals", "a dog, no rain": of captions.
_ABSENT = re.compile(
    r"(?:(?:\s*[,;.]|\s+(?:and|but|with)\b)+\s*(?:without|no)|^no|\s+without)\s+(?:any |the |an? )?"
    r"(?P<what>[^,;.!?]+?)(?=$|[,;.!?]|\s(?:and|but|while|as|with)\b)",
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
_QUOTED = re.compile(r"[\"“”«»]")  # words that are said
_THE_SAME = frozenset(("it", "that", "this", "them", "these", "those"))
_ASKED = tuple(
    re.compile(_START + pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:substitut\w*|(?:swap\w*|sub|switch\w*) in){_THEN}(?P<new>.+?)\s+for\s+(?P<gone>.+)",
        rf"(?:{_ADD}|use|place|play){_THEN}(?P<new>.+?)\s+where\s+(?P<gone>.+?)\s+"
        r"(?:was|were|is|are|used to be)(?=$|[,;.!?])",
        rf"{_REPLACE}{_THEN}(?P<gone>.+?)\s+(?P<by>with|by|for|to|into)\s+(?P<new>.+)",
        rf"(?:{_ADD}\s+|(?:(?<!.)|(?<=: )){_HERE})(?P<new>[^:]+?)\s+"
        r"(?:instead of|in place of|in lieu of)\s+(?P<gone>.+)",
        r"(?:take|cut|filter|get|pull|strip|edit|leave)\s+(?!out\b|away\b|rid\b)"
        r"(?P<gone>.+?)(?<!\bfar)(?<!\bfurther)(?<!\bfarther)\s+(?:out|away)\b",
        rf"{_REMOVE}{_THEN}(?P<gone>.+)",
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
_KEEP_NOT = re.compile(
    r"\b(?:keep|leave|retain|preserve)\s+[^,;:.!?]{2,60}?,?\s+(?:but|and)\s+not\s+(?=the\b|any\b)",
    re.IGNORECASE,
)
# Of music, what is left without, and of, who sings; "the instrumental" is a sound.
_INSTRUMENTAL, _A_CAPPELLA = (
    re.compile(
        r"\b(?:make|turn|convert|give|create|produce|render|want|need|get)"
        r"(?: (?:me|us|it|this|that|into|to|(?:the|this|my) (?:song|track|music|clip)))*"
        rf" (?:an? )?(?:{kind})(?: version| track| mix| one)?(?= of (?:it|this|the)\b|[,;.!?]|$)",
        re.IGNORECASE,
    )
    for kind in ("instrumental|karaoke", r"a[ -]?cap+ell?a")
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
_BACKGROUND = re.compile(
    r"(?:(?:the|any|all)\s+)*(?:background|ambient)(?:\s+(?:sound|noise)s?)?", re.IGNORECASE
)


class Asked(NamedTuple):
    """What words ask of a pair: its captions, and the words for what is to come and to go."""

    original_caption: str
    target_caption: str
    added: str
    removed: str


NOTHING_SAID = "audio"
"""Stands for the caption of an original that nothing is said of."""


def told(original_caption: str, target_caption: str, instruction: str) -> tuple[str, str]:
    """The captions; where one is empty, and there is an instruction, that of the original as both.

    >>> told("Rain.", "", "Add a dog."), told("", "A dog.", "Add a dog."), told("", "A dog.", "")
    (('Rain.', 'Rain.'), ('audio', 'audio'), ('', 'A dog.'))
    """
    if instruction.strip() and not (original_caption.strip() and target_caption.strip()):
        original_caption = target_caption = original_caption.strip() or NOTHING_SAID
    return original_caption, target_caption


def asked(
    original_caption: str, target_caption: str, instruction: str, alike: Alike | None = None
) -> Asked:
    """What is asked by captions that differ or, where they do not, by the instruction.

    The captions are then those of both clips as they would be if it was followed. With `alike`, a
    sound that stays is called the same in both (see `reworded`).

    >>> asked("Rain while a dog barks.", "Rain while a dog barks.", "Remove the dog.")[:2]
    ('Rain while a dog barks', 'Rain')
    >>> asked("", "", "Remove the dog.")[:2]
    ('audio and the dog', 'audio')
    """
    instruction = unquoted(instruction)
    before, after = told(original_caption, target_caption, instruction)
    as_they_are = _ABSENT.search(before) or _ABSENT.search(after) or asked_alone(before, after)
    if alike is not None and not as_they_are:
        after = in_words_of(before, after, alike)
    new, gone = asked_words(before, after, instruction, alike)
    if _BACKGROUND.fullmatch(gone):
        behind = [name(x) for x in pieces_of(before) if "background" in x.lower()]
        gone = " and ".join(behind) or gone
    if (new or gone) and same_words(before, after):
        spoken = is_manner(new) or _QUOTED.search(instruction)
        meant = gone if alike is None or spoken else called_in(before, gone, alike)
        before, after = captions_of(before, new, meant)
    return Asked(before, after, new, gone)


def asked_words(
    original_caption: str, target_caption: str, instruction: str, alike: Alike | None = None
) -> tuple[str, str]:
    """The words for what the edit is to add, and for what it is to take away; either may be "".

    Of the two captions (see `changed_words`); where these do not differ, of an instruction in
    English that names sounds. Other instructions ask for no sound to come or go.

    >>> asked_words("Rain.", "Rain with a dog barking.", "")
    ('with a dog barking', '')
    >>> asked_words("Music with vocals.", "Music without vocals.", "")
    ('', 'with vocals')
    >>> asked_words("Rain.", "Rain.", "Please add a dog barking in the background.")
    ('a dog barking', '')
    >>> asked_words("Rain.", "Rain.", "Make it louder.")
    ('', '')
    """
    (before, absent), (after, absent_after) = map(_present, (original_caption, target_caption))
    if alone := asked_alone(before, after):
        return alone, ""
    added, removed = changed_words(before, after)
    added, removed = of_measure(added, after), of_measure(removed, before)
    away = [x for x in absent_after if x not in absent and not stems(x) <= stems(removed)]
    removed = " ".join([removed, *away]).strip()
    if added or removed:
        return added, removed
    instruction = _INSTRUMENTAL.sub("remove the vocals", instruction)
    instruction = _A_CAPPELLA.sub("keep only the vocals", instruction)
    text = without_caveats(_KEEP_NOT.sub("remove ", instruction))
    text = _SWAPPED.sub(lambda found: _swap(found, original_caption), text)
    text = _UPON.sub(r"\1", _NEVER.sub(" ", text))
    if _SEVERAL_ARROWS.search(text):
        text = _ARROW.sub(r"; replace \1 with ", text)
    text = _BUT_NOT.sub("", text)
    new, gone = _told(text, original_caption)
    kept = kept_alone(without_courtesies(instruction))
    if kept and not new and stems(gone) <= stems(kept):  # as in "pull the dog out on its own"
        if alike is not None and not _ORDER.match(kept):  # no "replace the vocal identity only"
            kept = called_in(original_caption, kept, alike)
        return "", others(original_caption, kept)
    if not (new or gone) and not is_manner(led := _LEAD.sub("", text)):
        new, gone = _told(led, original_caption)
        if new or gone:
            return new, gone
    if not (new and gone) and (wish := wished(text, original_caption)):
        new, gone = new or wish.new, gone or wish.gone
    if not (new or gone) and (bare := _BARE.match(text)) and not is_manner(bare[1]):
        new = name(bare[1]) if stems(bare[1]) - stems(original_caption) else ""
    return new, gone


def _present(caption: str) -> tuple[str, list[str]]:
    """A caption without the sounds that it says are not there, and their names."""
    absent: list[str] = []

    def left(found: re.Match[str]) -> str:
        if is_manner(found["what"]) or not stems(found["what"]):  # "without echo" is how it sounds
            return found[0]
        absent.append(name(found["what"]))
        return ""

    return _ABSENT.sub(left, caption[:_MOST]) + caption[_MOST:], absent


def _swap(found: re.Match[str], caption: str) -> str:
    """Of two sounds that are to be swapped the one that is there gives way to one that is not."""
    one, other = found[2], found[3]
    there = [bool(stems(x) & stems(caption)) for x in (one, other)]
    if there[0] == there[1]:
        return found[0]
    start = found[0][: found.start(1) - found.start()]
    return start + ("replace {} with {}" if there[0] else "replace {1} with {0}").format(one, other)


def _told(text: str, caption: str) -> tuple[str, str]:
    """What orders say, one after the other."""
    new: dict[str, None] = {}
    gone: dict[str, None] = {}
    for order in _NEXT_ORDER.split(text):
        for comes, goes in _exchanged(order, caption):
            if _DROPPED.match(order) and not comes and _is_new(goes, caption):
                comes, goes = goes, ""  # "drop a thunderclap at 0:03"
            comes = _to_come(comes, caption)
            if goes in _THE_SAME:
                if not gone and (goes == "it" or not comes or is_manner(comes)):
                    continue  # "find the dogs and delete them": a wish
                goes = ""  # "remove the dog and replace it with a cat"
            if not is_no_sound(goes) and comes != "nothing":
                new |= dict.fromkeys([comes] if comes else [])
                gone |= dict.fromkeys([goes] if goes else [])
    return " and ".join(new), " and ".join(gone)


def _to_come(words: str, caption: str) -> str:
    """The name of what comes, "" of what is there; without what it is to come beside."""
    known = stems(caption)
    if (at := _PLACED.match(words)) and (not at["one"] or stems(at["one"]) <= known):
        return ""
    if _KNOWN.match(words) and stems(words) <= known:  # "put the music in the background"
        return ""
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
    again = re.compile(rf"(.+?)(?:,? and |, )([^,;.!?]{{2,60}}?) {by or 'for'} (.+)", re.IGNORECASE)
    while found_again := again.fullmatch(new if by else gone):
        first, second, third = found_again.groups()
        if not _is_there(second if by else third, caption):
            break
        yield name(first if by else new), name(gone if by else first)
        new, gone = (third, second) if by else (second, third)
    yield name(new), name(gone)


def _is_new(words: str, caption: str) -> bool:
    """Whether words name a sound that the caption does not: no measure, part or manner of one."""
    return not (is_no_sound(words) or is_manner(words) or stems(words) & stems(caption))


def _is_there(words: str, caption: str) -> bool:
    if not caption:
        return words.lower().startswith("the ")
    return bool(stems(words) & stems(caption))

"""Which sounds an edit is to add and to take away: by captions or, if these are alike, as told."""

from __future__ import annotations

import re
from typing import NamedTuple

from auditeval.features.caveats import unquoted, without_caveats, without_courtesies
from auditeval.features.changes.differing import asked_alone, of_measure
from auditeval.features.comparison import changed_words, same_words
from auditeval.features.described import captions_of, others, pieces_of
from auditeval.features.kept import kept_alone
from auditeval.features.named import is_manner, name, stems
from auditeval.features.reworded import Alike, called_in, in_words_of
from auditeval.features.sound_orders import begins_order, ordered, simpler
from auditeval.features.wishes import wished

_LEAD = re.compile(
    r"\b(?:let's|lets|let us|(?:how|what) about|(?:would|do) you mind|help (?:me|us)|why not|"
    r"i(?:'d)? (?:would )?suggest|i(?:'d)? (?:would )?recommend|i'd|i would|we'd) "
    r"(?=(?!\w+(?:ed|s) )\w)",
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
_QUOTED = re.compile(r"[\"“”«»]")  # words that are said
_KEEP_NOT = re.compile(
    r"\b(?:keep|leave|retain|preserve)\s+[^,;:.!?]{2,60}?,?\s+(?:but|and)\s+not\s+(?=the\b|any\b)",
    re.IGNORECASE,
)
# Of music, what is left without, and of, who sings; "the instrumental" is a sound.
_INSTRUMENTAL, _A_CAPPELLA = (
    re.compile(
        r"(?:\b(?:make|turn|convert|give|create|produce|render|want|need|get)"
        r"(?: (?:me|us|it|this|that|into|to|(?:the|this|my) (?:song|track|music|clip)))* |^)"
        rf"(?:an? )?(?:{kind})(?: version| track| mix| one)?(?= of (?:it|this|the)\b|[,;.!?]|$)",
        re.IGNORECASE,
    )
    for kind in ("instrumental|karaoke", r"a[ -]?cap+ell?a")
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
    instruction = without_courtesies(instruction)
    instruction = _INSTRUMENTAL.sub("remove the vocals", instruction)
    instruction = _A_CAPPELLA.sub("keep only the vocals", instruction)
    text = without_caveats(_KEEP_NOT.sub("remove ", instruction))
    text = simpler(text, original_caption)
    new, gone = ordered(text, original_caption)
    kept = kept_alone(instruction)
    if kept and not new and stems(gone) <= stems(kept):  # as in "pull the dog out on its own"
        if alike is not None and not begins_order(kept):  # no "replace the vocal identity only"
            kept = called_in(original_caption, kept, alike)
        return "", others(original_caption, kept)
    if not (new or gone) and not is_manner(led := _LEAD.sub("", text)):
        new, gone = ordered(led, original_caption)
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

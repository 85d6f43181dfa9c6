"""Sounds that an instruction wishes here or away without an order: "there should be no rain"."""

from __future__ import annotations

import re
from typing import NamedTuple

from auditeval.features.named import bare, is_manner, name, stems, untimed
from auditeval.features.wish_patterns import WISHES


class Wish(NamedTuple):
    """Names of sounds, "" where none is meant, and where in the text it stands."""

    new: str
    gone: str
    start: int
    stop: int


# What sounds already: that it is to be there asks for something else.
_KNOWN = re.compile(
    r"(?:the (?!(?:sounds?|noises?) of)|(?:this|that|these|those|its?|his|her|my|our|their|your|"
    r"all|both|each|every\w*)\b|\w+'s\b)",
    re.IGNORECASE,
)
# How it is to sound, as much as what.
_HOW = re.compile(
    r"\b(?:as if|as though|like|through|behind|far|distant|inside|within|away|close|near|nearby|"
    r"under|\w+ly|high|low|deep|loud|quiet|soft|fast|slow|angry|sad|calm|happy)\b|"
    r"\b(?:in|from|at|into|on|over) an?\b",
    re.IGNORECASE,
)
_TO = re.compile(
    r"^((?:the|an?|some|another|that|my) \w+(?: \w+)?) to (?!the\b|an?\b|my\b)(?=\w+$)",
    re.IGNORECASE,
)
# Beside whom or what a sound is to be, and that it is to sound.
_BESIDE = re.compile(
    r" (?:behind|beside|next to|in front of|near) (?:the|him|her|them)\b.*$|"
    r" to (?:go off|come in|kick in|set in)\b.*$| in the (?:distance|background)$",
    re.IGNORECASE,
)
_NOISE = re.compile(r" noises?$", re.IGNORECASE)
_PERSON = re.compile(
    r"\b(?:man|woman|boy|girl|lady|gentleman|person|male|female|(?:grand)?(?:mother|father)|"
    r"actor|actress|singer|vocalist|speaker|teacher|queen|king|host|someone|somebody|people)\b",
    re.IGNORECASE,
)


def wished(text: str, caption: str = "") -> Wish | None:
    """What a text without caveats wishes here or away, None where it tells no such thing.

    What the caption has already is not wished here: so one asks for another manner of it.

    >>> wished("There should be a dog barking.")[:2], wished("No more rain!")[:2]
    (('a dog barking', ''), ('', 'rain'))
    >>> wished("I want a deeper voice."), wished("There should be rain.", "Rain falls.")
    (None, None)
    """
    found = sorted(
        (
            wish
            for pattern in WISHES
            if (match := pattern.search(text)) and (wish := _wish(match, caption))
        ),
        key=lambda wish: wish.start,
    )
    if not found:
        return None
    first = found[0]
    for later in found[1:]:
        both = (first.new or later.new, first.gone or later.gone)
        if later.start >= first.stop and all(both) and not (later.new and later.gone):
            return Wish(*both, first.start, later.stop)
    return first


def wishes_event(text: str) -> bool:
    """Whether a text wishes a sound here or away, and says nothing of how one is to sound."""
    wish = wished(text)
    return wish is not None and not _HOW.search(f"{wish.new} {wish.gone}")


def _wish(match: re.Match[str], caption: str) -> Wish | None:
    groups = match.groupdict()
    new, gone = groups.get("new") or groups.get("falls") or "", groups.get("gone") or ""
    if there := groups.get("there"):  # elsewhere the same words mean something else
        if not (stems(there) and stems(there) <= stems(caption)):
            return None
        gone = there
    if _PERSON.search(new) and (does := groups.get("does")):  # who does it is hardly a sound
        new += f" {does}"
    alone = _NOISE.sub("", gone)
    if stems(alone) & stems(caption):
        gone = alone
    sides = [untimed(_BESIDE.sub("", new)), untimed(gone)]
    if any(is_manner(bare(side)) for side in sides) or all(map(_PERSON.search, sides)):
        return None
    new, gone = (_TO.sub(r"\1 ", name(side)) for side in sides)
    if not (new or gone) or (new and not gone and not _comes(sides[0], caption)):
        return None
    return Wish(new, gone, *match.span())


def _comes(words: str, caption: str) -> bool:
    if _KNOWN.match(words):
        return False
    what = _HOW.split(words)[0]
    return bool(re.match(r"another\b", words, re.I) or stems(what) - stems(caption))

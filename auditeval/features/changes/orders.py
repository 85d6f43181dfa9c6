"""What an instruction orders, one thing after the other."""

from __future__ import annotations

import re

from auditeval.features.changes.amounts import find_amount
from auditeval.features.named import ADJECTIVE, ADVERB

_VERB = (
    r"(?:(?:add|insert|introduce|apply|give|put|make|raise|lower|increase|decrease|reduce|boost|"
    r"remove|delete|change|convert|turn|transpose|amplify|attenuate|bring|halve|mute|replace|swap|"
    r"brighten|darken|muffle|distort|compress|denoise)\b|"
    r"(?:speed|slow|pitch|shift|double|cut|drop) (?:it|the|this|that|him|her|them|up|down)\b|"
    r"(?:speak|talk|read|sing) (?:\w+er|\w+ly|up|more|less|with|in)\b)"
)
_LINK = r"(?:,? (?:and|then|but|[&+])|[,;.])"
_NEXT = re.compile(
    rf"{_LINK}(?: (?:and|then|also|please|finally|next),?)* (?={_VERB}(?! (?:by|to|of)\b))"
)
_FIRST = re.compile(
    rf"(?:(?:please|first|now|just|can you|could you|i want you to|let's) )*{_VERB}|"
    rf"(?:\w+ )?\w+{_NEXT.pattern}"  # "reverb + lower the pitch"
)
_COMPARATIVE = (
    r"(?:more|less|louder|quieter|softer|higher|lower|deeper|faster|slower|quicker|brighter|darker|"
    r"duller|warmer|clearer|cleaner|drier|noisier|calmer|angrier|happier|sadder|livelier|crisper)\b"
)
_AND = r"(?:,| and|, and| but|, but| [&+])(?: also)? "
_LEVEL = r"(?:louder|quieter|softer|higher|lower|up|down|loud|quiet|soft)"
# Of "make him louder and slower" the second is "make him slower".
_ELIDED = (
    re.compile(  # one sound and another
        r"(?P<lead>(?:(?:\w+ )*?(?:make|turn|bring|let|get|have|want) )?)"
        rf"(?P<one>(?:the|his|her|my|their) [^,;]*? {_LEVEL}){_AND}"
        rf"(?P<other>(?:the|his|her|my|their) [^,;]*? {_LEVEL}\b.*)"
    ),
    re.compile(
        rf"(?P<lead>[^,;]*?\b)(?P<one>{_COMPARATIVE}[^,;]*?|(?<=sound )\w+){_AND}"
        rf"(?P<other>(?:an? )?{_COMPARATIVE}.*)"
    ),
    re.compile(
        r"(?P<lead>(?:[^,;]* )?(?:make|let|have|speak|talk|sing|play|sound|be)\b[^,;]*?(?<= ))"
        rf"(?P<one>{ADJECTIVE}|{ADVERB}){_AND}(?P<other>{ADJECTIVE}|{ADVERB})"
    ),
    re.compile(
        r"(?P<lead>(?:\w+ )*?(?:add|apply|remove|reduce|eliminate|suppress|raise|increase|lower|"
        r"decrease|boost|turn up|turn down) )"
        rf"(?P<one>(?:(?:the|any|some|an?) )?\w+(?: \w+)?(?: by [^,;]+?)?){_AND}"
        r"(?P<other>(?:(?:the|any|some|an?) )?\w+(?: \w+)?(?: by [^,;]+)?)"
    ),
)
_NEXT_AMOUNT = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_AND}(?!(?:an?|one) (?:half|quarter|third)\b)",
        r" (?=at (?:[\d.]+|half|double|twice|triple)\b)",
    )
)


def orders(text: str) -> list[str]:
    """The orders of a text that `said_apart` left; the text alone where it is no list of them.

    >>> orders("raise the pitch and make it louder"), orders("a man speaks and drops a pan")
    (['raise the pitch', 'make it louder'], ['a man speaks and drops a pan'])
    """
    return _NEXT.split(text) if _FIRST.match(text) else [text]


def in_full(order: str) -> list[str]:
    """Two orders that share a verb, each with it; two that are an amount each.

    >>> in_full("make it slower and deeper"), in_full("remove the noise and the echo")
    (['make it slower', 'make it deeper'], ['remove the noise', 'remove the echo'])
    >>> in_full("up 3 semitones and 20% faster"), in_full("up a semitone and a half")
    (['up 3 semitones', '20% faster'], ['up a semitone and a half'])
    """
    found = next(filter(None, (pattern.fullmatch(order) for pattern in _ELIDED)), None)
    if found is None:
        for parts in (pattern.split(order) for pattern in _NEXT_AMOUNT):
            amounts = filter(None, map(find_amount, parts))
            if len({amount.unit for amount in amounts}) == len(parts) > 1:
                return parts
        return [order]
    lead = found["lead"]
    return [lead + found["one"], *in_full(lead + found["other"])]

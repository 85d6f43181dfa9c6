"""What an instruction orders, one thing after the other."""

from __future__ import annotations

import re

_VERB = (
    r"(?:(?:add|insert|introduce|apply|give|put|make|raise|lower|increase|decrease|reduce|boost|"
    r"remove|delete|change|convert|turn|transpose|amplify|attenuate|bring|halve|mute|replace|swap|"
    r"brighten|darken|muffle|distort|compress|denoise)\b|"
    r"(?:speed|slow|pitch|shift|double|cut|drop) (?:it|the|this|that|him|her|them|up|down)\b)"
)
_FIRST = re.compile(
    rf"(?:(?:please|first|now|just|can you|could you|i want you to|let's) )*{_VERB}"
)
_NEXT = re.compile(
    r"(?:,? (?:and|then|but)|[,;.])(?: (?:and|then|also|please|finally|next),?)* "
    rf"(?={_VERB}(?! (?:by|to|of)\b))"
)


def orders(text: str) -> list[str]:
    """The orders of a text that `said_apart` left; the text alone where it is no list of them.

    >>> orders("raise the pitch and make it louder"), orders("a man speaks and drops a pan")
    (['raise the pitch', 'make it louder'], ['a man speaks and drops a pan'])
    """
    if not _FIRST.match(text) or '"' in text:
        return [text]
    return _NEXT.split(text)

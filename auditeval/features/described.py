"""The sounds that a caption names, and what an edit leaves of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from auditeval.features.named import ADJECTIVE, between_qualities, name, stems

_NAMES = re.compile(r"\s+(?:and|as well as|plus)\s+|,\s*", re.IGNORECASE)
_MOST = 2000  # characters of a caption
_START = r"(?:an?|the|some|someone|somebody|people|several|many|two|three|another|other|children)\b"
_LINK = re.compile(
    rf",? (?:(?:and|then|and then|while|as|when|whilst|followed by|before|after|together with|"
    rf"along with|accompanied by|over|with)(?: then)?) |, (?={_START}|"
    rf"{ADJECTIVE} (?!and\b|but\b)\w|"
    r"(?:(?!now\b|\w*(?:[^s\W]s|ed|ing)\b)\w+ )?\w+(?:-\w+)?,? and |"
    r"(?:\w+ ){1,2}\w+ing\b)| ?[.!?;+&] ",
    re.IGNORECASE,
)
_LINK_OR_COMMA = re.compile(f"{_LINK.pattern}|, ", re.IGNORECASE)
_LIST = re.compile(r"[^,.;]+(?:,(?: [^\s,.;]+){1,4}){2,}")  # "footsteps, birds singing, traffic"
_SAME = re.compile(r"(?:it|he|she|they|its|his|her|their|if|though|well)\b", re.IGNORECASE)
_HAPPENS = re.compile(
    r"\s\w+ing(?=$| (?:in|on|at|by|past|over|near|from|and)\b)|\bin the (?:back|fore)ground\b|"
    r"\b(?:music|noise|sounds?)$",
    re.IGNORECASE,
)
_SUNG = re.compile(r"\b(?:sings?|singing|sang|raps?|rapping|rapped)$", re.IGNORECASE)
_INSTRUMENT = re.compile(
    r"^(?:an? |the )?(?:\w+ )?(?:piano|guitars?|drums?|violins?|strings|orchestra|organ|keyboards?|"
    r"synth\w*|ukulele|banjo|harp|flute|cello|accordion|bass|band|beat|backing track)$",
    re.IGNORECASE,
)
_OF = re.compile(
    r" (?:in|of|on|from|at|over|under|near|behind|by|with|after|before|while|when|during|"
    r"(?:that|which) (?:is|are|was|were|can|occurs?|happens?|comes?|starts?|appears?|follows?)) ",
    re.IGNORECASE,
)
_NEAR = re.compile(
    r" (near|next to|beside|besides|amid|amidst|against|in front of|behind|over|above|under|during|"
    r"in(?! (?:the |a )?(?:\w+ )?(?:distance|background|foreground|front|room|hall)\b)) ",
    re.IGNORECASE,
)


def others(caption: str, kept: str) -> str:
    """The sounds of a caption that are not the one kept; "" where it does not tell them apart.

    >>> others("Rain falls while a dog barks.", "the dog"), others("A dog barks.", "the dog")
    ('rain falls', '')
    """
    parts = sounds(caption)
    stays, unnamed = _places(parts, kept)
    if unnamed:
        return ""
    return " and ".join(name(part) for place, part in enumerate(parts) if place not in stays)


def captions_of(caption: str, new: str, gone: str) -> tuple[str, str]:
    """The captions of an original and of its edit, by one that both have and what is to change.

    What is to go sounds in the original, whether its caption names it or not.

    >>> captions_of("Rain falls while a dog barks.", "", "the dog")
    ('Rain falls while a dog barks', 'Rain falls')
    >>> captions_of("A dog barks near traffic.", "a cat", "the dog")
    ('A dog barks near traffic', 'traffic and a cat')
    >>> captions_of("Rain.", "", "the rain"), captions_of("Rain.", "", "the hum in the rain")
    (('Rain', 'silence'), ('Rain and the hum in the rain', 'Rain'))
    """
    parts = sounds(caption)
    goes, unnamed = _places(parts, gone)
    stays = [_beside(part, gone) if place in goes else part for place, part in enumerate(parts)]
    whole = " ".join(caption.split()).strip(" .!?")
    before = [whole, *unnamed]
    after = [*(stays if goes else [whole]), new]
    return " and ".join(filter(None, before)), " and ".join(filter(None, after)) or "silence"


def pieces_of(caption: str) -> list[str]:
    """As `sounds`, and what sounds near another apart: "a dog barks", "traffic"."""
    split = [_NEAR.split(part, 1)[::2] for part in sounds(caption)]
    return [piece for pieces in split for piece in pieces if stems(piece)]


def names_of(names: str) -> list[str]:
    """Each of "the dog, the cat and the rain"."""
    return [one for one in _NAMES.split(names) if one]


def head_of(one: str) -> str:
    """ "The barking" of "the barking of the dog"."""
    return _OF.split(one, 1)[0]


def _beside(part: str, gone: str) -> str:
    """What else sounds in a part of a caption: of "a dog barks near traffic" the other of both."""
    first, near, second = _NEAR.split(part, 1) if _NEAR.search(part) else (part, "", "")
    shared = [len(stems(side) & stems(gone)) for side in (first, second)]
    if shared[0] == shared[1] or not near:
        return ""
    return first if shared[1] > shared[0] else second


def _places(parts: Sequence[str], names: str) -> tuple[set[int], list[str]]:
    """Which sounds of a caption have these names, and the names that none has."""
    found: set[int] = set()
    unnamed = []
    for one in names_of(names):
        head = head_of(one)
        meant = stems(head) or stems(one)
        shared = [len(stems(part) & meant) for part in parts]
        if max(shared, default=0):
            found |= {place for place, count in enumerate(shared) if count == max(shared)}
        else:
            unnamed.append(one)
    return found, unnamed


def sounds(caption: str) -> list[str]:
    """Clauses and names of a caption that are each a sound of their own."""
    caption = " ".join(caption[:_MOST].split()).strip(" .!?")
    parts, link, start = [""], "", 0
    inside = between_qualities(caption)
    for found in [*(_LINK_OR_COMMA if _is_list(caption) else _LINK).finditer(caption), None]:
        if found and found.start() in inside:
            continue
        part = caption[start : found.start() if found else None]
        if parts == [""]:
            parts = [part]
        elif _goes_on(parts[-1], link.strip(" ,").lower(), part):
            parts[-1] += link + part
        else:
            parts.append(part)
        if found:
            link, start = found[0], found.end()
    return parts


def _is_list(caption: str) -> bool:
    """Whether commas stand between sounds: not in "vehicle horn, car horn, honking"."""
    named = [word for one in caption.split(",") for word in stems(one)]
    return bool(_LIST.fullmatch(caption)) and len(named) == len(set(named))


def _goes_on(before: str, link: str, part: str) -> bool:
    """Whether a part says more of the sound before it: "barks and growls", "wood with a saw"."""
    if _SAME.match(part):
        return True
    if link in ("with", "over"):
        lone = link == "with" and len(re.sub(rf"^{_START}\s*", "", before, flags=re.I).split()) == 1
        played = _SUNG.search(before) and _INSTRUMENT.search(part)
        return not (lone or played or _HAPPENS.search(part))
    if link == "" and len(part.split()) < 3 and stems(before) & stems(part):
        return True  # two names of one: "baby cry, infant cry"
    if link in ("while", "whilst", "followed by", "together with", "along with", "", *".!?;+&"):
        return False
    first, *rest = part.split() or [""]
    ending = re.search(r"(?:ing|s|ed)$", first.lower())
    bare = not rest or re.match(r"(?:on|in|at|over|by|out|up|down|off|to|for|and|\w+ly)$", rest[0])
    told = re.sub(rf"^{_START}\s*", "", before, flags=re.IGNORECASE).split()[1:]  # no "a bass"
    same = [x for x in told if ending and re.search(rf"(?<!s){ending[0]}$", x, re.IGNORECASE)]
    return bool(ending and bare and (same or link in ("before", "after", "when", "as")))

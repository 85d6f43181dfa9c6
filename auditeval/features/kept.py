"""What alone an instruction wants to keep, and which sounds of a caption are then to go."""

from __future__ import annotations

import re

from auditeval.features.named import is_degree, name, stems

_ONLY = r"(?:only|just|solely|nothing (?:else )?(?:but|except|other than))"
_KEEP = r"(?:keep|leave|retain|preserve|hear|have|play|want|need|give me)"
_REMOVE = (
    r"(?:remov|delet|eras|eliminat|suppress|silenc|mut|drop|discard|cut|tak|filter|strip|los|"
    r"kill|get|ditch|clear|exclud)\w*(?: (?:out|away|rid of|off))?"
)
_REST = (
    r"(?:everything else|all else|anything else|(?:all (?:of )?)?the rest|every other sound|"
    r"(?:(?:all|any|the|all the) )?other (?:\w+ )?(?:sound|noise|thing|source)s?)"
)
ALL = r"(?:everything|all|anything|every \w+|(?:all |any )(?:the )?(?:other )?\w+)(?: else)?"
BUT = (
    r"(?:except(?: for)?|but(?: for)?|besides|apart from|aside from|other than|save(?: for)?|"
    r"(?:that|which) (?:is not|isn't|are not|aren't))"
)
_K = r"(?P<kept>[^,;:.!?]{2,80})"
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:{_REMOVE}|(?:don't|do not|no longer) (?:want|need)(?: to hear)?)(?: \w+ly)? {ALL} "
        rf"(?:(?:away|out|off) )?{BUT} (?P<kept>[^,;:.!?]{{2,80}}?)"
        r"(?= (?:should|must|has to|needs? to|can)\b|[,;:.!?]|$)",
        rf"\b{ALL} {BUT} (?P<kept>[^,;:.!?]{{2,80}}?) (?:should|must|has to|needs? to|can|to) "
        rf"(?:be |get )?(?:{_REMOVE}|go|gone|disappear|vanish|stop|cease)\b",
        rf"\b(?:keep|leav|retain|preserv)(?:e|ing)? (?:{_ONLY} )?"
        rf"(?P<kept>[^,;:.!?]{{2,80}}?)(?:,| and| but| while|, and|, but) "
        rf"{_REMOVE} {_REST}\b",
        rf"\b{_REMOVE} {_REST},? (?:and |but |while )?(?:just |only )?"
        rf"(?:keep|leav|retain|preserv)(?:e|ing)? (?:{_ONLY} )?{_K}",
        rf"\b{_KEEP}(?:ing)?(?: to hear)? {_ONLY} {_K}",
        rf"\b(?:only|just|solely) (?:want |need )?(?:to )?(?:keep|hear|retain|preserv|leav)"
        rf"(?:e|ing)? {_K}",
        rf"\bonly (?:want|need) {_K}",
        # "I just want a dog" asks for one.
        rf"\bjust (?:want|need) (?:to hear )?(?=(?:the|my|his|her|their) |\w+'s ){_K}",
        r"\bonly (?P<kept>[^,;:.!?]{2,80}?) (?:should|must|may|is to|are to|needs? to) "
        r"(?:be (?:heard|audible|kept|left)|remain|stay)\b",
        r"\bonly (?P<kept>[^,;:.!?]{2,80}?) (?:(?:is|are)(?: still)? (?:left|heard|audible|kept)|"
        r"remains?|stays?)\b",
        rf"\b(?:all|the only (?:thing|sound)) (?:that )?(?:i|we|you|one)(?:'d| would| should| can| "
        rf"could| must)?(?: (?:want|like|need|have) to)? (?:hear|keep|want|need|be left with) "
        rf"(?:is|are) {_K}",
        r"^(?P<kept>(?:the|an?) [^,;:.!?]{2,80}?) (?:alone|by itself|on its own)[.!?]*$",
        r"^(?P<kept>[^,;:.!?]{2,80}?) only[.!?]*$",
        r"\b(?:pull|get|take|lift|cut|filter) (?P<kept>[^,;:.!?]{2,80}?)(?: out)? "
        r"(?:by itself|by themselves|on (?:its|his|her|their) own)\b",
        rf"\bseparat(?:e|ing) (?:out )?(?P<kept>[^,;:.!?]{{2,80}}?) from (?:{_REST}|"
        r"the background|the mix(?:ture)?)\b",
        r"\bmake (?P<kept>[^,;:.!?]{2,80}?) the only (?:sound|thing|noise)\b",
        rf"\b(?:isolat(?:e|ing)|extract(?:ing)?|solo(?:ing)?|single out) {_K}",
        r"^(?:just|only) (?P<kept>[^,;:.!?]{2,80}?)(?:,? (?:and )?nothing else|[.!?]*$)",
        r"(?<!change )(?<!alter )(?<!touch )(?<!modify )(?<!edit )(?<!affect )"
        rf"\bnothing (?:else )?(?:but|except) {_K}",
    )
)
"""By what is to stay: all but it, it and the rest, only it."""
_NO_NAME = re.compile(
    r"^(?:it|this|that|them|a (?:bit|little)|slightly|you|to|so|as|for|the (?:\w+ )?(?:half|part|"
    r"second|seconds|minute|minutes|end|beginning|start))\b|"
    r"\b(?:gone|out|away|off|back|removed|deleted|muted|silent|quiet\w*|soft\w*|loud\w*|"
    r"slow\w*|fast\w*|clean\w*)$|"
    r"\b(?:second|minute|word|phrase|sentence|frequenc\w*|hz|khz|db|semitone|percent)s?\b|\d",
    re.IGNORECASE,
)
_FROM = re.compile(r"\s+(?:from|out of|in|as|so that)\s.*$", re.IGNORECASE)
_NAMES = re.compile(r"\s+(?:and|as well as|plus)\s+|,\s*", re.IGNORECASE)

_MOST = 2000  # characters of a caption
_START = r"(?:an?|the|some|someone|somebody|people|several|many|two|three|another|other|children)\b"
_LINK = re.compile(
    rf",? (?:(?:and|then|and then|while|as|when|whilst|followed by|before|after|together with|"
    rf"along with|accompanied by|over|with)(?: then)?) |, (?={_START}|\w+,? and )",
    re.IGNORECASE,
)
_SAME = re.compile(r"(?:it|he|she|they|its|his|her|their|if|though|well)\b", re.IGNORECASE)
_HAPPENS = re.compile(
    r"\s\w+ing(?=$| (?:in|on|at|by|past|over|near|from|and)\b)|\bin the (?:back|fore)ground\b|"
    r"\b(?:music|noise|sounds?)$",
    re.IGNORECASE,
)


def kept_alone(instruction: str) -> str:
    """What nothing but is to stay, "" where an instruction does not say so.

    >>> kept_alone("Remove everything except the dog."), kept_alone("Remove the dog.")
    ('the dog', '')
    """
    for pattern in _PATTERNS:
        if found := pattern.search(instruction):
            kept = name(_FROM.sub("", found["kept"]))
            return "" if _NO_NAME.search(kept) or is_degree(kept) else kept
    return ""


def others(caption: str, kept: str) -> str:
    """The sounds of a caption that are not the one kept; "" where it does not tell them apart.

    >>> others("Rain falls while a dog barks.", "the dog"), others("A dog barks.", "the dog")
    ('rain falls', '')
    """
    parts = _sounds(" ".join(caption[:_MOST].split()).strip(" .!?"))
    stays: set[int] = set()
    for one in _NAMES.split(kept):
        shared = [len(stems(part) & stems(one)) for part in parts]
        if not max(shared, default=0):
            return ""
        stays |= {place for place, count in enumerate(shared) if count == max(shared)}
    return " and ".join(name(part) for place, part in enumerate(parts) if place not in stays)


def _sounds(caption: str) -> list[str]:
    """Clauses and names of a caption that are each a sound of their own."""
    parts, link, start = [""], "", 0
    for found in [*_LINK.finditer(caption), None]:
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


def _goes_on(before: str, link: str, part: str) -> bool:
    """Whether a part says more of the sound before it: "barks and growls", "wood with a saw"."""
    if _SAME.match(part):
        return True
    if link in ("with", "over"):
        lone = link == "with" and len(re.sub(rf"^{_START}\s*", "", before, flags=re.I).split()) == 1
        return not (lone or _HAPPENS.search(part))
    if link in ("while", "whilst", "followed by", "together with", "along with", ""):
        return False
    first, *rest = part.split() or [""]
    ending = re.search(r"(?:ing|s|ed)$", first.lower())
    bare = not rest or re.match(r"(?:on|in|at|over|by|out|up|down|off|to|for|and|\w+ly)$", rest[0])
    same = [word for word in before.split()[1:] if ending and word.lower().endswith(ending[0])]
    return bool(ending and bare and (same or link in ("before", "after", "when", "as")))

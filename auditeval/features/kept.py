"""What alone an instruction wants to keep."""

from __future__ import annotations

import re

from auditeval.features.named import is_degree, name

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
        rf"\b(?:keep|leave) (?P<kept>[^,;:.!?]{{2,80}}?)[,;.] (?:and |but )?{_REST} "
        r"(?:can|should|must|has to|may) (?:go|(?:be )?(?:removed|deleted|cut|muted))\b",
        rf"(?:^|[,;.]\s*){BUT} (?P<kept>[^,;:.!?]{{2,80}}?), {_REMOVE} {ALL}\b",
        r"\b(?:pull|lift|bring)(?:ing)? (?P<kept>[^,;:.!?]{2,80}?) out of (?:all )?the noise\b",
        rf"\b{_KEEP}(?:ing)?(?: to hear)? {_ONLY} {_K}",
        rf"\bmake it (?:just|only) (?=the ){_K}",
        rf"\b(?:only|just|solely) (?:want |need )?(?:to )?(?:keep|hear|retain|preserv|leav)"
        rf"(?:e|ing)? {_K}",
        rf"\bonly (?:want|need) {_K}",
        # "I just want a dog" asks for one.
        rf"\bjust (?:want|need) (?:to hear )?(?=(?:the|my|his|her|their) |\w+'s ){_K}",
        r"\bonly (?P<kept>[^,;:.!?]{2,80}?) (?:should|must|may|is to|are to|needs? to) "
        r"(?:be (?:heard|audible|kept|left)|remain|stay)\b",
        r"\bonly (?P<kept>[^,;:.!?]{2,80}?) (?:(?:is|are)(?: still)? (?:left|heard|audible|kept)|"
        r"remains?|stays?)\b",
        r"\b(?:let|have|make) only (?P<kept>[^,;:.!?]{2,80}?) "
        r"(?:be (?:heard|audible|left)\b|(?:remain|stay|sound|play)(?=[,;:.!?]|$))",
        r"\bnothing (?:should|must|may|is to) (?:remain|stay|be (?:left|heard)) "
        rf"(?:but|except) {_K}",
        rf"\b(?:all|the only (?:thing|sound)) (?:that )?(?:i|we|you|one)(?:'d| would| should| can| "
        rf"could| must)?(?: (?:want|like|need|have) to)? (?:hear|keep|want|need|be left with) "
        rf"(?:is|are) {_K}",
        r"^(?P<kept>(?:the|an?) [^,;:.!?]{2,80}?) (?:alone|by itself|on its own)[.!?]*$",
        r"(?:^|[;.!?] )(?P<kept>[^,;:.!?]{2,80}?) only[.!?]*$",
        r"\b(?:pull|get|take|lift|cut|filter) (?P<kept>[^,;:.!?]{2,80}?)(?: out)? "
        r"(?:by itself|by themselves|on (?:its|his|her|their) own)\b",
        rf"\bseparat(?:e|ing) (?:out )?(?P<kept>[^,;:.!?]{{2,80}}?) from (?:{_REST}|the|an?|all|"
        r"every\w*)\b",
        r"\bmake (?P<kept>[^,;:.!?]{2,80}?) the only (?:sound|thing|noise)\b",
        rf"\b(?:isolat(?:e|ing)|extract(?:ing)?|solo(?:ing)?|single out):? {_K}",
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

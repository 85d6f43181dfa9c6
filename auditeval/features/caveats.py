"""What an instruction says is to stay as it is: "without changing the tempo" asks for nothing."""

from __future__ import annotations

import re

from auditeval.features.spelling import mistyped

_VERB = (
    r"(?:add|insert|make|rais|lower|increas|decreas|reduc|remov|delet|replac|put|give|apply|take|"
    r"boost|mix|mut|swap)\w*"
)
_ON = (
    rf"(?=[;!?]|\.(?!\d)|,? ?\bthen\b|$|, (?:just |only )?(?:{_VERB}|turn|chang\w*|say|speak|"
    r"(?:speed|slow) (?:it|this|that|him|her|them|the|up|down))\b|"
    r",? (?:and|but) (?:also |just |only )?"
    rf"(?:{_VERB}|turn|speed|slow|cut|have|let|chang\w*|say)\b)"
)
"""Where a sentence goes on to something else."""
_TOUCH = (
    r"(?:chang|alter|affect|touch|modif|damag|degrad|distort|disturb|impact|influenc|shift|hurt|"
    r"los|mess|spoil|remov|delet|cut|mut|silenc|clip|introduc|add|mak|tak)"
)
_FURTHER = (
    r"(?:add|introduc|insert|mak|rais|lower|increas|decreas|reduc|boost|speed|slow|turn|shift|"
    r"replac|swap|distort)"
)
"""What else is not to be done; "don't make it so loud" asks for less."""
_MEASURE = r"(?:pitch|speed|tempo|pace|volume|loudness|level|timbre|key|length|duration)"
_HOW = (
    r"(?:angry|sad|happy|excited|calm|scared|afraid|fearful|surprised|disgusted|bored|neutral|"
    r"nervous|tired|aggressive|cheerful|serious|loud|quiet|soft|fast|slow|high|low|deep|bright|"
    r"dull|whispering|shouting)"
)
_CAVEATS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:,|\bbut\b)?\s*\bwithout (?:\w+ly )?{_TOUCH}\w*ing\b.*?{_ON}",
        r"(?:,|\bbut\b|\band\b)?\s*\b(?:do not|don't|never|not to|and not|but not) "
        r"(?:(?:chang|alter|affect|touch|modif|remov|delet|mut|los)\w*\b|"
        rf"{_FURTHER}\w*\b(?![^;.!?]*\b(?:so|too|such|that|as)\b)).*?{_ON}",
        r"(?:^|[,;.]|\bbut\b|\bwhile\b|\bwhilst\b|\bby\b|\band\b)\s*"
        r"(?:keep|preserv|maintain|retain|leav)(?:e|ing)?\b(?! (?:out|off|only|just)\b)"
        rf".*?{_ON}",
        rf"(?:,|\bbut\b|\band\b)\s*(?:but |and )?not (?:any |a bit )?\w+er\b.*?{_ON}",
        r"(?:,|\bbut\b)\s*(?:but )?not (?:too|so|overly|very) \w+\b",
        rf"(?:,|\band\b)\s*(?:but |and )?not {_HOW}(?=$|[,;.!?])",
        rf"\b(?:keep|preserv|maintain|retain)ing (?:the |its |their )?{_MEASURE}\b.*?{_ON}",
        rf"(?:,|\bbut\b)\s*(?:but )?not (?:the |its )?{_MEASURE}\b",
        rf",\s*(?:with )?(?:the )?{_MEASURE} (?:unchanged|constant|intact|the same)\b",
        r",\s*(?:(?:and|but|with|at|in) )*(?:the )?same "
        rf"(?:{_MEASURE}|voice|speaker|words|accent)(?=$|[,;.!?])",
        r"\b(?:do not|don't) make (?:it|the \w+) \w+er, (?:but |just |only )?(?=make\b)",
    )
)
_SPARED = re.compile(
    r"(?:,|\bbut\b|\band\b)?\s*\b(?:without|with no) (?:any |much |too much |audible )?"
    r"(?:distortion|clipping|artefacts?|artifacts?|noise|damage|loss)\b[^,;.]*",
    re.IGNORECASE,
)
_WAY = re.compile(
    r"\b(?:\w{3,}er|(?:rais|lower|increas|decreas|boost|amplif|speed|slow|turn|pitch)\w*)\b",
    re.IGNORECASE,
)
_THANKS = r"\b(?:please|pls|plz|kindly|thanks|thank you|thx)\b,?\s*"
# "In this clip, please add" begins an order; ", please" ends one.
_PLEASE = re.compile(rf"(?P<comma>,)\s*{_THANKS}(?=\w)|,?\s*{_THANKS}", re.IGNORECASE)
_MOST = 2000  # characters: what MiniLM reads of a text is shorter, and patterns try every place
_ALL_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»|'[^']*'|‘[^’]*’")
_SHORT = (
    (re.compile(r"\b(can|could|would) u\b", re.I), r"\1 you"),
    (re.compile(r"\bw/o\b", re.I), "without"),
    (re.compile(r"\bw/ ?(?=\w)", re.I), "with "),
    (re.compile(r"\b(do|does|is|are|should|must)nt\b", re.I), r"\1n't"),
)
# A tag: "[remove] the dog".
_TAG = re.compile(r"^[\[<(]([^\W\d]+)[\])>]:? ?(?=\w)")
_APOSTROPHE = re.compile(r"(?<=\w)[’ʼ](?=\w)")


def without_courtesies(text: str) -> str:
    """The first 2,000 characters of a text in one line, without "please" and the like."""
    text = _TAG.sub(r"\1 ", _APOSTROPHE.sub("'", " ".join(text.split())[:_MOST]))
    for short, word in _SHORT:
        text = short.sub(word, text)
    text = mistyped(text)
    return _cut(_PLEASE, text, r"\g<comma>")


def unquoted(text: str) -> str:
    """A text in one line without quotation marks around all of it, which say nothing.

    >>> unquoted('"Remove the dog."'), unquoted('"Yes" to "no".')
    ('Remove the dog.', '"Yes" to "no".')
    """
    text = " ".join(text.split())
    return text[1:-1] if _ALL_QUOTED.fullmatch(text) else text


def without_caveats(text: str) -> str:
    """An English text without what is to stay, courtesies and typographic apostrophes.

    A text that says nothing else is left as it is; what is beyond 2,000 characters is not read.

    >>> without_caveats("Raise the pitch without changing the tempo.")
    'Raise the pitch.'
    >>> without_caveats("Keep the rain, but make it louder, please.")
    'make it louder.'
    >>> without_caveats("Remove the reverb.")
    'Remove the reverb.'
    """
    left = without_courtesies(text)
    for caveat in _CAVEATS:
        left = _cut(caveat, left)
    spared = _cut(_SPARED, left)
    return spared if _WAY.search(spared) else left


def _cut(pattern: re.Pattern[str], text: str, stays: str = "") -> str:
    left = pattern.sub(f"{stays} ", text)
    left = re.sub(r"^\s*(?:[,;:]|\.(?!\d)|\b(?:but|and|then)\b)\s*", "", left)
    left = re.sub(r"\s*(?!\.\d)([,;.!?])(?:\s*[,;.])*", r"\1", " ".join(left.split()))
    return left if re.search(r"\w", left) else text

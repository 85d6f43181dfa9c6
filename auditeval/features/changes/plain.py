"""What asks for a change in words that the regression of `words` reads as something else."""

from __future__ import annotations

import re

from auditeval.data.change_words.vocabulary import EVENT
from auditeval.features.changes.amounts import BELOW, find_amount
from auditeval.features.kept import kept_alone

_DEFECT = (
    r"(?:noise|hum|hiss|static|buzz\w*|crackl\w*|echo\w*|reverb\w*|distort\w*|clipp\w*|muffl\w*)"
)
_GENDER = r"(?:man|woman|male|female|boy|girl|lady|gentleman)"
# A sound that is named, and no measure or part of one.
_SOUND = (
    rf"(?:the|this) (?!(?:\w+ )?(?:{_DEFECT}|bass|treble|lows?|mids?|highs?|volume|loudness|level|"
    r"gain|pitch|key|tempo|speed|pace|rate|frequenc\w*|end|range|dynamics?|tone|brightness|"
    r"presence|clarity|warmth|hall|room|ambience|background|effects?|dynamic|time|length|"
    r"duration|wobbl\w*|vibrato|tremolo|sibilan\w*|rumble|harsh\w*|sharp\w*|\w+ness)\b)"
    r"(\w+(?: \w+)?)(?=$| (?:so|a bit|a little|slightly|by|in the)\b)"
)
_REWRITTEN = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        # What is toned down is turned down; "a tone down" is lower.
        (
            r"(^|[,;:.] ?|\b(?:and|but|so|then|to|you|let's|just|also|now|should|not) )"
            r"ton(?:e|ing)(?= (?:\S+ ){0,4}?down\b)",
            r"\1turn",
        ),
        # Its voice is no change: what is around it is to go.
        (
            rf"\b(?:isolat|extract|separat)(?:e|ing)? (.+?) from ((?:\S+ ){{0,2}}?{_DEFECT})\b",
            r"remove \2 from \1",
        ),
        (BELOW.pattern, "down by "),
        (r"\b(?:by|of|to|at) ?\+ ?(?=\d)", "up by "),
        (r"^\+ ?(?=\d+(?:\.\d+)? ?(?:db|decibels?)$)", "raise the volume by "),
        (r"^[-−–] ?(?=\d+(?:\.\d+)? ?(?:db|decibels?)$)", "lower the volume by "),
        (r"^\+ ?(?=\d+(?:\.\d+)? ?(?:st|semitones?)$)", "raise the pitch by "),
        (r"^[-−–] ?(?=\d+(?:\.\d+)? ?(?:st|semitones?)$)", "lower the pitch by "),
        (
            r"\b(?:fix|repair|stop|correct|restore|cure)\b"
            rf"(?= (?:the |this |any )?(?:\w+ )?{_DEFECT})",
            "remove",
        ),
        (r"\bclipp(?:ing|ed)\b", "distortion"),
        (
            rf"\bmake the ((?:\w+ )?{_DEFECT}) "
            r"(?:quieter|softer|lower|shorter|weaker|less loud)\b",
            r"reduce the \1",
        ),
        (r"\b(?:de-?reverb\w*|dereverb\w*)\b(?! from)", "remove the reverb from"),
        (r"\bstop(?: from)? (\w+ing)\b", r"not be \1"),
        (r"\b(not|n't)((?: \w+){0,2}) so\b", r"\1\2"),
        (r"\b(?:further|farther|far)(?: away)? from the \w+", "far away"),
        (r"\bmove (.+?) far away", r"make \1 sound far away"),
        (
            rf"\b(make|let|turn|change|convert|raise|lower|replace) (?:the|this) {_GENDER}"
            r"(?:'s)?(?: (?:speaker|voice|singer|speech))?\b",
            r"\1 the voice",
        ),
        (r"(?<=\w) (?:rather than|instead of) (?:being )?\w+$", ""),
        (r"^low[- ]?pass\b(?! filter)", "apply a low-pass filter to"),
        (r"^high[- ]?pass\b(?! filter)", "apply a high-pass filter to"),
        (
            r"\b(?:everything|all|(?:all |the |the high )?frequencies) (?:above|over) "
            r"\S+ ?k?(?:hz)?",
            "the treble",
        ),
        (
            r"\b(?:everything|all|(?:all |the |the low )?frequencies) (?:below|under) "
            r"\S+ ?k?(?:hz)?",
            "the bass",
        ),
        (r"\b(?:lows|low end|low frequencies)\b", "bass"),
        (r"\b(?:highs|high end|high frequencies)\b", "treble"),
        (r"\b(?:remove|filter out|attenuate|cut)(?= the (?:bass|treble)\b)", "reduce"),
        (rf"^(?:boost|amplify) {_SOUND}", r"turn up the \1"),
        (rf"^(?:reduce|attenuate|duck|lessen|diminish) {_SOUND}", r"turn down the \1"),
        (r"^bring (.+?) (?:forward|to the front|to the fore(?:ground)?)\b", r"turn up \1"),
        (r"^fade (.+?) (?:into|in|to) the background\b", r"turn down \1"),
        (
            r",? so (?:that )?(?:the|i|we|you|one|it|people)\b.*\b(?:hear|heard|audible|"
            r"stands? out|comes? through|understand|understood)\b.*",
            "",
        ),
    )
)
_OF_TIME = re.compile(
    r"\b(?:cross)?fad(?:e|es|ing)[- ]?(?:in|out|it)?\b|\b(?:trim|crop|loop|reverse)\b|"
    r"\bcut (?:off |out )?(?:the )?(?:first|last) (?:\S+ )?(?:seconds?|minutes?|half|part)\b|"
    r"^delay (?:the|this)\b|\b(?:increase|expand|widen|restore) the (?:dynamic range|dynamics)\b"
)
_PACE = re.compile(r"\b(?:speed|tempo|pace|rate|play\w*|as long|length|duration|longer|shorter)\b")
_MORE = re.compile(r"\b(?:and|then|so|with)\b|(?<!thing )(?<!all )(?<!sounds )\bbut\b|[,;]")
"""Where what is to be kept alone may not be all that is asked for."""
_LEVEL = re.compile(r"\b(?:volume|loudness|gain)\b")
_OTHER = re.compile(
    r"\b(?:add|insert|pitch|noise|reverb\w*|echo\w*|bass|treble|lufs|slow\w*|fast\w*|quick\w*)\b"
)


def in_plain_words(text: str) -> str:
    """What `said_apart` left of a text, in words that the regression knows.

    >>> in_plain_words("fix the hiss"), in_plain_words("shift the pitch by -3 semitones")
    ('remove the hiss', 'shift the pitch down by 3 semitones')
    """
    for pattern, words in _REWRITTEN:
        text = pattern.sub(words, text)
    return text


def told_outright(text: str) -> str | None:
    """The change that a text can only mean, None where it takes the regression to tell.

    A ratio of pace or of level tells by its number; what is done to the time of a clip, as to fade
    or to trim it, is none of the changes of how a sound sounds.

    >>> told_outright("set the speed to 0.8x"), told_outright("fade out at the end")
    ('slower', 'event')
    """
    if _OF_TIME.search(text) or (kept_alone(text) and not _MORE.search(text)):
        return EVENT
    found = find_amount(text)
    if found is None or found.unit != "ratio" or found.value == 1 or _OTHER.search(text):
        return None
    if _LEVEL.search(text):
        return "louder" if found.value > 1 else "softer"
    return ("faster" if found.value > 1 else "slower") if _PACE.search(text) else None

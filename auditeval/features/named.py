"""The name of a sound inside an instruction: where it ends, what is none, which words carry it."""

from __future__ import annotations

import re

from auditeval.features.spelling import american

# Where a name ends and another thing is asked for.
_NEXT = re.compile(
    r"(?:\s*[,;.])?\s+(?:and|but|then|and then|[&+])\s+(?:also\s+)?(?:make|turn|raise|lower|"
    r"increase|decrease|reduce|boost|add|remove|change|convert|speed|slow|"
    r"pitch (?:it|the|up|down)|keep|leave|apply|give|set|let|have|shift|mute|fade|"
    r"delete|replace|lose|kill|bring|put|get|no|there (?:should|must)|"
    r"(?:i|we) (?:want|would|don't|do not))\b.*|\s*,\s*(?:convert|make|change|raise|lower|"
    r"pull|drop|ditch|lose|remove|delete|mute|turn|increase|decrease|reduce|boost|"
    r"(?:speed|slow|pitch) (?:it|the|up|down|her|him))\b.*|"
    r"\s+(?:(?:in order )?to make|so that it|so (?:that )?(?:only|just|nothing)\b)\b.*|[.;!?]\s.*",
    re.IGNORECASE,
)
_WHERE = re.compile(
    r"\s+(?:from|to|in|into|on|onto|over|under|behind|throughout|near|at|of)\s+(?:the|this|that|"
    r"my|it)\b"
    r"(?:\s+(?:audio|recording|clip|sound|track|scene|mix|mixture|background|file|original|whole|"
    r"entire|end|beginning|start|middle)\b.*)?$",
    re.IGNORECASE,
)
# Where one sound is to be of two: "thunder at the start and a bell at the end".
_WHERE_ONE = re.compile(
    r"\s+(?:at|in|near)\s+the\s+(?:very\s+)?(?:beginning|start|middle|end|background|distance)"
    r"(?=\s+and\s+(?:(?:an?|some|the|another)\b|(?:\w+ ){1,2}(?!\w*thing\b)\w+ing\b))",
    re.IGNORECASE,
)
_UNIT = r"(?:s|secs?|seconds?|min|minutes?)\b"
_MOMENT = (
    r"(?:\d+:\d\d|(?:\d[\d.]*|one|two|three|four|five|six|seven|eight|nine|ten) ?"
    rf"{_UNIT})"
)
_TIME = re.compile(
    r",?\s+(?:at|from|after|around|until|till|between)(?: about| around)? "
    rf"(?:{_MOMENT}|\d[\d.]*(?= ?(?:to|and|until|-|–) ?\d))"
    rf"(?: ?(?:to|and|until|-|–) ?{_MOMENT})?",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:,?\s+(?:(?:would (?:be|make|sound)|is (?:what|all)|will do)\b.*|"
    r"(?:should|must|ought to) be (?:heard|audible|there)|too|as well|instead|any ?more|at all|"
    r"if possible|for me|completely|entirely|altogether|on top(?: of (?:it|that|this|everything))?|"
    r"in there|(?:to be )?(?:added|inserted|included|mixed in)))+$",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"^(?:(?:(?:the|an?|any|some)\s+)?(?:sounds?|noises?|recording)|that)\s+of\s+", re.IGNORECASE
)
# How a sound sounds, whom it is told, and all but something: nothing that comes or goes.
_NO_SOUND = re.compile(
    r"\b(?:volume|loudness|level|gain|pitch|key|tempo|pace|speed|rate|length|duration)"
    r"(?=$|[,;]|\s+(?:of|by|from|to|in|on|at|for|and|so|an?|one|two|just|back|down|up|more|half|\w+ly|"
    r"\d\S*)\b)|"
    r"^(?:it|up|down)\b|\b(?:up|down)$|"
    r"^(?:everything|every|all|anything)\b.*\b(?:except|but|besides|apart from|other than|"
    r"not|isn't|aren't)\b|^(?:everything|anything|nothing|neither|none)(?:$|,)|"
    r"^(?:the )?(?:end|ending|beginning|start|middle|intro|outro)$|\bshort$|"
    r"^(?:the )?(?:first|second|last|final|opening|closing|initial)\b.*\b(?:seconds?|minutes?|half|"
    r"third|quarter|part)$|"
    r"^(?:everything|anything|all|every sound) else\b|^(?:all |everything )?(?:of )?the rest\b|"
    r"^(?:(?:all|any|every|the|those|these) )*other (?:\w+ )?(?:sound|noise|thing|source)s?\b|"
    r"^(?:some|most|much|half|parts?|a (?:bit|little|part|third|quarter|half)|"
    r"[\d.]+ ?(?:%|percent)) of (?:the|it|this)\b|^half the\b|"
    r"\b(?:by (?:half|a (?:third|quarter|bit|little)|[\d.]+ ?(?:%|percent))|a (?:bit|little)|"
    r"partly|partially|slightly|somewhat)$",
    re.IGNORECASE,
)
# How one sounds, or is to: of such things no sound comes or goes.
_DEGREE = re.compile(
    r"\b(?:more|less|fewer|much|louder|quieter|softer|higher|lower|deeper|faster|slower|quicker|"
    r"brighter|darker|duller|warmer|clearer|(?<!vacuum )cleaner|drier|closer|crisper|bigger|"
    r"larger|smaller|"
    r"stronger|weaker|longer|shorter|calmer|angrier|happier|sadder|noisier|sharper|richer|fuller|"
    r"harsher|smoother|livelier|better|gentler|lighter|heavier|nearer|further|farther)\b|"
    r"\b(?:so|too|as|very|not|that) (?:loud|quiet|soft|high|low|deep|fast|slow|quick|bright|dark|"
    r"dull|noisy|angry|sad|happy|calm|far|close|long|short)\b|"
    r"\bto (?:be|sound|speak|talk|seem|have|change|become|get|move|feel|come|stay|go|start|stop)\b",
    re.IGNORECASE,
)
_MANNER = re.compile(
    r"^(?:it|him|her|them|me|us|you|everything|anything|nothing|something|to|for|only|just|longer|"
    r"no|none|need|problem|way|matter|doubt|idea|changes?|more|less)\b|"
    r"\b(?:pitch\w*|key|tempo|pace|speed|rate|volume|loudness|level|gain|voices?|tone|accent|"
    r"timbre|emotion\w*|mood|anger|joy|sadness|excitement|energy|enthusiasm|emphasis|intonation|"
    r"reverb\w*|echo\w*|delay|distort\w*|overdriv\w*|nois[ey]\w*|hiss\w*|hum|static|chorus|tremolo|"
    r"vibrato|flang\w*|phas\w*|compress\w*|bass(?! (?:guitar|drum|clarinet))|treble|highs|lows|"
    r"mids|hall|room|acoustics?|ambien\w+|distance|filter\w*|effects?|dynamics?|whisper\w*|quality|"
    r"clarity|warmth|muffl\w*|version|style|manner|way|speaker|talker|narrator|gender|words?|"
    r"sentence|phrase|pauses?|says?|said|saying|saturat\w*|clipp\w*|denois\w*|limit\w*|equali\w*|"
    r"megaphones?|individual|performance|hurry|stutter\w*|names?|shout|yell|frequenc\w*|"
    r"semitones?|octaves?|db|decibels?|percent|mono|stereo|channels?|formats?|genre|"
    r"signature)\b|"
    r"\b\w{3,}(?:ness|ility|dom|ism|iance|itation|ulation)\b|"
    r"\b(?!\w+ing\b)\w+ of (?:the|an?|it|this|that|my|everything)\b|"
    r"\b(?:low|high|top) end\b|\bsibilan\w+|\bsnr\b|[%\d\"“”«»]",
    re.IGNORECASE,
)
# One word of how something sounds, before what it is of ("a low voice") and behind what it does.
ADJECTIVE = (
    r"(?:(?:high|low)(?:[ -]pitched)?|deep|shrill|loud|quiet|soft|faint|fast|slow|quick|rapid|"
    r"bright|dark|dull|muffled|clear|clean|noisy|distorted|dry|reverberant|calm|excited|angry|sad|"
    r"happy|lively|whispered|male|female|warm|crisp|tinny|hissy)(?![\w-])"
)
ADVERB = (
    r"(?:(?:loud|quiet|soft|faint|slow|quick|rapid|calm|angri|sad|happi|excited|clear)ly|fast)"
    r"(?![\w-])"
)
_AND_ALSO = r"(?P<link>,? (?:and|but|yet) |, )(?:very |more )?"
_QUALITIES = tuple(
    re.compile(rf"(?<![\w-]){kind}{_AND_ALSO}(?={kind})", re.IGNORECASE)
    for kind in (ADJECTIVE, ADVERB)
)
_SEVERAL = rf"(?:(?:and|but|yet|very|more|{ADJECTIVE}|{ADVERB})(?:,? |$))+"
_OF_QUALITIES = re.compile(rf"(?:an? )?{_SEVERAL}|in (?:an?|the) {_SEVERAL}voice")
_QUALITY = re.compile(rf"(?<![\w-])(?:{ADJECTIVE}|{ADVERB})", re.IGNORECASE)
_MARKS = " .!?,;:\"'"
_EMPTY = frozenset(
    (
        *("a", "an", "the", "this", "that", "these", "those", "some", "any", "all", "another"),
        *("my", "his", "her", "its", "of", "in", "on", "at", "to", "from", "with", "and", "or"),
        *("by", "into", "over", "is", "are", "be", "there", "one", "other", "sound", "sounds"),
        *("noise", "noises", "recording", "audio", "background", "foreground"),
    )
)
_VOICE = re.compile(r"(?:speak|spoke|talk|speech|voice|vocal|narrat|dialog|convers)\w*")
_Y = re.compile(r"(?<=\w{2})ie[sd]$")  # "cries" is of "crying"
_ENDING = re.compile(r"(?<=\w{3})(?:ing|ed|es|s|e)$")
_DOUBLED = re.compile(r"(?<=\w{2})([bdglmnprstz])\1$")  # "clapping" is of "claps"


def name(words: str | None) -> str:
    """Without what else is asked for, where it is, the words "the sound of", and stops.

    >>> name("the sound of rain in the background and make it louder.")
    'rain'
    """
    left = re.sub(r"^(?:and|but) ", "", untimed(words or ""), flags=re.IGNORECASE)
    left = _WHERE_ONE.sub("", _TAIL.sub("", _NEXT.sub("", left).strip(_MARKS)))
    return bare(_TAIL.sub("", _WHERE.sub("", left))).strip(_MARKS).lower()


def untimed(words: str) -> str:
    """Without moments.

    >>> untimed("a door slam at 3 seconds"), untimed("rain from 0:02 to 0:05")
    ('a door slam', 'rain')
    """
    return _TIME.sub("", words)


def bare(words: str) -> str:
    """Without the words "the sound of".

    >>> bare("the noise of a fan"), bare("a fan")
    ('a fan', 'a fan')
    """
    return _NAMED.sub("", words)


def is_no_sound(name: str) -> bool:
    """Whether a name is that of a quantity, or of all that is not told."""
    return bool(_NO_SOUND.search(name))


def is_degree(words: str) -> bool:
    """Whether words tell how much of something, or how something is to be."""
    return bool(_DEGREE.search(words))


def is_manner(words: str) -> bool:
    """Whether words that stand for a sound tell how one sounds, and how much of it."""
    return is_degree(words) or bool(_MANNER.search(words))


def between_qualities(text: str) -> set[int]:
    """Where a comma or an "and" begins that stands inside of how one thing sounds.

    >>> between_qualities("A low, muffled voice and rain"), between_qualities("It rains and pours")
    ({5}, set())
    """
    return {found.start("link") for kind in _QUALITIES for found in kind.finditer(text)}


def qualities(words: str) -> list[str]:
    """Each word of a text in lower case that says nothing but how something sounds; else none.

    >>> qualities("in a high, clear voice"), qualities("slowly and quietly")
    (['high', 'clear'], ['slowly', 'quietly'])
    >>> qualities("a loud, high voice")
    []
    """
    return _QUALITY.findall(words) if _OF_QUALITIES.fullmatch(words) else []


def unqualified(words: str) -> str:
    """Without words of how something sounds.

    >>> unqualified("a loud dog barks")
    'a dog barks'
    """
    return " ".join(_QUALITY.sub("", words).split())


def stems(words: str) -> set[str]:
    """Of the words that carry a meaning, what "barks" and "barking" share; all voices are one.

    >>> sorted(stems("the dog barking")), sorted(stems("a man speaks")), stems("the speech")
    (['bark', 'dog'], ['man', 'voice'], {'voice'})
    """
    found = (
        re.sub(r"'s$", "", word)
        for word in re.findall(r"[^\W\d_]+(?:'\w+)?", words.lower())
        if word not in _EMPTY
    )
    return {"voice" if _VOICE.fullmatch(x) else _stem(american(x)) for x in found}


def _stem(word: str) -> str:
    return _DOUBLED.sub(r"\1", _ENDING.sub("", _Y.sub("y", word)))

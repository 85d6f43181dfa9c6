"""Which spoken words an edit is to bring and to take away, as captions and instructions say."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from auditeval.features.asked import asked_words
from auditeval.features.caveats import unquoted
from auditeval.features.comparison import changed_words
from auditeval.features.named import ADVERB, is_degree, name

_QUOTED = re.compile(
    r"\"([^\"]+)\"|“([^”]+)”|«([^»]+)»|(?<!\w)'([^']+)'(?!\w)|(?<!\w)‘([^’]+)’(?!\w)"
)
_SPOKEN = re.compile(
    r"\"([^\"]*)\"|“([^”]*)”|„([^“”]*)[“”]|«([^»]*)»|(?<!\w)'((?:[^']|(?<=\w)'(?=\w))*)'(?!\w)|"
    r"(?<!\w)‘((?:[^’]|(?<=\w)’(?=\w))*)’(?!\w)"
)
"""As what stands in _QUOTED, which says whether words are quoted at all, and what is quoted in
German, has an apostrophe, or is nothing."""
_NAMED = re.compile(r"\b(?:the |a |an )?(?:spoken )?(?:words?|phrase|sentence|name)\b", re.I)
_SWAP = re.compile(
    r"\b(?:replac|swap|substitut|exchang|chang|turn|convert|correct|modif|translat)\w*\b", re.I
)
_BY = re.compile(r"(?:with|by|to|into|for)$", re.I)
_BECOMES = re.compile(
    r"(?:(?:now|is|should|must|has to|needs to|to|will) )*(?:->|=>|→|⇒|becomes?|be|turns? into|"
    r"(?:be )?(?:replac|chang|swapp|exchang|correct|turn)ed (?:with|by|to|into|for))$",
    re.I,
)
"""Between a word and the one that it gives way to."""
_STRESS = re.compile(
    r"\b(?:emphasi[sz]|stress|accentuat|highlight|pronounc|enunciat|articulat)\w*|\bemphasis\b"
    r"|\b(?:pause|silence|gap)s?\b(?!\W*[\"“'])",
    re.I,
)
"""What a word is to sound like, or what is to be beside it: no word comes or goes."""
_DENIED = (
    r"(?:n't|\b(?:never|not|no longer|without|stop(?:s|ped)?|avoid(?:s|ing)?)) (?:\w+ )?"
    r"(?:say|sa(?:ys|id)|utter|mention|speak|ask|answer|reply|shout|whisper)(?:s|ed|ing)?\b"
)
_NOT_SAID = re.compile(rf"{_DENIED}[\s:,]*$", re.I)
_REMOVE = re.compile(
    r"\b(?:remov|delet|eras|omit|drop|skip|bleep|beep|censor|mut|silenc)\w*\b|"
    rf"{_DENIED}|\b(?:cut|take|cross|leave)\b.*\bout\b|\bcut\b",
    re.I,
)
_INSTEAD = re.compile(
    r"\b(?:(?:instead of|in place of|rather than)(?: \w+ing)?|not|no|without|"
    r"where (?:\w+ ){1,2}says?)\s*$",
    re.I,
)
_PLACE = re.compile(
    r"\b(?:before|after|following|behind|between|to the word)\s*$|^(?:in|from)$"
    r"|\b(?:before|after|when|once|while) (?:\w+ ){1,3}(?:says?|said|saying)\s*$",
    re.I,
)
_ALSO = re.compile(r"^(?:,|and|or|,\s*(?:and|or))$", re.I)
"""Between two names that are to share a fate."""
_STAYS = re.compile(
    r"\b(?:keep|preserve|retain|leave)(?: only| just)?$|\bexcept(?: for)?$|"
    r"\b(?:everything|anything|all) but$|\b(?:pitch|volume|loudness|level|speed|pace) (?:of|on)$",
    re.I,
)
_SOUND = re.compile(r"(?:^|\b(?:make|let|have|should sound))$", re.I)
_OUT = re.compile(r"\b(?:leave|take|bleep|beep|edit|cross)$", re.I)
_TOLD_PLAINLY = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:instead of|rather than) (?:saying )?(?P<gone>[^,;.]+), (?:\w+ ){0,3}?"
        r"say(?:s|ing)? (?P<new>.+)",
        r"\bsay(?:s|ing)? (?P<new>.+?),? (?:instead of|in place of|rather than|(?:and )?not|"
        r"where (?:\w+ ){1,2}sa(?:ys|id)) (?P<gone>.+)",
    )
)
# Of what is to be said without a mark around it: no "say it again", "say more", "say the alphabet".
_WORDS = (
    r"(?!(?:it|that|this|them|these|those|so|the|an?|some|any|his|her|its|my|your|their|our|"
    r"(?:some|any|every|no)(?:thing|one|body)|what|how|why|when|where|who|which|more|less|much|as|"
    r"like|in|with|at|on|to|about|again|twice|once|all|each|nothing|else|if|and|or|but|"
    rf"{ADVERB})\b)[^:;]+"
)
_TALKER = (
    r"(?:h(?:im|er)|them|it|me|(?:some|any)(?:one|body)|(?:the|this|that|an?|my|his|her) "
    r"(?:\w+ )?\w+)"
)
_SAYS = re.compile(
    rf"(?:\b(?:make|have|let|get|want|need|like|ask|tell|hear) {_TALKER} (?:to )?|"
    rf"\b(?:s?he|they|{_TALKER}) (?:should|must|ought to|has to|have to|needs? to|is to|are to) |"
    r"^(?:(?:please|now|just|can you|could you) )*)(?:also |now |just )?"
    rf"say (?P<new>{_WORDS})|\b(?:add|insert|include) {_TALKER} (?:who |that )?say(?:s|ing) "
    rf"(?P<added>{_WORDS})",
    re.IGNORECASE,
)
_SAYS_NOT = re.compile(
    r"(?:(?:^|[,;.]\s*|\b(?:please|and|but|then|just) )(?:do not|don't|never) "
    rf"(?:(?:make|have|let) {_TALKER} )?say|\b(?:should|must)(?: not|n't) say|\bstop saying) "
    rf"(?P<gone>{_WORDS})",
    re.IGNORECASE,
)
_AFTER_COLON = re.compile(
    r"\b(?:say|read|speak|answer|reply|utter|shout|whisper|ask)(?:s|ing)?"
    r"(?: (?:out|aloud|the following))?: ?(?P<new>.+)",
    re.IGNORECASE,
)
_HOW = re.compile(
    rf"(?:,? (?:but |and )?(?:very |more )?{ADVERB}|,? (?:(?:once|twice|again|instead|please|now|"
    r"first)\b|at the (?:end|start|beginning)|(?:in|with) an? [^,;.]*(?:voice|tone|accent|whisper|"
    r"way|manner)))+[.!?]*$",
    re.IGNORECASE,
)
_ALL_SAID = re.compile(r"what (?:\w+ ){1,3}(?:says?|said|saying)", re.IGNORECASE)
_MOST = 2000  # characters that are read of a text


class Spoken(NamedTuple):
    """Phrases, in lower case, that are to be heard after the edit and were not, and the reverse."""

    new: tuple[str, ...]
    gone: tuple[str, ...]


class _Quote(NamedTuple):
    """Quoted words, and what stands before and behind them, up to the next."""

    words: str
    lead: str
    tail: str


def quotes_changed(before: str, after: str) -> bool:
    """Whether two captions quote other speech."""
    was, now = ([x.words for x in _quotes(_QUOTED, text)] for text in (before, after))
    return was != now


def marked(instruction: str) -> str:
    """With marks around the words that stand beside "say", where nothing is quoted.

    >>> marked("Make him say good night."), marked("Say it louder.")
    ('Make him say "good night".', 'Say it louder.')
    """
    if _SPOKEN.search(instruction) or _STRESS.search(instruction):
        return instruction
    told = _AFTER_COLON.search(instruction)
    if told and told[0].lower().startswith("say"):  # "read: faster" is hardly what is to be read
        return f'{instruction[: told.start("new")]}"{told["new"]}"'
    for words in filter(None, _said_plainly(instruction) or ()):
        beside = re.compile(rf"(?<=\bsay )({re.escape(words)})|({re.escape(words)})$", re.I)
        instruction = beside.sub(r'"\g<0>"', instruction)
    return instruction


def quotes_speech(instruction: str) -> bool:
    """Whether an instruction quotes words, and not to tell a place or how they are to sound."""
    text = unquoted(instruction)
    return bool(_QUOTED.search(text)) and any(_of_quotes(_quotes(_SPOKEN, text)))


def asked_speech(before: str, after: str, instruction: str) -> Spoken:
    """Of what captions quote; where these do not differ, of what an instruction says.

    What is beyond 2,000 characters is not read.

    >>> asked_speech('He says "good morning".', 'He says "good evening".', "")
    Spoken(new=('evening',), gone=('morning',))
    >>> asked_speech("A man.", "A man.", 'Say "blue" instead of "red".')
    Spoken(new=('blue',), gone=('red',))
    >>> asked_speech("A man.", "A man.", "Replace the word cat by dog.")
    Spoken(new=('dog',), gone=('cat',))
    """
    captions = _of_captions(before[:_MOST], after[:_MOST])
    if captions.new or captions.gone:
        return captions
    instruction = instruction[:_MOST]
    if quotes := _quotes(_SPOKEN, unquoted(instruction)):
        return _of_quotes(quotes)
    if _STRESS.search(instruction) or _SPOKEN.search(instruction):
        return Spoken((), ())
    new, gone = _of_plain(" ".join(_NAMED.sub(" ", instruction).split()))
    return Spoken(*(tuple(filter(None, [_plain(x)])) for x in (new, gone)))


def _of_plain(text: str) -> tuple[str, str]:
    """Of words that no mark stands around."""
    if said := _AFTER_COLON.search(text):
        return name(said["new"]), ""
    if (told := _said_plainly(text)) is not None:
        return told
    new, gone = asked_words("", "", text)
    return new, "" if _ALL_SAID.fullmatch(gone) else gone


def _said_plainly(text: str) -> tuple[str, str] | None:
    """Of words that stand beside "say"."""
    if said := next(filter(None, (x.search(text) for x in _TOLD_PLAINLY)), None):
        return said["new"], said["gone"]
    if said := _SAYS_NOT.search(text) or _SAYS.search(text):
        words = name(_HOW.sub("", said[said.lastgroup or 0]))
        if not is_degree(words) and not re.search(r"\bsay", words):
            return ("", words) if said.lastgroup == "gone" else (words, "")
    return None


def _of_captions(before: str, after: str) -> Spoken:
    """What two captions quote; of a sentence each stretch of words that is another."""
    (was, _), (now, denied) = map(_uttered, (before, after))
    new, gone = list[str](), list[str]()
    matcher = difflib.SequenceMatcher(None, was, now, autojunk=False)
    for kind, start, stop, first, last in matcher.get_opcodes():
        if kind != "equal":
            came, went = changed_words(" ".join(was[start:stop]), " ".join(now[first:last]))
            new += [came] if came else []
            gone += [went] if went else []
    moved = {*new} & {*gone}
    gone += [x for x in denied if x not in gone]
    return Spoken(*(tuple(x for x in phrases if x not in moved) for phrases in (new, gone)))


def _uttered(caption: str) -> tuple[list[str], list[str]]:
    """Words that a caption quotes, and phrases that it quotes as not said."""
    said, denied = list[str](), list[str]()
    for quote in _quotes(_SPOKEN, caption):
        if _NOT_SAID.search(quote.lead):
            denied.append(_plain(quote.words))
        else:
            said += quote.words.lower().split()
    return said, list(filter(None, denied))


def _of_quotes(quotes: Sequence[_Quote]) -> Spoken:
    """What an instruction says of the words that it quotes."""
    if _STRESS.search(quotes[0].lead):
        return Spoken((), ())
    new, gone = list[str](), list[str]()
    for quote, fate in zip(quotes, _fates([quote.lead for quote in quotes]), strict=True):
        out = _OUT.search(quote.lead) and re.match(r"\s*out\b", quote.tail, re.I)
        stays = _STAYS.search(quote.lead) or (
            fate == "new" and _SOUND.search(quote.lead) and is_degree(quote.tail)
        )
        if out or (fate == "gone" and not stays):
            gone.append(_plain(quote.words))
        elif fate == "new" and not stays:
            new.append(_plain(quote.words))
    return Spoken(tuple(filter(None, new)), tuple(filter(None, gone)))


def _fates(leads: Sequence[str]) -> list[str]:
    """Of quoted words by what stands before each: "new", "gone", "" of those that tell a place."""
    swaps = _swaps(leads)
    first = min((place for place in swaps if _SWAP.search(leads[place])), default=0)
    fates: list[str] = []
    beside = goes = False
    for place, lead in enumerate(leads):
        second = place - 1 in swaps
        also = bool(place and _ALSO.match(lead)) and not second
        from_to = place in swaps and lead.lower() == "from"
        beside = not from_to and bool(_PLACE.search(lead) or (beside and also) or place < first)
        if beside:
            fates.append("")
            continue
        if not also:
            goes = bool(_INSTEAD.search(lead) or _REMOVE.search(lead))
        if second or place in swaps:
            goes = second == swaps[place - second]
        fates.append("gone" if goes else "new")
    return fates


def _swaps(leads: Sequence[str]) -> dict[int, bool]:
    """Which quoted words are to give way to those that follow them, or (True) the reverse."""
    swaps: dict[int, bool] = {}
    told = next((place for place, lead in enumerate(leads) if _SWAP.search(lead)), len(leads))
    for place, (lead, link) in enumerate(pairwise(leads)):
        if place - 1 in swaps:
            continue
        if place == told:
            if not (_INSTEAD.search(link) or _REMOVE.search(link)):
                swaps[place] = bool(re.search(r"\bsubstitut", lead, re.I)) and link == "for"
        elif place - 2 in swaps and _ALSO.match(lead) and _BY.match(link):
            swaps[place] = swaps[place - 2] and link == "for"
        elif _BECOMES.match(link) or (lead.lower() == "from" and _BY.match(link)):
            swaps[place] = False
    return swaps


def _quotes(pattern: re.Pattern[str], text: str) -> list[_Quote]:
    found = list(pattern.finditer(text))
    ends = [0, *(x.end() for x in found)]
    starts = [*(x.start() for x in found), len(text)]
    between = [text[end:start] for end, start in zip(ends, starts, strict=True)]
    return [
        _Quote(one[one.lastindex or 0], _NAMED.sub("", lead).strip(), tail)
        for one, lead, tail in zip(found, between, between[1:], strict=False)
    ]


def _plain(text: str) -> str:
    return " ".join(text.lower().strip(' .!?,;:"').split())

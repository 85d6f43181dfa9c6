"""Which spoken words an edit is to bring and to take away, and how far it did."""

from __future__ import annotations

import difflib
import re
from typing import NamedTuple

from auditeval.features.asked import asked_words
from auditeval.features.caveats import unquoted
from auditeval.features.comparison import changed_words

_QUOTED = r"(?:\"([^\"]+)\"|“([^”]+)”|«([^»]+)»|(?<!\w)'([^']+)'(?!\w)|(?<!\w)‘([^’]+)’(?!\w))"
_NAMED = re.compile(r"\b(?:the |a |an )?(?:spoken )?(?:words?|phrase|sentence|name)\b", re.I)
_SWAP = re.compile(
    r"\b(?:replac|swap|substitut|exchang|chang|turn|convert|correct|modif)\w*\b", re.I
)
_STRESS = re.compile(
    r"\b(?:emphasi[sz]|stress|accentuat|highlight|pronounc|enunciat|articulat)\w*|\bemphasis\b"
    r"|\b(?:pause|silence|gap)s?\b(?!\W*[\"“'])",
    re.I,
)
"""What a word is to sound like, or what is to be beside it: no word comes or goes."""
_REMOVE = re.compile(
    r"\b(?:remov|delet|eras|omit|drop|skip|bleep|censor|mut|silenc)\w*\b|"
    r"\b(?:don't|never|not) say\b|\b(?:cut|take|cross|leave)\b.*\bout\b|\bcut\b",
    re.I,
)
_INSTEAD = re.compile(
    r"\b(?:instead of|in place of|rather than|not|where (?:\w+ ){1,2}says?)\s*$", re.I
)
_PLACE = re.compile(
    r"\b(?:before|after|following|behind|between|to the word)\s*$|^(?:in|from)$"
    r"|\b(?:before|after|when|once|while) (?:\w+ ){1,3}(?:says?|said|saying)\s*$",
    re.I,
)
_ALSO = re.compile(r"^(?:,|and|or|,\s*(?:and|or))$", re.I)
"""Between two names that are to share a fate."""
_ALIKE, _SAME = 0.6, 0.95  # of letters: below the one two words are others, from the other on one


class Spoken(NamedTuple):
    """Phrases, in lower case, that are to be heard after the edit and were not, and the reverse."""

    new: tuple[str, ...]
    gone: tuple[str, ...]


class Done(NamedTuple):
    """How far the asked words came and went, -1 (the opposite) to 1; and the share of others."""

    asked: float
    others: float


def quotes_changed(before: str, after: str) -> bool:
    """Whether two captions quote other speech."""
    return _quotes(before) != _quotes(after)


def asked_speech(before: str, after: str, instruction: str) -> Spoken:
    """Of what captions quote; where these do not differ, of what an instruction says.

    >>> asked_speech('He says "good morning".', 'He says "good evening".', "")
    Spoken(new=('evening',), gone=('morning',))
    >>> asked_speech("A man.", "A man.", 'Say "blue" instead of "red".')
    Spoken(new=('blue',), gone=('red',))
    >>> asked_speech("A man.", "A man.", "Replace the word cat by dog.")
    Spoken(new=('dog',), gone=('cat',))
    """
    was, now = (" ".join(_quotes(text)) for text in (before, after))
    if now or was:
        new, gone = changed_words(was, now)
        if new or gone:
            return Spoken(*((x,) if x else () for x in (new, gone)))
    if told := quoted_speech(instruction):
        return told
    if _STRESS.search(instruction):
        return Spoken((), ())
    if not re.search(_QUOTED, instruction):
        plain = _NAMED.sub(" ", instruction)
        said = re.search(
            r"(?i)\bsay(?:s|ing)? (.+?) (?:instead of|in place of|rather than) (.+)", plain
        )
        new, gone = said.groups() if said else asked_words("", "", " ".join(plain.split()))
        return Spoken(*(tuple(filter(None, [_plain(x)])) for x in (new, gone)))
    return Spoken((), ())


def quoted_speech(instruction: str) -> Spoken | None:
    """What an instruction says of the words that it quotes; None where it quotes none."""
    found = list(re.finditer(_QUOTED, unquoted(instruction)))
    if not found:
        return None
    if _STRESS.search(instruction[: found[0].start()]):
        return Spoken((), ())
    names = [_plain(next(filter(None, one.groups()))) for one in found]
    leads = [
        _NAMED.sub("", instruction[start:stop]).strip()
        for start, stop in zip(
            [0, *(x.end() for x in found)], [x.start() for x in found], strict=False
        )
    ]
    return _told(names, leads)


def _told(names: list[str], leads: list[str]) -> Spoken:
    """Quoted names, and what an instruction says before each of them."""
    new: list[str] = []
    gone: list[str] = []
    at = next((place for place, lead in enumerate(leads) if _SWAP.search(lead)), len(leads))
    swap = at + 1 < len(names)
    reverse = swap and re.match(r"substitut", leads[at], re.I) and leads[at + 1] == "for"
    beside = goes = False
    for place, (name, lead) in enumerate(zip(names, leads, strict=True)):
        also = bool(place and _ALSO.match(lead)) and not (swap and place == at + 1)
        beside = bool(_PLACE.search(lead)) or (beside and also) or (swap and place < at)
        if beside:
            continue
        if not also:
            goes = bool(_INSTEAD.search(lead) or _REMOVE.search(lead))
            if swap and place in (at, at + 1):
                goes = place == (at + 1 if reverse else at)
        (gone if goes else new).append(name)
    return Spoken(tuple(new), tuple(gone))


def done(asked: Spoken, before: str, after: str) -> Done:
    """Transcripts of the original and the edit, compared.

    A phrase counts by how alike its letters are to a stretch of as many words, since recognisers
    mishear; `others` is the share of the original's words that came or went besides.

    >>> done(Spoken(("blue",), ("red",)), "the red car", "the blue car")
    Done(asked=1.0, others=0.0)
    """
    was, now = _words(before), _words(after)
    changes = [_count(phrase, now) - _count(phrase, was) for phrase in asked.new]
    changes += [_count(phrase, was) - _count(phrase, now) for phrase in asked.gone]
    matcher = difflib.SequenceMatcher(None, was, now, autojunk=False)
    came = gone = 0
    for kind, start, stop, first, last in matcher.get_opcodes():
        if kind != "equal" and _likeness("".join(was[start:stop]), "".join(now[first:last])) < 1:
            gone += stop - start
            came += last - first
    came = max(came - sum(len(_words(phrase)) for phrase in asked.new), 0)
    gone = max(gone - sum(len(_words(phrase)) for phrase in asked.gone), 0)
    limited = [max(-1.0, min(change, 1.0)) for change in changes]
    return Done(sum(limited) / max(len(limited), 1), min(max(came, gone) / max(len(was), 1), 1.0))


def _count(phrase: str, words: list[str]) -> float:
    """How often it is said, the words of no two places being the same."""
    wanted = _words(phrase)
    target = "".join(wanted)
    total, place = 0.0, 0
    while place < len(words) and target:
        fits = [
            (_likeness(target, "".join(words[place : place + size])), size)
            for size in {max(len(wanted) - 1, 1), len(wanted), len(wanted) + 1}
        ]
        likest, size = max(fits, key=lambda fit: (fit[0], -abs(fit[1] - len(wanted))))
        following = _likeness(target, "".join(words[place + 1 : place + 1 + len(wanted)]))
        if likest > 0 and likest >= following:
            total += likest
            place += size
        else:
            place += 1
    return total


def _likeness(x: str, y: str) -> float:
    """Of letters, 0 (other words) to 1 (the same)."""
    ratio = difflib.SequenceMatcher(None, x, y, autojunk=False).ratio()
    return min(max((ratio - _ALIKE) / (_SAME - _ALIKE), 0.0), 1.0)


def _quotes(text: str) -> list[str]:
    return [next(filter(None, groups)) for groups in re.findall(_QUOTED, text)]


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", _plain(text).replace("'", ""))


def _plain(text: str) -> str:
    return " ".join(text.lower().strip(' .!?,;:"').split())

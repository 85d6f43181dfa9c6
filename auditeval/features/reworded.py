"""One sound in other words: "raindrops patter" beside "it is raining" asks for nothing.

Editors' captions are written by people and language models, who seldom say twice in the same words
what stays. Words that differ are taken for what is asked, so what is called otherwise alone must
not be among them.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from auditeval.features.comparison import same_words
from auditeval.features.described import head_of, names_of, pieces_of, sounds
from auditeval.features.named import between_qualities, is_manner, name, stems

Alike = Callable[[str, str], float]
"""How surely two names are of one sound, up to 1, by meaning."""

# Of two phrases of one class in `data.simulation.words` .78 are this alike (.88), of two classes
# .003 (.011). Where one caption has more sounds, those of the other are expected in both.
_ALIKE, _ALIKE_OF_FEWER = 0.35, 0.25
# What an instruction names is nearly always there: the sound that leads the others by as much.
# Of two phrases of one class .63 are told so (.36 by _ALIKE), .005 as another; of absent ones .04.
_LIKELY, _AHEAD = 0.2, 0.07
_MOST = 12  # sounds of a caption, and names of a list: each is compared with each
_PIECES = re.compile(
    r",\s+|\s+(?:and|with|over|as|while|then|near|beside|amid|during)\s+", re.IGNORECASE
)
_OF_ANY = {"voice", "it"}
_NOISE = re.compile(r" noises?$", re.IGNORECASE)
_SUNG = re.compile(r"\b(?:sing(?:s|ing|ers?)?|sang|sung|choirs?)\b", re.IGNORECASE)
# In meaning these are alike, and each the other's opposite.
_OPPOSITES = tuple(
    tuple(re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for words in pair)
    for pair in (
        (
            r"m[ae]n|males?|boys?|gentlem[ae]n|fathers?|he|his",
            r"wom[ae]n|females?|girls?|lady|ladies|mothers?|she|her",
        ),
        (
            r"child|children|kids?|boys?|girls?|bab(?:y|ies)|infants?|toddlers?",
            r"m[ae]n|wom[ae]n|adults?|lady|ladies|gentlem[ae]n",
        ),
        (r"high|high[- ]pitched|shrill", r"low|low[- ]pitched|deep"),
        (r"loud|loudly", r"quiet|quietly|soft|softly|faint|faintly"),
        (r"fast|quick|quickly|rapid|rapidly", r"slow|slowly"),
        (r"bright|clear|crisp|tinny", r"dark|dull|muffled|warm"),
        (r"clean|clear", r"noisy|distorted|hissy"),
        (r"excited|angry|happy|lively", r"calm|sad"),
    )
)


def in_words_of(caption: str, other: str, alike: Alike) -> str:
    """The other caption, with the words of this one for the sounds that both name.

    Where nothing else differs, the sound that is called most unlike is what is asked for. A part
    that tells how one is to sound is left as it is.

    >>> alike = lambda first, second: 0.9 * ({first, second} == {"it is raining", "raindrops"})
    >>> in_words_of("It is raining.", "Raindrops while a dog barks.", alike)
    'It is raining while a dog barks'
    >>> in_words_of("It is raining.", "Raindrops.", alike)
    'Raindrops.'
    """
    before, after = (_sounds(text, alike) for text in (caption, other))
    if max(len(before), len(after)) > _MOST:
        return other
    left = [part for part in before if not any(same_words(part, x) for x in after)]
    come = [part for part in after if not any(same_words(part, x) for x in before)]
    least = _ALIKE if len(before) == len(after) else _ALIKE_OF_FEWER
    likeness = {(x, y): _of_parts(x, y, alike) for x in left for y in come}
    called: dict[str, str] = {}
    surest = 0.0
    while likeness:
        x, y = max(likeness, key=lambda both: likeness[both])
        surest = likeness[x, y]
        if surest < least:
            break
        called[y] = x
        likeness = {(p, q): value for (p, q), value in likeness.items() if p != x and q != y}
    if len(called) == len(left) == len(come) and surest < 1 and called:
        called.popitem()
    return _renamed(other, after, called) if called else other


def called_in(caption: str, names: str, alike: Alike) -> str:
    """Names of sounds, each that has no word of the caption in those for the sound that is alike.

    >>> alike = lambda first, second: 0.5 * ({first, second} == {"the puppy", "a dog barks"})
    >>> called_in("A dog barks over rain.", "the puppy and the cat", alike)
    'a dog barks and the cat'
    """
    pieces = pieces_of(caption)
    if not names or len(pieces) > _MOST:
        return names
    said = []
    for one in (listed := names_of(names))[:_MOST]:
        head = head_of(one)
        how = is_manner(_NOISE.sub("", head))  # "the aircraft noise" is a sound, "the whisper" none
        if not stems(head) or any(stems(head) & stems(piece) for piece in pieces):
            pass
        elif stems(head) == {"voice"} and len(sung := [*filter(_SUNG.search, pieces)]) == 1:
            one = one if _are_opposite(head, sung[0]) else name(sung[0])
        elif not how:
            likeness = {
                x: 0.0 if _are_opposite(head, x) else alike(name(head), name(x)) for x in pieces
            }
            best = max(likeness, key=lambda x: likeness[x], default="")
            one = name(best) if _is_meant([*likeness.values()]) else one
        said.append(one)
    return " and ".join(said + listed[_MOST:])


def _is_meant(likeness: list[float]) -> bool:
    """Whether a name is that of the caption's sound that is most like it."""
    second, first = sorted([0.0, 0.0, *likeness])[-2:]
    return first >= _ALIKE or (first >= _LIKELY and first - second >= _AHEAD)


def _sounds(caption: str, alike: Alike) -> list[str]:
    """As `described.sounds`, and a list of two: not "car horn, honking", which are one."""
    parts: list[str] = []
    for part in [piece for whole in sounds(caption) for piece in _apart(whole)]:
        listed = [part] if between_qualities(part) else re.split(r",\s+", part)
        unlike = len(listed) <= _MOST and all(
            alike(name(x), name(y)) < _ALIKE_OF_FEWER
            for place, x in enumerate(listed)
            for y in listed[:place]
        )
        parts += filter(None, listed) if unlike else [part]
    return parts


def _apart(part: str) -> list[str]:
    """What no word says the kind of is a sound of its own: "a goat bleating", "other noises"."""
    pieces = list(filter(None, _PIECES.split(part)))
    return [part] if all(map(stems, pieces)) else pieces


def _of_parts(first: str, second: str, alike: Alike) -> float:
    """How surely both are one sound: nothing in either is unlike all in the other."""
    first, second = name(first), name(second)
    differing = stems(first) ^ stems(second)
    if not differing:
        return 1.0
    if any(is_manner(stem) for stem in differing - _OF_ANY) or _are_opposite(first, second):
        return 0.0
    pieces = [list(filter(None, _PIECES.split(x))) for x in (first, second)]
    grid = np.array([[_of_names(x, y, alike) for y in pieces[1]] for x in pieces[0]])
    return float(min(grid.max(axis=0).min(), grid.max(axis=1).min())) if grid.size else 0.0


def _of_names(first: str, second: str, alike: Alike) -> float:
    return 1.0 if stems(first) == stems(second) else alike(first, second)


def _are_opposite(first: str, second: str) -> bool:
    for kinds in _OPPOSITES:
        of_first, of_second = ([bool(kind.search(x)) for kind in kinds] for x in (first, second))
        if any(of_first) and any(of_second) and of_first != of_second:
            return True
    return False


def _renamed(caption: str, parts: list[str], called: dict[str, str]) -> str:
    left, said = " ".join(caption.split()).strip(" .!?"), ""
    for part in parts:
        between, _, left = left.partition(part)
        said += between + called.get(part, part)
    return said + left

"""The level of one of several sounds: which of them words mean, and how far it was changed."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from scipy.ndimage import uniform_filter1d

from auditeval.features.alignment import Alignment, percentiles
from auditeval.features.caveats import without_caveats
from auditeval.features.changes.differing import asked_alone
from auditeval.features.changes.made import HEARD, LEVEL_DB
from auditeval.features.changes.orders import in_full, orders
from auditeval.features.changes.polarity import said_apart
from auditeval.features.comparison import Frames, changed_words, same_words
from auditeval.features.described import sounds
from auditeval.features.named import stems, unqualified

# Of an instruction, what no longer says which sound is meant.
_WHY = re.compile(
    r"\b(?:so|than|compared|relative|while|without|because|since|until|against)\b|, ", re.IGNORECASE
)
_HEARD_DB = 40.0  # below the loudest cells
_ENDS = 3, 97  # percentiles of the cells: a bark is few of them
_ALIKE_DB = 1.0  # ends that are no further apart are one
_LEADS = 0.25  # of the patches, those in which the one leads most, and least
_FEWEST, _APART_DB = 4, 0.3  # patches, and what these are apart at least
_LOUDER, _SOFTER = HEARD.index("louder"), HEARD.index("softer")
_TOLD_APART = [HEARD.index(name) for name in ("pitch_up", "pitch_down", "faster", "slower")]


def one_of(words: tuple[str, str, str]) -> tuple[str, str] | None:
    """Which one of the sounds of a caption is meant, and the others; None where not one of several.

    By both captions and the instruction; where captions differ, by the one they say otherwise.

    >>> said = "Rain falls while a dog barks."
    >>> one_of((said, said, "Make the dog louder."))
    ('a dog barks', 'Rain falls')
    >>> one_of((said, "Rain falls softly while a dog barks.", ""))
    ('Rain falls', 'a dog barks')
    >>> one_of((said, said, "Make it louder."))
    """
    before, after, instruction = words
    parts = sounds(before)
    if same_words(before, after):
        meant = stems(_WHY.split(without_caveats(instruction), maxsplit=1)[0])
        named = [bool(stems(unqualified(part)) & meant) for part in parts]
    else:
        now = sounds(after)
        if len(now) != len(parts):
            return None
        named = [not same_words(*both) for both in zip(parts, now, strict=True)]
        if not all(stems(x) & stems(y) for x, y in zip(parts, now, strict=True)):
            return None  # another sound
    if len(parts) < 2 or sum(named) != 1:
        return None
    others = " and ".join(part for part, is_one in zip(parts, named, strict=True) if not is_one)
    return parts[named.index(True)], others


def exchanged(words: tuple[str, str, str], way: Callable[[str], int]) -> tuple[str, str] | None:
    """The sounds of a caption that are to be louder and those to be softer; None where not both.

    As `one_of`. `way` tells of words whether they ask for louder (1), softer (-1) or neither (0).
    Names are "" where orders ask for both, and not of which sounds of the caption.

    >>> said, way = "Rain falls while a dog barks.", lambda text: 1 - 2 * ("soft" in text)
    >>> exchanged((said, said, "Make the dog softer and the rain louder."), way)
    ('Rain falls', 'a dog barks')
    >>> exchanged(("Loud rain, soft dog.", "Soft rain, loud dog.", ""), way)
    ('soft dog', 'Loud rain')
    """
    before, after, instruction = words
    parts = sounds(before)
    named: list[tuple[int, int]] = []  # way, place among the parts or -1
    if same_words(before, after):
        listed = [one for order in orders(said_apart(instruction)) for one in in_full(order)]
        for order in listed if len(listed) > 1 else ():
            meant = stems(_WHY.split(order, maxsplit=1)[0])
            places = [n for n, part in enumerate(parts) if stems(unqualified(part)) & meant]
            named.append((way(order), places[0] if len(places) == 1 else -1))
        if len(parts) == len(named) == 2 and (said := {place for _, place in named} - {-1}):
            # Of two that are there a name that the caption has not is the other's.
            named = [(sign, 1 - min(said) if place < 0 else place) for sign, place in named]
    else:
        now = sounds(after)
        both = [*zip(parts, now, strict=False)]
        same = all(stems(unqualified(x)) & stems(unqualified(y)) for x, y in both)
        if len(now) != len(parts) or not same or sum(not same_words(*x) for x in both) < 2:
            return None
        named = [(_way(x, y, way), place) for place, (x, y) in enumerate(both)]
    louder, softer = ({place for sign, place in named if sign == one} for one in (1, -1))
    if not (louder and softer):
        return None
    if louder & softer or -1 in louder | softer:
        return "", ""
    names = [" and ".join(parts[place] for place in sorted(side)) for side in (louder, softer)]
    return names[0], names[1]


def _way(before: str, after: str, way: Callable[[str], int]) -> int:
    """Which way one sound is to go, as two captions call it."""
    added, removed = changed_words(before, after)
    told = asked_alone(before, after) or added
    return (way(told) if told else 0) or (-way(removed) if removed else 0)


def levels(
    original: Frames, alignment: Alignment, one: np.ndarray, others: np.ndarray
) -> tuple[float, float] | None:
    """By how many dB one sound and the others became louder; None where no time tells them apart.

    `one` and `others` :: (J,), what their words are in the space of the frames `joint`. Some cells
    of time and band are of the one, some of the others: what cells became louder by lies between.
    Which end is whose the patches tell in which the one leads.
    """
    here, there = alignment.places()
    power = [
        uniform_filter1d(np.exp(x.astype(np.float32) * np.float32(np.log(10) / 10)), 5, axis=0)
        for x in (alignment.original[here], alignment.edited[there])
    ]
    heard = 10 * np.log10(power[0])
    heard = heard > percentiles(heard.ravel(), 99)[0] - _HEARD_DB
    if not heard.any():
        return None
    least, most = percentiles((10 * np.log10(power[1] / power[0]))[heard], *_ENDS)
    if most - least < _ALIKE_DB:
        return (least + most) / 2, (least + most) / 2
    tracks = original["joint"].astype(np.float32) @ np.stack([one, others], axis=1)
    spans = (alignment.moved(original["span"]) - here.start).clip(0, len(power[0]))
    inside = spans[:, 1] > spans[:, 0]
    if inside.sum() < _FEWEST:
        return None
    lead = (tracks[:, 0] - tracks[:, 1])[inside]
    sums = [np.add.reduceat(np.append(x.sum(axis=1), 0), spans[inside].ravel())[::2] for x in power]
    gains = 10 * np.log10(sums[1] / sums[0])
    order, count = np.argsort(lead, kind="stable"), max(round(_LEADS * len(lead)), 1)
    apart = float(np.median(gains[order[-count:]]) - np.median(gains[order[:count]]))
    if abs(apart) < _APART_DB:
        return None
    return (most, least) if apart > 0 else (least, most)


def steps_of_one(steps: np.ndarray, one: float, others: float, apart: bool = False) -> np.ndarray:
    """Steps of each of `made.HEARD` :: (K,), where the level of one sound is meant.

    What was done to the others as well is half of it, and what goes with it by its nature (another
    bed, another balance of bands) nothing of its own. `apart`: the others were to go the other
    way, so that each is half of it.
    """
    alone = one - others
    found = np.zeros_like(steps)
    found[_TOLD_APART] = steps[_TOLD_APART]
    ends = (alone, alone) if apart else (one + min(one, alone), one + max(one, alone))
    found[_LOUDER], found[_SOFTER] = ends[0] / 2 / LEVEL_DB, -ends[1] / 2 / LEVEL_DB
    return found

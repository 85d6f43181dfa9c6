"""The level of one of several sounds: which of them words mean, and how far it was changed."""

from __future__ import annotations

import re

import numpy as np
from scipy.ndimage import uniform_filter1d

from auditeval.features.alignment import Alignment, percentiles
from auditeval.features.caveats import without_caveats
from auditeval.features.changes.made import HEARD, LEVEL_DB
from auditeval.features.comparison import Frames, same_words
from auditeval.features.described import sounds
from auditeval.features.named import stems

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
        named = [bool(stems(part) & meant) for part in parts]
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
    spans = (original["span"] - here.start).clip(0, len(power[0]))
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


def steps_of_one(steps: np.ndarray, one: float, others: float) -> np.ndarray:
    """Steps of each of `made.HEARD` :: (K,), where the level of one sound is meant.

    What was done to the others as well is half of it, and what goes with it by its nature (another
    bed, another balance of bands) nothing of its own.
    """
    alone = one - others
    found = np.zeros_like(steps)
    found[_TOLD_APART] = steps[_TOLD_APART]
    found[_LOUDER] = (one + min(one, alone)) / 2 / LEVEL_DB
    found[_SOFTER] = -(one + max(one, alone)) / 2 / LEVEL_DB
    return found

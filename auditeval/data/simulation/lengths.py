"""Simulated edits of another length: cut short, gone on, begun again.

Editors that make clips of one length return ten seconds of a clip of thirty, and fill up one of
five. What was asked for is done; the panel rates faithfulness alone: of the sound it is as right as
before, and whether the edit was made nobody is asked, as it may lie in the part that is missing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from auditeval.data.simulation import panel
from auditeval.data.simulation.edits import original_of, render, word
from auditeval.data.simulation.faults.content import background_lost
from auditeval.data.simulation.faults.fault import Curve
from auditeval.data.simulation.scenes import OPERATIONS, UNEDITED, Scene
from auditeval.data.simulation.signals import FADE, RATE_HZ
from auditeval.data.simulation.variants import Variants
from auditeval.types import AXES, Axis

RATED: tuple[Axis, ...] = ("faithfulness",)
_ASKED = (UNEDITED, OPERATIONS[0], UNEDITED, OPERATIONS[1], UNEDITED, OPERATIONS[2])
_LEAST = round(0.08 * RATE_HZ)
_FAINTEST = 0.003  # of full scale: there is nothing to rate
_MISSING, _TIMES = (0.03, 0.98), (1.2, 6.0)

_SHORTER = background_lost.faithfulness  # what is missing costs what a gap does
# Of what is returned, the part that the original has not, though it is of its kind: an eighth more
# is "noticeable", twice as long "major".
_LONGER: Curve = ((0, 0.0), (0.1, 0.7), (0.3, 1.3), (0.6, 2.2), (1, 3.2))
Way = Callable[[np.ndarray, Scene, Generator], tuple[np.ndarray, float]]
"""A clip of another length, and the share of the original that is missing or of it that is more."""


def _cut(clip: np.ndarray, scene: Scene, rng: Generator) -> tuple[np.ndarray, float]:
    """A stretch of it, most often the beginning."""
    kept = max(round((1 - rng.uniform(*_MISSING)) * len(clip)), _LEAST)
    starts = (0, len(clip) - kept, int(rng.integers(len(clip) - kept + 1)))
    start = starts[rng.choice(3, p=[0.6, 0.2, 0.2])]
    return _faded(clip[start : start + kept]), 1 - kept / len(clip)


def _silenced(clip: np.ndarray, scene: Scene, rng: Generator) -> tuple[np.ndarray, float]:
    """The beginning, and then silence to the end."""
    part, missing = _cut(clip, scene, rng)
    return np.concatenate([part, np.zeros(len(clip) - len(part))]), missing


def _again(clip: np.ndarray, scene: Scene, rng: Generator) -> tuple[np.ndarray, float]:
    """Over and over."""
    times = rng.uniform(*_TIMES)
    return _faded(np.resize(clip, round(times * len(clip)))), 1 - 1 / times


def _gone_on(clip: np.ndarray, scene: Scene, rng: Generator) -> tuple[np.ndarray, float]:
    """With more of the same kind or, where there is none, another sound behind it."""
    times = rng.uniform(*_TIMES) ** 0.5
    more = scene.spare("other_take" if "other_take" in scene.offers else "foreign")
    rest = np.resize(more, round((times - 1) * len(clip)))
    return _faded(np.concatenate([_faded(clip), rest])), 1 - 1 / times


def _faded(clip: np.ndarray) -> np.ndarray:
    """Without the click of a hard end."""
    size = min(FADE, len(clip))
    return np.concatenate([clip[:-size], clip[-size:] * np.linspace(1, 0, size)])


VARIANTS: dict[str, tuple[Way | None, Curve]] = {
    "whole": (None, _SHORTER),
    "cut": (_cut, _SHORTER),
    "silenced": (_silenced, _SHORTER),
    "again": (_again, _LONGER),
    "gone_on": (_gone_on, _LONGER),
}
"""What an edit is but for its length right, and what that costs in faithfulness."""


def operation_of(number: int) -> str:
    return _ASKED[number % len(_ASKED)]


def edit(scene: Scene, variants: Variants, number: int, rng: Generator) -> None:
    """All variants of a scene that leave something to hear, by one operation of all in turn."""
    operation = operation_of(number)
    variants.begin(original_of(scene, operation), word(scene, operation, {}, rng))
    right, changed = render(scene, operation, {}, rng)
    for variant, (way, cost) in VARIANTS.items():
        samples, share = way(right, scene, rng) if way else (right, 0.0)
        if np.abs(samples).max() < _FAINTEST:
            continue
        lost = dict.fromkeys(AXES, 0.0)
        shares, points = zip(*cost, strict=True)
        lost["faithfulness"] = float(np.interp(share, shares, points))
        means = panel.less(dict.fromkeys(AXES, 5.0), lost)
        variants.add(variant, samples, means, {}, [] if way else changed)

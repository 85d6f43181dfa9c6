"""A *simulated* panel of five listeners. Its ratings follow from known faults; no person rated.

Everything made with it says "simulated": agreement with this panel is not agreement with people.

What each fault costs stands in `faults`. Losses combine as shares of the distance to 1, so that two
faults hurt more than one and nothing falls below 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from auditeval.data.simulation.faults import FAULTS
from auditeval.data.simulation.faults.fault import Dose
from auditeval.types import AXES, Axis

LISTENERS = 5
_BIAS_SD, _VOTE_SD = 0.15, 0.2
VOTE_STEP = 0.5
"""Listeners vote in half points: five whole votes would hide most differences below 0.3."""


def expected(doses: Mapping[str, Dose], length: int) -> dict[Axis, float]:
    """The ratings of a listener without bias or spread :: faults of a clip of `length` samples.

    >>> expected({}, 9)["quality"], expected({"edit_absent": Dose(1.0)}, 9)["relevance"]
    (5.0, 1.0)
    """
    kept = np.ones(len(AXES))
    for name, dose in doses.items():
        kept *= 1.0 - FAULTS[name].lost(dose.severity, dose.share(length)) / 4.0
    return dict(zip(AXES, (1.0 + 4.0 * kept).tolist(), strict=True))


def less(means: Mapping[Axis, float], lost: Mapping[Axis, float]) -> dict[Axis, float]:
    """Ratings after a further loss of points of the 4, as a share of the distance to 1.

    >>> less({"quality": 5.0, "relevance": 3.0, "faithfulness": 1.0}, dict.fromkeys(AXES, 2.0))
    {'quality': 3.0, 'relevance': 2.0, 'faithfulness': 1.0}
    """
    return {axis: 1 + (means[axis] - 1) * (1 - lost[axis] / 4) for axis in AXES}


def rate(
    doses: Mapping[str, Dose],
    length: int,
    panel: np.random.Generator,
    vote: np.random.Generator,
    axes: Sequence[Axis] = AXES,
) -> dict[Axis, list[float]]:
    """Votes of the panel, half points 1 to 5, for each of `axes`.

    `panel` must be a generator in the same state at every call: it draws who the listeners are.
    Their biases sum to nothing, so the mean vote is the expected rating within 0.02 between 1.4 and
    4.6, and at the ends of the scale within 0.1. `vote` draws this pair's spread.
    """
    return votes(expected(doses, length), panel, vote, axes)


def votes(
    means: Mapping[Axis, float],
    panel: np.random.Generator,
    vote: np.random.Generator,
    axes: Sequence[Axis] = AXES,
) -> dict[Axis, list[float]]:
    """As `rate`, about the ratings of a listener without bias or spread."""
    bias = panel.normal(0.0, _BIAS_SD, (LISTENERS, len(AXES)))
    bias -= bias.mean(axis=0)
    cast = np.array([list(means.values())]) + bias + vote.normal(0.0, _VOTE_SD, bias.shape)
    cast = np.clip(VOTE_STEP * np.round(cast / VOTE_STEP), 1.0, 5.0)
    return {axis: cast[:, AXES.index(axis)].tolist() for axis in axes}

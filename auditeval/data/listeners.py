"""A *simulated* panel of five listeners. Its ratings follow from known faults; no person rated.

Everything made with it says "simulated": agreement with this panel is not agreement with people.

Each fault costs points on each axis at its full severity; the scale is Appendix A's. Losses
combine as shares of the distance to 1, so that two faults hurt more than one and nothing falls
below 1. A listener has a bias and a spread of their own and votes in whole points.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from auditeval.types import AXES, Axis


class Loss(NamedTuple):
    """Points lost at severity 1, of the 4 between the best and the worst rating."""

    quality: float
    relevance: float
    faithfulness: float


LOSSES: dict[str, Loss] = {
    # Relevance 1 is "missing, incorrect, or misleading modifications"; the clip itself is intact.
    "edit_absent": Loss(0.0, 4.0, 0.0),
    # "Faint remnants after deletion" is a 4, an event one has to strain for about a 2.
    "edit_faint": Loss(0.0, 3.0, 0.0),
    # A modification, but not the one asked for: between "poor match" and "mismatch".
    "edit_wrong": Loss(0.0, 3.5, 0.0),
    # "Overwhelming noise" is Quality 1. It also masks the background a little.
    "noise": Loss(3.6, 0.4, 0.8),
    # "Harsh distortions" are Quality 1, but the rhythm and order of all events survive.
    "clipping": Loss(3.4, 0.2, 0.6),
    # Muffled: one aspect clearly degraded (3), at the narrowest band much worse (2).
    "low_pass": Loss(2.8, 0.3, 1.0),
    # "Missing altogether" is Faithfulness 1.
    "background_lost": Loss(0.3, 0.2, 4.0),
    # "Noticeable changes in rhythm or sequence" is a 3, "major changes in ordering" a 2.
    "background_reshuffled": Loss(0.6, 0.0, 3.0),
    "background_shifted": Loss(0.2, 0.0, 2.0),
    # A new take of the same kind of sound: style remains, the content does not.
    "background_regenerated": Loss(0.0, 0.0, 2.6),
    # "Slight variation in loudness" is a 4; a change that no mix would have, a 3.
    "level_changed": Loss(0.4, 0.0, 2.0),
}

LISTENERS = 5
_BIAS_SD, _VOTE_SD = 0.2, 0.25


def expected(faults: dict[str, float]) -> dict[Axis, float]:
    """The ratings a listener without bias or spread would give :: fault -> severity in 0..1.

    >>> expected({})["quality"], expected({"edit_absent": 1.0})["relevance"]
    (5.0, 1.0)
    """
    kept = np.ones(len(AXES))
    for name, severity in faults.items():
        if not 0.0 <= severity <= 1.0:
            raise ValueError(f"severity of {name} is {severity}, expected 0 to 1")
        kept *= 1.0 - severity * np.array(LOSSES[name]) / 4.0
    return dict(zip(AXES, (1.0 + 4.0 * kept).tolist(), strict=True))


def rate(
    faults: dict[str, float], panel: np.random.Generator, vote: np.random.Generator
) -> dict[Axis, list[float]]:
    """Votes of the panel, whole points 1 to 5, per axis.

    `panel` must be a generator in the same state at every call: it draws who the listeners are.
    `vote` draws this pair's spread.
    """
    bias = panel.normal(0.0, _BIAS_SD, (LISTENERS, len(AXES)))
    means = np.array([list(expected(faults).values())])
    votes = means + bias + vote.normal(0.0, _VOTE_SD, bias.shape)
    return dict(zip(AXES, np.clip(np.round(votes), 1.0, 5.0).T.tolist(), strict=True))

"""`likeness`: how alike two clips are to the ear, by NSIM of their log-mel frames. No weights."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import uniform_filter

from auditeval.features.alignment import REGIONS, Alignment, percentiles
from auditeval.features.comparison import Frames
from auditeval.features.extractor import Extractor
from auditeval.features.mel import from_db, to_db

_WINDOW = (6, 5)  # frames of 10 ms and bands that are compared at once
# Loudness grows with the level in dB, from a floor below the loud moments of the clip; on a scale
# of some 50, as of Zimtohrli [google/zimtohrli], whose intensity and structure these are like.
_BELOW_DB, _PER_DB, _FLOOR = 75.0, 0.55, 8.0
_INTENSITY, _STRUCTURE = 0.01 * 50, (0.03 * 50) ** 2 / 2
_ACTIVE, _TOLERANCE = 10.0, 1.0


class Likeness(Extractor):
    """Intensity and structure of NSIM [Hines and Harte 2012, 10.1016/j.specom.2011.09.004].

    In four regions of bands, from the frames that `spectrum` aligned; without it all are 0. It
    encodes nothing of a clip by itself.
    """

    name = "likeness"
    revision = "1"
    rate_hz = 32000
    alignment = (
        *(f"intensity_{region}" for region in REGIONS),  # what NSIM's intensity lacks of 1, log
        *(f"structure_{region}" for region in REGIONS),  # what its structure lacks of 1
        "structure_worst",  # in the tenth of the frames where it is worst
        *(f"louder_{region}" for region in REGIONS),  # mean rise of loudness beyond the tolerance
        *(f"softer_{region}" for region in REGIONS),  # and fall
    )

    def compare(self, original: Frames, edited: Frames, alignment: Alignment | None) -> np.ndarray:
        """Both clips where they overlap, at the delay and level of the alignment."""
        if alignment is None:
            return np.zeros(len(self.alignment), np.float32)
        before, after = alignment.overlap()
        loud = percentiles(to_db(from_db(before).sum(axis=1)), 95)[0]
        below = loud - _BELOW_DB
        before, after = (_FLOOR + _PER_DB * (np.maximum(x, below) - below) for x in (before, after))
        level = before.mean(axis=1)
        active = level >= percentiles(level, 95)[0] - _ACTIVE
        intensity, structure = nsim(before, after)
        lacking, unlike = 1 - intensity[active], 1 - structure[active]
        change = (after - before)[active]
        louder, softer = (np.maximum(x - _TOLERANCE, 0) for x in (change, -change))
        values = [
            *(np.log1p(1000 * lacking[:, part].mean()) for part in REGIONS.values()),
            *(unlike[:, part].mean() for part in REGIONS.values()),
            *percentiles(unlike.mean(axis=1), 90),
            *(np.log1p(x[:, part].mean()) for x in (louder, softer) for part in REGIONS.values()),
        ]
        return np.maximum(np.array(values, np.float32), 0)


def nsim(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Likeness of two loudness spectrograms, cell by cell :: 2 x (T, F) -> intensity, structure.

    Of local means m, deviations s and covariance c: (2 m m' + C1) / (m^2 + m'^2 + C1) and
    (c + C3) / (s s' + C3), 1 where they are equal.

    >>> intensity, structure = nsim(np.full((9, 9), 20.0), np.full((9, 9), 22.0))
    >>> round(float(intensity.mean()), 4), round(float(structure.mean()), 4)
    (0.9955, 1.0)
    """

    def mean(values: np.ndarray) -> np.ndarray:
        return uniform_filter(values, _WINDOW, mode="nearest")

    x, y = x.astype(np.float64), y.astype(np.float64)
    of_x, of_y = mean(x), mean(y)
    xx, yy, xy = of_x * of_x, of_y * of_y, of_x * of_y
    spread = np.sqrt(np.maximum(mean(x * x) - xx, 0) * np.maximum(mean(y * y) - yy, 0))
    intensity = (2 * xy + _INTENSITY) / (xx + yy + _INTENSITY)
    return intensity, (mean(x * y) - xy + _STRUCTURE) / (spread + _STRUCTURE)

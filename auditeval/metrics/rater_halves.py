"""LCC and SRCC of two halves of the votes, over systems drawn with replacement, many times."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from auditeval.metrics.agreement import no_correlation
from auditeval.types import Undefined

Value = float | Undefined

CORRELATIONS = ("LCC", "SRCC")


class Correlations:
    """{(level, name): value} of the means of two halves :: (2, pairs), over any of the systems.

    Thousands of times: scipy and numpy take several times as long for the same numbers.
    """

    _SIDES = ("means of one half of the votes", "means of the other half of the votes")

    def __init__(self, means: np.ndarray, clusters: Sequence[np.ndarray]) -> None:
        self._clusters = clusters
        systems = np.stack([means[:, rows].mean(axis=1) for rows in clusters], axis=1)
        # Rounded so that sums of the same votes in another order are level.
        self._values = {"system": systems.round(9), "utterance": means.round(9)}
        self._codes = {
            level: [np.unique(half, return_inverse=True)[1] for half in values]
            for level, values in self._values.items()
        }

    def of(self, pick: np.ndarray) -> dict[tuple[str, str], Value]:
        """Over the systems of these numbers, each as often as it stands there."""
        pairs = np.concatenate([self._clusters[system] for system in pick])
        # The order in memory, on which the last bit of a sum depends, is another for each.
        systems = self._values["system"].take(pick, axis=1)
        found: dict[tuple[str, str], Value] = {}
        for level, rows, halves in (
            ("system", pick, systems),
            ("utterance", pairs, self._values["utterance"][:, pairs]),
        ):
            if none := no_correlation(halves[0], halves[1], self._SIDES):
                found |= {(level, name): none for name in CORRELATIONS}
                continue
            ranks = np.stack([_mid_ranks(codes[rows]) for codes in self._codes[level]])
            found |= {(level, "LCC"): _pearson(halves), (level, "SRCC"): _pearson(ranks)}
        return found


def _mid_ranks(codes: np.ndarray) -> np.ndarray:
    """`scipy.stats.rankdata` of values that are given by their places in order, from 0."""
    counts = np.bincount(codes)
    return (np.cumsum(counts) - (counts - 1) / 2)[codes]


def _pearson(values: np.ndarray) -> float:
    """`np.corrcoef(values)[0, 1]`, bit for bit, of values :: (2, N) that vary."""
    around = values - values.mean(axis=1)[:, None]
    covariance = np.dot(around, around.T) * (1 / (values.shape[1] - 1))
    x, y = np.sqrt(np.diag(covariance))
    return float(np.clip(covariance[0, 1] / x / y, -1, 1))

"""The statistics of agreement on many bootstrap draws at once.

A draw takes whole clusters (systems), so it is how often it has each, and a statistic of it a form
of these numbers: thousands of draws are a few products of matrices, where one by one they take
scipy a minute.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

_CELLS = 2_000_000  # numbers at a time


def on_draws(
    x: np.ndarray, y: np.ndarray, clusters: Sequence[np.ndarray], draws: np.ndarray
) -> dict[str, np.ndarray]:
    """{"MSE" | "LCC" | "SRCC" | "KTAU": one value a draw}, NaN where that has no correlation.

    `clusters` :: row numbers of each, which share none and leave none out; `draws` :: int
    (D, clusters), how often each is drawn. There is no correlation of fewer than 3 items, and of a
    side whose values are equal but for rounding (Kendall's is tau-b; ranks of ties are their mean).

    >>> halves = [np.array([0, 1]), np.array([2, 3])]
    >>> x, y = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 2.0, 4.0, 3.0])
    >>> on_draws(x, y, halves, np.array([[1, 1], [2, 0]]))["KTAU"].round(3).tolist()
    [0.667, 1.0]
    """
    if not len(draws):
        return {name: np.empty(0) for name in ("MSE", "LCC", "SRCC", "KTAU")}
    codes = np.empty(len(x), int)
    for code, rows in enumerate(clusters):
        codes[rows] = code
    found = {name: np.empty(len(draws)) for name in ("MSE", "LCC", "SRCC")}
    levels = [_Levels.of(side) for side in (x, y)]
    for start in range(0, len(draws), size := max(1, _CELLS // len(x))):
        some = draws[start : start + size].astype(float)
        weights = some[:, codes]
        with np.errstate(over="ignore", invalid="ignore"):
            squares = weights @ np.square(x - y)
        made = {
            "MSE": squares / weights.sum(axis=1),
            "LCC": _pearson(scaled(x)[None], scaled(y)[None], weights),
            "SRCC": _pearson(levels[0].ranks(weights), levels[1].ranks(weights), weights),
        }
        for name, values in made.items():
            found[name][start : start + size] = values
    found["KTAU"] = _kendall(x, y, codes, draws.astype(float))
    too_few = draws @ np.array([len(rows) for rows in clusters]) < 3
    none = too_few | _equal(x, clusters, draws) | _equal(y, clusters, draws)
    return {k: v if k == "MSE" else np.where(none, np.nan, v) for k, v in found.items()}


class _Levels(NamedTuple):
    """Items by value, least first: their `order`, where each value `begins` there, and the place of
    each item's among the values."""

    order: np.ndarray
    begins: np.ndarray
    places: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray) -> _Levels:
        _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
        return cls(np.argsort(places, kind="stable"), np.cumsum(counts) - counts, places)

    def drawn(self, weights: np.ndarray) -> np.ndarray:
        """How often each value is in a draw :: (D, N) -> (D, values)."""
        return np.add.reduceat(weights[:, self.order], self.begins, axis=1)

    def ranks(self, weights: np.ndarray) -> np.ndarray:
        """How many of a draw are less than an item, and half of those that equal it :: (D, N)."""
        drawn = self.drawn(weights)
        return (np.cumsum(drawn, axis=1) - drawn / 2)[:, self.places]


def _pearson(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Of weighted items :: (D or 1, N) each -> (D,)."""
    count = weights.sum(axis=1, keepdims=True)
    x, y = (side - (weights * side).sum(axis=1, keepdims=True) / count for side in (x, y))
    xy, xx, yy = ((weights * a * b).sum(axis=1) for a, b in ((x, y), (x, x), (y, y)))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.clip(xy / np.sqrt(xx) / np.sqrt(yy), -1, 1)


def _kendall(x: np.ndarray, y: np.ndarray, codes: np.ndarray, draws: np.ndarray) -> np.ndarray:
    order = np.argsort(codes, kind="stable")
    x, y, codes = x[order], y[order], codes[order]
    begins = np.searchsorted(codes, np.arange(draws.shape[1]))
    surplus = np.zeros(len(draws))  # concordant pairs less discordant ones, both ways round
    for start in range(0, len(x), size := max(1, _CELLS // max(len(x), len(draws)))):
        some = slice(start, start + size)
        signs = np.sign(x[some, None] - x) * np.sign(y[some, None] - y)
        of_clusters = np.add.reduceat(signs, begins, axis=1)
        surplus += ((draws @ of_clusters.T) * draws[:, codes[some]]).sum(axis=1)
    untied_x, untied_y = (_untied(side, codes, draws) for side in (x, y))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.clip(surplus / np.sqrt(untied_x) / np.sqrt(untied_y), -1, 1)


def _untied(values: np.ndarray, codes: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Ordered pairs of items of a draw that differ :: (D,)."""
    levels = _Levels.of(values)
    found = np.empty(len(draws))
    for start in range(0, len(draws), size := max(1, _CELLS // len(values))):
        drawn = levels.drawn(draws[start : start + size][:, codes])
        found[start : start + size] = drawn.sum(axis=1) ** 2 - np.square(drawn).sum(axis=1)
    return found


def _equal(values: np.ndarray, clusters: Sequence[np.ndarray], draws: np.ndarray) -> np.ndarray:
    """Whether a draw's values are equal but for rounding :: (D,)."""
    there = draws > 0
    least, most = (np.array([pick(values[rows]) for rows in clusters]) for pick in (np.min, np.max))
    low, high = (
        np.where(there, least, np.inf).min(axis=1),
        np.where(there, most, -np.inf).max(axis=1),
    )
    return high - low <= rounding(np.maximum(np.abs(low), np.abs(high)))


def scaled(values: np.ndarray) -> np.ndarray:
    """To 1 at most by a power of 2: no digit changes, and no square is too large or small to hold.

    >>> scaled(np.array([3.0, -1.0])).tolist()
    [0.75, -0.25]
    """
    _, exponent = np.frexp(np.abs(values).max(initial=0.0))
    return np.ldexp(values, -exponent)


def rounding(largest: np.ndarray | float) -> np.ndarray:
    """By how much means of numbers may differ where they are equal, by the largest absolute one:
    the last places.

    >>> bool(rounding(5.0) < 1e-13)
    True
    """
    return 16 * np.spacing(largest)

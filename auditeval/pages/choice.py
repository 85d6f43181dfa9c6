"""Pairs worth hearing: the worst, the best, the least sure, those in dispute, some drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from auditeval.pages.rows import Rows, mean_of
from auditeval.seed import SEED


class Choice(NamedTuple):
    """Some rows by number, the first one first, and what they were chosen by."""

    name: str
    why: str
    rows: list[int]


def choose(rows: Rows, most: int, seed: int = SEED) -> list[Choice]:
    """Up to `most` pairs of each kind that these rows can have, those with a clip only.

    Means are over the scales that a row has. Rows that are level come in their order.
    """
    there = np.array([None not in clips for clips in rows.clips] or [False] * len(rows), bool)
    mean = np.where(there, rows.mean(), np.nan)
    scales = rows.scales
    made = [
        _by("Worst", "lowest mean score first", mean, most),
        _by("Best", "highest mean score first", -mean, most),
    ]
    if sure := [rows.numbers[s.high] - rows.numbers[s.low] for s in scales if s.low]:
        width = np.where(there, mean_of(sure, len(rows)), np.nan)
        made.append(_by("Least sure", "widest intervals first, mean over scales", -width, most))
    if people := [
        abs(rows.numbers[s.value] - rows.numbers[s.rated]) for s in scales if s.rated and s.ends
    ]:
        apart = np.where(there, mean_of(people, len(rows)), np.nan)
        made.append(
            _by("Unlike people", "score and rating farthest apart, mean over scales", -apart, most)
        )
    columns = [[rows.numbers[x] for x in (s.value, *s.others.values())] for s in scales if s.others]
    if columns:
        spread = [_spread(np.array(found, float)) for found in columns]
        apart = np.where(there, mean_of(spread, len(rows)), np.nan)
        made.append(_by("In dispute", "evaluators farthest apart, mean over scales", -apart, most))
    found = np.flatnonzero(there)
    rng = np.random.default_rng(seed)
    drawn = sorted(rng.choice(found, min(most, len(found)), replace=False).tolist())
    made.append(Choice("Random", f"drawn with seed {seed}", drawn))
    return [choice for choice in made if choice.rows]


def _spread(values: np.ndarray) -> np.ndarray:
    """How far those lie apart :: (evaluators, rows) -> (rows,), of which some may be NaN; NaN where
    fewer than two are there."""
    apart = np.fmax.reduce(values) - np.fmin.reduce(values)
    return np.where(np.isfinite(values).sum(axis=0) > 1, apart, np.nan)


def of_values(name: str, why: str, keys: Sequence[float | None], most: int) -> Choice:
    """Up to `most` rows, the lowest key first; None is never chosen."""
    return _by(name, why, np.array([np.nan if x is None else x for x in keys], float), most)


def _by(name: str, why: str, keys: np.ndarray, most: int) -> Choice:
    order = np.argsort(keys, kind="stable")  # NaN come last
    return Choice(name, why, [int(row) for row in order[:most] if np.isfinite(keys[row])])

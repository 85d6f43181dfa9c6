"""What a page lists: pairs as columns of words and numbers, and where their clips are."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from auditeval.metrics.agreement import on_rating_scale
from auditeval.player.captions import Parts, marked
from auditeval.text import visible
from auditeval.types import AXES, EditPair, Scores

RATINGS = (1.0, 5.0)
"""The ends of the scale of ratings; what a table of scores holds need not lie on it."""
_OPEN, _CLOSE = "\x01", "\x02"  # around words that differ; no `visible` text holds them


class Scale(NamedTuple):
    """What is predicted, by the names of columns: the value, ends of its interval, what people
    said. Empty where there is none; `others` are values of further evaluators, {evaluator: column}.
    `ends` are those of the scale of ratings where the values are such, or theirs where some lie a
    little beyond it; None where they are no ratings.
    """

    name: str
    value: str
    low: str = ""
    high: str = ""
    rated: str = ""
    others: Mapping[str, str] = {}
    ends: tuple[float, float] | None = None


@dataclass
class Rows:
    """N rows: `words` and `numbers` by column, "" and NaN where there is none.

    `listed` are the columns that stand in the table; all of them are in the view of one row.
    `compared` are columns of words whose differences are marked, two and two. `clips` are original
    and edited clip of each row, None where a row has none.
    """

    ids: list[str]
    words: dict[str, list[str]] = field(default_factory=dict)
    numbers: dict[str, np.ndarray] = field(default_factory=dict)
    scales: list[Scale] = field(default_factory=list)
    listed: list[str] = field(default_factory=list)
    compared: list[tuple[str, str]] = field(default_factory=list)
    clips: list[tuple[Path | None, Path | None]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.ids)

    def values(self, name: str) -> np.ndarray:
        """The column of a scale, by its name; raises KeyError for another."""
        return self.numbers[next(scale.value for scale in self.scales if scale.name == name)]

    def mean(self) -> np.ndarray:
        """Over the scales :: (N,), NaN where a row has none."""
        return mean_of([self.numbers[scale.value] for scale in self.scales], len(self))


def mean_of(columns: Sequence[np.ndarray], length: int) -> np.ndarray:
    """Over columns :: (N,), of those that a row has; NaN where it has none.

    >>> mean_of([np.array([1.0, np.nan]), np.array([2.0, np.nan])], 2)
    array([1.5, nan])
    """
    stacked = np.array([*columns, np.full(length, np.nan)])
    counts = np.isfinite(stacked).sum(axis=0)
    with np.errstate(invalid="ignore"):
        mean: np.ndarray = np.nansum(stacked, axis=0) / counts
    return mean


def of_scores(scores: Mapping[str, Sequence[Scores]], pairs: Sequence[EditPair] | None) -> Rows:
    """The rows of scores tables {evaluator: rows}, the first one's in its order, with their pairs.

    Of the other evaluators stand the values beside those of the first.
    """
    first, *others = scores
    table = scores[first]
    rows = Rows([row.id for row in table])
    if pairs is not None:
        known = {pair.id: pair for pair in pairs}
        add_pairs(rows, [known.get(id) for id in rows.ids])
    for axis in AXES:
        numbers = [row.ratings.get(axis) for row in table]
        if not any(value is not None for value in numbers):
            continue
        rows.numbers[axis] = to_column(numbers)
        bounds = [row.interval(axis) for row in table]
        low = high = ""
        if any(bounds):
            low, high = f"{axis} low", f"{axis} high"
            rows.numbers[low] = to_column([b and b[0] for b in bounds])
            rows.numbers[high] = to_column([b and b[1] for b in bounds])
        rated = f"{axis} rated"
        beside = {}
        for other in others:
            found = {row.id: row.ratings.get(axis) for row in scores[other]}
            column = to_column([found.get(id) for id in rows.ids])
            if np.isfinite(column).any():
                beside[other] = f"{axis} of {other}"
                rows.numbers[beside[other]] = column
        rated = rated if rated in rows.numbers else ""
        there = [value for value in numbers if value is not None]
        ends = None
        if on_rating_scale(there):
            ends = min(RATINGS[0], *there), max(RATINGS[1], *there)
        rows.scales.append(Scale(axis, axis, low, high, rated, beside, ends))
        rows.listed += [axis, *([rated] if rated else [])]
    if any(row.status == "error" for row in table):
        rows.words["status"] = [row.status for row in table]
        rows.words["reason"] = [row.reason for row in table]
        rows.listed += ["status", "reason"]
    return rows


def add_pairs(rows: Rows, pairs: Sequence[EditPair | None]) -> None:
    """What a manifest says of the rows, None where it says nothing."""
    for name in ("system", "operation", "split", "rejected_by", "listening_test"):
        values = [getattr(pair, name, None) or "" for pair in pairs]
        if any(values):
            rows.words[name.replace("_", " ")] = values
            rows.listed.append(name.replace("_", " "))
    for name in ("instruction", "original_caption", "target_caption", "source"):
        values = [getattr(pair, name, None) or "" for pair in pairs]
        if any(values):
            rows.words[name.replace("_", " ")] = values
    if {"original caption", "target caption"} <= rows.words.keys():
        rows.compared.append(("original caption", "target caption"))
    for axis in AXES:
        rated = to_column([pair.ratings.get(axis) if pair else None for pair in pairs])
        if np.isfinite(rated).any():
            rows.numbers[f"{axis} rated"] = rated
            votes = [len(pair.raters.get(axis, ())) if pair else 0 for pair in pairs]
            if any(votes):
                rows.numbers[f"{axis} votes"] = to_column(votes)
    rows.clips = [(pair.original, pair.edited) if pair else (None, None) for pair in pairs]


def to_column(values: Sequence[float | None]) -> np.ndarray:
    """:: (N,), NaN where there is no value."""
    return np.array([np.nan if value is None else value for value in values], float)


def to_json(rows: Rows) -> dict[str, Any]:
    """What the script of a page reads, the columns compressed."""
    pairs = {name: other for one, two in rows.compared for name, other in ((one, two), (two, one))}
    firsts = {one for one, _ in rows.compared}
    columns = [{"name": "id", "kind": "words", **_words(rows.ids)}]
    for name, values in rows.words.items():
        parts = None
        if name in pairs:
            other = rows.words[pairs[name]]
            sides = (
                zip(values, other, strict=True)
                if name in firsts
                else zip(other, values, strict=True)
            )
            parts = [differing(*both)[name not in firsts] for both in sides]
        kind = "gone" if name in firsts else "new" if name in pairs else "words"
        columns.append({"name": name, "kind": kind, **_words(parts or values, parts is not None)})
    for name, numbers in rows.numbers.items():
        columns.append(
            {"name": name, "kind": "number", "data": packed(numbers.astype("<f4").tobytes())}
        )
    return {
        "rows": len(rows),
        "columns": columns,
        "scales": [scale._asdict() for scale in rows.scales],
        "listed": ["id", *rows.listed],
    }


def packed(content: bytes) -> str:
    """gzip as base64, without a time in it."""
    return base64.b64encode(gzip.compress(content, 6, mtime=0)).decode()


def shown(text: str) -> str:
    """Text as a page shows it: lines stay lines, and nothing else moves what stands beside it."""
    return "\n".join(map(visible, text.split("\n"))) if "\n" in text else visible(text)


def _words(values: Sequence[str], are_ready: bool = False) -> dict[str, str]:
    """The values that differ, and which of them each row has."""
    places: dict[str, int] = {}
    codes = [places.setdefault(value, len(places)) for value in values]
    known = list(places) if are_ready else list(map(shown, places))
    return {
        "known": packed(json.dumps(known).encode()),
        "data": packed(np.array(codes, "<u4").tobytes()),
    }


@lru_cache(maxsize=100_000)
def differing(original: str, target: str) -> tuple[str, str]:
    """Both texts as a page shows them, the words that the other lacks between two marks."""
    before, after = marked(original, target)
    return _delimited(before), _delimited(after)


def _delimited(parts: Parts) -> str:
    return "".join(f"{_OPEN}{shown(x)}{_CLOSE}" if differs else shown(x) for x, differs in parts)

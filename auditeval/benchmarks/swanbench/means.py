"""Means over samples, and what is behind each: which samples, and how many answers of judges.

A key is a metric, or a language ("zh", "en"), which is `content` over the samples in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import get_args

import numpy as np

from auditeval.benchmarks.benchmark import Record, Value
from auditeval.metrics.transcript import Language
from auditeval.types import Undefined

LANGUAGES: tuple[Language, ...] = get_args(Language)
HIGHEST_CONTENT_ERROR = 1.0
"""That of a missing output: no output is worse, so to drop one never improves a mean. Ours."""


def mean(records: Sequence[Record], key: str) -> Value:
    """Over the samples that have the value; an error of `content` counts up to 1."""
    known = list(_known(records, key).values())
    return float(np.mean(known)) if known else _why(records, key)


def deviation(records: Sequence[Record], key: str) -> Value:
    """The standard deviation of those samples themselves (ddof 0)."""
    known = list(_known(records, key).values())
    return float(np.std(known)) if known else _why(records, key)


def share(records: Sequence[Record], key: str) -> Value:
    """Of samples that have the value."""
    there = _of(records, key)
    return len(_known(records, key)) / len(there) if there else Undefined("no samples")


def comparable(rows: Mapping[str, Sequence[Record]], key: str) -> bool:
    """Whether all rows that have a mean have it over the same samples."""
    behind = {frozenset(_known(records, key)) for records in rows.values()} - {frozenset()}
    return len(behind) < 2


def gaps(rows: Mapping[str, Sequence[Record]], columns: Mapping[str, str]) -> list[str]:
    """A sentence for each row with a mean that lacks samples or answers; headings by key."""
    sentences = []
    for row, records in rows.items():
        found: dict[str, list[str]] = {}
        for key, column in columns.items():
            known, there = len(_known(records, key)), len(_of(records, key))
            if 0 < known < there:
                why = f"over {known} of {there} samples (most often: {_why(records, key).reason})"
                found.setdefault(why, []).append(column)
            given, asked = _answers(records, key)
            if given < asked:
                found.setdefault(f"from {given} of {asked} answers", []).append(column)
        if found:
            listed = (f"{', '.join(names)} {what}" for what, names in found.items())
            sentences.append(f"{row}: {'; '.join(listed)}.")
    return sentences


def _of(records: Sequence[Record], key: str) -> list[Record]:
    return [record for record in records if key not in LANGUAGES or record["language"] == key]


def _metric(key: str) -> str:
    return "content" if key in LANGUAGES else key


def _known(records: Sequence[Record], key: str) -> dict[str, float]:
    """Values by sample id."""
    metric = _metric(key)
    known = {r["id"]: r[metric] for r in _of(records, key) if r[metric] is not None}
    if metric == "content":
        return {id: min(error, HIGHEST_CONTENT_ERROR) for id, error in known.items()}
    return known


def _answers(records: Sequence[Record], key: str) -> tuple[int, int]:
    """Those behind a mean, and those that a judge was asked for there."""
    there = _known(records, key)
    details = [record["details"].get(key, {}) for record in records if record["id"] in there]
    asked = sum(len(found.get("opinions", ())) for found in details)
    return asked - sum(found.get("unanswered", 0) for found in details), asked


def _why(records: Sequence[Record], key: str) -> Undefined:
    """The most common reason, the first of several."""
    metric = _metric(key)
    reasons = [r["undefined"][metric] for r in _of(records, key) if metric in r["undefined"]]
    return Undefined(Counter(reasons).most_common(1)[0][0] if reasons else "no samples")

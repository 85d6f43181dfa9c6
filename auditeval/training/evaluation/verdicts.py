"""Agreement of an evaluator in training with what a benchmark found of edits before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as lightning

from auditeval.backends.load import Backends
from auditeval.benchmarks import verdicts
from auditeval.benchmarks.opening import AnyPath, Asked, Name, open_benchmark
from auditeval.benchmarks.verdicts import Judged
from auditeval.data_quality.groups import Value
from auditeval.metrics.agreement import area_under_roc, computed, system_means
from auditeval.training.evaluation.callback import Rows
from auditeval.training.evaluation.evaluators import EvaluatorMetric, Ratings
from auditeval.types import Axis, EditPair, Undefined, UserError


class VerdictAgreement(EvaluatorMetric):
    """Agreement with the verdicts that `auditeval bench BENCHMARK samples -o run` recorded.

    `systems` are the folders of outputs by the names that the run has for them. See
    `benchmarks.verdicts` for what is compared with which axis, and for the captions. Of each axis:
    `srcc` of the predicted rating with the verdict over all edits, `auc` of telling successes from
    failures, where the benchmark has such, `pairs`, how many were compared, and of several systems
    `system_srcc` over the means of each. Raises UserError, when it is made, for records that are
    not there or of other outputs, and for a benchmark that edits nothing.
    """

    def __init__(
        self,
        benchmark: Name,
        samples: AnyPath,
        run: AnyPath,
        systems: Mapping[str, AnyPath],
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._axes = verdicts.axes(benchmark)
        if not (isinstance(systems, Mapping) and systems):
            raise UserError(f"VerdictAgreement: systems is {systems!r}; expected {{NAME: OUTPUTS}}")
        # Verdicts are on record: no model has to say anything.
        opened, found = open_benchmark(benchmark, Asked.of(samples, Backends({}), systems))
        judged = verdicts.recorded(opened, found, Path(run))
        self._judged: dict[str, Judged] = {one.pair.id: one for one in judged}
        self._systems = len(systems)

    @contextmanager
    def pairs(self, trainer: lightning.Trainer) -> Iterator[Sequence[EditPair]]:
        yield [one.pair for one in self._judged.values() if one.verdicts]

    def row(self, pair: EditPair, ratings: Ratings | None) -> Ratings:
        return ratings or {}

    def values(self, rows: Rows) -> Mapping[str, Value]:
        values: dict[str, Value] = {}
        for axis in self._axes:
            found = self._agreement(axis, rows)
            values |= {f"{axis}/{name}": value for name, value in found.items()}
        return values

    def _agreement(self, axis: Axis, rows: Rows) -> dict[str, Value]:
        on_axis = [one for one in self._judged.values() if axis in one.verdicts]
        there = [one for one in on_axis if axis in rows.get(one.pair.id, {})]
        names = ["srcc", *(["system_srcc"] if self._systems > 1 else [])]
        if any(one.verdicts[axis].success is not None for one in on_axis):
            names.append("auc")
        if not there:
            why = "no record has a verdict on it" if not on_axis else "no edit could be rated on it"
            return {**dict.fromkeys(names, Undefined(why)), "pairs": 0.0}
        ratings = [rows[one.pair.id][axis] for one in there]
        grades = [one.verdicts[axis].grade for one in there]
        of_systems = [str(one.pair.system) for one in there]
        means = [[*system_means(side, of_systems).values()] for side in (ratings, grades)]
        gated = [
            (rating, success)
            for rating, one in zip(ratings, there, strict=True)
            if (success := one.verdicts[axis].success) is not None
        ]
        made: dict[str, Value] = {
            "srcc": _srcc(ratings, grades),
            "system_srcc": _srcc(*means),
            "auc": area_under_roc(*zip(*gated, strict=True)) if gated else Undefined("no gate"),
        }
        return {**{name: made[name] for name in names}, "pairs": float(len(there))}


def _srcc(ratings: Sequence[float], grades: Sequence[float]) -> Value:
    return computed("SRCC", np.array(ratings), np.array(grades), ("predictions", "verdicts"))

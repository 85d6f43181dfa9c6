"""Metrics of what an editor in training makes, from what its `validation_step` returns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from auditeval.audio import Waveform, fault
from auditeval.benchmarks.benchmark import Benchmark, Missing, Output
from auditeval.data_quality.groups import Value
from auditeval.training.evaluation.callback import EpochMetric, Rows
from auditeval.training.fit import Plan
from auditeval.types import UserError


class EditorMetric(EpochMetric):
    """Looks at the dict that a module's `validation_step` returns.

    In it are `id` :: B strings or numbers, and `edited` :: float (B, T) or B tensors of any length,
    at `rate_hz` :: one number or B; a kind may need more. Raises UserError where they are not.
    """

    needs: tuple[str, ...] = ("id", "edited", "rate_hz")

    @property
    def name(self) -> str:
        return type(self).__name__

    def check(self, plan: Plan[Any, Any]) -> None:
        """Raises UserError: no model of train.py is an editor."""
        raise UserError(f"{self.name} is for an editor in training, which no model of train.py is")

    def ids(self, outputs: Any) -> list[str]:
        """:: (B,); raises UserError where anything is missing in what was returned."""
        if not isinstance(outputs, Mapping) or not all(name in outputs for name in self.needs):
            raise UserError(
                f"{self.name} needs a validation_step that returns a dict with "
                f"{', '.join(self.needs)}"
            )
        return [str(id.item() if isinstance(id, Tensor) else id) for id in outputs["id"]]

    def clips(self, outputs: Mapping[str, Any], side: str) -> list[Waveform]:
        """:: (B,), of whatever shape the clips of this side are."""
        count = len(outputs["id"])
        clips = [torch.as_tensor(clip).detach().float().cpu() for clip in outputs[side]]
        rates = torch.as_tensor(outputs["rate_hz"]).flatten().tolist()
        if len(rates) not in (1, count) or len(clips) != count:
            raise UserError(
                f"validation_step returned {len(clips)} clips and {len(rates)} rates for "
                f"{count} ids"
            )
        if not all(1 <= rate < math.inf for rate in rates):
            raise UserError(f"validation_step returned a rate_hz of {rates}, expected above 0")
        rates_hz = [int(rate) for rate in (rates * count if len(rates) == 1 else rates)]
        return [Waveform(clip.numpy(), rate) for clip, rate in zip(clips, rates_hz, strict=True)]


class EditorBenchmark(EditorMetric):
    """A benchmark of what an editor in training makes; ids are those of its samples.

    Logs the benchmark's values over the samples that came by, and `seen`, their share of all: what
    is left out of an epoch is not in its rates.
    """

    def __init__(self, benchmark: Benchmark) -> None:
        self._benchmark = benchmark
        self._samples = {sample.id: sample for sample in benchmark.samples}

    @property
    def name(self) -> str:
        return f"the benchmark {self._benchmark.name}"

    def batch(self, module: Any, outputs: Any) -> Rows:
        ids = self.ids(outputs)
        if unknown := sorted(set(ids) - set(self._samples)):
            raise UserError(
                f"validation_step returned the id {unknown[0]!r}, which {self._benchmark.name} "
                "does not have"
            )
        return {
            id: {"id": id, **self._benchmark.evaluate(self._samples[id], heard(clip))}
            for id, clip in zip(ids, self.clips(outputs, "edited"), strict=True)
        }

    def values(self, rows: Rows) -> Mapping[str, Value]:
        seen = [rows[id] for id in self._samples if id in rows]
        return {**self._benchmark.values(seen), "seen": len(seen) / len(self._samples)}


def heard(clip: Waveform) -> Output:
    """The clip, or why a file of it could not be used."""
    if clip.samples.ndim != 1:
        return Missing(f"has the shape {clip.samples.shape}, expected (T,)", unreadable=True)
    reason = fault(clip)
    return clip if reason is None else Missing(reason, unreadable=True)

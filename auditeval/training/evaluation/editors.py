"""Metrics of what an editor in training makes, from what its `validation_step` returns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytorch_lightning as lightning
import torch
from torch import Tensor

from auditeval.audio import Waveform, fault
from auditeval.backends.load import Backends
from auditeval.benchmarking import make_backends
from auditeval.benchmarks.benchmark import Benchmark, Missing, Output, Record
from auditeval.benchmarks.opening import AnyPath, Asked, Name, open_benchmark
from auditeval.data_quality.groups import Value
from auditeval.training.configured import whole
from auditeval.training.evaluation.callback import EpochMetric, Rows
from auditeval.training.fit import Plan
from auditeval.types import Undefined, UserError


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

    With `limit` so many samples, drawn evenly from its order, are evaluated (`samples`), and others
    that come by are passed over. Logs the benchmark's values over those that came by, and `seen`,
    their share: what is left out of an epoch is not in its rates.

    Where a judge or a backend fails, all values of that epoch are undefined, for the reason that it
    gives; nothing more is asked until the next epoch, for which the judges of `backends`, those of
    the benchmark, are made anew. So they are where no sample has all of its verdicts: a judge that
    answers nothing would look like an editor that does nothing.
    """

    lower_is_better = frozenset({"error_rate", "content", "reverb", "zh", "en", "real_time_factor"})

    def __init__(
        self, benchmark: Benchmark, limit: int | None = None, backends: Backends | None = None
    ) -> None:
        if limit is not None:
            whole("limit", limit)
        self._benchmark, self._backends = benchmark, backends
        self._known = {sample.id for sample in benchmark.samples}
        count = len(self._known)
        kept = min(limit or count, count)
        self.samples = [benchmark.samples[place * count // kept] for place in range(kept)]
        self._chosen = {sample.id: sample for sample in self.samples}
        self._away: Undefined | None = None

    @classmethod
    def named(
        cls, benchmark: Name, samples: AnyPath, limit: int | None = None, **models: Any
    ) -> EditorBenchmark:
        """One of `auditeval.bench` by its name, on its folder or file of samples.

        `models` are `backends`, `judge` and `cache_dir`, as there. Raises UserError for names,
        samples and settings that are none.
        """
        if benchmark == "salmon":
            raise UserError("salmon is for an evaluator in training (SALMonAccuracy), no editor")
        backends = make_backends(**models)
        opened, _ = open_benchmark(benchmark, Asked.of(samples, backends))
        return cls(opened, limit, backends)

    @property
    def name(self) -> str:
        return f"the benchmark {self._benchmark.name}"

    def start(self, trainer: lightning.Trainer, module: Any) -> None:
        _ = self._benchmark.settings  # its backends are made for it: not one is missing later

    def batch(self, module: Any, outputs: Any) -> Rows:
        ids = self.ids(outputs)
        if unknown := sorted(set(ids) - self._known):
            raise UserError(
                f"validation_step returned the id {unknown[0]!r}, which {self._benchmark.name} "
                "does not have"
            )
        return {
            id: self._record(id, clip)
            for id, clip in zip(ids, self.clips(outputs, "edited"), strict=True)
            if id in self._chosen
        }

    def _record(self, id: str, clip: Waveform) -> Record | Undefined:
        if self._away is None:
            try:
                return {"id": id, **self._benchmark.evaluate(self._chosen[id], heard(clip))}
            except UserError as error:
                self._away = Undefined(str(error))
                if self._backends is not None:
                    self._backends.forget_judges()
        return self._away

    def values(self, rows: Rows) -> Mapping[str, Value] | Undefined:
        self._away = None
        seen = [rows[id] for id in self._chosen if id in rows]
        if away := [row for row in seen if isinstance(row, Undefined)]:
            return away[0]
        if seen and all(row["status"] == "unscored" for row in seen):
            return Undefined(seen[0]["reason"])
        return {**self._benchmark.values(seen), "seen": len(seen) / len(self._chosen)}


def heard(clip: Waveform) -> Output:
    """The clip, or why a file of it could not be used."""
    if clip.samples.ndim != 1:
        return Missing(f"has the shape {clip.samples.shape}, expected (T,)", unreadable=True)
    reason = fault(clip)
    return clip if reason is None else Missing(reason, unreadable=True)

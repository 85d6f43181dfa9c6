"""Metrics of what an editor in training makes, from what its `validation_step` returns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytorch_lightning as lightning
import torch
from torch import Tensor

from auditeval.audio import Waveform, fault
from auditeval.backends.load import Backends
from auditeval.benchmarking import make_backends
from auditeval.benchmarks.benchmark import Benchmark, Missing, Output, Record
from auditeval.benchmarks.opening import AnyPath, Asked, Name, open_benchmark, several
from auditeval.benchmarks.selection import Selection
from auditeval.data_quality.groups import Value
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
    """A benchmark of what an editor in training makes; ids are those of its `samples`.

    Logs the benchmark's values over those that came by, and `seen`, their share: what is left out
    of an epoch is not in its rates.

    Where a judge or a backend fails, all values of that epoch are undefined, for the reason that it
    gives; nothing more is asked until the next epoch, for which the judges of `backends`, those of
    the benchmark, are made anew. So they are where no sample has all of its verdicts: a judge that
    answers nothing would look like an editor that does nothing.
    """

    lower_is_better = frozenset(
        {"error_rate", "content", "reverb", "cer_zh", "wer_en", "real_time_factor"}
    )

    def __init__(self, benchmark: Benchmark, backends: Backends | None = None) -> None:
        self._benchmark, self._backends = benchmark, backends
        self.samples = {sample.id: sample for sample in benchmark.samples}
        self._away: Undefined | None = None

    @classmethod
    def named(
        cls,
        benchmark: Name,
        samples: AnyPath,
        tasks: str | Sequence[str] = (),
        limit: int | None = None,
        max_seconds: float | None = None,
        **models: Any,
    ) -> EditorBenchmark:
        """One of `auditeval.bench` by its name, on the same selection of its folder or file.

        `models` are `backends`, `judge` and `cache_dir`, as there. Raises UserError for names,
        samples and settings that are none.
        """
        if benchmark == "salmon":
            raise UserError("salmon is for an evaluator in training (SALMonAccuracy), no editor")
        backends = make_backends(**models)
        selection = Selection(tuple(several(tasks)), limit, max_seconds)
        asked = Asked.of(samples, backends, selection=selection)
        return cls(open_benchmark(benchmark, asked)[0], backends)

    @property
    def name(self) -> str:
        return f"the benchmark {self._benchmark.name}"

    def start(self, trainer: lightning.Trainer, module: Any) -> None:
        _ = self._benchmark.settings  # its backends are made for it: not one is missing later

    def batch(self, module: Any, outputs: Any) -> Rows:
        ids = self.ids(outputs)
        if unknown := sorted(set(ids) - set(self.samples)):
            raise UserError(
                f"validation_step returned the id {unknown[0]!r}, which {self._benchmark.name} "
                "does not have, or not in its selection"
            )
        return {
            id: self._record(id, clip)
            for id, clip in zip(ids, self.clips(outputs, "edited"), strict=True)
        }

    def _record(self, id: str, clip: Waveform) -> Record | Undefined:
        if self._away is None:
            try:
                return {"id": id, **self._benchmark.evaluate(self.samples[id], heard(clip))}
            except UserError as error:
                self._away = Undefined(str(error))
                if self._backends is not None:
                    self._backends.forget_judges()
        return self._away

    def values(self, rows: Rows) -> Mapping[str, Value] | Undefined:
        self._away = None
        seen = [rows[id] for id in self.samples if id in rows]
        if away := [row for row in seen if isinstance(row, Undefined)]:
            return away[0]
        if seen and all(row["status"] == "unscored" for row in seen):
            return Undefined(seen[0]["reason"])
        return {**self._benchmark.values(seen), "seen": len(seen) / len(self.samples)}


def heard(clip: Waveform) -> Output:
    """The clip, or why a file of it could not be used."""
    if clip.samples.ndim != 1:
        return Missing(f"has the shape {clip.samples.shape}, expected (T,)", unreadable=True)
    reason = fault(clip)
    return clip if reason is None else Missing(reason, unreadable=True)

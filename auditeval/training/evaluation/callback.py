"""The callback that logs a whole validation epoch, and what a metric is to it."""

from __future__ import annotations

import logging
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytorch_lightning as lightning
from torch import distributed

from auditeval.data_quality.groups import Value
from auditeval.report import evaluation
from auditeval.report.evaluation import Course, Measured
from auditeval.training.fit import Plan
from auditeval.types import Undefined, UserError, whole

log = logging.getLogger(__name__)

Rows = dict[str, Any]
"""What a metric needs of each item, by the item's id; picklable."""


class EpochMetric(ABC):
    """A metric or benchmark of a validation epoch; `values` sees all its rows once, whatever the
    devices.

    Rows come from what `validation_step` returned (`batch`), or from items of the metric's own
    (`start` and `epoch`).
    """

    lower_is_better: frozenset[str] = frozenset()
    """The values, by the last part of their names, of which a lower one is better."""

    distances: frozenset[str] = frozenset()
    """Those of them that measure a distance: one below 0 is 0 and noise."""

    def check(self, plan: Plan[Any, Any]) -> None:  # noqa: B027  # most have nothing to check
        """Raises UserError where it could not measure a model of the plan; encodes nothing."""

    def start(self, trainer: lightning.Trainer, module: Any) -> None:  # noqa: B027
        """Read this device's share of the metric's own items, before anything is trained."""

    def batch(self, module: Any, outputs: Any) -> Rows:
        """Rows of what `validation_step` returned."""
        return {}

    def epoch(self, trainer: lightning.Trainer, module: Any) -> Rows:
        """Rows of this device's share of the metric's own items."""
        return {}

    @abstractmethod
    def values(self, rows: Rows) -> Mapping[str, Value] | Undefined:
        """By metric name, from the rows of all devices, sorted by id; undefined where none is."""


class EvaluationCallback(lightning.Callback):
    """Logs `val/<name>/<metric>` of each of `metrics`, every so many epochs and in the last.

    The rows of an epoch are gathered once from all devices. An item that the sampler dealt to two
    of them counts once. A value that is undefined is not logged; the reason is a warning, once.
    `courses` has every value by epoch, with its reason where it is undefined; they travel in
    Lightning's checkpoints. The report of train.py holds them (evaluation.md); with `folder` they
    are written there after each epoch.
    """

    def __init__(
        self,
        metrics: Mapping[str, EpochMetric],
        every_epochs: int = 1,
        folder: str | None = None,
    ) -> None:
        whole("every_epochs", every_epochs)
        if not metrics:
            raise UserError("EvaluationCallback: metrics is empty, so there is nothing to log")
        self.metrics, self._every_epochs = dict(metrics), every_epochs
        self._folder = None if folder is None else Path(folder)
        self._rows: dict[str, Rows] = {}
        self._told: set[str] = set()
        self.courses: evaluation.Courses = {}

    @property
    def state_key(self) -> str:
        """One of several such callbacks is told from the others by its metrics."""
        return f"{type(self).__name__}({', '.join(self.metrics)})"

    def state_dict(self) -> dict[str, Any]:
        return {"courses": evaluation.plain(self.courses)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.courses = evaluation.courses(state_dict["courses"])

    def check(self, plan: Plan[Any, Any]) -> None:
        """Raises UserError where a model of train.py is trained without validation, or is nothing
        for one of the metrics."""
        plan.check_validated(f"EvaluationCallback ({', '.join(self.metrics)})")
        for metric in self.metrics.values():
            metric.check(plan)

    def setup(self, trainer: lightning.Trainer, module: Any, stage: str) -> None:
        if stage in ("fit", "validate"):
            for metric in self.metrics.values():
                metric.start(trainer, module)

    def on_train_start(self, trainer: lightning.Trainer, module: Any) -> None:
        if not sum(trainer.num_val_batches):
            raise UserError("EvaluationCallback works in validation, and there is none")

    def on_validation_epoch_start(self, trainer: lightning.Trainer, module: Any) -> None:
        self._rows = {name: {} for name in self.metrics}

    def on_validation_batch_end(
        self,
        trainer: lightning.Trainer,
        module: Any,
        outputs: Any,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        if self._due(trainer):
            for name, metric in self.metrics.items():
                self._rows[name].update(metric.batch(module, outputs))

    def on_validation_epoch_end(self, trainer: lightning.Trainer, module: Any) -> None:
        if not self._due(trainer):
            return
        for name, metric in self.metrics.items():
            self._rows[name].update(metric.epoch(trainer, module))
        shares = _gathered(self._rows)
        for name, metric in self.metrics.items():
            rows: Rows = {}
            for share in reversed(shares):  # the first device's row stays
                rows.update(share[name])
            self._log(trainer, module, name, metric.values({id: rows[id] for id in sorted(rows)}))
        self._rows.clear()
        if self._folder is not None and trainer.is_global_zero:
            evaluation.write({"": self.courses}, self._folder)

    def _due(self, trainer: lightning.Trainer) -> bool:
        """In every so many epochs of training and the last, outside of it always."""
        fitting, epochs = trainer.state.fn == "fit", trainer.current_epoch + 1
        now = not fitting or epochs % self._every_epochs == 0 or epochs == trainer.max_epochs
        return now and not trainer.sanity_checking

    def _log(
        self,
        trainer: lightning.Trainer,
        module: Any,
        name: str,
        values: Mapping[str, Value] | Undefined,
    ) -> None:
        named = self._named(name, values)
        for key, value in named.items():
            if not isinstance(value, Undefined):
                # All devices have the same rows, so there is nothing to average.
                module.log(key, float(value))
            if trainer.state.fn == "fit":
                last, metric = key.rpartition("/")[2], self.metrics[name]
                lower = last in metric.lower_is_better
                course = Course(better="lower" if lower else "higher", epochs=[])
                course = self.courses.setdefault(key, course)
                if last in metric.distances:
                    course.least = 0.0
                course.epochs = [one for one in course.epochs if one.epoch != trainer.current_epoch]
                course.epochs.append(Measured.of(trainer.current_epoch, value))
        all_at_once = {f"val/{name}": values} if isinstance(values, Undefined) else named
        for key, value in all_at_once.items():
            if isinstance(value, Undefined) and key not in self._told:
                self._told.add(key)
                log.warning("%s is undefined: %s", key, value.reason)

    def _named(self, name: str, values: Mapping[str, Value] | Undefined) -> dict[str, Value]:
        """By the names that are logged, none a NaN; where all are undefined, by those of before."""
        if isinstance(values, Undefined):
            before = [key for key in self.courses if f"{key}/".startswith(f"val/{name}/")]
            return dict.fromkeys(before or [f"val/{name}"], values)
        return {
            f"val/{name}/{metric}": value
            if isinstance(value, Undefined) or math.isfinite(value)
            else Undefined(f"it is {value}")
            for metric, value in values.items()
        }


def _gathered(value: Any) -> list[Any]:
    """That of each process, by rank."""
    if not (distributed.is_available() and distributed.is_initialized()):
        return [value]
    shares: list[Any] = [None] * distributed.get_world_size()
    distributed.all_gather_object(shares, value)
    return shares

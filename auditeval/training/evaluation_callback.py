"""Benchmarks and metrics of a whole validation epoch: the callback, and what it can compute."""

from __future__ import annotations

import logging
import math
import os
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import pytorch_lightning as lightning
import torch
from torch import Tensor

from auditeval.audio import AudioError, Waveform, fault
from auditeval.benchmarks.benchmark import Benchmark, Missing, Output, Value
from auditeval.benchmarks.salmon.benchmark import Salmon
from auditeval.benchmarks.salmon.samples import ALIGNMENT, PARTS
from auditeval.benchmarks.salmon.scorers import Original, PairScores, edits
from auditeval.features import make_encoder
from auditeval.features.store import Failure, FeatureStore
from auditeval.metrics.agreement import agreement
from auditeval.training.configured import whole
from auditeval.training.evaluation import due, gathered
from auditeval.training.stages import Plan
from auditeval.types import AXES, EditPair, Undefined, UserError

log = logging.getLogger(__name__)

Rows = dict[str, Any]
"""What a metric needs of each item, by the item's id; picklable."""


class EpochMetric(Protocol):
    """One metric or benchmark. `values` sees all rows of an epoch once, whatever the devices."""

    def batch(self, module: Any, outputs: Any) -> Rows:
        """Rows of what `validation_step` returned; none for a metric with items of its own."""
        ...

    def epoch(self, trainer: lightning.Trainer, module: Any) -> Rows:
        """Rows of this device's share of the metric's own items; none for one that has none."""
        ...

    def values(self, rows: Rows) -> Mapping[str, Value]:
        """By metric name, from the rows of all devices, sorted by id."""
        ...


class EvaluationCallback(lightning.Callback):
    """Logs `val/<name>/<metric>` of each of `metrics`, every so many epochs of training.

    The rows of an epoch are gathered once from all devices. An item that the sampler dealt to two
    of them counts once. A value that is undefined is not logged; the reason is a warning, once.
    """

    def __init__(self, metrics: Mapping[str, EpochMetric], every_epochs: int = 1) -> None:
        whole("every_epochs", every_epochs)
        if not metrics:
            raise UserError("EvaluationCallback: metrics is empty, so there is nothing to log")
        self._metrics, self._every_epochs = dict(metrics), every_epochs
        self._rows: dict[str, Rows] = {}
        self._told: set[str] = set()

    def check(self, plan: Plan) -> None:
        """Raises UserError where a model of train.py is trained without validation."""
        plan.check_validated("callbacks=evaluation")

    def on_train_start(self, trainer: lightning.Trainer, module: Any) -> None:
        if not sum(trainer.num_val_batches):
            raise UserError("EvaluationCallback works in validation, and there is none")

    def on_validation_epoch_start(self, trainer: lightning.Trainer, module: Any) -> None:
        self._rows = {name: {} for name in self._metrics}

    def on_validation_batch_end(
        self,
        trainer: lightning.Trainer,
        module: Any,
        outputs: Any,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        if due(trainer, self._every_epochs):
            for name, metric in self._metrics.items():
                self._rows[name].update(metric.batch(module, outputs))

    def on_validation_epoch_end(self, trainer: lightning.Trainer, module: Any) -> None:
        if not due(trainer, self._every_epochs):
            return
        for name, metric in self._metrics.items():
            self._rows[name].update(metric.epoch(trainer, module))
        shares = gathered(self._rows)
        for name, metric in self._metrics.items():
            rows: Rows = {}
            for share in reversed(shares):  # the first device's row stays
                rows.update(share[name])
            values = metric.values({id: rows[id] for id in sorted(rows)})
            self._log(module, name, values)
        self._rows.clear()

    def _log(self, module: Any, name: str, values: Mapping[str, Value]) -> None:
        for metric, value in values.items():
            if not isinstance(value, Undefined):
                # All devices have the same rows, so there is nothing to average.
                module.log(f"val/{name}/{metric}", float(value))
            elif (key := f"val/{name}/{metric}") not in self._told:
                self._told.add(key)
                log.warning("%s is undefined: %s", key, value.reason)


class EditorBenchmark:
    """A benchmark of what an editor in training makes.

    `validation_step` returns a dict: `id`, the benchmark's sample ids; `edited` :: float (B, T) or
    B tensors of any length; `rate_hz` of them. Logs the benchmark's values over the samples that
    came by, and `seen`, their share of all: what is left out of an epoch is not in its rates.
    """

    def __init__(self, benchmark: Benchmark) -> None:
        self._benchmark = benchmark
        self._samples = {sample.id: sample for sample in benchmark.samples}

    def batch(self, module: Any, outputs: Any) -> Rows:
        return {
            id: {"id": id, **self._benchmark.evaluate(self._samples[id], output)}
            for id, output in self._outputs(outputs)
        }

    def epoch(self, trainer: lightning.Trainer, module: Any) -> Rows:
        return {}

    def values(self, rows: Rows) -> Mapping[str, Value]:
        seen = [rows[id] for id in self._samples if id in rows]
        return {**self._benchmark.values(seen), "seen": len(seen) / len(self._samples)}

    def _outputs(self, outputs: Any) -> list[tuple[str, Output]]:
        names = ("id", "edited", "rate_hz")
        if not isinstance(outputs, Mapping) or not all(name in outputs for name in names):
            raise UserError(
                f"the benchmark {self._benchmark.name} needs a validation_step that returns a dict "
                f"with {', '.join(names)}"
            )
        ids = [str(id.item() if isinstance(id, Tensor) else id) for id in outputs["id"]]
        clips = [torch.as_tensor(clip).detach().float().cpu() for clip in outputs["edited"]]
        if unknown := sorted(set(ids) - set(self._samples)):
            raise UserError(
                f"validation_step returned the id {unknown[0]!r}, which {self._benchmark.name} "
                "does not have"
            )
        rates = torch.as_tensor(outputs["rate_hz"]).flatten().tolist()
        if len(rates) not in (1, len(ids)) or len(clips) != len(ids):
            raise UserError(
                f"validation_step returned {len(clips)} clips and {len(rates)} rates for "
                f"{len(ids)} ids"
            )
        if not all(1 <= rate < math.inf for rate in rates):
            raise UserError(f"validation_step returned a rate_hz of {rates}, expected above 0")
        rates_hz = [int(rate) for rate in (rates * len(ids) if len(rates) == 1 else rates)]
        return [
            (id, heard(Waveform(clip.numpy(), rate_hz)))
            for id, clip, rate_hz in zip(ids, clips, rates_hz, strict=True)
        ]


def heard(clip: Waveform) -> Output:
    """The clip, or why a file of it could not be used."""
    if clip.samples.ndim != 1:
        return Missing(f"has the shape {clip.samples.shape}, expected (T,)", unreadable=True)
    reason = fault(clip)
    return clip if reason is None else Missing(reason, unreadable=True)


class _EvaluatorMetric:
    """Rates pairs with the evaluator in training: what its `model` looks at is read once.

    `features` are the arguments of the evaluator's encoder (`${features}`).
    """

    def __init__(
        self,
        features: Mapping[str, Any],
        cache_dir: str | os.PathLike[str] | None = None,
        workers: int = 0,
        batch_size: int = 64,
    ) -> None:
        self._features, self._cache_dir, self._workers = dict(features), cache_dir, workers
        self._batch_size = batch_size
        self._share: list[EditPair] = []
        self._looked: list[Any] = []

    def batch(self, module: Any, outputs: Any) -> Rows:
        return {}

    def epoch(self, trainer: lightning.Trainer, module: Any) -> Rows:
        model: Any = getattr(module, "model", None)
        if not hasattr(model, "look"):
            raise UserError(f"{type(self).__name__} is for an evaluator in training (train.py)")
        if not self._looked:
            encoder = make_encoder(**self._features)
            store = FeatureStore(encoder, self._cache_dir, self._workers)
            with self.pairs(trainer) as pairs:
                self._share = list(pairs[trainer.global_rank :: trainer.world_size])
                self._looked = list(model.look(store, self._share))
        rated: Rows = {
            pair.id: None if isinstance(row, Failure) else row
            for pair, row in zip(self._share, self._looked, strict=True)
        }
        usable = {id: row for id, row in rated.items() if row is not None}
        ids, rows = list(usable), list(usable.values())
        training = model.training
        model.eval()
        for start in range(0, len(rows), self._batch_size):
            scores = model.predict(rows[start : start + self._batch_size]).double().tolist()
            rated.update(zip(ids[start : start + self._batch_size], scores, strict=True))
        model.train(training)
        return {pair.id: self.row(pair, rated[pair.id]) for pair in self._share}

    @abstractmethod
    def pairs(self, trainer: lightning.Trainer) -> AbstractContextManager[Sequence[EditPair]]:
        """What to rate; the files of the clips are there within the context."""

    @abstractmethod
    def row(self, pair: EditPair, scores: list[float] | None) -> Any:
        """A pair and its predicted ratings in AXES order, None where it cannot be rated."""


class Agreement(_EvaluatorMetric):
    """LCC, SRCC, KTAU and MSE of each axis with the ratings of the validation part [5.1]."""

    @contextmanager
    def pairs(self, trainer: lightning.Trainer) -> Iterator[Sequence[EditPair]]:
        data = trainer.datamodule  # type: ignore[attr-defined]
        found: Sequence[EditPair] = data.validation_pairs()
        if not found:
            raise UserError(
                "Agreement needs a validation part: data.split.validation_share above 0"
            )
        yield found

    def row(self, pair: EditPair, scores: list[float] | None) -> Any:
        return None if scores is None else (scores, [pair.ratings.get(axis) for axis in AXES])

    def values(self, rows: Rows) -> Mapping[str, Value]:
        found: dict[str, Value] = {}
        for index, axis in enumerate(AXES):
            columns = [
                (scores[index], rated[index])
                for scores, rated in filter(None, rows.values())
                if rated[index] is not None
            ]
            if columns:
                predicted, ratings = zip(*columns, strict=True)
                of_axis = agreement(predicted, ratings, [None] * len(columns), resamples=0)
                for name, measured in of_axis["utterance"].items():
                    found[f"{axis}/{name.lower()}"] = measured.value
        return found


class SALMonAccuracy(_EvaluatorMetric):
    """Pairwise accuracy of the predicted faithfulness on each consistency part of a SALMon folder.

    `original` as for `auditeval bench salmon` (benchmarks.salmon.scorers.EvaluatorScorer). A clip
    that cannot be rated leaves its pair unscored, which counts as lost.
    """

    def __init__(self, root: str, original: Original = "halves", **options: Any) -> None:
        super().__init__(**options)
        self._benchmark = Salmon(Path(root), [part for part in PARTS if part not in ALIGNMENT])
        self._original = original

    @contextmanager
    def pairs(self, trainer: lightning.Trainer) -> Iterator[Sequence[EditPair]]:
        found: list[EditPair] = []
        with TemporaryDirectory() as folder:
            for pair in self._benchmark.samples:
                # What cannot be halved has no rows: `values` takes it for unscored.
                with suppress(AudioError):
                    found += edits(pair, self._original, Path(folder))
            yield found

    def row(self, pair: EditPair, scores: list[float] | None) -> Any:
        return None if scores is None else scores[AXES.index("faithfulness")]

    def values(self, rows: Rows) -> Mapping[str, Value]:
        records = []
        for pair in self._benchmark.samples:
            found = [rows.get(f"{pair.id}: {clip.name}") for clip in pair[2:]]
            scores = [Undefined("cannot be rated") if x is None else x for x in found]
            records.append(self._benchmark.evaluate(pair, PairScores(*scores)))
        return self._benchmark.values(records)

"""Metrics of an evaluator in training: pairs of their own, rated by the model as it is."""

from __future__ import annotations

import math
import os
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytorch_lightning as lightning

from auditeval.audio import AudioError
from auditeval.benchmarks.salmon.benchmark import Salmon
from auditeval.benchmarks.salmon.samples import CONSISTENCY
from auditeval.benchmarks.salmon.scorers import Original, PairScores, edits
from auditeval.benchmarks.selection import Selection
from auditeval.data_quality.groups import Value
from auditeval.features import make_encoder
from auditeval.features.store import Failure, FeatureStore
from auditeval.metrics.agreement import LOWER_IS_BETTER, STATISTICS, agreement
from auditeval.models import Model
from auditeval.training.data import FoldData
from auditeval.training.evaluation.callback import EpochMetric, Rows
from auditeval.types import AXES, Axis, EditPair, Undefined, UserError

Ratings = Mapping[Axis, float]


class EvaluatorMetric(EpochMetric):
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
        self.share: list[EditPair] = []
        self._looked: list[Any] = []

    def start(self, trainer: lightning.Trainer, module: Any) -> None:
        model = self._model(module)
        store = FeatureStore(make_encoder(self._features), self._cache_dir, self._workers)
        with self.pairs(trainer) as pairs:
            self.share = list(pairs[trainer.global_rank :: trainer.world_size])
            self._looked = list(model.look(store, self.share))

    def epoch(self, trainer: lightning.Trainer, module: Any) -> Rows:
        model = self._model(module)
        looked = zip(self.share, self._looked, strict=True)
        usable = [(pair.id, row) for pair, row in looked if not isinstance(row, Failure)]
        trained, ratings = model.trained.tolist(), dict[str, Ratings]()
        training = model.training
        model.eval()
        for start in range(0, len(usable), self._batch_size):
            ids, rows = zip(*usable[start : start + self._batch_size], strict=True)
            for id, scores in zip(ids, model.predict(rows).double().tolist(), strict=True):
                known = zip(AXES, scores, trained, strict=True)
                ratings[id] = {a: x for a, x, taught in known if taught and math.isfinite(x)}
        model.train(training)
        return {pair.id: self.row(pair, ratings.get(pair.id) or None) for pair in self.share}

    @abstractmethod
    def pairs(self, trainer: lightning.Trainer) -> AbstractContextManager[Sequence[EditPair]]:
        """What to rate; the files of the clips are there within the context."""

    @abstractmethod
    def row(self, pair: EditPair, ratings: Ratings | None) -> Any:
        """A pair and its predicted ratings, all finite, on the axes trained: an axis that it cannot
        be rated on is absent, and where that is every one they are None."""

    def _model(self, module: Any) -> Model:
        model: Model | None = getattr(module, "model", None)
        if model is None or not hasattr(model, "look"):
            raise self._misplaced()
        return model

    def _misplaced(self) -> UserError:
        return UserError(f"{type(self).__name__} is for an evaluator in training (train.py)")


class ValidationMetric(EvaluatorMetric):
    """Rates the pairs of the validation part."""

    @contextmanager
    def pairs(self, trainer: lightning.Trainer) -> Iterator[Sequence[EditPair]]:
        data = getattr(trainer, "datamodule", None)
        if not isinstance(data, FoldData):
            raise self._misplaced()
        yield data.validation.pairs


class Agreement(ValidationMetric):
    """LCC, SRCC, KTAU and MSE of each axis with the ratings of the validation part [5.1]."""

    lower_is_better = frozenset(map(str.lower, LOWER_IS_BETTER))

    def row(self, pair: EditPair, ratings: Ratings | None) -> Any:
        return ratings or {}, pair.ratings

    def values(self, rows: Rows) -> Mapping[str, Value]:
        values: dict[str, Value] = {}
        for axis in AXES:
            on_axis = [(x, rated[axis]) for x, rated in rows.values() if axis in rated]
            columns = [
                (predicted[axis], rating) for predicted, rating in on_axis if axis in predicted
            ]
            if on_axis and not columns:
                none = Undefined("no pair could be rated on it")
                values |= {f"{axis}/{name.lower()}": none for name in STATISTICS}
            elif columns:
                predicted, rated = zip(*columns, strict=True)
                of_axis = agreement(predicted, rated, [None] * len(columns), resamples=0)
                for name, measured in of_axis["utterance"].items():
                    values[f"{axis}/{name.lower()}"] = measured.value
        return values


class SALMonAccuracy(EvaluatorMetric):
    """Pairwise accuracy of the predicted faithfulness on each consistency part of a SALMon folder.

    `original` as for `auditeval bench salmon` (benchmarks.salmon.scorers.EvaluatorScorer). A clip
    that cannot be rated leaves its pair unscored, which counts as lost.
    """

    def __init__(self, root: str, original: Original = "halves", **options: Any) -> None:
        super().__init__(**options)
        self._benchmark = Salmon(Path(root), Selection(tuple(CONSISTENCY)))
        self._original = original

    @contextmanager
    def pairs(self, trainer: lightning.Trainer) -> Iterator[Sequence[EditPair]]:
        pairs: list[EditPair] = []
        with TemporaryDirectory() as folder:
            for pair in self._benchmark.samples:
                # What cannot be halved has no rows: `values` takes it for unscored.
                with suppress(AudioError):
                    pairs += edits(pair, self._original, Path(folder))
            yield pairs

    def row(self, pair: EditPair, ratings: Ratings | None) -> Any:
        return None if ratings is None else ratings.get("faithfulness")

    def values(self, rows: Rows) -> Mapping[str, Value]:
        records = []
        for pair in self._benchmark.samples:
            rated = [rows.get(f"{pair.id}: {clip.name}") for clip in pair[2:]]
            scores = [Undefined("cannot be rated") if x is None else x for x in rated]
            records.append(self._benchmark.evaluate(pair, PairScores(*scores)))
        return self._benchmark.values(records)

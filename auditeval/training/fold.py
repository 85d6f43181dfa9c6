"""One model on one fold, in a folder of its own; what is finished there is not done again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, cast

from torch import Tensor

from auditeval import checkpoint
from auditeval.atomic import replacing
from auditeval.data.splits import Fold
from auditeval.report.agreement import Predictions
from auditeval.training import resuming
from auditeval.training.configured import make_trainer
from auditeval.training.fit import Examples, Job, Plan, Seen, Taught
from auditeval.training.process import deterministic, is_first
from auditeval.types import AXES, Axis


class Answers(NamedTuple):
    """What a model says :: pair id -> {axis: rating}, and pair id -> {axis: (low, high)}.

    An axis that was not trained is absent, and of a model that knows none all intervals are.
    """

    ratings: dict[str, dict[Axis, float]]
    intervals: dict[str, dict[Axis, tuple[float, float]]]

    def of(self, evaluator: str) -> Predictions:
        """As a report takes them, under this name."""
        return Predictions(evaluator, self.ratings, intervals=self.intervals)


class Outcome(NamedTuple):
    """What a model says of the held-out part of its fold, and of each further test by name."""

    held_out: Answers
    tests: dict[str, Answers]


@dataclass(frozen=True)
class FoldRun(Generic[Seen, Taught]):
    """The model called `model` in the plan, on one fold."""

    plan: Plan[Seen, Taught]
    model: str
    fold: Fold
    folder: Path

    def outcome(
        self, examples: Examples[Seen], tests: Mapping[str, Examples[Seen]]
    ) -> Outcome | None:
        """From the files of the folder, of which those that are missing are made.

        The model is trained unless it has answered for the held-out part before. On all devices
        but the first, None: they only train.
        """
        held_out = _Files(self.folder)
        asked = {name: _Files(self.folder, f"-{name}") for name in tests}
        parts = [(held_out, examples.take(self.fold.test))]
        parts += [(asked[name], of_test) for name, of_test in tests.items()]
        missing = [(files, part) for files, part in parts if not files.ratings.exists()]
        if missing:
            model = self._kept() if held_out.ratings.exists() else self._trained(examples)
            if model is None:
                return None
            for files, part in missing:
                files.write(self._answers(model, part))
        return Outcome(held_out.read(), {name: files.read() for name, files in asked.items()})

    def _kept(self) -> Taught | None:
        """The model of a run that was finished without one of its tests."""
        kept = checkpoint.load(self.folder / "checkpoint").model if is_first() else None
        return cast("Taught | None", kept)  # `record` holds the folder to the settings of the plan

    def _trained(self, examples: Examples[Seen]) -> Taught | None:
        plan = self.plan
        deterministic(plan.seed)
        parts = plan.fit.parts(Job(plan, plan.models[self.model], examples, self.fold, self.folder))
        trainer = make_trainer(
            plan.trainer(),
            parts.trainer,
            default_root_dir=self.folder,
            logger=plan.logger(self.folder),
            callbacks=[*parts.callbacks, *plan.callbacks()],
        )
        if trainer.is_global_zero and (metrics := self.folder / "metrics.csv").exists():
            # Lightning's CSVLogger would delete what it logged before an interruption.
            part = 1 + len(list(self.folder.glob("metrics-*.csv")))
            metrics.rename(self.folder / f"metrics-{part}.csv")
        last = resuming.last(self.folder)
        trainer.fit(parts.module, parts.data, ckpt_path=last, weights_only=True)
        if not trainer.is_global_zero:
            return None
        model = parts.model
        model.eval()
        training = {
            "name": plan.name,
            "ratings_from": plan.ratings_from,
            "seed": plan.seed,
            "fold": self.fold.name,
            "pairs": len(set(self.fold.train)),
            **parts.notes(),
        }
        trained_on = self._trained_on(examples)
        checkpoint.save(self.folder / "checkpoint", model, plan.encoder, training, trained_on)
        return model

    def _trained_on(self, examples: Examples[Seen]) -> checkpoint.TrainedOn:
        originals = [self.plan.contents[pair.original] for pair in examples.pairs]
        train, validation = (
            [x for row in part if isinstance(x := originals[row], str)]
            for part in (self.fold.train, self.fold.validation)
        )
        return checkpoint.TrainedOn.of(train, validation)

    def _answers(self, model: Taught, examples: Examples[Seen]) -> Answers:
        trained = model.trained.tolist()

        def by_pair(values: Tensor) -> dict[str, dict[Axis, Any]]:
            return {
                pair.id: {
                    axis: x for axis, x, known in zip(AXES, of_axes, trained, strict=True) if known
                }
                for pair, of_axes in zip(
                    examples.pairs, values.double().clamp(1, 5).tolist(), strict=True
                )
            }

        ratings, intervals = self.plan.fit.predict(model, examples, self.plan.device)
        return Answers(by_pair(ratings), {} if intervals is None else by_pair(intervals))


class _Files:
    """Where the answers of some pairs are kept; `suffix` tells their files from others'."""

    def __init__(self, folder: Path, suffix: str = "") -> None:
        self.ratings = folder / f"predictions{suffix}.json"
        self.intervals = folder / f"intervals{suffix}.json"

    def write(self, answers: Answers) -> None:
        # Ratings last: where they are, the intervals are too.
        for path, values in ((self.intervals, answers.intervals), (self.ratings, answers.ratings)):
            if values:
                with replacing(path) as temporary:
                    temporary.write_text(json.dumps(values, indent=1) + "\n")

    def read(self) -> Answers:
        return Answers(*map(resuming.predictions, (self.ratings, self.intervals)))

"""One model on one fold, in a folder of its own; what is finished there is not done again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple, cast

from torch import Tensor

from auditeval import checkpoint
from auditeval.atomic import write_text
from auditeval.pretrained.accelerators import memory_of
from auditeval.pretrained.threads import one_thread
from auditeval.report import evaluation
from auditeval.report.agreement import Predictions
from auditeval.training import resuming
from auditeval.training.configured import make_trainer
from auditeval.training.evaluation.callback import EvaluationCallback
from auditeval.training.fit import Examples, Job, Seen, Taught
from auditeval.training.process import deterministic, is_first
from auditeval.types import AXES, Axis, UserError

_SMALLER = "a smaller fit.batch_size may do, and with fit=lora more of fit.accumulate"
EVALUATION = f"{evaluation.NAME}.json"
"""The values of the run's evaluation callbacks by epoch, where it has such."""


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


def is_answered(job: Job[Seen, Taught], tests: Iterable[str]) -> bool:
    """Whether nothing is left to do of it, its answers for these further tests among it."""
    files = [_Files(job.folder), *(_Files(job.folder, f"-{name}") for name in tests)]
    return all(of.ratings.exists() for of in files)


def answered(job: Job[Seen, Taught], tests: Mapping[str, Examples[Seen]]) -> Outcome | None:
    """From the files of the folder, of which those that are missing are made.

    The model is trained unless it has answered for the held-out part before. On all devices but the
    first, None: they only train.
    """
    held_out = _Files(job.folder)
    asked = {name: _Files(job.folder, f"-{name}") for name in tests}
    parts = [(held_out, job.examples.take(job.fold.test))]
    parts += [(asked[name], of_test) for name, of_test in tests.items()]
    missing = [(files, part) for files, part in parts if not files.ratings.exists()]
    if missing:
        with one_thread() if job.plan.fit.one_thread else nullcontext():
            model = _kept(job) if held_out.ratings.exists() else _trained(job)
            if model is None:
                return None
            for files, part in missing:
                files.write(_answers(job, model, part))
    return Outcome(held_out.read(), {name: files.read() for name, files in asked.items()})


def _kept(job: Job[Seen, Taught]) -> Taught | None:
    """The model of a run that was finished without one of its tests."""
    kept = checkpoint.load(job.folder / "checkpoint").model if is_first() else None
    return cast("Taught | None", kept)  # `record` holds the folder to the settings of the plan


def _trained(job: Job[Seen, Taught]) -> Taught | None:
    plan, folder = job.plan, job.folder
    deterministic(plan.seed)
    parts = plan.fit.parts(job)
    trainer = make_trainer(
        plan.trainer(),
        parts.trainer,
        default_root_dir=folder,
        logger=plan.logger(folder),
        callbacks=[*parts.callbacks, *(callbacks := plan.callbacks())],
    )
    if trainer.is_global_zero and (metrics := folder / "metrics.csv").exists():
        # Lightning's CSVLogger would delete what it logged before an interruption.
        part = 1 + len(list(folder.glob("metrics-*.csv")))
        metrics.rename(folder / f"metrics-{part}.csv")
    with memory_of(trainer.strategy.root_device, UserError, "a step", _SMALLER):
        trainer.fit(parts.module, parts.data, ckpt_path=resuming.last(folder), weights_only=True)
    if trainer.max_epochs and not trainer.global_step:
        raise UserError(
            f"{job.name}, fold {job.fold.name}: not one step was made; see trainer.limit_*"
        )
    if not trainer.is_global_zero:
        return None
    evaluated = [one.courses for one in callbacks if isinstance(one, EvaluationCallback)]
    if courses := {name: course for found in evaluated for name, course in found.items()}:
        evaluation.keep(courses, folder / EVALUATION)
    model = parts.model
    model.eval()
    training = {
        "name": plan.name,
        "ratings_from": plan.ratings_from,
        "seed": plan.seed,
        "fold": job.fold.name,
        "pairs": len(set(job.fold.train)),
        **parts.notes(),
    }
    checkpoint.save(folder / "checkpoint", model, plan.encoder, training, _trained_on(job))
    return model


def _trained_on(job: Job[Seen, Taught]) -> checkpoint.TrainedOn:
    contents = [job.plan.contents[pair.original] for pair in job.examples.pairs]
    train, validation = (
        [x for row in part if isinstance(x := contents[row], str)]
        for part in (job.fold.train, job.fold.validation)
    )
    return checkpoint.TrainedOn.of(train, validation)


def _answers(job: Job[Seen, Taught], model: Taught, examples: Examples[Seen]) -> Answers:
    """Raises UserError where a rating is not finite."""
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

    ratings, intervals = job.plan.fit.predict(model, examples, job.plan.device)
    if not ratings[:, trained].isfinite().all():
        raise UserError(
            f"{job.name}, fold {job.fold.name}: the scores are not finite; a smaller optimizer.lr "
            "may help"
        )
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
                write_text(path, json.dumps(values, indent=1) + "\n")

    def read(self) -> Answers:
        return Answers(*map(resuming.predictions, (self.ratings, self.intervals)))

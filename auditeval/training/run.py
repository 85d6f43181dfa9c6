"""One training run: features once, then every model on every fold, then one table.

A run folder holds config.yaml, run.json (what it was made from), splits.json, held_out.jsonl (the
held-out part as a manifest), report/ (of it, and of each further test in a folder of its name), for
each model scores.csv (of the held-out part) and scores-TEST.csv, and for each model and fold:
metrics.csv (before an interruption: metrics-1.csv and so on), evaluation.json where it has
evaluation callbacks, last.ckpt, predictions.json (and predictions-TEST.json), intervals.json where
the model knows them, and checkpoint/ (the evaluator). With logger=wandb also wandb/, and a wandb_id
for each of its runs.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any, NamedTuple

import torch
from omegaconf import DictConfig, OmegaConf
from pytorch_lightning.loggers import CSVLogger

from auditeval import manifest
from auditeval.atomic import sweep_all, write_text
from auditeval.data.contents import digests
from auditeval.data.splits import is_folder_name, leaking
from auditeval.features import make_encoder
from auditeval.features.store import FeatureStore
from auditeval.outputs import sole_writer
from auditeval.report import agreement, agreement_files, card, evaluation, machine
from auditeval.report.agreement import Predictions
from auditeval.scoring import choose_device
from auditeval.table import Table
from auditeval.training import held_out, process, record, shape
from auditeval.training.baselines import Baseline, ask, constant
from auditeval.training.configured import call, plain
from auditeval.training.fit import Examples, Job, Plan, Seen, Taught
from auditeval.training.fold import EVALUATION, Answers
from auditeval.training.further_tests import FurtherTest
from auditeval.training.rehearsal import rehearse
from auditeval.training.side_by_side import all_answered
from auditeval.training.wandb_logger import WandbLogger
from auditeval.types import AXES, EditPair, UserError, whole

log = logging.getLogger(__name__)

_POOLED = (
    "Pooled over {} folds, each with a model of its own. The mean of what it was trained on is "
    "lowest where what was left out is rated highest, which lowers correlations a little."
)


class Trained(NamedTuple):
    """What a run found: on the held-out part of its data, and on each further test a table."""

    report: agreement.Report
    tests: dict[str, Table]


def train(config: DictConfig) -> Trained | None:
    """Fit and test what the configuration names; returns the tables that the command prints.

    On several devices every one of them comes through here; all but the first return None.
    """
    process.prepare()
    settings = plain(config)
    shape.check(settings)
    for name in ("workers", "resamples"):
        whole(name, settings[name], 0)
    device = choose_device(config.get("device", "auto"))  # an older run may not know it
    process.deterministic(config.seed)
    shape.check_kinds(settings)
    for key in ("run_dir", "data.ratings_from", "data.credits"):
        value = OmegaConf.select(config, key, default="not stated")
        if not isinstance(value, str) or not value:
            raise UserError(f"{key} {value!r}: expected a text")
    for name in (settings["name"], *settings["compare"]):
        if not is_folder_name(name):
            raise UserError(f"name {name!r}: expected the name of a folder in that of the run")
    config.run_dir = process.run_dir(config.run_dir)
    folder = Path(config.run_dir)
    with sole_writer(folder) if process.is_first() else nullcontext():
        is_new = not folder.exists()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(
                f"{folder}: no run folder can be made there ({error.strerror})"
            ) from None
        try:
            return _train(config, folder, device)
        finally:
            if is_new:
                with suppress(OSError):  # something is in it, as after all but a refusal
                    folder.rmdir()


def _train(config: DictConfig, folder: Path, device: torch.device) -> Trained | None:
    if "save_dir" in config.logger:
        raise UserError("logger.save_dir is set by the run itself: see run_dir")
    logger = call(config.logger, save_dir=str(folder))
    if isinstance(logger, CSVLogger) and Path(logger.log_dir) != folder:
        raise UserError(
            "logger.name and logger.version: expected neither; metrics.csv is in the folder of "
            "each model and fold"
        )
    if "make" in config.get("base", {}):
        call(config.base.make)
    # Before the data, which can take minutes to make.
    tests: dict[str, FurtherTest] = _called(config, "tests")
    table = Path(call(config.data.manifest))
    pairs = manifest.read(table)
    if not any(pair.ratings for pair in pairs):
        raise UserError(f"{table}: no pair has ratings, so there is nothing to learn")
    baselines: dict[str, Baseline] = _called(config, "baselines")
    plan = _plan(config, pairs, device)
    _check_taught(plan, pairs)
    rehearse(plan, [baselines, *(test.baselines for test in tests.values())])
    if process.is_first():
        sweep_all(folder)
        record.write(folder, config, table, pairs, plan.folds, plan.encoder)

    contents: dict[Path, str] = {}
    store = FeatureStore(plan.encoder, config.cache_dir, config.workers, heard=contents)
    started = time.perf_counter()
    examples = _examples(plan, store, pairs)
    further = {name: _examples(plan, store, test.pairs) for name, test in tests.items()}
    seconds = time.perf_counter() - started
    log.info("features of %d pairs in %.1f s, %d encoded", len(pairs), seconds, store.misses)
    if not process.is_first():
        _models(plan, examples, further, folder, config.workers)
        return None
    record.hear(folder, pairs, {name: test.pairs for name, test in tests.items()}, contents)

    said = ask(baselines, examples.take(_tested(plan)))
    of_tests = {name: ask(test.baselines, further[name]) for name, test in tests.items()}
    by_models = _models(plan, examples, further, folder, config.workers)
    report = _report(plan, pairs, [*said, *by_models.held_out], folder, config.resamples)
    tables = {
        name: test.report(
            [*of_tests[name], *by_models.tests[name]],
            folder / "report" / name,
            config.resamples,
            plan.name,
        )
        for name, test in tests.items()
    }
    for name, test in tests.items():
        for made in by_models.tests[name]:
            held_out.write_test(made, test.pairs, folder / made.evaluator / f"scores-{name}.csv")
    if len(plan.folds) == 1:  # of several none is the one to keep
        for name in plan.models:
            card.write(folder / name / plan.folds[0].name / "checkpoint", folder)
    timing = {"features_seconds": seconds, "encoder_seconds": store.encoder_seconds}
    write_text(folder / "timing.json", json.dumps({**timing, "encoded": store.misses}) + "\n")
    if isinstance(logger, WandbLogger):
        logger.log_report(folder / "report")
    return Trained(report, tables)


def _called(config: DictConfig, group: str) -> dict[str, Any]:
    """What the nodes of a group make, by name."""
    made = {}
    for name, node in config.get(group, {}).items():
        made[str(name)] = call(node)
    return made


def _plan(config: DictConfig, pairs: Sequence[EditPair], device: torch.device) -> Plan[Any, Any]:
    fit, encoder = call(config.fit), make_encoder(plain(config.features))
    encoder.to(str(device))
    if config.name in config.compare:
        raise UserError(f"name={config.name}: a model of compare has this name; give another")
    contents = digests(pair.original for pair in pairs)
    return Plan(
        name=config.name,
        models={config.name: plain(config.model), **plain(config.compare)},
        fit=fit,
        encoder=encoder,
        folds=call(config.data.split, pairs, contents),
        contents=contents,
        optimizer=call(config.optimizer),
        scheduler=call(config.scheduler),
        trainer=lambda: dict(call(config.trainer)),
        callbacks=lambda: list(_called(config, "callbacks").values()),
        logger=lambda folder: call(config.logger, save_dir=str(folder)),
        ratings_from=config.data.ratings_from,
        device=device,
        seed=config.seed,
    )


def _check_taught(plan: Plan[Any, Any], pairs: Sequence[EditPair]) -> None:
    """Raises UserError where a fold has no axis to learn: of one rating nothing is."""
    for fold in plan.folds:
        if all(sum(axis in pairs[row].ratings for row in fold.train) < 2 for axis in AXES):
            raise UserError(
                f"fold {fold.name}: no axis has 2 rated pairs to train on, of {len(fold.train)} in "
                "the training part"
            )


def _tested(plan: Plan[Seen, Taught]) -> list[int]:
    """The rows of the held-out part: the test parts of all folds."""
    return sorted({row for fold in plan.folds for row in fold.test})


def _examples(
    plan: Plan[Seen, Taught], store: FeatureStore, pairs: Sequence[EditPair]
) -> Examples[Seen]:
    kinds = [settings["name"] for settings in plan.models.values()]
    return Examples.of(pairs, plan.fit.features(store, pairs, kinds))


class _Said(NamedTuple):
    """What models say of the held-out part of the data, and of each further test."""

    held_out: list[Predictions]
    tests: dict[str, list[Predictions]]


def _models(
    plan: Plan[Seen, Taught],
    examples: Examples[Seen],
    tests: Mapping[str, Examples[Seen]],
    folder: Path,
    workers: int,
) -> _Said:
    """What each model says, trained where it is not yet: of the held-out parts of all folds
    together, and of each test once for each fold."""
    said = _Said([], {name: [] for name in tests})
    jobs = [
        Job(plan, name, examples, fold, folder / name / fold.name)
        for name in plan.models
        for fold in plan.folds
    ]
    outcomes = iter(all_answered(jobs, tests, workers))
    for name in plan.models:
        together = Answers({}, {})
        for fold in plan.folds:
            outcome = next(outcomes)
            if outcome is None:
                continue
            together.ratings.update(outcome.held_out.ratings)
            together.intervals.update(outcome.held_out.intervals)
            evaluator = name if len(plan.folds) == 1 else f"{name}/{fold.name}"
            for test, answers in outcome.tests.items():
                said.tests[test].append(answers.of(evaluator))
        said.held_out.append(together.of(name))
    return said


def _report(
    plan: Plan[Seen, Taught],
    pairs: Sequence[EditPair],
    said: list[Predictions],
    folder: Path,
    resamples: int,
) -> agreement.Report:
    """The held-out part of the data: its tables, its manifest, and the models' scores of it."""
    tested = [pairs[row] for row in _tested(plan)]
    leaks = sum(len(leaking(fold, pairs, plan.contents)) for fold in plan.folds)
    title = plan.ratings_from
    if leaks:
        title += f" (LEAKS: {leaks} of {len(tested)} pairs have an original that was trained on)"
        log.warning("the published split is used as it is: %s", title)
    report = agreement.make_report(
        tested, [*said, constant(pairs, plan.folds)], title, resamples, plotted=plan.name
    )
    if len(plan.folds) > 1:
        pooled = _POOLED.format(len(plan.folds))
        report = report._replace(notes=[*report.notes, pooled])
    agreement_files.write(report, folder / "report")
    names = [f"{name}/{fold.name}" for name in plan.models for fold in plan.folds]
    evaluated = [name for name in names if (folder / name / EVALUATION).exists()]
    if evaluated:
        found = {name: evaluation.read(folder / name / EVALUATION) for name in evaluated}
        evaluation.write(found, folder / "report")
    machine.write(folder / "report")
    held_out.write_manifest(tested, folder)
    for predictions in said:
        if predictions.evaluator in plan.models:
            held_out.write_scores(predictions, tested, plan.folds, folder)
    return report

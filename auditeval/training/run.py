"""One training run: features once, then every model on every fold, then one table.

A run folder holds config.yaml, run.json (what it was made from), splits.json, held_out.jsonl (the
held-out part as a manifest), report/ (of it, and of each further test in a folder of its name), for
each model scores.csv (of the held-out part), and for each model and fold: metrics.csv (before an
interruption: metrics-1.csv and so on), last.ckpt, predictions.json (and predictions-TEST.json),
intervals.json where the model knows them, and checkpoint/ (the evaluator). With logger=wandb also
wandb/, and a wandb_id for each of its runs.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import hydra
import torch
from omegaconf import DictConfig, OmegaConf
from pytorch_lightning.utilities.rank_zero import rank_zero_only
from torch import Tensor

from auditeval import checkpoint, manifest
from auditeval.atomic import replacing
from auditeval.data.contents import digests
from auditeval.data.splits import Contents, Fold, leaking
from auditeval.digests import sha256
from auditeval.features import make_encoder
from auditeval.features.comparison import REVISION
from auditeval.features.encoder import Encoder
from auditeval.features.store import FeatureStore
from auditeval.models import Model
from auditeval.outputs import sole_writer
from auditeval.reading import json_file
from auditeval.report import agreement, card, machine
from auditeval.scoring import choose_device
from auditeval.training import held_out, resuming
from auditeval.training.baselines import constant, make_baselines
from auditeval.training.callbacks import deterministic
from auditeval.training.configured import call, plain, whole
from auditeval.training.data import rating_matrix
from auditeval.training.further_tests import FurtherTest, with_baselines
from auditeval.training.rehearsal import rehearse
from auditeval.training.stages import Job, Plan, make_trainer
from auditeval.training.wandb_logger import WandbLogger
from auditeval.types import AXES, EditPair, UserError
from auditeval.version import __version__

if TYPE_CHECKING:
    from rich.table import Table

log = logging.getLogger(__name__)
_HELD_OUT = ""
_Values = dict[str, dict[Any, Any]]
_DECISIVE = ["seed", "fit", "features", "model", "compare", "optimizer", "scheduler"]
_COMPARED = {
    "manifest_sha256": "from another manifest",
    "encoder_revision": "with an encoder of other weights or options",
    "comparison_revision": "with another revision of the comparison of frames",
    "settings": "with other settings",
}


class Trained(NamedTuple):
    """What a run found: on the held-out part of its data, and on each further test a table."""

    report: agreement.Report
    tests: dict[str, Table]


def train(config: DictConfig) -> Trained | None:
    """Fit and test what the configuration names; returns the tables that the command prints.

    On several devices every one of them comes through here; all but the first return None.
    """
    # Its hints and the device list tell a user of train.py nothing.
    logging.getLogger("pytorch_lightning").setLevel(logging.WARNING)
    # Nothing is deleted: a resumed run keeps the metrics of the part before it.
    warnings.filterwarnings("ignore", "Experiment logs directory")
    warnings.filterwarnings("ignore", "Total length of `list`")  # there may be no validation part
    warnings.filterwarnings("ignore", "You're resuming from a checkpoint")  # our data can
    warnings.filterwarnings("ignore", ".*will run with no optimizer")  # an ensemble without MLPs
    warnings.filterwarnings("ignore", ".*LeafSpec")  # Lightning, of torch's way to walk a tuple
    for name in ("workers", "resamples"):
        whole(name, config[name], 0)
    deterministic(config.seed)
    first = getattr(rank_zero_only, "rank", 0) == 0
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))  # not all of them on the first
    config.run_dir = _run_dir(config.run_dir, first)
    plain(config)
    folder = Path(config.run_dir)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{folder}: no run folder can be made there ({error.strerror})") from None
    with sole_writer(folder) if first else nullcontext():
        return _train(config, folder, first)


def _train(config: DictConfig, folder: Path, first: bool) -> Trained | None:
    logger = call(config.logger, save_dir=str(folder))
    if "make" in config.get("base", {}):
        call(config.base.make)
    # Before the data, which can take minutes to make.
    tests: dict[str, FurtherTest] = {
        str(name): call(node) for name, node in config.get("tests", {}).items()
    }
    manifest_path = Path(call(config.data.manifest))
    pairs = manifest.read(manifest_path)
    if not any(pair.ratings for pair in pairs):
        raise UserError(f"{manifest_path}: no pair has ratings, so there is nothing to learn")
    fit = call(config.fit)
    encoder = make_encoder(**config.features)
    encoder.to(str(choose_device(config.get("device", "auto"))))
    baselines = {str(name): call(node) for name, node in config.baselines.items()}
    contents = digests(pair.original for pair in pairs)
    folds: list[Fold] = call(config.data.split, pairs, contents)
    models = {config.name: config.model, **config.compare}
    rehearse(
        Plan.of(config, fit, encoder, folds),
        [baselines, *(test.baselines for test in tests.values())],
        [call(node) for node in config.callbacks.values()],  # each fold has its own
    )
    if first:
        _record(folder, config, manifest_path, pairs, folds, encoder)

    store = FeatureStore(encoder, config.cache_dir, config.workers)
    started = time.perf_counter()
    kinds = [settings.name for settings in models.values()]
    features = fit.features(store, pairs, kinds)
    further = {name: fit.features(store, test.pairs, kinds) for name, test in tests.items()}
    seconds = time.perf_counter() - started
    ratings = rating_matrix(pairs)
    log.info("features of %d pairs in %.1f s", len(pairs), seconds)

    predictions = make_baselines(baselines, pairs, features, folds) if first else []
    said = {name: with_baselines(test, further[name]) for name, test in tests.items() if first}
    for name, settings in models.items():
        predicted: _Values = {}
        sure: _Values = {}
        for fold in folds:
            run = _Run(folder / name / fold.name, config, settings, encoder, pairs, contents, fit)
            found = run.predictions(features, ratings, fold, tests, further)
            for part, (values, intervals) in found.items():
                if part == _HELD_OUT:
                    predicted |= values
                    sure |= intervals
                else:
                    evaluator = name if len(folds) == 1 else f"{name}/{fold.name}"
                    made = agreement.Predictions(evaluator, values, intervals=intervals)
                    said[part].append(made)
        predictions.append(agreement.Predictions(name, predicted, intervals=sure))
    if not first:
        return None
    predictions.append(constant(pairs, folds))

    tested = [pairs[row] for row in sorted({row for fold in folds for row in fold.test})]
    leaks = sum(len(leaking(fold, pairs, contents)) for fold in folds)
    title = config.data.ratings_from
    if leaks:
        title += f" (LEAKS: {leaks} of {len(tested)} pairs have an original that was trained on)"
        log.warning("the published split is used as it is: %s", title)
    report = agreement.make_report(
        tested, predictions, title, config.resamples, plotted=config.name
    )
    agreement.write(report, folder / "report")
    machine.write(folder / "report")
    held_out.write_manifest(tested, folder)
    for made in predictions:
        if made.evaluator in models:
            held_out.write_scores(made, tested, folds, folder)
    tables = {
        name: test.report(said[name], folder / "report" / name, config.resamples, config.name)
        for name, test in tests.items()
    }
    if len(folds) == 1:  # of several none is the one to keep
        for name in models:
            card.write(folder / name / folds[0].name / "checkpoint", folder)
    timing = {"features_seconds": seconds, "encoder_seconds": store.encoder_seconds}
    (folder / "timing.json").write_text(json.dumps({**timing, "encoded": store.misses}) + "\n")
    if isinstance(logger, WandbLogger):
        logger.log_report(folder / "report")
    return Trained(report, tables)


class _Run:
    """One model on one fold, in a folder of its own; what is finished is not done again."""

    def __init__(
        self,
        folder: Path,
        config: DictConfig,
        settings: DictConfig,
        encoder: Encoder,
        pairs: Sequence[EditPair],
        contents: Contents,
        fit: Any,
    ) -> None:
        self.folder, self.config, self.settings = folder, config, settings
        self.encoder, self.pairs, self.contents, self.fit = encoder, pairs, contents, fit

    def predictions(
        self,
        features: Any,
        ratings: Tensor,
        fold: Fold,
        tests: Mapping[str, FurtherTest],
        further: Mapping[str, Any],
    ) -> dict[str, tuple[_Values, _Values]]:
        """{pair id: {axis: rating}} and {pair id: {axis: (low, high)}} of the held-out part, and of
        each test under its name; no intervals of a model that knows none.

        On all devices but the first, nothing.
        """
        parts = {_HELD_OUT: (self.pairs, features, fold.test)}
        for name, test in tests.items():
            parts[name] = (test.pairs, further[name], list(range(len(test.pairs))))
        endings = {name: "" if name == _HELD_OUT else f"-{name}" for name in parts}
        files = {
            name: [self.folder / f"{what}{ending}.json" for what in ("predictions", "intervals")]
            for name, ending in endings.items()
        }
        missing = [name for name, (predicted, _) in files.items() if not predicted.exists()]
        if missing:
            model = self._train(features, ratings, fold) if _HELD_OUT in missing else self._kept()
            if model is None:
                return {}
            for name in missing:
                found = self._predict(model, *parts[name])
                # Predictions last: where they are, the intervals are too.
                for file, values in reversed(list(zip(files[name], found, strict=True))):
                    if values:
                        with replacing(file) as temporary:
                            temporary.write_text(json.dumps(values, indent=1) + "\n")
        return {
            name: (
                resuming.predictions(predicted),
                resuming.predictions(intervals),
            )
            for name, (predicted, intervals) in files.items()
        }

    def _kept(self) -> Model | None:
        """The model of a run that was finished without one of its tests."""
        first = getattr(rank_zero_only, "rank", 0) == 0
        return checkpoint.load(self.folder / "checkpoint").model if first else None

    def _predict(
        self, model: Model, pairs: Sequence[EditPair], features: Any, rows: Sequence[int]
    ) -> tuple[_Values, _Values]:
        device = choose_device(self.config.get("device", "auto"))
        trained = model.trained.tolist()

        def by_pair(values: Tensor) -> _Values:
            return {
                pairs[row].id: {
                    axis: x for axis, x, known in zip(AXES, of_axes, trained, strict=True) if known
                }
                for row, of_axes in zip(rows, values.double().clamp(1, 5).tolist(), strict=True)
            }

        intervals = self.fit.intervals(model, features, rows)
        predicted = self.fit.predict(model, features, rows, device)
        return by_pair(predicted), {} if intervals is None else by_pair(intervals)

    def _train(self, features: Any, ratings: Tensor, fold: Fold) -> Model | None:
        config = self.config
        deterministic(config.seed)
        parts = self.fit.parts(
            Job(
                plain(self.settings),
                self.encoder,
                features,
                ratings,
                fold,
                self.pairs,
                [str(self.contents[pair.original]) for pair in self.pairs],
                self.folder,
                config.seed,
                hydra.utils.instantiate(config.optimizer),
                hydra.utils.instantiate(config.scheduler),
            )
        )
        trainer = make_trainer(
            hydra.utils.instantiate(config.trainer),
            parts.trainer,
            default_root_dir=self.folder,
            logger=call(config.logger, save_dir=str(self.folder)),
            callbacks=[
                *parts.callbacks,
                *map(call, config.callbacks.values()),
            ],
        )
        if trainer.is_global_zero and (metrics := self.folder / "metrics.csv").exists():
            # Lightning's CSVLogger would delete what it logged before an interruption.
            part = 1 + len(list(self.folder.glob("metrics-*.csv")))
            metrics.rename(self.folder / f"metrics-{part}.csv")
        last = resuming.last(self.folder)
        trainer.fit(parts.module, parts.data, ckpt_path=last, weights_only=True)
        if not trainer.is_global_zero:
            return None
        model = parts.model.eval()
        checkpoint.save(
            self.folder / "checkpoint",
            model,
            self.encoder,
            {
                "name": config.name,
                "ratings_from": config.data.ratings_from,
                "seed": config.seed,
                "fold": fold.name,
                "pairs": len(set(fold.train)),
                **parts.notes(),
            },
            self._trained_on(fold),
        )
        return model

    def _trained_on(self, fold: Fold) -> checkpoint.TrainedOn:
        train, validation = (
            [x for row in part if isinstance(x := self.contents[self.pairs[row].original], str)]
            for part in (fold.train, fold.validation)
        )
        return checkpoint.TrainedOn.of(train, validation)


def _run_dir(configured: str, first: bool) -> str:
    """The run folder, whose default name holds the time: the first device tells the others."""
    if first:
        os.environ["AUDITEVAL_RUN_DIR"] = configured
    return os.environ.get("AUDITEVAL_RUN_DIR", configured)


def _record(
    folder: Path,
    config: DictConfig,
    manifest_path: Path,
    pairs: Sequence[EditPair],
    folds: Sequence[Fold],
    encoder: Encoder,
) -> None:
    """What the run was made from. A folder is never continued with other inputs or settings."""
    resolved = plain(config)
    settings = {key: resolved[key] for key in _DECISIVE}
    record = {
        "encoder_revision": encoder.revision,
        "comparison_revision": REVISION,
        "settings": json.loads(json.dumps(settings)),
        "auditeval": __version__,
        "git_revision": _git_revision(),
        "manifest": str(manifest_path),
        "manifest_sha256": sha256(manifest_path),
    }
    splits = [
        {
            "name": fold.name,
            **{
                part: [pairs[row].id for row in getattr(fold, part)]
                for part in ("train", "validation", "test")
            },
        }
        for fold in folds
    ]
    path, splits_path = folder / "run.json", folder / "splits.json"
    if path.exists():
        before = json_file(path)
        for key, what in _COMPARED.items():
            if before.get(key, record[key]) != record[key]:
                raise UserError(f"{folder}: was made {what}; choose another run_dir")
        if splits_path.exists() and json_file(splits_path) != splits:
            raise UserError(f"{folder}: was made with another split; choose another run_dir")
    path.write_text(json.dumps(record, indent=2) + "\n")
    OmegaConf.save(config, folder / "config.yaml", resolve=True)
    splits_path.write_text(json.dumps(splits, indent=1) + "\n")


def _git_revision() -> str | None:
    """The commit of the source tree, with "-dirty" where it was changed; None outside of one."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40"]
    try:
        result = subprocess.run(
            command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return result.stdout.strip()

"""One training run: features once, then every model on every fold, then one table.

A run folder holds config.yaml, run.json (what it was made from), splits.json, report/, and for
each model and fold: metrics.csv (metrics-1.csv and so on: before an interruption), last.ckpt,
predictions.json and checkpoint/ (the evaluator).
"""

from __future__ import annotations

import hashlib
import json
import logging
import subprocess
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import hydra
import hydra.errors
import pytorch_lightning as lightning
from omegaconf import DictConfig, OmegaConf
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
from torch import Tensor

from auditeval import checkpoint, manifest, report
from auditeval.atomic import replacing
from auditeval.data.splits import Fold
from auditeval.features import make_encoder
from auditeval.features.encoder import Encoder
from auditeval.features.store import Failure, FeatureStore, PairFeatures
from auditeval.models import find_model
from auditeval.models.three_head import PairBatch, Regressor
from auditeval.scoring import choose_device
from auditeval.training.baselines import constant, make_baselines
from auditeval.training.callbacks import BestHeads, SaveLast, deterministic
from auditeval.training.data import PairDataModule, rating_matrix, take
from auditeval.training.module import EvaluatorModule
from auditeval.types import AXES, EditPair, UserError
from auditeval.version import __version__

log = logging.getLogger(__name__)
console = Console(stderr=True)
_CHUNK_PAIRS = 64
_DECISIVE = ["seed", "epochs", "batches", "features", "model", "compare", "optimizer", "scheduler"]
_COMPARED = {
    "manifest_sha256": "from another manifest",
    "encoder_revision": "with an encoder of other weights or options",
    "settings": "with other settings",
}


def train(config: DictConfig) -> report.Report:
    """Fit and test what the configuration names; returns the table that the command prints."""
    # Its hints and the device list tell a user of train.py nothing.
    logging.getLogger("pytorch_lightning").setLevel(logging.WARNING)
    # Nothing is deleted: a resumed run keeps the metrics of the part before it.
    warnings.filterwarnings("ignore", "Experiment logs directory")
    warnings.filterwarnings("ignore", "Total length of `list`")  # there may be no validation part
    deterministic(config.seed)
    folder = Path(config.run_dir)
    folder.mkdir(parents=True, exist_ok=True)
    manifest_path = Path(_call(config.data.manifest))
    pairs = manifest.read(manifest_path)
    if not any(pair.ratings for pair in pairs):
        raise UserError(f"{manifest_path}: no pair has ratings, so there is nothing to learn")
    folds: list[Fold] = _call(config.data.split, pairs)
    encoder = make_encoder(**config.features)
    encoder.to(str(choose_device(config.get("device", "auto"))))
    baselines = {str(name): _call(node) for name, node in config.baselines.items()}
    _record(folder, config, manifest_path, pairs, folds, encoder)

    store = FeatureStore(encoder, config.cache_dir, config.workers)
    models = {config.name: config.model, **config.compare}
    words = any(find_model(settings.name).uses_changed_words for settings in models.values())
    features, seconds = _features(store, pairs, words)
    ratings = rating_matrix(pairs)
    log.info("features of %d pairs in %.1f s", len(pairs), seconds)

    predictions = make_baselines(baselines, pairs, features, folds)
    for name, settings in models.items():
        predicted = {}
        for fold in folds:
            fit = _Fit(folder / name / fold.name, config, settings, encoder, pairs)
            predicted.update(fit.run(features, ratings, fold))
        predictions.append(report.Predictions(name, predicted))
    predictions.append(constant(pairs, folds))

    tested = [pairs[row] for row in sorted({row for fold in folds for row in fold.test})]
    made = report.make_report(
        tested, predictions, config.data.ratings_from, config.resamples, plotted=config.name
    )
    report.write(made, folder / "report")
    timing = {"features_seconds": seconds, "encoder_seconds": store.encoder_seconds}
    (folder / "timing.json").write_text(json.dumps({**timing, "encoded": store.misses}) + "\n")
    return made


class _Fit:
    """One model on one fold, in a folder of its own; what is finished is not done again."""

    def __init__(
        self,
        folder: Path,
        config: DictConfig,
        settings: DictConfig,
        encoder: Encoder,
        pairs: Sequence[EditPair],
    ) -> None:
        self.folder, self.config, self.settings = folder, config, settings
        self.encoder, self.pairs = encoder, pairs

    def run(self, features: PairBatch, ratings: Tensor, fold: Fold) -> dict[str, dict[Any, float]]:
        done = self.folder / "predictions.json"
        if not done.exists():
            predicted = self._train(features, ratings, fold)
            with replacing(done) as temporary:
                temporary.write_text(json.dumps(predicted, indent=1) + "\n")
        return json.loads(done.read_text())

    def _train(
        self, features: PairBatch, ratings: Tensor, fold: Fold
    ) -> dict[str, dict[str, float]]:
        config = self.config
        deterministic(config.seed)
        model = self._model(features)
        model.fit_scales(take(features, fold.train), ratings[fold.train])
        module = EvaluatorModule(
            model,
            hydra.utils.instantiate(config.optimizer),
            hydra.utils.instantiate(config.scheduler),
            OmegaConf.to_container(config.epochs),  # type: ignore[arg-type]
            config.seed,
        )
        data = PairDataModule(features, ratings, fold, seed=config.seed, **config.batches)
        best, last = BestHeads(), self.folder / "last.ckpt"
        trainer = lightning.Trainer(
            **hydra.utils.instantiate(config.trainer),
            max_epochs=max(config.epochs.values()),
            default_root_dir=self.folder,
            logger=hydra.utils.instantiate(config.logger, save_dir=str(self.folder)),
            callbacks=[
                best,
                SaveLast(last),
                *(hydra.utils.instantiate(node) for node in config.callbacks.values()),
            ],
        )
        if (metrics := self.folder / "metrics.csv").exists():
            # Lightning's CSVLogger would delete what it logged before an interruption.
            part = 1 + len(list(self.folder.glob("metrics-*.csv")))
            metrics.rename(self.folder / f"metrics-{part}.csv")
        trainer.fit(module, data, ckpt_path=last if last.exists() else None, weights_only=True)
        checkpoint.save(
            self.folder / "checkpoint",
            model,
            self.encoder,
            {
                "name": config.name,
                "ratings_from": config.data.ratings_from,
                "seed": config.seed,
                "fold": fold.name,
                "pairs": len(fold.train),
                "best_epochs": best.best_epochs(),
            },
        )
        return self._predict(model.cpu().eval(), features, fold.test)

    def _model(self, features: PairBatch) -> Regressor:
        arguments: dict[str, Any] = OmegaConf.to_container(self.settings)  # type: ignore[assignment]
        kind = find_model(arguments.pop("name"))
        try:
            return kind(
                dim=self.encoder.dim,
                text_dim=self.encoder.text_dim,
                joint_dim=self.encoder.joint_dim,
                alignment_dim=features.alignment.shape[1],
                **arguments,
            )
        except (TypeError, ValueError) as error:
            raise UserError(
                f"model {self.settings.name!r} cannot be made for encoder {self.encoder.name} "
                f"({error})"
            ) from None

    def _predict(
        self, model: Regressor, features: PairBatch, rows: list[int]
    ) -> dict[str, dict[str, float]]:
        import torch

        with torch.inference_mode():
            scores = model(take(features, rows)).double().clamp(1, 5).tolist()
        trained = model.trained.tolist()
        return {
            self.pairs[row].id: {
                axis: x for axis, x, known in zip(AXES, values, trained, strict=True) if known
            }
            for row, values in zip(rows, scores, strict=True)
        }


def _call(node: DictConfig, *arguments: Any) -> Any:
    """Call what a node names; a user's mistake in there comes out as itself, not as Hydra's."""
    try:
        return hydra.utils.call(node, *arguments)
    except hydra.errors.InstantiationException as error:
        if isinstance(error.__cause__, UserError):
            raise error.__cause__ from None
        raise


def _features(
    store: FeatureStore, pairs: Sequence[EditPair], with_changed_words: bool
) -> tuple[PairBatch, float]:
    """Features of all pairs, in chunks so that only what models see stays in memory."""
    started = time.perf_counter()
    rows: list[PairFeatures | Failure] = []
    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(f"encoding with {store.encoder.name}", total=len(pairs))
        for start in range(0, len(pairs), _CHUNK_PAIRS):
            chunk = pairs[start : start + _CHUNK_PAIRS]
            rows += store.pairs(chunk, with_changed_words)
            bar.advance(task, len(chunk))
    failed = [
        f"{pair.id}: {row.reason}"
        for pair, row in zip(pairs, rows, strict=True)
        if isinstance(row, Failure)
    ]
    if failed:
        shown = "; ".join(failed[:5]) + ("; ..." if len(failed) > 5 else "")
        raise UserError(
            f"{len(failed)} of {len(pairs)} pairs cannot be used ({shown}); mend them or take them "
            "out of the manifest"
        )
    return PairBatch.stack(rows), time.perf_counter() - started


def _record(
    folder: Path,
    config: DictConfig,
    manifest_path: Path,
    pairs: Sequence[EditPair],
    folds: Sequence[Fold],
    encoder: Encoder,
) -> None:
    """What the run was made from. A folder is never continued with other inputs or settings."""
    settings = OmegaConf.to_container(OmegaConf.masked_copy(config, _DECISIVE), resolve=True)
    record = {
        "encoder_revision": encoder.revision,
        "settings": json.loads(json.dumps(settings)),
        "auditeval": __version__,
        "git_revision": _git_revision(),
        "manifest": str(manifest_path),
        "manifest_sha256": hashlib.sha256(manifest_path.read_bytes()).hexdigest(),
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
        before = json.loads(path.read_text())
        for key, what in _COMPARED.items():
            if before.get(key, record[key]) != record[key]:
                raise UserError(f"{folder}: was made {what}; choose another run_dir")
        if splits_path.exists() and json.loads(splits_path.read_text()) != splits:
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

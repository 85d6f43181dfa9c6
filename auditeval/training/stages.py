"""What the ways of training share: their parts, and the pass of a frozen encoder over the pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytorch_lightning as lightning
import torch
from omegaconf import DictConfig
from pytorch_lightning.utilities.exceptions import MisconfigurationException
from torch import Tensor

from auditeval.data.splits import Fold
from auditeval.features.encoder import Encoder
from auditeval.features.store import Failure, FeatureStore
from auditeval.features.wrapped import first_line
from auditeval.models import Model
from auditeval.progress import bars
from auditeval.training.configured import call, plain
from auditeval.types import EditPair, UserError

Row = TypeVar("Row")
Made = TypeVar("Made")
_CHUNK_PAIRS = 64


class Plan(NamedTuple):
    """What a run is going to train, as far as it is known before anything is encoded.

    `fit` is the way of training, `models` the settings of configs/model by name, `trainer` the
    arguments of Lightning's Trainer.
    """

    fit: Any
    encoder: Encoder
    models: Mapping[str, dict[str, Any]]
    folds: Sequence[Fold]
    optimizer: Callable[..., torch.optim.Optimizer]
    scheduler: Callable[..., Any]
    trainer: dict[str, Any]
    seed: int

    @classmethod
    def of(cls, config: DictConfig, fit: Any, encoder: Encoder, folds: Sequence[Fold]) -> Plan:
        """That of a resolved configuration."""
        return cls(
            fit,
            encoder,
            {config.name: plain(config.model), **plain(config.compare)},
            folds,
            call(config.optimizer),
            call(config.scheduler),
            dict(call(config.trainer)),
            config.seed,
        )

    def check_validated(self, what: str) -> None:
        """Raises UserError where a model is trained without validation, which `what` needs."""
        if not all(fold.validation for fold in self.folds):
            raise UserError(f"{what} needs a validation part: data.split.validation_share above 0")
        for name, settings in self.models.items():
            if not self.fit.validates(settings["name"]):
                raise UserError(
                    f"{what} works in validation, and fit={self.fit.name} keeps the validation "
                    f"part of {name!r} to calibrate it with"
                )


class Job(NamedTuple):
    """One model to train on one fold of the `pairs`.

    `settings` are those of configs/model, `features` what the way of training made of all pairs,
    `ratings` :: (N, 3), NaN where nobody rated, `originals` the same words for the same original
    clip. `optimizer` and `scheduler` are functions, as configs/optimizer and configs/scheduler name
    them.
    """

    settings: dict[str, Any]
    encoder: Encoder
    features: Any
    ratings: Tensor
    fold: Fold
    pairs: Sequence[EditPair]
    originals: Sequence[str]
    folder: Path
    seed: int
    optimizer: Callable[..., torch.optim.Optimizer]
    scheduler: Callable[..., Any]


class Parts(NamedTuple):
    """What Lightning needs for one model on one fold.

    `trainer` are arguments of Lightning's Trainer, `notes()` what the checkpoint is to say of the
    training when it is over.
    """

    model: Model
    module: lightning.LightningModule
    data: lightning.LightningDataModule
    callbacks: list[lightning.Callback]
    trainer: dict[str, Any]
    notes: Callable[[], dict[str, Any]]


def built(what: str, make: Callable[..., Made], *arguments: Any, advice: str = "") -> Made:
    """What a function that a configuration names makes; UserError where its settings are wrong."""
    try:
        return make(*arguments)
    except UserError:
        raise
    except (TypeError, ValueError, RuntimeError, ArithmeticError) as error:
        raise UserError(
            f"{what} cannot be made with its settings ({first_line(error)}){advice}"
        ) from None


def make_trainer(
    configured: Mapping[str, Any], decided: Mapping[str, Any], **more: Any
) -> lightning.Trainer:
    """A Trainer; UserError for arguments it does not take, and for those that the run sets."""
    for name in configured.keys() & {*decided, "default_root_dir", "logger", "callbacks"}:
        raise UserError(f"trainer.{name} is set by the run itself: see fit, logger and callbacks")
    try:
        return built("the trainer", lambda: lightning.Trainer(**configured, **decided, **more))
    except MisconfigurationException as error:
        raise UserError(f"the trainer cannot be made ({first_line(error)})") from None


def encoding(
    store: FeatureStore,
    pairs: Sequence[EditPair],
    encode: Callable[[Sequence[EditPair]], list[Row]],
) -> list[Row]:
    """`encode` of all pairs, chunk by chunk under a progress bar."""
    rows: list[Row] = []
    with bars() as bar:
        task = bar.add_task(f"encoding with {store.encoder.name}", total=len(pairs))
        for start in range(0, len(pairs), _CHUNK_PAIRS):
            chunk = pairs[start : start + _CHUNK_PAIRS]
            rows += encode(chunk)
            bar.advance(task, len(chunk))
    return rows


def usable(pairs: Sequence[EditPair], rows: Sequence[Row | Failure]) -> list[Row]:
    """The rows, none of which may be a Failure: raises UserError with the first five reasons."""
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
    return [row for row in rows if not isinstance(row, Failure)]

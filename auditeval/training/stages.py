"""What the ways of training share: their parts, and the pass of a frozen encoder over the pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytorch_lightning as lightning
import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
from torch import Tensor

from auditeval.data.splits import Fold
from auditeval.features.encoder import Encoder
from auditeval.features.store import Failure, FeatureStore
from auditeval.models import Model
from auditeval.types import EditPair, UserError

Row = TypeVar("Row")
console = Console(stderr=True)
_CHUNK_PAIRS = 64


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


def encoding(
    store: FeatureStore,
    pairs: Sequence[EditPair],
    encode: Callable[[Sequence[EditPair]], list[Row]],
) -> list[Row]:
    """`encode` of all pairs, chunk by chunk under a progress bar."""
    rows: list[Row] = []
    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bar:
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

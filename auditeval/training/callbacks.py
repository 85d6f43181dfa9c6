"""Lightning callbacks: the best epoch of each head, the last epoch of a run."""

from __future__ import annotations

import io
import time
from pathlib import Path
from typing import Any

import pytorch_lightning as lightning
import torch
from pytorch_lightning.callbacks import Checkpoint
from pytorch_lightning.plugins.io import TorchCheckpointIO

from auditeval.atomic import replacing
from auditeval.training.module import EvaluatorModule
from auditeval.types import AXES


class BestHeads(lightning.Callback):
    """Keeps each head as it was at its lowest `val/mse/<axis>`, and puts them back at the end.

    The heads are independent, so each has a best epoch of its own. Without a validation part the
    heads stay as the last epoch left them. The state travels in Lightning's checkpoints, so a
    resumed run ends with the same heads.
    """

    def __init__(self) -> None:
        self._best: dict[str, dict[str, Any]] = {}

    def on_validation_end(self, trainer: lightning.Trainer, module: Any) -> None:
        assert isinstance(module, EvaluatorModule)
        if trainer.sanity_checking:
            return
        for axis in AXES:
            value = trainer.callback_metrics.get(f"val/mse/{axis}")
            # A NaN, of a head that diverged, is no better than anything.
            if value is None or not value < self._best.get(axis, {}).get("mse", float("inf")):
                continue
            head = module.model.heads[axis].state_dict()
            self._best[axis] = {
                "mse": float(value),
                "epoch": trainer.current_epoch,
                "head": {key: tensor.detach().clone() for key, tensor in head.items()},
            }

    def on_fit_end(self, trainer: lightning.Trainer, module: Any) -> None:
        for axis, best in self._best.items():
            module.model.heads[axis].load_state_dict(best["head"])

    def best_epochs(self) -> dict[str, int]:
        """{axis: epoch it is kept from}, empty without a validation part."""
        return {axis: best["epoch"] for axis, best in self._best.items()}

    def state_dict(self) -> dict[str, Any]:
        return {"best": self._best}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self._best = state_dict["best"]


class _Beside(TorchCheckpointIO):
    """Drafts a checkpoint in its own folder. Lightning's drafts it in that for temporary files: a
    killed run leaves it there, and where that is another disk it is copied, which is not all or
    nothing."""

    def save_checkpoint(
        self, checkpoint: dict[str, Any], path: Any, storage_options: Any = None
    ) -> None:
        made = io.BytesIO()  # of a full disk torch says what nobody understands
        torch.save(checkpoint, made)
        with replacing(Path(path)) as temporary:
            temporary.write_bytes(made.getbuffer())


class SaveLast(Checkpoint):
    """Writes a checkpoint after an epoch, over the one before; a twentieth of the time at most.

    With the paper's heads it holds 0.6 GB, and writing it takes longer than a small epoch.
    With `every_batches` it also writes within an epoch, behind a multiple of that many batches, for
    data that can go on from there.
    Lightning runs it behind all other callbacks and the module, whose state it saves. Its own
    ModelCheckpoint(save_top_k=0, save_last=True) writes nothing before the training ends.
    """

    SHARE = 0.05

    def __init__(self, path: Path, every_batches: int | None = None) -> None:
        self._path, self._every_batches = path, every_batches
        self._next = 0.0

    def setup(self, trainer: lightning.Trainer, module: Any, stage: str) -> None:
        trainer.strategy.checkpoint_io = _Beside()

    def on_train_batch_end(
        self, trainer: lightning.Trainer, module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        last = batch_idx + 1 == trainer.num_training_batches
        if self._every_batches and (batch_idx + 1) % self._every_batches == 0 and not last:
            self._save(trainer)

    def on_train_epoch_end(self, trainer: lightning.Trainer, module: Any) -> None:
        self._save(trainer)

    def _save(self, trainer: lightning.Trainer) -> None:
        started = time.monotonic()
        # Devices have clocks of their own, and must agree: all of them take part in saving.
        if trainer.strategy.reduce_boolean_decision(started >= self._next):
            trainer.save_checkpoint(self._path)
            ended = time.monotonic()
            self._next = ended + (ended - started) / self.SHARE

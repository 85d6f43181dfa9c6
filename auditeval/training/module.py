"""The Lightning module: three heads, each with its own optimiser, schedule and number of epochs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytorch_lightning as lightning
import torch
from torch import Tensor

from auditeval.metrics.agreement import STATISTICS
from auditeval.models.three_head import PairBatch, Regressor
from auditeval.types import AXES, Axis


def masked_mse(predicted: Tensor, rated: Tensor) -> dict[Axis, Tensor]:
    """Mean squared error of each axis over the pairs that were rated on it.

    :: (members, B, 3), (B, 3) with NaN where nobody rated -> {axis: scalar}; an axis without a
    rated pair is absent. Members are averaged after squaring: each answers for its own error.
    """
    losses: dict[Axis, Tensor] = {}
    for index, axis in enumerate(AXES):
        there = ~rated[:, index].isnan()
        if there.any():
            error = predicted[:, there, index] - rated[there, index]
            losses[axis] = error.square().mean()
    return losses


class EvaluatorModule(lightning.LightningModule):
    """Trains a Regressor on (PairBatch, ratings) batches.

    Manual optimisation, because the paper trains its heads for 50, 30 and 35 epochs, each with a
    ReduceLROnPlateau of its own: one pass over the data serves all three, with the same result as
    three runs. `epochs` is {axis: epochs}; a head rests when its own are over.
    """

    def __init__(
        self,
        model: Regressor,
        optimizer: Callable[[Iterable[torch.nn.Parameter]], torch.optim.Optimizer],
        scheduler: Callable[[torch.optim.Optimizer], Any],
        epochs: Mapping[str, int],
        seed: int,
    ) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.model = model
        self.epochs = dict(epochs)
        self.seed = seed
        self._optimizer, self._scheduler = optimizer, scheduler
        self._validated: list[tuple[Tensor, Tensor]] = []

    def configure_optimizers(self) -> Any:
        optimizers = [self._optimizer(self.model.heads[axis].parameters()) for axis in AXES]
        return optimizers, [self._scheduler(optimizer) for optimizer in optimizers]

    def on_train_batch_start(self, batch: Any, batch_index: int) -> None:
        # Dropout then depends on epoch and batch alone, and a resumed run repeats an uninterrupted
        # one. At the epoch's start it would be too early: loaders draw in between, and a resumed
        # run at another moment.
        torch.manual_seed(self.seed + (self.current_epoch << 32) + batch_index)

    def training_step(self, batch: tuple[PairBatch, Tensor], batch_index: int) -> None:
        features, rated = batch
        losses = masked_mse(self.model.forward_members(features), rated)
        optimizers = dict(zip(AXES, self.optimizers(), strict=True))
        active = [axis for axis in losses if self.current_epoch < self.epochs[axis]]
        if not active:
            return
        for axis in active:
            optimizers[axis].zero_grad()
        # The heads share no weight, so the gradient of the sum is each head's own.
        auxiliary = self.model.auxiliary_losses(features, rated)
        parts = [part[axis] for axis in active for part in (losses, auxiliary) if axis in part]
        self.manual_backward(torch.stack(parts).sum())
        for axis in active:
            optimizers[axis].step()
            self.log(f"train/mse/{axis}", losses[axis].detach(), on_step=False, on_epoch=True)

    def validation_step(self, batch: tuple[PairBatch, Tensor], batch_index: int) -> None:
        features, rated = batch
        self._validated.append((self.model(features), rated))

    def on_validation_epoch_end(self) -> None:
        predicted, rated = (torch.cat(part).cpu() for part in zip(*self._validated, strict=True))
        self._validated.clear()
        for index, axis in enumerate(AXES):
            there = ~rated[:, index].isnan()
            if not there.any():
                continue
            x, y = (part[there, index].double().numpy() for part in (predicted, rated))
            self.log(f"val/mse/{axis}", STATISTICS["MSE"](x, y), prog_bar=True)
            if len(x) > 2 and x.std() > 0 and y.std() > 0:
                self.log(f"val/srcc/{axis}", STATISTICS["SRCC"](x, y))

    def on_train_epoch_end(self) -> None:
        # Lightning runs validation inside the training epoch, so the metrics are this epoch's.
        metrics = self.trainer.callback_metrics
        schedulers: Any = self.lr_schedulers()
        for axis, scheduler in zip(AXES, schedulers, strict=True):
            watched = metrics.get(f"val/mse/{axis}", metrics.get(f"train/mse/{axis}"))
            if watched is None:
                continue
            if isinstance(scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau):
                scheduler.step(watched)
            else:
                scheduler.step()

"""The Lightning module: three heads, each with its own optimiser, schedule and number of epochs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pytorch_lightning as lightning
import torch
from torch import Tensor

from auditeval.features.pair import PairFeatures
from auditeval.metrics.agreement import STATISTICS
from auditeval.models.three_head import Regressor
from auditeval.training.configured import built
from auditeval.training.process import reseed
from auditeval.types import AXES

_SCHEDULERS = "; with fit=heads or ensemble use scheduler=plateau or scheduler=cosine"


def masked_mse(predicted: Tensor, rated: Tensor, rated_pairs: float | None = None) -> Tensor | None:
    """Mean squared error on one axis over the pairs that were rated on it, None if none was.

    :: (members, B), (B,) with NaN where nobody rated -> scalar. Members are averaged after
    squaring: each answers for its own error. On several devices `rated_pairs` is the mean number
    that one of them has in this step: the mean of what they return is then that of all pairs.
    """
    there = ~rated.isnan()
    count = float(there.sum()) if rated_pairs is None else rated_pairs
    if not count:
        return None
    return (predicted[:, there] - rated[there]).square().sum() / (len(predicted) * count)


def log_agreement(
    module: lightning.LightningModule, validated: Sequence[tuple[Tensor, Tensor]]
) -> None:
    """Log `val/mse/<axis>` and `val/srcc/<axis>` of batches (predicted, rated) :: (B, 3) each."""
    predicted, rated = (torch.cat(part).cpu() for part in zip(*validated, strict=True))
    for index, axis in enumerate(AXES):
        there = ~rated[:, index].isnan()
        if not there.any():
            continue
        x, y = (part[there, index].double().numpy() for part in (predicted, rated))
        # Each device sees the whole part; no last bit of one may lead its schedule elsewhere.
        module.log(f"val/mse/{axis}", STATISTICS["MSE"](x, y), prog_bar=True, sync_dist=True)
        if len(x) > 2 and x.std() > 0 and y.std() > 0:
            module.log(f"val/srcc/{axis}", STATISTICS["SRCC"](x, y))


def _lasting(scheduler: Callable[..., Any], epochs: int) -> dict[str, int]:
    """How long a schedule is to last that has a `T_max`, and is not told by its configuration."""
    asked = inspect.signature(scheduler).parameters.get("T_max")
    is_open = asked is not None and asked.default is inspect.Parameter.empty
    return {"T_max": max(epochs, 1)} if is_open else {}


def advance(scheduler: Any, watched: Any) -> None:
    """Go on to the learning rate of the next epoch; a plateau's looks at a metric."""
    if isinstance(scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau):
        scheduler.step(watched)
    else:
        scheduler.step()


class EvaluatorModule(lightning.LightningModule):
    """Trains a Regressor on (PairFeatures, ratings) batches.

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
        if not any(True for _ in self.model.heads.parameters()):
            return None  # all of the model was fitted before, in closed form
        optimizers = [
            built("the optimizer", self._optimizer, self.model.heads[axis].parameters())
            for axis in AXES
        ]
        return optimizers, [
            built(
                "the scheduler",
                self._scheduler,
                optimizer,
                advice=_SCHEDULERS,
                **_lasting(self._scheduler, self.epochs[axis]),
            )
            for axis, optimizer in zip(AXES, optimizers, strict=True)
        ]

    def on_train_epoch_start(self) -> None:
        optimizers: Any = self.optimizers()
        for axis, optimizer in zip(AXES, optimizers, strict=True):
            if self.current_epoch < self.epochs[axis]:
                self.log(f"train/lr/{axis}", optimizer.param_groups[0]["lr"])

    def training_step(self, batch: tuple[PairFeatures, Tensor], batch_index: int) -> None:
        features, rated = batch
        inputs = self.model.inputs(features)
        optimizers: Any = self.optimizers()
        there = ~rated.isnan()
        counts = self._rated_pairs(there)
        place = batch_index * self.trainer.world_size + self.trainer.global_rank
        total, stepping = rated.new_zeros(()), []
        for index, (axis, optimizer) in enumerate(zip(AXES, optimizers, strict=True)):
            if self.current_epoch >= self.epochs[axis] or not counts[index]:
                if self.trainer.world_size > 1:  # there, each parameter has to be in the loss
                    total = total + sum(x.sum() for x in self.model.heads[axis].parameters()) * 0
                continue
            # Dropout then depends on epoch and batch alone: a resumed run repeats an uninterrupted
            # one, and a head meets the same whether the others train beside it or not.
            reseed(self.device, self.seed + (self.current_epoch << 32) + place)
            seen, of_seen = inputs, rated
            if not there[:, index].all():  # nor does it meet what it has no rating of
                rows = there[:, index].nonzero().flatten()
                seen, of_seen = self.model.inputs(features.take(rows.tolist())), rated[rows]
            predicted, auxiliary = self.model.learn(seen, axis, of_seen)
            loss = masked_mse(predicted, of_seen[:, index], counts[index])
            assert loss is not None
            name = f"train/mse/{axis}"
            self.log(name, loss.detach(), on_step=False, on_epoch=True, sync_dist=True)
            optimizer.zero_grad()
            total = total + loss if auxiliary is None else total + loss + auxiliary
            stepping.append(optimizer)
        if not stepping:
            return
        # Heads share no parameter, so each has the gradient of its own loss.
        self.manual_backward(total)
        for optimizer in stepping:
            optimizer.step()

    def _rated_pairs(self, there: Tensor) -> list[float]:
        """Of this step, by axis: how many pairs were rated, as the mean over devices."""
        counts: Any = there.sum(dim=0).float()
        return self.trainer.strategy.reduce(counts, reduce_op="mean").tolist()

    def validation_step(self, batch: tuple[PairFeatures, Tensor], batch_index: int) -> None:
        features, rated = batch
        self._validated.append((self.model(features), rated))

    def on_validation_epoch_end(self) -> None:
        log_agreement(self, self._validated)
        self._validated.clear()

    def on_train_epoch_end(self) -> None:
        # Lightning runs validation inside the training epoch, so the metrics are this epoch's.
        metrics = self.trainer.callback_metrics
        schedulers: Any = self.lr_schedulers()
        for axis, scheduler in zip(AXES, schedulers, strict=True):
            watched = metrics.get(f"val/mse/{axis}", metrics.get(f"train/mse/{axis}"))
            if watched is not None:
                advance(scheduler, watched)

"""Training of an OmniRegressor: LoRA and heads by one optimiser, on rows read from the cache."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytorch_lightning as lightning
import torch
from torch import Tensor

from auditeval.features.extractors.qwen_omni import OmniExtractor
from auditeval.features.store import FeatureStore
from auditeval.models import find_model
from auditeval.models.omni.inputs import Batch
from auditeval.models.omni.regressor import OmniRegressor, open_base_of
from auditeval.training.callbacks import SaveLast
from auditeval.training.configured import built, make_trainer
from auditeval.training.data import OWN_SAMPLER
from auditeval.training.encoding import usable
from auditeval.training.fit import Examples, Fit, Job, Parts, Plan
from auditeval.training.lora_data import ClipTokens, LoraDataModule
from auditeval.training.module import log_agreement
from auditeval.types import AXES, EditPair, UserError, whole

_PREDICTED_AT_A_TIME = 64
_SCALED_BY = 256


def warmup(
    optimizer: torch.optim.Optimizer, steps: int, shape: str, share: float
) -> torch.optim.lr_scheduler.LRScheduler:
    """A learning rate that rises over `share` of `steps`, then follows `shape`.

    Shapes are those of transformers: "linear" and "cosine" fall to 0, "constant_with_warmup" stays.
    """
    from transformers import get_scheduler

    if not 0 <= share <= 1:
        raise ValueError(f"share {share}: expected 0 to 1")
    return get_scheduler(shape, optimizer, math.ceil(share * steps), steps)


def rated_mse(predicted: Tensor, rated: Tensor) -> Tensor:
    """Mean squared error over what was rated, 0 if nothing was :: any shape twice -> scalar.

    `rated` is NaN where nobody rated.
    """
    there = ~rated.isnan()
    errors = (predicted - rated.nan_to_num()).square()
    return (errors * there).sum() / there.sum().clamp(min=1)


def checkpoint_activations(language_model: Any, on: bool) -> None:
    """Keep the inputs of each layer alone and compute the rest again in the backward pass, or not.

    What transformers calls gradient checkpointing until release 5, and activation checkpointing
    from late releases of that on.
    """
    kind = (
        "activation" if hasattr(language_model, "activation_checkpointing_enable") else "gradient"
    )
    if on:
        getattr(language_model, f"{kind}_checkpointing_enable")({"use_reentrant": False})
    else:
        getattr(language_model, f"{kind}_checkpointing_disable")()


class LoraFit(Fit[ClipTokens, OmniRegressor]):
    """LoRA and heads of a Qwen2.5-Omni [arXiv:2508.11966, Appendix E].

    A step sees `batch_size` x `accumulate` pairs on each device. `memory_gib` of audio tokens are
    kept in memory (10 s of audio are 1.8 MB at 7B). Gradient checkpointing computes activations
    twice instead of keeping them.
    """

    name = "lora"

    def __init__(
        self,
        epochs: int,
        batch_size: int,
        accumulate: int,
        validation_batch_size: int,
        gradient_checkpointing: bool,
        memory_gib: float,
    ) -> None:
        counts = {
            "epochs": epochs,
            "batch_size": batch_size,
            "accumulate": accumulate,
            "validation_batch_size": validation_batch_size,
        }
        for name, count in counts.items():
            whole(f"fit.{name}", count)
        if not (isinstance(memory_gib, (int, float)) and memory_gib >= 0):
            raise UserError(f"fit.memory_gib {memory_gib!r}: expected a number, 0 for none")
        self._batch_size, self._accumulate = batch_size, accumulate
        self._validation_batch_size = validation_batch_size
        self._gradient_checkpointing, self._memory_gib = gradient_checkpointing, memory_gib
        self._trainer = {
            "max_epochs": epochs,
            "accumulate_grad_batches": accumulate,
            **OWN_SAMPLER,
        }

    def check(self, plan: Plan[ClipTokens, OmniRegressor]) -> None:
        """Raises UserError where a model of the plan could not be trained; reads no weights."""
        for settings in plan.models.values():
            if find_model(settings["name"]) is not OmniRegressor:
                raise UserError(
                    f"model {settings['name']!r} is not trained by fit=lora; see fit=heads"
                )
        if plan.encoder.name != OmniExtractor.name:
            raise UserError(f"fit=lora needs features=qwen_omni, not {plan.encoder.name}")
        listens = plan.encoder.arguments[OmniExtractor.name]
        heard = listens["model"], listens["model_revision"]
        for settings in plan.models.values():
            arguments = {key: value for key, value in settings.items() if key != "name"}
            base = built("model qwen_omni", open_base_of, arguments)
            if heard != (base.name, base.revision):
                raise UserError(
                    f"features.qwen_omni.model is {heard[0]}, model.base is {base.name}: a "
                    "language model understands its own audio tower only; set base.model"
                )
        optimizer = built("the optimizer", plan.optimizer, [torch.nn.Parameter(torch.zeros(1))])
        scheduler = _schedule(plan.scheduler, optimizer, 1)
        optimizer.step()
        built("the scheduler", scheduler.step)
        make_trainer(plan.trainer(), self._trainer, logger=False)

    def features(
        self, store: FeatureStore, pairs: Sequence[EditPair], models: Sequence[str]
    ) -> ClipTokens:
        tokens = ClipTokens(store, pairs, self._memory_gib)
        store.encoder.to("cpu")  # its place on the accelerator is the language model's now
        return tokens

    def parts(self, job: Job[ClipTokens, OmniRegressor]) -> Parts[OmniRegressor]:
        arguments = dict(job.settings)
        arguments.pop("name")
        model = built("model qwen_omni", lambda: OmniRegressor(**arguments))
        examples = job.examples
        train, validation = map(examples.take, (job.fold.train, job.fold.validation))
        model.prepare(train.ratings)
        if self._gradient_checkpointing:
            checkpoint_activations(model.language_model, True)
        return Parts(
            model,
            LoraModule(model, job.plan.optimizer, job.plan.scheduler, job.plan.seed),
            LoraDataModule(
                train,
                validation,
                model,
                # Of the test part too: what is too long for the model is said before it trains.
                examples.features.lengths(examples.pairs, model.inputs),
                self._batch_size,
                self._validation_batch_size,
                job.plan.seed,
            ),
            [SaveLast(job.folder / "last.ckpt", every_batches=self._accumulate)],
            self._trainer,
            dict,
        )

    def predict(
        self, model: OmniRegressor, examples: Examples[ClipTokens], device: torch.device
    ) -> tuple[Tensor, None]:
        """As `Fit.predict`; nothing calibrates intervals."""
        model.to(device)
        made = []
        for start in range(0, len(examples), _PREDICTED_AT_A_TIME):
            pairs = examples.pairs[start : start + _PREDICTED_AT_A_TIME]
            made.append(model.predict(usable(pairs, model.look(examples.features, pairs))))
        return torch.cat(made), None


def _schedule(scheduler: Callable[..., Any], optimizer: torch.optim.Optimizer, steps: int) -> Any:
    advice = "; with fit=lora use scheduler=warmup_cosine or scheduler=warmup_linear"
    return built("the scheduler", scheduler, optimizer, steps, advice=advice)


class LoraModule(lightning.LightningModule):
    """Trains an OmniRegressor on (Batch, ratings (B, 3)), NaN where nobody rated.

    The loss is the mean squared error over what was rated. (ms-swift trains this model on a
    cross-entropy of the three numbers, because it sets `problem_type` where it is not read.)
    `scheduler` is a function of (optimizer, optimiser steps in all).
    """

    def __init__(
        self,
        model: OmniRegressor,
        optimizer: Callable[..., torch.optim.Optimizer],
        scheduler: Callable[[torch.optim.Optimizer, int], Any],
        seed: int,
    ) -> None:
        super().__init__()
        # Dropout and gradient checkpointing need it, and Lightning leaves a module's mode alone.
        self.model = model.train()
        self.seed = seed
        self._optimizer, self._scheduler = optimizer, scheduler
        self._validated: list[tuple[Tensor, Tensor]] = []

    def configure_optimizers(self) -> Any:
        trained = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        optimizer = built("the optimizer", self._optimizer, trained)
        steps = int(self.trainer.estimated_stepping_batches)
        scheduler = _schedule(self._scheduler, optimizer, steps)
        return {
            "optimizer": optimizer,
            "lr_scheduler": {"scheduler": scheduler, "interval": "step"},
        }

    def on_train_start(self) -> None:
        if self.trainer.global_step == 0:  # a resumed run has its scales
            self.model.fit_scales(self.trainer.datamodule.some_rows(_SCALED_BY))  # type: ignore[attr-defined]

    def training_step(self, batch: tuple[Batch, Tensor], batch_index: int) -> Tensor:
        rows, rated = batch
        # Dropout then depends on the batch alone: a resumed run repeats an uninterrupted one.
        place = batch_index * self.trainer.world_size + self.trainer.global_rank
        torch.manual_seed(self.seed + (self.current_epoch << 32) + place)
        predicted = self.model(rows)
        loss = rated_mse(predicted, rated)
        if not loss.isfinite():
            raise UserError(
                f"epoch {self.current_epoch + 1}, batch {batch_index + 1}: the scores are not "
                "finite; a smaller optimizer.lr or model.dtype=float32 may help, and what was "
                "trained before is in last.ckpt"
            )
        for index, axis in enumerate(AXES):
            there = ~rated[:, index].isnan()
            if there.any():
                error = rated_mse(predicted[:, index], rated[:, index]).detach()
                count = int(there.sum())
                self.log(f"train/mse/{axis}", error, on_step=False, on_epoch=True, batch_size=count)
        scheduler: Any = self.lr_schedulers()
        self.log("train/lr", scheduler.get_last_lr()[0])  # of each step
        return loss

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        checkpoint["base_fingerprint"] = self.model.arguments["fingerprint"]

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        if checkpoint["base_fingerprint"] != self.model.arguments["fingerprint"]:
            raise UserError(
                f"{self.model.arguments['base']}: is not the base that this run began with; "
                "choose another run_dir, or the base.revision of then"
            )

    def validation_step(self, batch: tuple[Batch, Tensor], batch_index: int) -> None:
        rows, rated = batch
        self._validated.append((self.model(rows), rated))

    def on_validation_epoch_end(self) -> None:
        log_agreement(self, self._validated)
        self._validated.clear()

"""Training of heads on frozen features: all features in memory, one head an axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from auditeval.data.splits import Fold
from auditeval.features.encoder import Encoder
from auditeval.features.pair import PairFeatures
from auditeval.features.pair_cache import PairCache
from auditeval.features.store import FeatureStore
from auditeval.models import Model, find_model
from auditeval.models.three_head import Regressor
from auditeval.training.callbacks import BestHeads, SaveLast
from auditeval.training.configured import built, make_trainer
from auditeval.training.data import OWN_SAMPLER, PairDataModule
from auditeval.training.encoding import encoding, usable
from auditeval.training.fit import Examples, Fit, Job, Parts, Plan
from auditeval.training.module import EvaluatorModule, advance
from auditeval.types import AXES, EditPair, UserError, whole

_STAND_INS = 16


class HeadsFit(Fit[PairFeatures, Regressor]):
    """Three heads, each with an optimiser, a schedule and a number of epochs of its own.

    `epochs` is {axis: epochs}; an axis of 0 is not trained, so not rated. Batch sizes are
    in pairs.
    """

    name = "heads"
    one_thread = True

    def __init__(
        self, epochs: Mapping[str, int], batch_size: int, validation_batch_size: int
    ) -> None:
        if not isinstance(epochs, Mapping) or set(epochs) != set(AXES):
            raise UserError(
                f"fit.epochs {epochs!r}: expected a number for each of {', '.join(AXES)}"
            )
        counts = {
            "batch_size": batch_size,
            "validation_batch_size": validation_batch_size,
            **{f"epochs.{axis}": count for axis, count in epochs.items()},
        }
        for name, count in counts.items():
            whole(f"fit.{name}", count, least=0 if name.startswith("epochs") else 1)
        self._epochs = dict(epochs)
        self._batch_size, self._validation_batch_size = batch_size, validation_batch_size

    def trains(self, kind: type[Model]) -> bool:
        """Whether models of that class are for this fit."""
        return issubclass(kind, Regressor) and kind.by_gradient

    def stand_in(self, encoder: Encoder) -> PairFeatures:
        """Random numbers in the shape of this encoder's features, of a few pairs."""
        return PairFeatures.random(encoder.inputs, _STAND_INS)

    def check(self, plan: Plan[PairFeatures, Regressor]) -> None:
        """Raises UserError where a model of the plan could not be trained; makes each once."""
        configured = plan.trainer()
        for name, alone in (("gradient_clip_val", 0), ("accumulate_grad_batches", 1)):
            if (configured.get(name) or alone) != alone:
                raise UserError(
                    f"trainer.{name} is for fit=lora; in fit={self.name} each head has an "
                    "optimizer of its own"
                )
        pair = EditPair(
            id="a", original=Path("a"), edited=Path("a"), original_caption="", target_caption=""
        )
        features, rows = self.stand_in(plan.encoder), list(range(_STAND_INS))
        ratings = torch.linspace(1, 5, _STAND_INS)[:, None].expand(-1, len(AXES))
        examples = Examples([pair] * _STAND_INS, features, ratings)
        for name, settings in plan.models.items():
            kind = settings["name"]
            if not self.trains(find_model(kind)):
                raise UserError(
                    f"model {kind!r} is not trained by fit={self.name}; see fit=lora "
                    "for qwen_omni, fit=ensemble for ensemble"
                )
            job = Job(plan, name, examples, Fold("stand-in", rows, [], rows), Path())
            parts = self.parts(job)
            built(f"model {kind!r}", parts.model.eval(), features)
            module: Any = parts.module
            optimizers, schedulers = module.configure_optimizers() or ((), ())
            for optimizer, scheduler in zip(optimizers, schedulers, strict=True):
                optimizer.step()
                built("the scheduler", advance, scheduler, 1.0)
            make_trainer(configured, parts.trainer, logger=False)

    def features(
        self, store: FeatureStore, pairs: Sequence[EditPair], models: Sequence[str]
    ) -> PairFeatures:
        """Features of all pairs, in chunks so that only what models see stays in memory."""
        kinds = [cast(type[Regressor], find_model(name)) for name in models]
        words = any(kind.uses_changed_words for kind in kinds)
        cache = PairCache(store)
        rows = encoding(store, pairs, lambda chunk: cache.pairs(chunk, words))
        return PairFeatures.stack(usable(pairs, rows))

    def parts(self, job: Job[PairFeatures, Regressor]) -> Parts[Regressor]:
        model = self._model(job)
        train = job.examples.take(job.fold.train)
        model.fit_scales(train.features, train.ratings)
        self._rest(model)
        best = BestHeads()
        return Parts(
            model,
            EvaluatorModule(
                model, job.plan.optimizer, job.plan.scheduler, self._epochs, job.plan.seed
            ),
            PairDataModule(
                train,
                job.examples.take(job.fold.validation),
                batch_size=self._batch_size,
                validation_batch_size=self._validation_batch_size,
                seed=job.plan.seed,
            ),
            [best, SaveLast(job.folder / "last.ckpt")],
            {"max_epochs": max(self._epochs.values()), **OWN_SAMPLER},
            lambda: {"best_epochs": best.best_epochs()},
        )

    def _rest(self, model: Regressor) -> None:
        """Leave out axes of no epochs; raises UserError where no other was rated."""
        for index, axis in enumerate(AXES):
            model.trained[index] &= self._epochs[axis] > 0
        if not model.trained.any():
            raise UserError("fit.epochs: is 0 for every axis that is rated; nothing would train")

    @torch.inference_mode()
    def predict(
        self, model: Regressor, examples: Examples[PairFeatures], device: torch.device
    ) -> tuple[Tensor, Tensor | None]:
        """As `Fit.predict`; on the CPU, whose numbers are the same everywhere."""
        return model.cpu().with_intervals(examples.features)

    def _model(self, job: Job[PairFeatures, Regressor]) -> Regressor:
        arguments, encoder = dict(job.settings), job.plan.encoder
        name = arguments.pop("name")
        try:
            return cast(type[Regressor], find_model(name))(encoder.inputs, **arguments)
        except (TypeError, ValueError, RuntimeError) as error:
            raise UserError(
                f"model {name!r} cannot be made for encoder {encoder.name} ({error})"
            ) from None

"""Data-quality metrics while training: of what an editor makes, of what an evaluator would keep."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import pytorch_lightning as lightning
import torch
from torch import Tensor, distributed

from auditeval import audio
from auditeval.data_quality.catalogue import (
    Accumulation,
    DataMetric,
    Heard,
    Measured,
    summarise,
    trimmed,
)
from auditeval.data_quality.groups import Deal, unit
from auditeval.data_quality.measure import Encoders, at_rate, choose, hear, loaded
from auditeval.features.encoder import AudioFeatures
from auditeval.features.store import Failure, FeatureStore
from auditeval.models.three_head import Regressor
from auditeval.training.configured import whole
from auditeval.training.heads import HeadsFit
from auditeval.training.stages import Plan
from auditeval.types import EditPair, Undefined, UserError

log = logging.getLogger(__name__)
Item = TypeVar("Item")


class _Metrics(lightning.Callback):
    """What both callbacks share: encoders by role, the metrics they feed, which epochs."""

    def __init__(
        self,
        encoders: Encoders,
        only: Sequence[str] = (),
        every_epochs: int = 1,
        cache_dir: str | os.PathLike[str] | None = None,
        workers: int = 0,
    ) -> None:
        whole("every_epochs", every_epochs)
        self._chosen = choose(encoders, only)
        self._encoders, self._named, self._every_epochs = encoders, bool(only), every_epochs
        self._cache_dir, self._workers = cache_dir, workers
        self._told: set[str] = set()
        self._stores: dict[str, tuple[FeatureStore, list[DataMetric]]] = {}

    def _store(self, role: str, device: str) -> tuple[FeatureStore, list[DataMetric]]:
        """With the encoder of a role, and the metrics it feeds."""
        encoder = loaded(role, self._encoders[role], device)
        metrics = at_rate(self._chosen[role], encoder.rate_hz, self._named)
        return FeatureStore(encoder, self._cache_dir, self._workers), metrics

    def _due(self, trainer: lightning.Trainer) -> bool:
        return due(trainer, self._every_epochs)

    def _log(
        self,
        module: lightning.LightningModule,
        prefix: str,
        values: Mapping[str, Measured],
        **how: Any,
    ) -> None:
        for name, measured in values.items():
            if not isinstance(measured.value, Undefined):
                module.log(f"{prefix}/{name}", measured.value, **how)
            elif name not in self._told:
                self._told.add(name)
                log.warning("%s/%s is undefined: %s", prefix, name, measured.value.reason)


class DistributionMetrics(_Metrics):
    """Logs `val/<metric>` of an editor's validation outputs, every so many epochs.

    For modules of anybody's, whose `validation_step` returns a dict: `original` and `edited` ::
    float (B, T) or B tensors of any length, `rate_hz` of both, `target_caption` :: B strings, and
    `id` :: B strings or numbers, which several devices need, since their sampler deals some items
    twice. `encoders` and `only` as in
    `data_quality.measure.measure`; configs/metrics holds two choices.

    Clips that no encoder can use (NaN, silence, too short) are left out of all metrics and counted
    in `val/left_out`. Features of an epoch stay in memory until its end. Those of originals and
    captions go through the cache, those of edited clips do not: they are new in every epoch.
    """

    _heard: dict[str, dict[str, Heard]]
    _left_out: set[str]
    _seen = 0

    def check(self, plan: Plan) -> None:
        """Raises UserError: no model of train.py is an editor."""
        raise UserError("DistributionMetrics is for an editor in training; see callbacks=kept")

    def on_validation_epoch_start(self, trainer: lightning.Trainer, module: Any) -> None:
        if self._due(trainer) and not self._stores:
            device = str(module.device)
            self._stores = {role: self._store(role, device) for role in self._chosen}
        self._heard = {role: {} for role in self._stores}
        self._left_out, self._seen = set(), 0

    def on_validation_batch_end(
        self,
        trainer: lightning.Trainer,
        module: Any,
        outputs: Any,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        if not self._due(trainer):
            return
        pairs = _waveforms(outputs)
        ids = self._ids(outputs, len(pairs), trainer.world_size)
        usable = []
        for id, (original, edited, caption) in zip(ids, pairs, strict=True):
            if not any(map(audio.fault, (original, edited))) and caption.strip():
                usable.append((id, original, edited, caption))
            else:
                self._left_out.add(id)
        for role, (store, metrics) in self._stores.items():
            for (id, *_), heard in zip(
                usable, _each(_Hearing(store, metrics), usable), strict=True
            ):
                if heard is None:
                    self._left_out.add(id)
                else:
                    self._heard[role][id] = heard

    def on_validation_epoch_end(self, trainer: lightning.Trainer, module: Any) -> None:
        if not self._due(trainer):
            return
        left_out = set().union(*gathered(self._left_out))
        mine = {id for heard in self._heard.values() for id in heard} - left_out
        shares, rank = gathered(mine), trainer.global_rank
        mine = mine.difference(*shares[:rank])  # an item dealt twice counts for the first device
        deal = Deal(set().union(*shares))
        for role, (_, metrics) in self._stores.items():
            own, whole = Accumulation(metrics), Accumulation(metrics)
            for id, heard in self._heard[role].items():
                if id in mine:
                    own.update(deal(id), heard)
            for states, pairs in gathered((own.states, own.pairs)):
                whole.merge(states, pairs)
            self._log(module, "val", whole.values(intervals=False), sync_dist=True)
        module.log("val/left_out", float(len(left_out)), sync_dist=True)
        self._heard.clear()

    def _ids(self, outputs: Mapping[str, Any], count: int, devices: int) -> list[str]:
        given = outputs.get("id")
        if given is None and devices > 1:
            raise UserError(
                "DistributionMetrics needs `id` in what validation_step returns on several "
                "devices, whose sampler deals some items twice"
            )
        self._seen += count
        numbers = range(self._seen - count, self._seen) if given is None else given
        ids = [str(id.item() if isinstance(id, Tensor) else id) for id in numbers]
        if len(ids) != count:
            raise UserError(f"validation_step returned {len(ids)} ids for {count} pairs")
        return ids


class KeptShare(_Metrics):
    """Logs what a filter by the evaluator in training would keep, for fit=heads.

    Every so many epochs: `val/kept/<metric>` of the `keep_share` of the validation pairs with the
    best mean predicted score, beside `val/all/<metric>` of all of them. Fewer pairs bias distances
    upwards (`fad_inf_...` less so). The encoders run once, before training, and are let go.
    """

    def __init__(
        self,
        encoders: Encoders,
        keep_share: float,
        only: Sequence[str] = (),
        every_epochs: int = 1,
        cache_dir: str | os.PathLike[str] | None = None,
        workers: int = 0,
    ) -> None:
        if not (isinstance(keep_share, (int, float)) and 0 < keep_share <= 1):
            raise UserError(f"keep_share {keep_share!r}: expected a number above 0, 1 at most")
        super().__init__(encoders, only, every_epochs, cache_dir, workers)
        self._keep_share = keep_share
        self._heard: list[tuple[list[DataMetric], dict[str, Heard]]] = []
        self._all: dict[str, Measured] = {}
        self._units: dict[str, str] = {}

    def check(self, plan: Plan) -> None:
        """Raises UserError where it could not work; loads the encoders and lets them go."""
        if not isinstance(plan.fit, HeadsFit):
            raise UserError(f"callbacks=kept is for fit=heads, not for fit={plan.fit.name}")
        plan.check_validated("callbacks=kept")
        for role in self._chosen:
            self._store(role, "cpu")

    def on_fit_start(self, trainer: lightning.Trainer, module: Any) -> None:
        if not trainer.is_global_zero:
            return
        pairs, _ = trainer.datamodule.validation()  # type: ignore[attr-defined]
        self._units = {pair.id: unit(pair) for pair in pairs}
        self._heard = [self._hear(role, pairs) for role in self._chosen]
        for metrics, heard in self._heard:
            self._all.update(summarise(metrics, heard, intervals=False, units=self._units))

    def on_validation_epoch_end(self, trainer: lightning.Trainer, module: Any) -> None:
        if not self._due(trainer) or not trainer.is_global_zero:
            return
        pairs, features = trainer.datamodule.validation()  # type: ignore[attr-defined]
        kept = best_share(pairs, predicted(module.model, features, module.device), self._keep_share)
        self._log(module, "val/all", self._all, rank_zero_only=True)
        for metrics, heard in self._heard:
            best = {id: heard[id] for id in kept}
            found = summarise(metrics, best, intervals=False, units=self._units)
            self._log(module, "val/kept", found, rank_zero_only=True)

    def _hear(
        self, role: str, pairs: Sequence[EditPair]
    ) -> tuple[list[DataMetric], dict[str, Heard]]:
        store, metrics = self._store(role, "cpu")
        found = hear(store, pairs, metrics)
        for pair, heard in zip(pairs, found, strict=True):
            if isinstance(heard, Failure):
                raise UserError(f"callbacks=kept: {pair.id}: {heard.reason}")
        kept = [trimmed(heard, metrics) for heard in found if not isinstance(heard, Failure)]
        return metrics, {pair.id: heard for pair, heard in zip(pairs, kept, strict=True)}


@torch.no_grad()
def predicted(model: Regressor, features: Any, device: torch.device) -> np.ndarray:
    """Mean predicted score over the trained axes :: (N,)."""
    scores = model(features.to(device))[:, model.trained]
    return scores.mean(dim=1).double().cpu().numpy()


def best_share(pairs: Sequence[EditPair], scores: np.ndarray, share: float) -> list[str]:
    """Ids of this share of the pairs, at least one, with the highest scores; of equal ones the
    first."""
    count = math.ceil(share * len(pairs))
    order = np.argsort(-scores, kind="stable")[:count]
    return [pairs[row].id for row in sorted(order)]


class _Hearing:
    """Waveforms to what an encoder makes of them; a batch as a whole."""

    def __init__(self, store: FeatureStore, metrics: Iterable[DataMetric]) -> None:
        self._store, self._metrics = store, list(metrics)

    def __call__(
        self, batch: Sequence[tuple[str, audio.Waveform, audio.Waveform, str]]
    ) -> list[Heard]:
        encoder = self._store.encoder
        edited = encoder.encode_audio(
            [audio.resample(waveform, encoder.rate_hz) for _, _, waveform, _ in batch]
        )
        original: list[AudioFeatures] = edited
        if any(metric.statistic.original for metric in self._metrics):
            original = self._store.clips([waveform for _, waveform, _, _ in batch])
        texts = self._store.captions([caption for *_, caption in batch])
        return [
            trimmed(Heard(*row, encoder.joint_dim), self._metrics)
            for row in zip(original, edited, texts, strict=True)
        ]


def _each(function: Callable[[Sequence[Item]], list[Heard]], items: Sequence[Item]) -> list[Any]:
    """All at once; where one of them has no features one by one, None for those without."""
    try:
        return list(function(items)) if items else []
    except audio.AudioError:
        if len(items) == 1:
            return [None]
        return [found for item in items for found in _each(function, [item])]


def _waveforms(outputs: Any) -> list[tuple[audio.Waveform, audio.Waveform, str]]:
    """Original, edited and target caption of each pair of a batch."""
    names = ("original", "edited", "rate_hz", "target_caption")
    if not isinstance(outputs, Mapping) or not all(name in outputs for name in names):
        raise UserError(
            "DistributionMetrics needs a validation_step that returns a dict with "
            f"{', '.join(names)}"
        )
    captions = list(outputs["target_caption"])
    rates_hz = set(torch.as_tensor(outputs["rate_hz"]).flatten().tolist())
    if len(rates_hz) != 1:
        raise UserError(f"validation_step returned clips of {sorted(rates_hz)} Hz, expected one")
    rate_hz = int(rates_hz.pop())
    clips = [
        [
            audio.Waveform(torch.as_tensor(clip).detach().float().cpu().numpy(), rate_hz)
            for clip in outputs[side]
        ]
        for side in ("original", "edited")
    ]
    if not len(clips[0]) == len(clips[1]) == len(captions) or any(
        clip.samples.ndim != 1 for side in clips for clip in side
    ):
        raise UserError(
            "validation_step returned waveforms that are not (B, T) on both sides with B captions"
        )
    return list(zip(*clips, captions, strict=True))


def due(trainer: lightning.Trainer, every_epochs: int) -> bool:
    """Whether this validation counts: in every so many epochs of training, outside of it always."""
    fitting = trainer.state.fn == "fit"
    now = not fitting or (trainer.current_epoch + 1) % every_epochs == 0
    return now and not trainer.sanity_checking


def gathered(value: Any) -> list[Any]:
    """That of each process, by rank."""
    if not (distributed.is_available() and distributed.is_initialized()):
        return [value]
    found: list[Any] = [None] * distributed.get_world_size()
    distributed.all_gather_object(found, value)
    return found

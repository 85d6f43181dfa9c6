"""Training of ensembles: scikit-learn fits what needs no gradient, Lightning the MLPs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import pytorch_lightning as lightning
import torch
from joblib import Parallel, delayed
from sklearn.base import clone
from torch import Tensor, nn

from auditeval.data.splits import Contents, groups
from auditeval.features.pair import PairFeatures, extractors, lacking
from auditeval.models import Model, find_model, trees
from auditeval.models.ensemble import EnsembleRegressor
from auditeval.models.mlp import Linear
from auditeval.models.three_head import Regressor
from auditeval.training import people
from auditeval.training.callbacks import SaveLast
from auditeval.training.data import OWN_SAMPLER, PairDataModule
from auditeval.training.fit import Examples, Job, Parts
from auditeval.training.heads import HeadsFit
from auditeval.training.module import EvaluatorModule
from auditeval.types import AXES, EditPair, UserError

log = logging.getLogger(__name__)


class EnsembleFit(HeadsFit):
    """Ensembles; and, beside them in one run, the models of `HeadsFit` as it trains them.

    `estimators` are unfitted ones of scikit-learn, {kind: estimator}, for the kinds of an ensemble
    that need no gradient. The validation part of an ensemble calibrates its intervals and does
    nothing else: no epoch is chosen by it and no step size, or the intervals would be too narrow.
    """

    name = "ensemble"

    def __init__(
        self,
        epochs: Mapping[str, int],
        batch_size: int,
        validation_batch_size: int,
        estimators: Mapping[str, Any],
    ) -> None:
        super().__init__(epochs, batch_size, validation_batch_size)
        if unknown := lacking(estimators, _EXPORTS):
            raise UserError(f"fit.estimators: no member is called {unknown}")
        self._estimators = dict(estimators)

    def trains(self, kind: type[Model]) -> bool:
        return issubclass(kind, Regressor)

    def validates(self, kind: str) -> bool:
        return find_model(kind) is not EnsembleRegressor

    def parts(self, job: Job[PairFeatures, Regressor]) -> Parts[Regressor]:
        if find_model(job.settings["name"]) is not EnsembleRegressor:
            return super().parts(job)
        model = cast(EnsembleRegressor, self._model(job))
        # Not where checkpoints are opened: of older ones these may name what their encoder lacks.
        for name in ("of_removals", "framewise"):
            if unknown := lacking(model.arguments[name], extractors(model.given.alignment)):
                raise UserError(f"model.{name}: the encoder has no numbers of {unknown}")
        if model.arguments["of_removals"] and not model.arguments["by_removal"]:
            raise UserError("model.of_removals: counts with model.by_removal=true alone")
        train, calibration = map(job.examples.take, (job.fold.train, job.fold.validation))
        simulated = [row for row, x in enumerate(train.pairs) if x.listening_test is None]
        heard = train.ratings
        if 0 < len(simulated) < len(train):
            first = train.take(simulated)
            typical = first.take(first.rated_in_sound()).features
            model.fit_scales(typical, first.ratings)
            fit_members(model, first.features, first.ratings, self._estimators, job.plan.seed)
            predicted = model.eval().fitted_mean(train.features)
            heard = people.on_one_scale(train.pairs, train.ratings, predicted)
        train = Examples(train.pairs, train.features, heard)
        # Scales and the floor of intervals are those of sounds that are rated.
        typical = train.take(train.rated_in_sound()).features
        model.fit_scales(typical, train.ratings)
        if model.arguments["members"]:
            self._rest(model)
        fit_members(model, train.features, train.ratings, self._estimators, job.plan.seed)
        level = model.arguments["level"]
        originals = independent(calibration.pairs, job.plan.contents, level)
        return Parts(
            model,
            EvaluatorModule(
                model, job.plan.optimizer, job.plan.scheduler, self._epochs, job.plan.seed
            ),
            PairDataModule(
                train, calibration.take([]), batch_size=self._batch_size, seed=job.plan.seed
            ),
            [
                Calibration(typical, calibration, _numbered(originals)),
                SaveLast(job.folder / "last.ckpt"),
            ],
            {
                "max_epochs": max(self._epochs.values()) if model.arguments["members"] else 0,
                **OWN_SAMPLER,
            },
            lambda: {"calibrated_on": len(calibration)},
        )


def fit_members(
    model: EnsembleRegressor,
    train: PairFeatures,
    ratings: Tensor,
    estimators: Mapping[str, Any],
    seed: int,
) -> None:
    """Fit all members but the MLPs, each on the pairs whose ratings (N, 3) of its axis are no NaN.

    Raises UserError for a kind without an estimator, and where an estimator refuses its settings.
    """
    if lacking := [kind for kind in model.fitted if kind not in estimators]:
        raise UserError(f"fit.estimators: has none for {lacking[0]!r}, which model.kinds names")
    inputs = model.inputs(train)

    def fitted(kind: str, index: int) -> nn.Linear | trees.Trees:
        axis, there = AXES[index], ~ratings[:, index].isnan()
        try:
            estimator = clone(estimators[kind]).set_params(random_state=seed)
            estimator.fit(inputs[axis][there].numpy(), ratings[there, index].numpy())
            return _EXPORTS[kind](estimator, model.size(axis))
        except (TypeError, ValueError) as error:
            raise UserError(f"fit.estimators.{kind}: {error}") from None

    # Side by side: trees grow outside the interpreter's lock, each by a random state of its own.
    # The kinds that take longest begin.
    wanted = [
        (kind, index) for kind in model.fitted for index in range(len(AXES)) if model.trained[index]
    ]
    parallel = Parallel(n_jobs=-1, require="sharedmem", batch_size=1)
    made = parallel(delayed(fitted)(kind, index) for kind, index in reversed(wanted))
    for (kind, index), member in zip(wanted, reversed(made), strict=True):
        model.set_member(kind, AXES[index], member)


class Calibration(lightning.Callback):
    """Gives an ensemble its intervals when the training is over."""

    def __init__(
        self, train: PairFeatures, calibration: Examples[PairFeatures], originals: Tensor
    ) -> None:
        operations = _numbered([pair.operation or "" for pair in calibration.pairs])
        self._parts = train, calibration.features, calibration.ratings, originals, operations

    def on_fit_end(self, trainer: lightning.Trainer, module: Any) -> None:
        module.model.eval().calibrate(*(part.to(module.device) for part in self._parts))


def independent(pairs: Sequence[EditPair], contents: Contents, level: float) -> list[str]:
    """The group of each pair, by which intervals of `level` are calibrated.

    By source, as the split has them: clips of one are no more independent than those of one file.
    By original where sources are too few for any interval, which the log then says.
    """
    sources = groups(pairs, contents)
    count = len(set(sources))
    if not pairs or level * (count + 1) <= count + 1e-9:
        return sources
    originals = [str(contents.get(pair.original, pair.original)) for pair in pairs]
    log.info(
        "intervals: calibrated by %d originals, as their %d sources are too few: of further "
        "sources they may hold less than %g %%",
        *(len(set(originals)), count, 100 * level),
    )
    return originals


def _numbered(names: Sequence[str]) -> Tensor:
    """The same number for the same name :: (N,)."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return torch.tensor([numbers[name] for name in names], dtype=torch.long)


def _line(fitted: Any, features: int) -> Linear:
    line = Linear(features, 1)
    with torch.no_grad():
        line.weight.copy_(torch.from_numpy(fitted.coef_))
        line.bias.fill_(float(fitted.intercept_))
    return line


_EXPORTS: dict[str, Callable[[Any, int], nn.Linear | trees.Trees]] = {
    "ridge": _line,
    "extra_trees": trees.of_forest,
    "boosting": trees.of_boosting,
}

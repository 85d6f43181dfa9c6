"""The seam between a run and a way of training: what goes into a `Fit`, and what comes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import pytorch_lightning as lightning
import torch
from pytorch_lightning.loggers import Logger
from torch import Tensor

from auditeval.data.splits import Contents, Fold
from auditeval.features.encoder import Encoder
from auditeval.features.pair import PairFeatures
from auditeval.features.store import FeatureStore
from auditeval.models import Model
from auditeval.types import AXES, EditPair, UserError

Taken = TypeVar("Taken")


class ByRow(Protocol):
    """What is seen of pairs, a row each."""

    def take(self: Taken, rows: Sequence[int]) -> Taken: ...


Seen = TypeVar("Seen", bound=ByRow)
Taught = TypeVar("Taught", bound=Model)


@dataclass(frozen=True)
class Examples(Generic[Seen]):
    """Pairs, what is seen of them, and their ratings :: (N, 3), NaN where an axis was not rated."""

    pairs: Sequence[EditPair]
    features: Seen
    ratings: Tensor

    @classmethod
    def of(cls, pairs: Sequence[EditPair], features: Seen) -> Examples[Seen]:
        """With the ratings that the pairs have."""
        nan = float("nan")
        rated = [[pair.ratings.get(axis, nan) for axis in AXES] for pair in pairs]
        return cls(pairs, features, torch.tensor(rated).reshape(-1, len(AXES)))

    def take(self, rows: Sequence[int]) -> Examples[Seen]:
        """Those rows, in this order; a row may stand there more than once."""
        pairs = [self.pairs[row] for row in rows]
        return Examples(pairs, self.features.take(rows), self.ratings[list(rows)])

    def rated_in_sound(self) -> list[int]:
        """Rows with a rating of quality or faithfulness; all where there is none.

        The others are many pairs of one kind, such as contrast sets, for relevance alone. They are
        to change nothing of how a sound is rated.
        """
        sound = [AXES.index("quality"), AXES.index("faithfulness")]
        rated: list[int] = (~self.ratings[:, sound].isnan()).any(dim=1).nonzero().flatten().tolist()
        return rated or list(range(len(self)))

    def __len__(self) -> int:
        return len(self.pairs)


@dataclass(frozen=True)
class Plan(Generic[Seen, Taught]):
    """What a run is going to train, as far as it is known before anything is encoded.

    `name` is the model that the run is about, `models` the settings of configs/model of it and of
    those beside it, by name. `contents` tell which originals are the same clip. `optimizer` and
    `scheduler` are functions, as configs/optimizer and configs/scheduler name them. `trainer` makes
    the arguments of Lightning's Trainer, `callbacks` and `logger` (of the folder that it logs into)
    what goes with it: each Trainer has its own.
    """

    name: str
    models: Mapping[str, dict[str, Any]]
    fit: Fit[Seen, Taught]
    encoder: Encoder
    folds: Sequence[Fold]
    contents: Contents
    optimizer: Callable[..., torch.optim.Optimizer]
    scheduler: Callable[..., Any]
    trainer: Callable[[], dict[str, Any]]
    callbacks: Callable[[], list[lightning.Callback]]
    logger: Callable[[Path], Logger]
    ratings_from: str
    device: torch.device
    seed: int

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


@dataclass(frozen=True)
class Job(Generic[Seen, Taught]):
    """The model of this name in the plan, on one fold of the examples, in a folder of its own."""

    plan: Plan[Seen, Taught]
    name: str
    examples: Examples[Seen]
    fold: Fold
    folder: Path

    @property
    def settings(self) -> dict[str, Any]:
        """Those of configs/model."""
        return self.plan.models[self.name]


@dataclass(frozen=True)
class Parts(Generic[Taught]):
    """What Lightning needs for one model on one fold.

    `trainer` are arguments of Lightning's Trainer, `notes()` what the checkpoint is to say of the
    training when it is over.
    """

    model: Taught
    module: lightning.LightningModule
    data: lightning.LightningDataModule
    callbacks: list[lightning.Callback]
    trainer: dict[str, Any]
    notes: Callable[[], dict[str, Any]]


class Fit(Protocol[Seen, Taught]):
    """A way of training; configs/fit names one. It sees of pairs what `features` makes of them."""

    name: str

    one_thread: bool = False
    """Whether its models are small, so that one thread does: what they learn then does not depend
    on how many there are, as products of matrices do."""

    def validates(self, kind: str) -> bool:
        """Whether models of this name see the validation part as such while they are trained."""
        return True

    def stand_in(self, encoder: Encoder) -> PairFeatures | None:
        """Random numbers in the shape of what baselines will see, None where they see nothing."""
        return None

    def check(self, plan: Plan[Seen, Taught]) -> None:
        """Raises UserError where a model of the plan could not be trained; encodes nothing."""
        ...

    def features(
        self, store: FeatureStore, pairs: Sequence[EditPair], models: Sequence[str]
    ) -> Seen:
        """What models of these names see of the pairs; raises UserError where one has none."""
        ...

    def parts(self, job: Job[Seen, Taught]) -> Parts[Taught]: ...

    def predict(
        self, model: Taught, examples: Examples[Seen], device: torch.device
    ) -> tuple[Tensor, Tensor | None]:
        """Ratings :: (N, 3) and intervals :: (N, 3, 2), None of a model that knows none."""
        ...

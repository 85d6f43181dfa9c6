"""What every evaluator is, whatever it looks at: it looks, predicts, and comes from a folder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from torch import Tensor, nn

from auditeval.features.store import Failure, FeatureStore
from auditeval.types import EditPair, UserError

Arguments = dict[str, Any]


class Foreign(NamedTuple):
    """An evaluator out of another program's folder: its `features`, {extractor: arguments}, and
    what is known of its training."""

    model: Model
    features: dict[str, Arguments]
    training: dict[str, Any]


class Model(nn.Module, ABC):
    """Pairs to ratings, axes in AXES order, on the 1 to 5 scale.

    `arguments` (JSON values only) rebuild it, the state dict holds what was trained, and `trained`
    :: bool (3,) says which axes had ratings.
    """

    arguments: Arguments
    trained: Tensor
    software: ClassVar[tuple[str, ...]] = ()
    """Packages beside torch and numpy that its numbers depend on."""

    @abstractmethod
    def look(self, store: FeatureStore, pairs: Sequence[EditPair]) -> Sequence[Any | Failure]:
        """What `predict` takes of each pair, or why it cannot be rated."""

    @abstractmethod
    def predict(self, rows: Sequence[Any]) -> Tensor:
        """Ratings :: (N, 3), in the order of `rows`."""

    def predict_with_intervals(self, rows: Sequence[Any]) -> tuple[Tensor, Tensor | None]:
        """Ratings, and where they lie :: (N, 3, 2), low and high; None without calibration."""
        return self.predict(rows), None

    def computed_in(self) -> dict[str, Any]:
        """What a scores table is to record of how it was computed, beside the checkpoint."""
        return {}

    def merge(self) -> None:
        """Add LoRA to the weights of its base, for good; raises UserError where there is none."""
        raise UserError("is no evaluator on Qwen2.5-Omni, it has no LoRA to merge")

    @classmethod
    def stand_in(
        cls,
        arguments: Arguments,
        features: Mapping[str, Arguments],
        base: str | None,
        dtype: str | None,
    ) -> None:
        """Let another `base` or `dtype` stand in for what its arguments and features name.

        Raises UserError where it has neither.
        """
        raise UserError("is no evaluator on Qwen2.5-Omni, it takes no base and no dtype")

    @classmethod
    def read(cls, folder: Path, base: str | None, dtype: str | None) -> Foreign | None:
        """The evaluator in a folder that another program made; None where this is no such folder.

        Raises UserError, ValueError, TypeError or RuntimeError for a damaged one.
        """
        return None

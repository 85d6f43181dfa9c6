"""Lightning data of one fold: feature matrices in memory, batches by row number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytorch_lightning as lightning
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from auditeval.data.splits import Fold
from auditeval.models.three_head import PairBatch
from auditeval.types import AXES, EditPair


def rating_matrix(pairs: Sequence[EditPair]) -> Tensor:
    """Ratings :: (N, 3), NaN where an axis was not rated."""
    return torch.tensor([[pair.ratings.get(a, float("nan")) for a in AXES] for pair in pairs])


def take(features: PairBatch, rows: Sequence[int]) -> PairBatch:
    """Some rows of a PairBatch."""
    index = torch.as_tensor(rows, dtype=torch.long)
    return PairBatch(*(part[index] for part in features))


class _Rows(Dataset[Any]):
    """Gathers a whole batch by one indexing: with features in memory, rows one by one cost more
    than the model."""

    def __init__(self, features: PairBatch, ratings: Tensor, rows: Sequence[int]) -> None:
        self._features, self._ratings, self._rows = features, ratings, rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitems__(self, positions: list[int]) -> tuple[PairBatch, Tensor]:
        rows = [self._rows[position] for position in positions]
        return take(self._features, rows), self._ratings[rows]


class PairDataModule(lightning.LightningDataModule):
    """Train and validation batches of a fold; (PairBatch, ratings (B, 3)).

    Batch sizes default to the paper's, 256 and 64. The order of an epoch follows from the seed and
    the epoch's number, whatever ran before.
    """

    def __init__(
        self,
        features: PairBatch,
        ratings: Tensor,
        fold: Fold,
        batch_size: int = 256,
        validation_batch_size: int = 64,
        seed: int = 1984,
        pairs: Sequence[EditPair] = (),
    ) -> None:
        super().__init__()
        self.fold = fold
        self._features, self._pairs = features, pairs
        self._train = _Rows(features, ratings, fold.train)
        self._validation = _Rows(features, ratings, fold.validation)
        self._batch_size, self._validation_batch_size = batch_size, validation_batch_size
        self._seed = seed

    def validation(self) -> tuple[list[EditPair], PairBatch]:
        """The pairs of the validation part, and what the model sees of them."""
        return self.validation_pairs(), take(self._features, self.fold.validation)

    def validation_pairs(self) -> list[EditPair]:
        return [self._pairs[row] for row in self.fold.validation]

    def train_dataloader(self) -> DataLoader[Any]:
        # Lightning calls set_epoch on it, and replaces it by one of its own under DDP.
        sampler: Any = DistributedSampler(
            self._train, num_replicas=1, rank=0, shuffle=True, seed=self._seed
        )
        return _loader(self._train, self._batch_size, sampler=sampler)

    def val_dataloader(self) -> DataLoader[Any] | list[Any]:
        if not self.fold.validation:
            return []
        return _loader(self._validation, self._validation_batch_size)


def _loader(rows: _Rows, batch_size: int, **arguments: Any) -> DataLoader[Any]:
    return DataLoader(rows, batch_size=batch_size, collate_fn=lambda batch: batch, **arguments)

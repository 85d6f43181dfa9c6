"""Lightning data of one fold: feature matrices in memory, batches by row number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic

import pytorch_lightning as lightning
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from auditeval.features.pair import PairFeatures
from auditeval.seed import SEED
from auditeval.training.fit import Examples, Seen

_MOST_BESIDE = 4  # pairs that come along with one: of more, relevance would hardly make a step

OWN_SAMPLER = {"use_distributed_sampler": False}
"""Of Lightning's Trainer: the data here know their device already."""


class FoldData(lightning.LightningDataModule, Generic[Seen]):
    """The training and validation part of a fold, as every way of training has them."""

    def __init__(self, train: Examples[Seen], validation: Examples[Seen]) -> None:
        super().__init__()
        self.train, self.validation = train, validation


class _Rows(Dataset[Any]):
    """Gathers a whole batch by one indexing: with features in memory, rows one by one cost more
    than the model.

    `leading` rows, by default all, are counted and shuffled; each of the others comes along with
    one of these, the same in every epoch, behind all that lead a batch.
    """

    def __init__(
        self, examples: Examples[PairFeatures], leading: Sequence[int] | None = None
    ) -> None:
        self._examples = examples
        self._leading = list(range(len(examples)) if leading is None else leading)
        following = sorted(set(range(len(examples))) - set(self._leading))
        self._with: dict[int, list[int]] = {}
        for number, row in enumerate(following):
            leader = number * len(self._leading) // len(following)
            self._with.setdefault(leader, []).append(row)

    def __len__(self) -> int:
        return len(self._leading)

    def __getitems__(self, leaders: list[int]) -> tuple[PairFeatures, Tensor]:
        rows = [self._leading[leader] for leader in leaders]
        rows += [row for leader in leaders for row in self._with.get(leader, ())]
        return self._examples.features.take(rows), self._examples.ratings[rows]


class PairDataModule(FoldData[PairFeatures]):
    """Train and validation batches of a fold; (PairFeatures, ratings (B, 3)).

    Batch sizes default to the paper's, 256 and 64, and are of each device. The order of an epoch
    follows from the seed and the epoch's number, whatever ran before. Several devices share the
    rows of a step, W x `batch_size` in the order that one device would see; where they do not come
    out even, the first ones are seen twice. The validation part is whole on each.

    These are sizes and orders of the pairs whose sound is rated. Those that are rated in relevance
    alone come along in the same batches, unless they are many times as many: how a sound is rated
    is the same with them and without.
    """

    def __init__(
        self,
        train: Examples[PairFeatures],
        validation: Examples[PairFeatures],
        batch_size: int = 256,
        validation_batch_size: int = 64,
        seed: int = SEED,
    ) -> None:
        super().__init__(train, validation)
        self._batch_size, self._validation_batch_size = batch_size, validation_batch_size
        self._seed = seed

    def train_dataloader(self) -> DataLoader[Any]:
        leading = self.train.rated_in_sound()
        few = len(self.train) > (1 + _MOST_BESIDE) * len(leading)
        rows = _Rows(self.train, None if few else leading)
        rank, world = (
            (self.trainer.global_rank, self.trainer.world_size) if self.trainer else (0, 1)
        )
        sampler: DistributedSampler[Any] = DistributedSampler(  # Lightning calls set_epoch on it
            rows, num_replicas=world, rank=rank, shuffle=True, seed=self._seed
        )
        return _loader(rows, self._batch_size, sampler=sampler)

    def val_dataloader(self) -> DataLoader[Any] | list[Any]:
        if not len(self.validation):
            return []
        return _loader(_Rows(self.validation), self._validation_batch_size)


def _loader(rows: _Rows, batch_size: int, **arguments: Any) -> DataLoader[Any]:
    return DataLoader(rows, batch_size=batch_size, collate_fn=lambda batch: batch, **arguments)

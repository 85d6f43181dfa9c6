"""Lightning data of an OmniRegressor: pairs of like length share a batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytorch_lightning as lightning
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, Sampler

from auditeval.data.splits import Fold
from auditeval.models.omni.inputs import Batch, PairRow
from auditeval.models.omni.regressor import OmniRegressor
from auditeval.training.stages import usable
from auditeval.types import EditPair


class LengthBatches(Sampler[list[int]]):
    """Batches of positions of like length; their order follows from seed and epoch alone.

    Pairs are shuffled, sorted by length within pools of `POOL` batches, cut into batches, and those
    are shuffled. Device `rank` of `world` takes every world-th batch; where they do not come out
    even, the first ones are seen twice. `skip` leaves out that many of the next epoch's first.
    """

    POOL = 32

    def __init__(
        self,
        lengths: Sequence[int],
        batch_size: int,
        seed: int,
        rank: int = 0,
        world: int = 1,
        skip: int = 0,
    ) -> None:
        self._lengths, self._batch_size, self._seed = lengths, batch_size, seed
        self._rank, self._world, self._skip = rank, world, skip
        self._epoch = 0
        self.sampler = self  # where Lightning looks for `set_epoch`

    def set_epoch(self, epoch: int) -> None:
        self._epoch = epoch

    def __len__(self) -> int:
        batches = -(-len(self._lengths) // self._batch_size)
        return -(-batches // self._world)

    def __iter__(self) -> Iterator[list[int]]:
        generator = torch.Generator().manual_seed(self._seed + self._epoch)
        order = torch.randperm(len(self._lengths), generator=generator).tolist()
        pool = self.POOL * self._batch_size
        batches = []
        for start in range(0, len(order), pool):
            rows = sorted(order[start : start + pool], key=lambda row: self._lengths[row])
            batches += [
                rows[i : i + self._batch_size] for i in range(0, len(rows), self._batch_size)
            ]
        shuffled = [batches[i] for i in torch.randperm(len(batches), generator=generator).tolist()]
        while len(shuffled) % self._world:
            shuffled.append(shuffled[len(shuffled) % len(batches)])
        skip, self._skip = self._skip, 0
        yield from shuffled[self._rank :: self._world][skip:]


class _Rows(Dataset[Any]):
    def __init__(
        self,
        tokens: Any,
        model: OmniRegressor,
        ratings: Tensor,
        lengths: Sequence[int],
        rows: Sequence[int],
    ) -> None:
        self._tokens, self._model, self._ratings, self._rows = tokens, model, ratings, rows
        self.lengths = [lengths[row] for row in rows]

    def __len__(self) -> int:
        return len(self._rows)

    def __getitems__(self, positions: list[int]) -> tuple[Batch, Tensor]:
        rows = [self._rows[position] for position in positions]
        return Batch.stack(self.read(positions)), self._ratings[rows]

    def read(self, positions: Sequence[int]) -> list[PairRow]:
        pairs = [self._tokens.pairs[self._rows[position]] for position in positions]
        return usable(pairs, self._model.look(self._tokens, pairs))


class LoraDataModule(lightning.LightningDataModule):
    """Train and validation batches of a fold: (Batch, ratings (B, 3)).

    Its state, kept in Lightning's checkpoints, is how many batches of the epoch are done, so a run
    that is resumed in the middle of an epoch goes on with the next one.
    """

    def __init__(
        self,
        tokens: Any,
        model: OmniRegressor,
        ratings: Tensor,
        fold: Fold,
        batch_size: int,
        validation_batch_size: int,
        seed: int,
    ) -> None:
        super().__init__()
        lengths = tokens.lengths(model.inputs)
        self._train = _Rows(tokens, model, ratings, lengths, fold.train)
        self._validation = _Rows(tokens, model, ratings, lengths, fold.validation)
        self._batch_size, self._validation_batch_size = batch_size, validation_batch_size
        self._seed, self._done = seed, 0
        self._pairs = [tokens.pairs[row] for row in fold.validation]

    def validation_pairs(self) -> list[EditPair]:
        return list(self._pairs)

    def some_rows(self, count: int) -> list[PairRow]:
        """At most `count` of the training pairs, as the model reads them."""
        return self._train.read(range(0, len(self._train), -(-len(self._train) // count)))

    def train_dataloader(self) -> DataLoader[Any]:
        done, self._done = self._done, 0
        assert self.trainer is not None
        place = {"rank": self.trainer.global_rank, "world": self.trainer.world_size}
        return self._loader(self._train, self._batch_size, skip=done, **place)

    def val_dataloader(self) -> DataLoader[Any] | list[Any]:
        if not len(self._validation):
            return []
        # All of it on every device: a correlation sees the whole part once.
        return self._loader(self._validation, self._validation_batch_size)

    def state_dict(self) -> dict[str, int]:
        assert self.trainer is not None
        progress: Any = self.trainer.fit_loop.epoch_loop.batch_progress.current
        return {"done": progress.processed % self.trainer.num_training_batches}

    def load_state_dict(self, state_dict: dict[str, int]) -> None:
        self._done = state_dict["done"]

    def _loader(self, rows: _Rows, batch_size: int, **place: int) -> DataLoader[Any]:
        sampler = LengthBatches(rows.lengths, batch_size, self._seed, **place)
        return DataLoader(rows, batch_sampler=sampler, collate_fn=lambda batch: batch)

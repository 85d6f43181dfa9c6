"""Data of an OmniRegressor: audio tokens by clip, and batches of pairs of like length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, Sampler

from auditeval.features.encoder import Clip
from auditeval.features.extractors.qwen_omni import tokens_of
from auditeval.features.store import Failure, FeatureStore
from auditeval.models.omni.inputs import Batch, InputBuilder, PairRow
from auditeval.models.omni.regressor import OmniRegressor
from auditeval.training.data import FoldData
from auditeval.training.encoding import encoding, usable
from auditeval.training.fit import Examples
from auditeval.types import EditPair, UserError


class ClipTokens:
    """The audio tokens of the clips of pairs, from memory or cache.

    Up to `memory_gib` of them are kept in memory, the rest is read again when it is asked for.
    Raises UserError where a clip has none.
    """

    def __init__(self, store: FeatureStore, pairs: Sequence[EditPair], memory_gib: float) -> None:
        self._counts: dict[Path, int] = {}
        self._store, self._budget = store, memory_gib * 2**30
        self._kept: dict[Path, Clip] = {}
        usable(pairs, encoding(store, pairs, self._count))

    def take(self, rows: Sequence[int]) -> ClipTokens:
        """Itself: tokens are asked for by clip, of whatever pair."""
        return self

    def files(self, paths: Iterable[Path]) -> dict[Path, Clip | Failure]:
        """As FeatureStore.files."""
        once = list(dict.fromkeys(paths))
        found = self._store.files(path for path in once if path not in self._kept)
        for path, features in found.items():
            if not isinstance(features, Failure):
                size = tokens_of(features).nbytes
                if self._budget >= size:
                    self._budget -= size
                    self._kept[path] = features
        return {path: self._kept.get(path) or found[path] for path in once}

    def lengths(self, pairs: Sequence[EditPair], inputs: InputBuilder) -> dict[str, int]:
        """Tokens of each pair by id; raises UserError where one cannot be read, before it is."""

        def length(pair: EditPair) -> int | Failure:
            counts = self._counts[pair.original], self._counts[pair.edited]
            try:
                return len(inputs.ids(pair, *counts))
            except UserError as error:
                return Failure(str(error))

        counted = usable(pairs, [length(pair) for pair in pairs])
        return {pair.id: count for pair, count in zip(pairs, counted, strict=True)}

    def _count(self, pairs: Sequence[EditPair]) -> list[Failure | None]:
        clips = self.files([path for pair in pairs for path in (pair.original, pair.edited)])
        for path, clip in clips.items():
            if not isinstance(clip, Failure):
                self._counts[path] = len(tokens_of(clip))
        sides = [(clips[pair.original], clips[pair.edited]) for pair in pairs]
        return [next((s for s in both if isinstance(s, Failure)), None) for both in sides]


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
        self, examples: Examples[ClipTokens], model: OmniRegressor, lengths: Mapping[str, int]
    ) -> None:
        self._examples, self._model = examples, model
        self.lengths = [lengths[pair.id] for pair in examples.pairs]

    def __len__(self) -> int:
        return len(self._examples)

    def __getitems__(self, rows: list[int]) -> tuple[Batch, Tensor]:
        return Batch.stack(self.read(rows)), self._examples.ratings[rows]

    def read(self, rows: Sequence[int]) -> list[PairRow]:
        pairs = [self._examples.pairs[row] for row in rows]
        return usable(pairs, self._model.look(self._examples.features, pairs))


class LoraDataModule(FoldData[ClipTokens]):
    """Train and validation batches of a fold: (Batch, ratings (B, 3)).

    `lengths` are `ClipTokens.lengths` of all its pairs. Its state, kept in Lightning's checkpoints,
    is how many batches of the epoch are done, so a run that is resumed in the middle of an epoch
    goes on with the next one.
    """

    def __init__(
        self,
        train: Examples[ClipTokens],
        validation: Examples[ClipTokens],
        model: OmniRegressor,
        lengths: Mapping[str, int],
        batch_size: int,
        validation_batch_size: int,
        seed: int,
    ) -> None:
        super().__init__(train, validation)
        self._train = _Rows(train, model, lengths)
        self._validation = _Rows(validation, model, lengths)
        self._batch_size, self._validation_batch_size = batch_size, validation_batch_size
        self._seed, self._done = seed, 0

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

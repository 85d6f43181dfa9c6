"""Batches of like length: every pair once an epoch, the same for one seed, shared by devices."""

from __future__ import annotations

import numpy as np
import pytest

from auditeval.training.lora_data import LengthBatches

LENGTHS = np.random.default_rng(0).integers(50, 500, 203).tolist()


def epoch(number: int = 0, **arguments: int) -> list[list[int]]:
    batches = LengthBatches(LENGTHS, 8, seed=7, **arguments)
    batches.set_epoch(number)
    made = list(batches)
    assert len(made) == len(batches)
    return made


def test_every_pair_once_an_epoch_in_another_order() -> None:
    first, second = epoch(0), epoch(1)
    for batches in (first, second):
        assert sorted(row for batch in batches for row in batch) == list(range(203))
        assert [len(batch) for batch in batches].count(8) == 25
    assert first != second
    assert first == epoch(0)


def test_pairs_of_a_batch_are_of_like_length() -> None:
    spread = np.mean([np.ptp([LENGTHS[row] for row in batch]) for batch in epoch()])
    assert spread < 0.1 * np.ptp(LENGTHS)
    # And batches do not come sorted.
    firsts = [LENGTHS[batch[0]] for batch in epoch()]
    assert firsts != sorted(firsts)


@pytest.mark.parametrize("world", [2, 3, 4])
def test_devices_share_the_batches_evenly(world: int) -> None:
    shares = [epoch(rank=rank, world=world) for rank in range(world)]
    assert len({len(share) for share in shares}) == 1
    together = [batch for step in zip(*shares, strict=True) for batch in step]
    assert together[:26] == epoch()
    assert all(batch in epoch() for batch in together[26:])  # seen twice, to come out even


def test_a_resumed_epoch_goes_on_where_it_stopped_and_the_next_is_whole() -> None:
    batches = LengthBatches(LENGTHS, 8, seed=7, skip=10)
    batches.set_epoch(3)
    assert list(batches) == epoch(3)[10:]
    assert len(batches) == 26  # Lightning counts those before as well
    batches.set_epoch(4)
    assert list(batches) == epoch(4)

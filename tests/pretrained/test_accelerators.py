"""Passes as large as the memory takes, tried with a device whose memory is made up."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn

from auditeval.pretrained.accelerators import Passes, place
from auditeval.types import UserError


class Device:
    """Holds passes of at most `room`, each filled up to its largest item."""

    def __init__(self, room: int) -> None:
        self.room, self.tried = room, list[list[int]]()

    def __call__(self, items: Sequence[int]) -> list[int]:
        self.tried.append(list(items))
        if len(items) * max(items) > self.room:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return [10 * item for item in items]


def test_what_does_not_fit_is_halved_once_and_for_all() -> None:
    device, passes = Device(5), Passes(count=16)
    made = [row for part in passes([1] * 30, device) for row in part]
    assert made == [10] * 30
    assert [len(tried) for tried in device.tried] == [16, 8, *[4] * 7, 2]
    device.tried.clear()
    assert len(list(passes([1] * 8, device))) == 2
    assert [len(tried) for tried in device.tried] == [4, 4]


def test_one_large_item_does_not_make_the_passes_of_small_ones_small() -> None:
    device, passes = Device(100), Passes(count=8)
    items = [100, *[2] * 31]
    made = [row for part in passes(items, device, size=int) for row in part]
    assert made == [10 * item for item in items]
    assert max(map(len, device.tried[-3:])) == 8


def test_a_pass_is_no_larger_than_it_may_be() -> None:
    device = Device(1000)
    items = [3, 3, 4, 9, 20]
    assert len(list(Passes(most=12)(items, device, size=int))) == 3
    assert device.tried == [[3, 3, 4], [9], [20]]  # an item alone is tried whatever it takes


def test_an_item_alone_that_does_not_fit_is_told() -> None:
    with pytest.raises(torch.OutOfMemoryError):
        list(Passes(count=4)([9, 1], Device(8), size=int))


@pytest.mark.parametrize(("kind", "at_once"), [("cuda", 1), ("cpu", 2)])
def test_threads_take_turns_on_an_accelerator_alone(kind: str, at_once: int) -> None:
    both, inside, most = threading.Event(), set[int](), [0]

    def run(items: Sequence[int]) -> int:
        inside.add(threading.get_ident())
        most[0] = max(most[0], len(inside))
        if len(inside) == 2:
            both.set()
        both.wait(0.2)
        inside.discard(threading.get_ident())
        return len(items)

    passes = Passes(torch.device(kind), count=1)
    with ThreadPoolExecutor(2) as pool:
        for made in pool.map(lambda item: list(passes([item], run)), range(2)):
            assert made == [1]
    assert most == [at_once]


def test_a_model_too_large_is_a_sentence() -> None:
    class Large(nn.Module):
        def to(self, *_: object) -> nn.Module:
            raise torch.OutOfMemoryError("CUDA out of memory.")

    assert place("cpu", nn.Linear(1, 1)) == torch.device("cpu")
    with pytest.raises(UserError, match=r"^the model does not fit into the memory of cuda:1; "):
        place("cuda:1", Large())

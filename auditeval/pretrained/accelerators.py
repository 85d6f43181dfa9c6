"""Models on accelerators: placed there, and passes no larger than the memory that is left."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeVar

import torch
from torch import nn

from auditeval.types import UserError

Item = TypeVar("Item")
Result = TypeVar("Result")


def place(device: str | torch.device, *modules: nn.Module) -> torch.device:
    """Move modules to a device; raises UserError where its memory does not do."""
    where = torch.device(device)
    with memory_of(where, UserError, "the model", "another device, or a smaller dtype, may do"):
        for module in modules:
            module.to(where)
    return where


@contextmanager
def memory_of(
    device: str | torch.device, failure: type[ValueError], what: str, advice: str
) -> Iterator[None]:
    """Raises `failure`, in one sentence, where inside the memory of an accelerator runs out."""
    try:
        yield
    except torch.OutOfMemoryError:
        raise failure(f"{what} does not fit into the memory of {device}; {advice}") from None


class Passes:
    """Items through a model in passes of at most `count`, fewer where the device's memory does not
    do: what did not fit is remembered, for as long as this lives.

    `size` is what an item takes in a unit of its own, and a pass as much as its largest item for
    each: at most `most` where one is given. On an accelerator threads start their passes in turn,
    while the others get theirs ready; what comes back is not waited for.
    """

    def __init__(
        self,
        device: torch.device | None = None,
        count: float = float("inf"),
        most: float = float("inf"),
    ) -> None:
        self._count, self._most = count, most
        alone = device is not None and device.type != "cpu"
        self._turn: AbstractContextManager[Any] = threading.Lock() if alone else nullcontext()

    def __call__(
        self,
        items: Sequence[Item],
        run: Callable[[Sequence[Item]], Result],
        size: Callable[[Item], int] = lambda item: 1,
    ) -> Iterator[Result]:
        """What `run` makes of the items, pass by pass, in order.

        Raises torch.OutOfMemoryError where one item alone does not fit.
        """
        start = 0
        while start < len(items):
            chosen = self._chosen(items, start, size)
            try:
                with self._turn:
                    made = run(chosen)
            except torch.OutOfMemoryError:
                if len(chosen) == 1:
                    raise
                # Not more than this from now on, by whichever thread.
                half = len(chosen) // 2 * max(map(size, chosen))
                self._most = min(self._most, half)
                continue
            yield made
            start += len(chosen)

    def _chosen(
        self, items: Sequence[Item], start: int, size: Callable[[Item], int]
    ) -> Sequence[Item]:
        """As many as a pass takes, one at least."""
        largest, stop = 0, start
        while stop < len(items) and stop - start < self._count:
            largest = max(largest, size(items[stop]))
            if stop > start and (stop + 1 - start) * largest > self._most:
                break
            stop += 1
        return items[start:stop]

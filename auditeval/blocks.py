"""Work in blocks of rows, and what does it: this process, or a cluster (`ray_engine`).

A command cuts its rows into blocks that follow from the rows alone, and says how a worker is made;
an engine gives blocks to workers. What comes of a block is the same whoever did it, and when.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar


@dataclass(frozen=True)
class Block:
    """The `number`-th part of a list: `rows` of it, from the row `first` on."""

    number: int
    first: int
    rows: int

    def place(self) -> Block:
        """Without what a kind of block has beside it."""
        return Block(self.number, self.first, self.rows)

    def numbers(self) -> range:
        """Those of its rows."""
        return range(self.first, self.first + self.rows)


B = TypeVar("B", bound=Block)
B_contra = TypeVar("B_contra", bound=Block, contravariant=True)
Step = TypeVar("Step")
Step_co = TypeVar("Step_co", covariant=True)


class Worker(Protocol[B_contra, Step_co]):
    """What holds a model, or whatever the work takes, once for all blocks that it is given."""

    def __call__(self, block: B_contra, failed: Mapping[int, str]) -> Iterator[Step_co]:
        """Do a block, step by step.

        Rows of `failed`, by number, are not touched: what is made of them is their reason, which is
        empty where others are to be tried without them. Done twice, or by two at once, a block
        must come out the same.
        """
        ...


class Engine(Protocol):
    """Where blocks are done; `device` is what its workers compute on, cpu or cuda."""

    @property
    def device(self) -> str: ...

    def run(
        self,
        start: Callable[[], Worker[B, Step]],
        blocks: Iterable[B],
        in_order: bool = False,
    ) -> Iterator[tuple[B, Step]]:
        """All steps of all blocks, each once, with their block; those of a block in a row.

        `start` makes a worker. Blocks are taken from their iterator when there is a worker for
        them, and come back as they are done, or `in_order`. Raises what a worker raises.
        """
        ...


class Local:
    """This process, one block after the other."""

    def __init__(self, device: str = "cpu") -> None:
        self.device = device

    def run(
        self,
        start: Callable[[], Worker[B, Step]],
        blocks: Iterable[B],
        in_order: bool = False,
    ) -> Iterator[tuple[B, Step]]:
        """See `Engine`; a step comes as soon as it is done."""
        worker = start()
        for block in blocks:
            for step in worker(block, {}):
                yield block, step


def cut(total: int, rows: int) -> Iterator[Block]:
    """Blocks of `rows` of a list of `total`; the last may have fewer.

    >>> list(cut(5, 3))
    [Block(number=0, first=0, rows=3), Block(number=1, first=3, rows=2)]
    """
    for number, first in enumerate(range(0, total, rows)):
        yield Block(number, first, min(rows, total - first))

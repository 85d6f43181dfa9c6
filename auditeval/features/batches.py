"""Items through a function in batches, each once, in the threads of a pool or in the caller's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, Future
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Caller(Executor):
    """A pool without threads: what is submitted is done at once."""

    def submit(self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        done: Future[Result] = Future()
        done.set_result(fn(*args, **kwargs))
        return done


class Batched(Generic[Item, Result]):
    """Results for items, each once, which a pool computes a batch at a time, in order.

    A task of the pool may wait for an item if it was submitted after the item was started.
    """

    def __init__(
        self,
        pool: Executor,
        function: Callable[[Sequence[Item]], Sequence[Result]],
        items: Iterable[Item],
        size: int,
    ) -> None:
        once = list(dict.fromkeys(items))
        self._pool, self._function = pool, function
        self._batches = [once[start : start + size] for start in range(0, len(once), size)]
        self._places = {item: divmod(row, size) for row, item in enumerate(once)}
        self._started: list[Future[Sequence[Result]]] = []

    def start(self, until: Iterable[Item] | None = None, ahead: int = 0) -> None:
        """Submit the batches with these items and as many more, or all; none twice."""
        stop = len(self._batches)
        if until is not None:
            stop = max(self._places[item][0] for item in until) + 1 + ahead
        for batch in self._batches[len(self._started) : stop]:
            self._started.append(self._pool.submit(self._function, batch))

    def __getitem__(self, item: Item) -> Result:
        batch, row = self._places[item]
        return self._started[batch].result()[row]

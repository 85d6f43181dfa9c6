"""How far long work has come: bars on stderr, the same in every command."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from auditeval.text import shortened

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

Item = TypeVar("Item")


def bars(*fields: str, transient: bool = False) -> Progress:
    """A line a task: its description, which is text, a bar, a count, the time left.

    `fields` are further ones of a task that stand behind that; `transient` bars go when they end.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        *(TextColumn(f"{{task.fields[{field}]}}", markup=False) for field in fields),
        console=Console(stderr=True),
        transient=transient,
    )


def track(
    items: Iterable[Item], what: str, total: int | None = None, transient: bool = False
) -> Iterator[Item]:
    """The items one after the other under a bar; `total` where they have no length."""
    with bars(transient=transient) as bar:
        yield from bar.track(items, total, description=what)


@contextmanager
def stages() -> Iterator[Callable[[str, int, int], None]]:
    """What shows how far each stage has come, by its name: (stage, done, total)."""
    with bars() as bar:
        tasks: dict[str, TaskID] = {}

        def watch(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(shortened(stage), total=total)
            bar.update(tasks[stage], completed=done)

        yield watch

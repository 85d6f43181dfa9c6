"""Options that several commands share, and the bars that show how far they have come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.progress import Progress

Force = Annotated[
    bool, typer.Option("--force", help="Overwrite files that are there and not this command's.")
]


def bars() -> Progress:
    """A line a task on stderr: its description, which is text, a bar, a count, the time left."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    described = TextColumn("{task.description}", markup=False)
    columns = (described, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True))

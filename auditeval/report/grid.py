"""A table of texts, for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rich.table import Table


class Grid(NamedTuple):
    """Rows of cells under a header, in sections; the first `names` columns are texts."""

    title: str
    header: Sequence[str]
    sections: Sequence[Sequence[Sequence[str]]]
    names: int = 1
    note: str = ""


def render(grid: Grid) -> Table:
    """For a terminal: numbers to the right, a line between sections."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=escape(grid.title), caption=escape(grid.note) or None)
    for place, column in enumerate(grid.header):
        table.add_column(column, justify="left" if place < grid.names else "right", no_wrap=True)
    for rows in grid.sections:
        for row in rows:
            table.add_row(*map(escape, row))
        table.add_section()
    return table


def to_markdown(grid: Grid) -> str:
    """A heading, the table, and the note as a paragraph."""
    columns = len(grid.header)
    lines = [
        f"## {grid.title}",
        "",
        f"| {' | '.join(grid.header)} |",
        f"|{'---|' * grid.names}{'--:|' * (columns - grid.names)}",
    ]
    lines += [f"| {' | '.join(map(_cell, row))} |" for rows in grid.sections for row in rows]
    return "\n".join([*lines, *(["", grid.note] if grid.note else []), ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")

"""A table of texts, for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from auditeval import text

if TYPE_CHECKING:
    from rich.console import JustifyMethod
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
    from rich.table import Table

    note = text.cell(grid.note, style="table.caption") if grid.note else None
    table = Table(title=grid.title, caption=note)
    for place, column in enumerate(grid.header):
        side: JustifyMethod = "left" if place < grid.names else "right"
        table.add_column(text.label(column), justify=side, no_wrap=True)
    for rows in grid.sections:
        for row in rows:
            table.add_row(*map(text.label, row))
        table.add_section()
    return table


def to_markdown(grid: Grid) -> str:
    """A heading, the table, and the note as a paragraph."""
    columns = len(grid.header)
    lines = [
        f"## {grid.title}",
        "",
        f"| {' | '.join(map(text.markdown, grid.header))} |",
        f"|{'---|' * grid.names}{'--:|' * (columns - grid.names)}",
    ]
    rows = (row for section in grid.sections for row in section)
    lines += [f"| {' | '.join(map(text.markdown, row))} |" for row in rows]
    return "\n".join([*lines, *(["", text.markdown(grid.note)] if grid.note else []), ""])

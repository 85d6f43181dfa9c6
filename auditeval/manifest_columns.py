"""The columns of a CSV or Parquet manifest: which there are, and what their cells hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from auditeval import votes
from auditeval.types import AXES, EditPair, UserError, absent


def check_columns(names: Sequence[str], path: Path) -> None:
    """Raises UserError for a column that is none of a pair's, though its cells be empty, or stands
    twice, and where one is missing that every pair has. Columns by axis are CSV's alone."""
    in_groups = {f"{group}.{axis}" for group in _CELLS for axis in AXES}
    known = {*EditPair.model_fields, *in_groups, votes.RATER_IDS}
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"{path}:1: the column {name} stands twice")
        if name in in_groups and path.suffix.lower() == ".parquet":
            group, axis = name.split(".")
            raise UserError(
                f"{path}:1: {name}: is a column of CSV; in Parquet {group} is a struct with {axis}"
            )
        if name not in known:
            keys = ", ".join(EditPair.model_fields)
            shown = name if name and name == name.strip() else repr(name)
            raise UserError(f"{path}:1: {shown}: unknown key (known: {keys}){_hint(names)}")
    for name, field in EditPair.model_fields.items():
        if field.is_required() and name not in names:
            found = ", ".join(map(repr, names))
            raise UserError(f"{path}:1: {name}: {absent(name)}; the columns are {found}")


def _hint(names: Sequence[str]) -> str:
    """On what a spreadsheet writes where commas are decimal marks."""
    joined = len(names) == 1 and re.search("[;\t]", names[0])
    return "; columns stand apart by commas, not by semicolons or tabs" if joined else ""


def nested(cells: dict[str, str], where: str) -> dict[str, Any]:
    """CSV cells to the nested row; an empty cell is an absent value, except in a caption."""
    row: dict[str, Any] = {}
    for column, cell in cells.items():
        group, _, axis = column.partition(".")
        if column.endswith("caption"):
            row[column] = cell
        elif cell == "":
            continue
        elif axis in AXES and group in _CELLS:
            parse, expected = _CELLS[group]
            try:
                row.setdefault(group, {})[axis] = parse(cell)
            except ValueError:
                raise UserError(f"{where}: {column} is {cell!r}, expected {expected}") from None
        else:
            row[column] = cell
    return row


_CELLS: dict[str, tuple[Callable[[str], Any], str]] = {
    "ratings": (float, "a number"),
    "raters": (votes.of_cell, "votes as in 3;4 or, of different raters, r1=3;r2=4"),
}

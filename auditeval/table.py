"""A table as data: what reports and benchmarks make, and `report.render` shows and writes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf, isclose
from typing import Any, Literal, NamedTuple, TypeAlias

from auditeval.types import Undefined

Direction = Literal["higher", "lower"]


class Column(NamedTuple):
    """`name` is its heading; in a terminal the words `over` it stand above, elsewhere before it.

    Numbers are printed by the format `form`, bounds of intervals by `bounds`, those of `unit` "%"
    as percentages with two decimals. Of values below `least` none is the better one. A `label`
    says what a row is about; labels come first.
    """

    name: str
    better: Direction | None = None
    unit: Literal["", "%"] = ""
    over: tuple[str, ...] = ()
    form: str = ".4g"
    bounds: str = ".4g"
    least: float = -inf
    label: bool = False

    @property
    def heading(self) -> tuple[str, ...]:
        """Its lines, the last with unit and direction."""
        arrow = {"higher": " ↑", "lower": " ↓", None: ""}[self.better]
        return (*self.over, f"{self.name}{' (%)' if self.unit else ''}{arrow}")

    @property
    def full_name(self) -> str:
        """With the words over it."""
        return " ".join(filter(None, (*self.over, self.name)))

    def __str__(self) -> str:
        return " ".join(filter(None, self.heading))


class Cell(NamedTuple):
    """A value with its interval, or without one, and a note on it ("N=12"); one that is not
    `ranked` is a reference and never the best."""

    value: float | Undefined
    interval: Sequence[float] | Undefined | None = None
    note: str = ""
    ranked: bool = True


Content: TypeAlias = float | str | Undefined | Cell | None
"""Of a place in a table: an int is a count, a text is no value (and never the best), None empty."""


def value_of(content: Content) -> float | str | Undefined | None:
    """What stands in it, without interval and note."""
    return content.value if isinstance(content, Cell) else content


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of contents, one for each of the `columns`; `notes` are sentences that stand below.

    Rows that share the first of several labels belong together. `marked`: the best value of each
    column is marked.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Content]]
    notes: Sequence[str] = ()
    marked: bool = True

    @property
    def labels(self) -> list[str]:
        """The last label of each row."""
        place = sum(column.label for column in self.columns) - 1
        return [str(row[place]) for row in self.rows]

    def row(self, label: str) -> dict[str, Any]:
        """What the row of this label has, by the columns' names."""
        row = self.rows[self.labels.index(label)]
        return {
            column.name: content
            for column, content in zip(self.columns, row, strict=True)
            if not column.label and content is not None
        }

    def best(self) -> set[tuple[int, int]]:
        """The places (row, column) of the best values; no best where rows are level, as means of
        the same numbers in another order are, whose last digits differ."""
        found = set()
        for place, column in enumerate(self.columns):
            contents = [(number, row[place]) for number, row in enumerate(self.rows)]
            values = {
                number: max(value, column.least)
                for number, content in contents
                if not isinstance(content, Cell) or content.ranked
                if isinstance(value := value_of(content), (int, float))
            }
            if self.marked and column.better is not None and len(values) > 1:
                top = (max if column.better == "higher" else min)(values.values())
                level = [n for n, value in values.items() if isclose(value, top, rel_tol=1e-12)]
                found |= {(level[0], place)} if len(level) == 1 else set()
        return found

    def groups(self) -> list[str]:
        """Of each row the first of its labels, where that is there to group rows; else nothing."""
        first = [str(row[0]) for row in self.rows]
        several = sum(column.label for column in self.columns) > 1
        return first if several and len(set(first)) < len(first) else [""] * len(first)

    def undefined(self) -> dict[Undefined, list[tuple[int, int]]]:
        """{what is undefined: places (row, column)}."""
        found: dict[Undefined, list[tuple[int, int]]] = {}
        for number, row in enumerate(self.rows):
            for place, content in enumerate(row):
                if isinstance(value := value_of(content), Undefined):
                    found.setdefault(value, []).append((number, place))
        return found

    def headings(self) -> list[str]:
        """What stands at the top over some columns, in their order."""
        return list(dict.fromkeys(column.over[0] for column in self.columns if column.over))

    def under(self, headings: Sequence[str]) -> Table:
        """The part that has the columns under these headings, and those that are under none."""
        kept = [n for n, c in enumerate(self.columns) if not c.over or c.over[0] in headings]
        return replace(
            self,
            columns=[self.columns[n] for n in kept],
            rows=[[row[n] for n in kept] for row in self.rows],
        )


def brackets(contents: Iterable[Content]) -> list[str]:
    """A sentence on what stands in brackets, or on why values of agreement have none."""
    intervals = [
        content.interval
        for content in contents
        if isinstance(content, Cell) and not isinstance(content.value, Undefined)
    ]
    if any(found and not isinstance(found, Undefined) for found in intervals):
        return ["Brackets: 95 % bootstrap over systems."]
    reasons = dict.fromkeys(found.reason for found in intervals if isinstance(found, Undefined))
    return [f"No intervals: {'; '.join(reasons)}."] if reasons else []

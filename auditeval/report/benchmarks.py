"""Benchmark tables of several systems: text, Markdown, JSON, and a radar as PNG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from auditeval import text
from auditeval.atomic import replacing
from auditeval.benchmarks.benchmark import Column, Table
from auditeval.types import Undefined
from auditeval.version import __version__

Cell = float | str | Undefined | None


def best(table: Table, column: Column) -> set[str]:
    """The row that is best in this column; none where rows are level or no direction is known."""
    values = {
        row: value
        for row, cells in table.rows.items()
        if isinstance(value := cells.get(column.name), (int, float))
    }
    if column.better is None or len(values) < 2:
        return set()
    top = max(values.values()) if column.better == "higher" else min(values.values())
    level = {row for row, value in values.items() if value == top}
    return level if len(level) == 1 else set()


def shown(cell: Cell, column: Column) -> str:
    """A cell as it is printed: "–" where it is undefined, nothing where there is none."""
    if cell is None:
        return ""
    if isinstance(cell, Undefined):
        return "–"
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int) and not column.unit:
        return str(cell)  # a count
    return f"{100 * cell:.2f}" if column.unit == "%" else f"{cell:.4g}"


def to_markdown(tables: Sequence[Table]) -> str:
    """One section a table, the best of each column bold."""
    return "\n".join(_section(table) for table in tables)


def to_json(tables: Sequence[Table], provenance: Mapping[str, Any]) -> dict[str, Any]:
    """The tables as plain values; an undefined cell is null beside its reason."""
    return {
        "auditeval": __version__,
        **provenance,
        "tables": {
            table.name: {
                "title": table.title,
                "columns": [column._asdict() for column in table.columns],
                "rows": {
                    row: {name: _plain(cell) for name, cell in cells.items()}
                    for row, cells in table.rows.items()
                },
                "notes": list(table.notes),
                **table.data,
            }
            for table in tables
        },
    }


def write(tables: Sequence[Table], provenance: Mapping[str, Any], folder: Path, name: str) -> None:
    """`folder`/<name>.json, <name>.md and, for each table with a radar, <table>.png."""
    data = text.to_json(to_json(tables, provenance)) + "\n"
    for suffix, content in (("json", data), ("md", to_markdown(tables))):
        with replacing(folder / f"{name}.{suffix}") as temporary:
            temporary.write_text(content, encoding="utf-8")
    for table in tables:
        if table.radar:
            with replacing(folder / f"{table.name}.png") as temporary:
                draw_radar(table, temporary)


def print_tables(tables: Sequence[Table]) -> None:
    """Print them; in a terminal too narrow for one lines run over, no digit is cut."""
    from rich.console import Console
    from rich.table import Table as RichTable

    for table in tables:
        rendered = RichTable(
            title=text.cell(table.title, style="table.title"),
            caption=text.cell(*_notes(table), style="table.caption") if _notes(table) else None,
            caption_justify="left",
        )
        rendered.add_column("", no_wrap=True)
        names = [text.label(row) for row in table.rows]
        widths = [max((name.cell_len for name in names), default=0)]
        for column in table.columns:
            texts = [shown(row.get(column.name), column) for row in table.rows.values()]
            # A header may run over several lines, but a word of it or a cell is never cut.
            widths.append(max(map(len, [*_header(column).split(), *texts])))
            rendered.add_column(text.cell(_header(column)), justify="right", min_width=widths[-1])
        tops = {column.name: best(table, column) for column in table.columns}
        for name, (row, cells) in zip(names, table.rows.items(), strict=True):
            marked = [
                text.cell(
                    shown(cells.get(column.name), column),
                    style="bold" if row in tops[column.name] else "",
                )
                for column in table.columns
            ]
            rendered.add_row(name, *marked)
        borders = 3 * len(widths) + 1
        Console(width=max(Console().width, sum(widths) + borders)).print(rendered)


def draw_radar(table: Table, path: Path) -> None:
    """One polygon a row over the table's radar columns; an undefined value leaves a gap."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    low, high = table.radar_range
    angles = [2 * math.pi * place / len(table.radar) for place in range(len(table.radar))]
    names = {row: text.plot(row) for row in table.rows}
    longest = max(map(len, names.values()), default=0)
    # The legend beside the radar has a line a row.
    size = 8 + 0.08 * max(0, longest - 20), max(6, 0.25 * len(names))
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.add_subplot(projection="polar")
    for row, cells in table.rows.items():
        values = [
            float(cell) if isinstance(cell := cells.get(name), (int, float)) else math.nan
            for name in table.radar
        ]
        if not all(map(math.isnan, values)):
            around = [*angles, angles[0]], [*values, values[0]]
            line = axes.plot(*around, "o-", label=names[row], ms=3)
            axes.fill(*around, color=line[0].get_color(), alpha=0.1)
    axes.set_xticks(angles, list(map(text.plot, table.radar)))
    axes.set_ylim(low, high)
    axes.set_title(text.plot(table.title, 200), wrap=True, fontsize=9)
    if axes.lines:
        figure.legend(loc="outside right upper", frameon=False)
    FigureCanvasAgg(figure).print_png(path)


def _section(table: Table) -> str:
    lines = [
        f"## {text.markdown(table.title)}",
        "",
        f"| | {' | '.join(text.markdown(_header(column)) for column in table.columns)} |",
        f"|---|{'--:|' * len(table.columns)}",
    ]
    tops = {column.name: best(table, column) for column in table.columns}
    for row, cells in table.rows.items():
        texts = []
        for column in table.columns:
            said = text.markdown(shown(cells.get(column.name), column))
            texts.append(f"**{said}**" if row in tops[column.name] else said)
        lines.append(f"| {text.markdown(row)} | {' | '.join(texts)} |")
    notes = [line for note in _notes(table) for line in ("", text.markdown(note))]
    return "\n".join([*lines, *notes, ""])


def _notes(table: Table) -> list[str]:
    """Those of the table, and what is undefined in it and why."""
    reasons: dict[str, dict[str, list[str]]] = {}
    for row, cells in table.rows.items():
        for name, cell in cells.items():
            if isinstance(cell, Undefined):
                reasons.setdefault(cell.reason, {}).setdefault(name, []).append(row)
    listed = []
    for reason, columns in reasons.items():
        numbers = {
            name: sum(isinstance(c.get(name), (float, int)) for c in table.rows.values())
            for name in columns
        }
        # A column without a single number needs no list of rows.
        where = [
            f"{name} of {' and '.join(rows)}" if numbers[name] else name
            for name, rows in columns.items()
        ]
        listed.append(f"{reason} ({'; '.join(where)})")
    return [*table.notes, *([f"– undefined: {'; '.join(listed)}."] if listed else [])]


def _header(column: Column) -> str:
    arrow = {"higher": " ↑", "lower": " ↓", None: ""}[column.better]
    return f"{column.name}{' (%)' if column.unit == '%' else ''}{arrow}"


def _plain(cell: Cell) -> Any:
    return {"value": None, "undefined": cell.reason} if isinstance(cell, Undefined) else cell

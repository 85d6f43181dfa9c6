"""The files of a benchmark's tables: Markdown, JSON, and radars as PNG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from auditeval import text
from auditeval.atomic import replacing, write_text
from auditeval.benchmarks.benchmark import BenchmarkTable
from auditeval.report import render
from auditeval.version import __version__


def to_markdown(tables: Sequence[BenchmarkTable]) -> str:
    """One section a table, then one of the notes that several of them have."""
    return render.together(tables, 2)


def to_json(tables: Sequence[BenchmarkTable], provenance: Mapping[str, Any]) -> dict[str, Any]:
    """The tables as plain values, with what else they hold."""
    return {
        "auditeval": __version__,
        **provenance,
        "tables": {table.name: {**render.to_json(table), **table.data} for table in tables},
    }


def write(
    tables: Sequence[BenchmarkTable], provenance: Mapping[str, Any], folder: Path, name: str
) -> None:
    """`folder`/<name>.json, <name>.md and, for each table with a radar, <table>.png."""
    write_text(folder / f"{name}.json", text.to_json(to_json(tables, provenance)) + "\n")
    write_text(folder / f"{name}.md", to_markdown(tables))
    for table in tables:
        if table.radar:
            with replacing(folder / f"{table.name}.png") as temporary:
                draw_radar(table, temporary)


def draw_radar(table: BenchmarkTable, path: Path) -> None:
    """One polygon a row over the table's radar columns; an undefined value leaves a gap."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    low, high = table.radar_range
    angles = [2 * math.pi * place / len(table.radar) for place in range(len(table.radar))]
    names = [text.plot(label) for label in table.labels]
    longest = max(map(len, names), default=0)
    # The legend beside the radar has a line a row.
    size = 8 + 0.08 * max(0, longest - 20), max(6, 0.25 * len(names))
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.add_subplot(projection="polar")
    for name, label in zip(names, table.labels, strict=True):
        cells = table.row(label)
        values = [
            float(cell) if isinstance(cell := cells.get(column), (int, float)) else math.nan
            for column in table.radar
        ]
        if not all(map(math.isnan, values)):
            around = [*angles, angles[0]], [*values, values[0]]
            line = axes.plot(*around, "o-", label=name, ms=3)
            axes.fill(*around, color=line[0].get_color(), alpha=0.1)
    axes.set_xticks(angles, list(map(text.plot, table.radar)))
    axes.set_ylim(low, high)
    axes.set_title(text.plot(table.title, 200), wrap=True, fontsize=9)
    if axes.lines:
        figure.legend(loc="outside right upper", frameon=False)
    FigureCanvasAgg(figure).print_png(path)

"""Reports on filtering: counts in the layout of the paper's Tables 5 and 6, Figures 3 and 4."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from auditeval import text
from auditeval.filtering.recipe import UNSCORED
from auditeval.filtering.run import Files, Filtered
from auditeval.filtering.select import ALL, BINS, Outcome
from auditeval.report import render
from auditeval.table import Column, Content, Table
from auditeval.types import AXES

_MOST_PANELS = 12  # operations in the plot, the largest ones


def counts(filtered: Filtered) -> Table:
    """Pairs before and after each stage, by operation; nothing is said of scores where all pairs
    have them."""
    outcome, made = filtered.outcome, filtered.provenance
    rows: list[list[Content]] = [["Original number", *outcome.original.values()]]
    for cut in outcome.cuts:
        if cut.name != UNSCORED or cut.kept != outcome.original:
            label = "With scores" if cut.name == UNSCORED else f"After {cut.name}"
            rows.append([label, *cut.kept.values()])
    return Table(
        title=f"{made['manifest']}, filtered by {made['recipe']}",
        columns=[Column("Selection stage", label=True), *map(Column, _operations(outcome))],
        rows=rows,
        notes=outcome.notes,
    )


def lowest(outcome: Outcome) -> Table:
    """The lowest score that each stage kept, by operation."""
    operations = _operations(outcome)
    return Table(
        title="Lowest score that each stage kept",
        columns=[
            *(Column(name, label=True) for name in ("stage", "axis", "rule")),
            *(Column(name, form=".3f") for name in operations),
        ],
        rows=[
            [
                cut.name,
                cut.stage.axis or f"drawn, seed {cut.stage.seed}",
                cut.stage.rule,
                *(cut.lowest.get(name) for name in operations),
            ]
            for cut in outcome.cuts
            if cut.stage is not None
        ],
    )


def _operations(outcome: Outcome) -> list[str]:
    return [*outcome.operations, ALL]


def to_markdown(filtered: Filtered) -> str:
    """Both tables, and what all of it was made from."""
    made = ", ".join(f"{key} {value}" for key, value in filtered.provenance.items())
    tables = render.to_markdown(counts(filtered)), render.to_markdown(lowest(filtered.outcome), 2)
    return "\n".join([*tables, render.paragraph(f"Made from: {made}.")])


def to_json(filtered: Filtered) -> dict[str, Any]:
    """Counts, lowest scores and provenance as plain values."""
    outcome = filtered.outcome
    unscored, *stages = outcome.cuts
    return {
        **filtered.provenance,
        "original": outcome.original,
        UNSCORED: {name: outcome.original[name] - kept for name, kept in unscored.kept.items()},
        "stages": [
            {
                **(cut.stage.model_dump(exclude_none=True) if cut.stage else {}),
                "kept": cut.kept,
                "lowest": {name: cut.lowest.get(name) for name in cut.kept},
            }
            for cut in stages
        ],
        "notes": outcome.notes,
    }


def write(filtered: Filtered, drafts: Files) -> None:
    """The JSON record, the Markdown table and the plot."""
    drafts.record.write_text(text.to_json(to_json(filtered)) + "\n", encoding="utf-8")
    drafts.markdown.write_text(to_markdown(filtered), encoding="utf-8")
    plot(filtered.outcome, drafts.plot)


def plot(outcome: Outcome, path: Path) -> None:
    """Distributions of the scores before and after, operations downwards, AXES to the right.

    Areas are one, so that a tenth of the pairs can be compared with all of them.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    largest = sorted(outcome.operations, key=lambda name: -outcome.original[name])[:_MOST_PANELS]
    operations = [name for name in outcome.operations if name in largest]
    rows = len(operations)
    height = 0.7 + 1.9 * rows
    figure = Figure(figsize=(9, height))
    FigureCanvasAgg(figure)
    panels = figure.subplots(rows, len(AXES), sharex=True, squeeze=False)
    figure.subplots_adjust(
        left=0.05, right=0.99, top=1 - 0.4 / height, bottom=0.5 / height, wspace=0.05, hspace=0.1
    )
    edges = np.linspace(*outcome.limits, BINS + 1)
    for row, operation in zip(panels, operations, strict=True):
        row[0].set_ylabel(text.plot(operation, 24))
        for panel, axis in zip(row, AXES, strict=True):
            panel.tick_params(labelsize=7)
            panel.set_yticks([])
            panel.xaxis.set_major_locator(MaxNLocator(5, integer=True))
            found = outcome.distributions[operation].get(axis)
            if found is None:
                panel.text(0.5, 0.5, "no scores", transform=panel.transAxes, ha="center")
                continue
            for name, numbers, fill in (
                ("before", found.before, False),
                ("after", found.after, True),
            ):
                density = numbers / max(numbers.sum(), 1) / (edges[1] - edges[0])
                panel.stairs(density, edges, fill=fill, alpha=0.6 if fill else 1, label=name)
    for panel, axis in zip(panels[0], AXES, strict=True):
        panel.set_title(axis, fontsize=10)
    for panel in panels[-1]:
        panel.set_xlabel("predicted score", fontsize=8)
    handles, labels = next(
        (found for panel in panels.flat if (found := panel.get_legend_handles_labels())[0]),
        ([], []),
    )
    figure.legend(handles, labels, loc="upper left", fontsize=7, ncols=2, frameon=False)
    figure.savefig(path, dpi=120, format="png", metadata={"Software": None})

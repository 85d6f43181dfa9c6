"""Data-quality metrics of sets in the layout of the paper's Table 3, and as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from auditeval import text
from auditeval.atomic import write_text
from auditeval.data_quality.catalogue import DataMetric, Measured
from auditeval.data_quality.groups import GROUPS
from auditeval.data_quality.measure import DataQuality, Row
from auditeval.report.render import plain, to_markdown
from auditeval.table import Cell, Column, Table
from auditeval.types import Undefined
from auditeval.version import __version__


def to_table(quality: DataQuality) -> Table:
    """A row a set, a column a metric; with each value its 95 % interval and N."""
    notes = [f"Brackets: 95 % jackknife over {GROUPS} groups of sources; N: pairs."]
    notes += [f"{role}: {family}." for role, family in quality.families.items()]
    if left_out := [_left_out(row) for row in quality.rows if row.left_out]:
        notes.append(f"Pairs that cannot be used, left out of all metrics: {', '.join(left_out)}.")
    return Table(
        title="Data quality, edited against original",
        columns=[Column("set", label=True), *map(_column, quality.metrics)],
        rows=[
            [row.name, *(_cell(row.values[metric.name]) for metric in quality.metrics)]
            for row in quality.rows
        ],
        notes=notes,
    )


def _left_out(row: Row) -> str:
    """How many, and of the first one why; the others' reasons are in the JSON."""
    id, reason = next(iter(row.left_out.items()))
    return f"{row.name} {len(row.left_out)} ({id}: {reason})"


def to_json(quality: DataQuality) -> dict[str, Any]:
    """The same as plain values; an undefined one is null beside its reason."""
    return {
        "auditeval": __version__,
        "seed": quality.seed,
        "groups": GROUPS,
        "encoders": quality.encoders,
        "families": dict(quality.families),
        "metrics": {
            metric.name: {
                "encoder": metric.role,
                "higher_is_better": metric.higher_is_better,
                "range": [metric.low, metric.high],
            }
            for metric in quality.metrics
        },
        "sets": [
            {
                "name": row.name,
                "pairs": row.pairs,
                "values": {name: _plain(value) for name, value in row.values.items()},
                "left_out": [{"id": id, "reason": why} for id, why in row.left_out.items()],
            }
            for row in quality.rows
        ],
    }


FILES = ("data_quality.json", "data_quality.md")


def write(quality: DataQuality, folder: Path) -> None:
    """data_quality.json and data_quality.md in `folder`."""
    write_text(folder / "data_quality.json", text.to_json(to_json(quality)) + "\n")
    write_text(folder / "data_quality.md", to_markdown(to_table(quality)))


def _column(metric: DataMetric) -> Column:
    """A distance below 0 is 0 and noise (`fad_inf_...` may end there)."""
    if metric.higher_is_better:
        return Column(metric.name, "higher")
    return Column(metric.name, "lower", least=0.0)


def _cell(measured: Measured) -> Cell:
    return Cell(measured.value, measured.interval, f"N={measured.pairs}")


def _plain(measured: Measured) -> dict[str, Any]:
    value = plain(measured.value, measured.interval, pairs=measured.pairs)
    if isinstance(measured.interval, Undefined):
        value["interval_undefined"] = measured.interval.reason
    return value

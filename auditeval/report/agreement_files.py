"""A report of agreement as JSON, Markdown and a plot."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from auditeval.atomic import write_text
from auditeval.metrics.agreement import LEVELS, Agreement, Coverage
from auditeval.report.agreement import Difference, Levels, Report, Row
from auditeval.report.agreement_plot import plot
from auditeval.report.agreement_table import to_markdown
from auditeval.report.leaks import Leaks
from auditeval.report.render import plain
from auditeval.types import Undefined

FILES = ("agreement.json", "agreement.md", "agreement.png")


def to_json(report: Report) -> dict[str, Any]:
    """The report as plain values; an undefined one is null beside its reason."""
    return {
        "ratings_from": report.ratings_from,
        "rows": [
            {
                "axis": row.axis,
                "evaluator": row.evaluator,
                "rated": row.rated,
                "missing": row.missing,
                **_plain_levels(row.agreement),
                **({"coverage": row.coverage._asdict()} if row.coverage else {}),
            }
            for row in report.rows
        ],
        "rater_ceiling": {axis: _plain_levels(found) for axis, found in report.ceilings.items()},
        **_plain_remarks(report),
    }


def _plain_remarks(report: Report) -> dict[str, Any]:
    """What only some reports hold: an empty list of leaks would say that there are none."""
    found: dict[str, Any] = {
        "differences": [
            {
                **{key: value for key, value in found._asdict().items() if key != "srcc"},
                **{level: {"SRCC": _plain(value)} for level, value in found.srcc.items()},
            }
            for found in report.differences
        ],
        "leaks": [found._asdict() for found in report.leaks],
        "split": report.split,
        "by": report.by,
        "groups": {name: to_json(group) for name, group in report.groups.items()},
        "notes": list(report.notes),
    }
    return {key: value for key, value in found.items() if value}


def _plain_levels(found: Levels) -> dict[str, dict[str, Any]]:
    return {
        level: {name: _plain(value) for name, value in found[level].items()} for level in LEVELS
    }


def _plain(value: Agreement) -> dict[str, Any]:
    return plain(value.value, value.interval, items=value.items)


def of_json(plain: Any) -> Report:
    """A report as `to_json` wrote it, without its points; raises LookupError, TypeError or
    ValueError for what is none."""
    return Report(
        rows=[
            Row(
                row["axis"],
                row["evaluator"],
                _levels(row),
                row["rated"],
                row["missing"],
                Coverage(**row["coverage"]) if "coverage" in row else None,
            )
            for row in plain["rows"]
        ],
        ratings_from=plain["ratings_from"],
        plotted="",
        points={},
        ceilings={axis: _levels(found) for axis, found in plain["rater_ceiling"].items()},
        differences=[
            Difference(
                **{key: found[key] for key in ("axis", "first", "second", "pairs")},
                srcc={level: _agreement(found[level]["SRCC"]) for level in LEVELS},
            )
            for found in plain.get("differences", ())
        ],
        leaks=[Leaks(**found) for found in plain.get("leaks", ())],
        split=plain.get("split", ""),
        by=plain.get("by", ""),
        groups={name: of_json(group) for name, group in plain.get("groups", {}).items()},
        notes=plain.get("notes", ()),
    )


def _levels(found: Any) -> dict[str, dict[str, Agreement]]:
    return {
        level: {name: _agreement(value) for name, value in found[level].items()} for level in LEVELS
    }


def _agreement(found: Any) -> Agreement:
    reason = found.get("undefined", "no interval")
    value, interval = found["value"], found["interval"]
    return Agreement(
        Undefined(reason) if value is None else float(value),
        Undefined(reason) if interval is None else (interval[0], interval[1]),
        found["items"],
    )


def write(report: Report, folder: str | os.PathLike[str]) -> None:
    """agreement.json, agreement.md and agreement.png in `folder`; no plot of what has no points."""
    folder = Path(folder)
    write_text(folder / "agreement.json", json.dumps(to_json(report), indent=2) + "\n")
    write_text(folder / "agreement.md", to_markdown(report))
    if report.points:
        plot(report, folder / "agreement.png")

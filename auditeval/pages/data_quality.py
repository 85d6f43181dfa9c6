"""The page of data-quality metrics: one table, and what was left out of it."""

from __future__ import annotations

from pathlib import Path

from auditeval import reading
from auditeval.pages.page import Page
from auditeval.pages.rows import Rows
from auditeval.table import Cell, Column, Content, Table
from auditeval.text import counted
from auditeval.types import Undefined, UserError


def of_report(folder: Path) -> Page:
    """Of the folder of `auditeval metrics`; its rows are the pairs that were left out."""
    path = folder / "data_quality.json"
    plain = reading.json_file(path)
    try:
        metrics = plain["metrics"]
        columns = [
            Column(name, "higher" if metric["higher_is_better"] else "lower")
            for name, metric in metrics.items()
        ]
        contents: list[list[Content]] = []
        for row in plain["sets"]:
            cells = []
            for name in metrics:
                value = row["values"][name]
                number = Undefined(value["undefined"]) if value["value"] is None else value["value"]
                cells.append(Cell(number, value["interval"], f"N={value['pairs']}"))
            contents.append([row["name"], *cells])
        left_out = [(row["name"], pair) for row in plain["sets"] for pair in row["left_out"]]
        rows = Rows(
            [pair["id"] for _, pair in left_out],
            {
                "set": [name for name, _ in left_out],
                "status": ["left out"] * len(left_out),
                "reason": [pair["reason"] for _, pair in left_out],
            },
            listed=["set", "status", "reason"],
        )
        notes = [
            f"Brackets: 95 % jackknife over {plain['groups']} groups of sources; N: pairs.",
            *(f"{role}: {family}." for role, family in plain["families"].items()),
        ]
    except (LookupError, TypeError, AttributeError):
        raise UserError(f"{path}: is no report of `auditeval metrics`") from None
    table = Table(
        title="Data quality, edited against original",
        columns=[Column("set", label=True), *columns],
        rows=contents,
        notes=notes,
    )
    pairs = counted(len(rows), "pair", "pairs")
    said = [f"{pairs} could not be used: left out of all metrics."] if len(rows) else []
    return Page("Data quality", {}, {"Metrics": [table]}, rows, remarks=said)

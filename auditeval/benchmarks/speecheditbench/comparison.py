"""How often, and on what, the two protocols differ, from records that hold the verdicts of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from auditeval.benchmarks.benchmark import BenchmarkTable, Record
from auditeval.benchmarks.speecheditbench.rates import (
    JOINT,
    PRESERVATION,
    TARGET,
    rate,
)
from auditeval.table import Column, Content

Row: TypeAlias = dict[str, Content]

_VERDICTS = {TARGET: "target", PRESERVATION: "pres.", JOINT: "joint"}


def table(systems: Mapping[str, Sequence[Record]]) -> BenchmarkTable:
    """Of each system how many verdicts differ, and the rates by each protocol; then of each kind of
    edit on which one does."""
    rows: dict[str, Row] = {}
    for system, records in systems.items():
        rows[f"{system}, all"] = _row(records)
        for kind in dict.fromkeys(map(_kind, records)):
            row = _row([record for record in records if _kind(record) == kind])
            if any(row[f"{name} differs"] for name in _VERDICTS.values()):
                rows[f"{system}, {kind}"] = row
    differing = (f"{name} differs" for name in _VERDICTS.values())
    counts = ("samples", *differing, "unscored by ours")
    return BenchmarkTable.of(
        "speecheditbench_protocols",
        "SpeechEditBench, verdicts by the official protocol and by ours",
        (
            *(Column(name) for name in counts),
            *(Column(name, None, "%") for name in ("joint official", "joint ours")),
        ),
        rows,
        ("A verdict that one protocol does not give differs from one that the other gives.",),
    )


def _row(records: Sequence[Record]) -> Row:
    ours = [{**record, **record["ours"], "protocol": "ours"} for record in records]
    return {
        "samples": len(records),
        **{
            f"{name} differs": sum(
                record[verdict] is not other[verdict]
                for record, other in zip(records, ours, strict=True)
            )
            for verdict, name in _VERDICTS.items()
        },
        "unscored by ours": sum(record["status"] == "unscored" for record in ours),
        "joint official": rate(records, JOINT),
        "joint ours": rate(ours, JOINT),
    }


def _kind(record: Record) -> str:
    """The task, and of an atomic sample what was asked for."""
    if record["task"] in ("compositional", "speaker"):
        return str(record["task"])
    return f"{record['task']} {record['edits'][0]['edit']}"

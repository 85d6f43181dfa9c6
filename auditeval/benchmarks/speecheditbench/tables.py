"""The paper's Tables 2 to 6 and its Figure 3, from records of several systems."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from auditeval.benchmarks.benchmark import BenchmarkTable, Record, Value
from auditeval.benchmarks.provenance import title
from auditeval.benchmarks.speecheditbench.failures import FAILURES
from auditeval.benchmarks.speecheditbench.rates import (
    JOINT,
    PRESERVATION,
    TARGET,
    component_rate,
    of_task,
    rate,
    scored_rate,
)
from auditeval.benchmarks.speecheditbench.samples import TASKS
from auditeval.table import Column, Content, Direction
from auditeval.types import Undefined

Systems: TypeAlias = Mapping[str, Sequence[Record]]
Row: TypeAlias = dict[str, Content]

NON_CONTENT = ("emotion", "style", "prosody", "paralinguistic", "acoustic")
"""The atomic tasks of Tables 3 and 5: neither the words nor the speaker are to change."""

_ALL_COUNT = "Of all samples: an output that is missing, unreadable or unscored is no success."
_BENCHMARK = "SpeechEditBench"


def tables(systems: Systems, stand_ins: Sequence[str]) -> list[BenchmarkTable]:
    """In the paper's order; `stand_ins` are sentences on backends that are not the paper's."""

    def made(
        name: str,
        number: str,
        what: str,
        row: Callable[[Sequence[Record]], Row],
        notes: Sequence[str] = (),
        radar: Sequence[str] = (),
    ) -> BenchmarkTable:
        rows = {system: row(records) for system, records in systems.items()}
        columns = dict.fromkeys(column for cells in rows.values() for column in cells)
        return BenchmarkTable.of(
            f"speecheditbench_{name}",
            title(_BENCHMARK, number, what, stand_ins),
            tuple(Column(column, _better(column), "%") for column in columns),
            rows,
            (*notes, _ALL_COUNT, *stand_ins),
            radar=tuple(radar),
        )

    there = [task for task in TASKS if any(of_task(found, task) for found in systems.values())]
    return [
        made(
            "main",
            "Table 2",
            "joint success, target success in parentheses",
            _main,
            _MAIN_NOTES,
            [task for task in there if task != "speaker"],
        ),
        made("target", "Figure 3", "target success by task", _target, (), there),
        made("trade_off", "Table 3", "target success against preservation", _trade_off),
        made(
            "compositional",
            "Table 4",
            "compositional editing",
            _compositional,
            (
                "All: every component succeeds; Joint: and the words are as expected, which the "
                "code of release v1.1 does not ask of samples with a content component.",
            ),
        ),
        made(
            "language",
            "Table 5",
            "by language",
            _language,
            ("Preservation is the mean over the tasks; delta is zh - en.",),
        ),
        made(
            "emotion",
            "Table 6",
            "emotion editing by set",
            _emotion,
            ("Delta is challenging - standard.",),
        ),
        _coverage(systems),
        _failure_types(systems),
    ]


_MAIN_NOTES = (
    "In parentheses: target success, for compositional editing component success (CS). For "
    "content editing joint and target success are the same.",
)


def _better(column: str) -> Direction | None:
    return None if column.startswith("delta") else "higher"


def _main(records: Sequence[Record]) -> Row:
    row: Row = {}
    for task in TASKS:
        found = of_task(records, task)
        row[task] = rate(found, JOINT)
        if task == "compositional":
            row[f"({task})"] = component_rate(found)
        elif task != "content":
            row[f"({task})"] = rate(found, TARGET)
    return row


def _target(records: Sequence[Record]) -> Row:
    return {
        task: component_rate(found) if task == "compositional" else rate(found, TARGET)
        for task in TASKS
        for found in [of_task(records, task)]
    }


def _trade_off(records: Sequence[Record]) -> Row:
    names = {JOINT: "joint", TARGET: "target", PRESERVATION: "pres."}
    return {
        f"{task} {name}": rate(of_task(records, task), verdict)
        for task in NON_CONTENT
        for verdict, name in names.items()
    }


def _compositional(records: Sequence[Record]) -> Row:
    """By number of components; first without those that change the speaker, as the paper."""
    row: Row = {}
    for which, with_speaker in (("", False), (" with speaker", True)):
        for count in (2, 3):
            found = [
                record
                for record in of_task(records, "compositional")
                if len(record["edits"]) == count
                and any(edit["type"] == "speaker" for edit in record["edits"]) == with_speaker
            ]
            row[f"{count}-component{which} comp."] = component_rate(found)
            row[f"{count}-component{which} all"] = rate(found, TARGET)
            row[f"{count}-component{which} joint"] = rate(found, JOINT)
    return row


def _language(records: Sequence[Record]) -> Row:
    by_language = {
        language: [record for record in records if record["language"] == language]
        for language in ("en", "zh")
    }
    row: Row = {}
    kept = {
        name: {language: measure(found) for language, found in by_language.items()}
        for name, measure in (
            ("content target", lambda found: rate(of_task(found, "content"), TARGET)),
            ("preservation", _preserved_by_task),
        )
    }
    for name, rates in kept.items():
        row |= {f"{name} {language}": value for language, value in rates.items()}
        row[f"delta {name}"] = _difference(rates["zh"], rates["en"])
    return row


def _preserved_by_task(records: Sequence[Record]) -> Value:
    """Mean of the rates of the non-content tasks that are there."""
    rates = [
        value
        for task in NON_CONTENT
        if not isinstance(value := rate(of_task(records, task), PRESERVATION), Undefined)
    ]
    return sum(rates) / len(rates) if rates else Undefined("there is no such sample")


def _emotion(records: Sequence[Record]) -> Row:
    row: Row = {}
    for verdict, name in ((TARGET, "target"), (JOINT, "joint")):
        rates = {
            subset: rate([r for r in of_task(records, "emotion") if r["subset"] == subset], verdict)
            for subset in ("standard", "challenging")
        }
        row |= {f"{name} {subset}": value for subset, value in rates.items()}
        row[f"delta {name}"] = _difference(rates["challenging"], rates["standard"])
    return row


def _difference(minuend: Value, subtrahend: Value) -> Value:
    if isinstance(minuend, Undefined):
        return minuend
    return subtrahend if isinstance(subtrahend, Undefined) else minuend - subtrahend


def _coverage(systems: Systems) -> BenchmarkTable:
    rows: dict[str, Row] = {}
    for system, records in systems.items():
        for task in TASKS:
            if found := of_task(records, task):
                statuses = [record["status"] for record in found]
                rows[f"{system}, {task}"] = {
                    "samples": len(found),
                    "missing or unreadable": statuses.count("failed"),
                    "unscored": statuses.count("unscored"),
                    "joint": rate(found, JOINT),
                    "joint of scored": scored_rate(found, JOINT),
                    "target of scored": scored_rate(found, TARGET),
                }
    counts = ("samples", "missing or unreadable", "unscored")
    shares = ("joint", "joint of scored", "target of scored")
    return BenchmarkTable.of(
        "speecheditbench_coverage",
        "SpeechEditBench, coverage, and rates with and without what was not scored",
        (*(Column(name) for name in counts), *(Column(name, None, "%") for name in shares)),
        rows,
    )


def _failure_types(systems: Systems) -> BenchmarkTable:
    rows: dict[str, Row] = {
        system: {
            failure: sum(record["failure"] == failure for record in records) for failure in FAILURES
        }
        for system, records in systems.items()
    }
    return BenchmarkTable.of(
        "speecheditbench_failures",
        "SpeechEditBench, samples by type of failure (Appendix G)",
        tuple(Column(failure, "lower") for failure in FAILURES),
        rows,
        ("A content edit that is there while other words drifted is counted here, and succeeds.",),
    )

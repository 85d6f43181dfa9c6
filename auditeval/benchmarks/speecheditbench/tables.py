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
    Rates,
    of_task,
    scored_rate,
)
from auditeval.benchmarks.speecheditbench.samples import TASKS, Task
from auditeval.table import Column, Content, Direction
from auditeval.types import Undefined

Systems: TypeAlias = Mapping[str, Sequence[Record]]
Row: TypeAlias = dict[str, Content]

NON_CONTENT = ("emotion", "style", "prosody", "paralinguistic", "acoustic")
"""The atomic tasks of Tables 3 and 5: neither the words nor the speaker are to change."""

_COUNTED = {
    "official": "Of what has a verdict, as the released code counts: an output that is missing "
    "counts in the coverage alone, and so does an error outside of content, emotion, style and "
    "paralinguistic editing.",
    "ours": "Of all samples: an output that is missing, unreadable or unscored is no success.",
}
_BENCHMARK = "SpeechEditBench"


def tables(
    systems: Systems,
    stand_ins: Sequence[str],
    judged: bool = True,
    protocol: str = "official",
) -> list[BenchmarkTable]:
    """In the paper's order, then what each task is broken down by; `stand_ins` are sentences on
    what is not as in the paper, `judged` says whether there is a judge."""
    stand_ins = [*stand_ins, *_read(systems)]
    known = {name: Rates(records, judged) for name, records in systems.items()}

    def made(
        name: str,
        number: str,
        what: str,
        row: Callable[[Rates], Row],
        notes: Sequence[str] = (),
        radar: Sequence[str] = (),
    ) -> BenchmarkTable:
        rows = {name: row(system) for name, system in known.items()}
        columns = dict.fromkeys(column for cells in rows.values() for column in cells)
        return BenchmarkTable.of(
            f"speecheditbench_{name}",
            title(_BENCHMARK, number, what, stand_ins, protocol),
            tuple(Column(column, _better(column), "%") for column in columns),
            rows,
            (*notes, _COUNTED[protocol], *stand_ins),
            radar=tuple(radar),
        )

    # Figure 3 has the atomic tasks but speaker editing.
    radar = [
        task
        for task in TASKS
        if task not in ("speaker", "compositional")
        and any(s.untested(task, TARGET) is None for s in known.values())
    ]
    return [
        made(
            "main",
            "Table 2",
            "joint success, target success in parentheses",
            _main,
            _MAIN_NOTES,
            radar,
        ),
        made("target", "Figure 3", "target success by task", _target, (), radar),
        made("trade_off", "Table 3", "target success against preservation", _trade_off),
        made(
            "compositional",
            "Table 4",
            "compositional editing",
            _compositional,
            (
                "All: every component succeeds; Joint: and the words are as expected, which the "
                "official protocol does not ask of samples with a content component.",
            ),
        ),
        made(
            "language",
            "Table 5",
            "by language",
            _language,
            ("Preservation is the mean over the tasks; delta is zh - en, of tasks in both.",),
        ),
        made(
            "emotion",
            "Table 6",
            "emotion editing by set",
            _emotion,
            ("Delta is challenging - standard.",),
        ),
        *_broken_down(known, stand_ins, protocol),
        _coverage(systems, known),
        _failure_types(systems),
    ]


def _read(systems: Systems) -> list[str]:
    """A sentence for each system whose verdicts were read from result files."""
    sentences = []
    for name, records in systems.items():
        if sources := dict.fromkeys(r["verdicts_of"] for r in records if "verdicts_of" in r):
            said = "; ".join(filter(None, sources))
            which = f" ({said})" if said else ""
            sentences.append(f"{name}: verdicts are those of its result files{which}")
    return sentences


_MAIN_NOTES = (
    "In parentheses: target success, for compositional editing component success (CS). For "
    "content editing joint and target success are the same.",
)


def _better(column: str) -> Direction | None:
    return None if column.startswith("delta") else "higher"


def _main(system: Rates) -> Row:
    row: Row = {}
    for task in TASKS:
        row[task] = system.rate(task, JOINT)
        if task != "content":
            row[f"({task})"] = system.in_parentheses(task)
    return row


def _target(system: Rates) -> Row:
    return {task: system.in_parentheses(task) for task in TASKS}


def _trade_off(system: Rates) -> Row:
    names = {JOINT: "joint", TARGET: "target", PRESERVATION: "pres."}
    return {
        f"{task} {name}": system.rate(task, verdict)
        for task in NON_CONTENT
        for verdict, name in names.items()
    }


def _compositional(system: Rates) -> Row:
    """By number of components; first without those that change the speaker, as the paper."""
    task = "compositional"
    row: Row = {}
    for which, with_speaker in (("", False), (" with speaker", True)):
        for count in (2, 3):

            def keep(record: Record, count: int = count, with_speaker: bool = with_speaker) -> bool:
                types = [edit["type"] for edit in record["edits"]]
                return len(types) == count and ("speaker" in types) == with_speaker

            row[f"{count}-component{which} comp."] = system.in_parentheses(task, keep)
            row[f"{count}-component{which} all"] = system.rate(task, TARGET, keep)
            row[f"{count}-component{which} joint"] = system.rate(task, JOINT, keep)
    return row


def _having(key: str, value: str) -> Callable[[Record], bool]:
    return lambda record: record[key] == value


def _language(system: Rates) -> Row:
    row: Row = {}
    content = {x: system.rate("content", TARGET, _having("language", x)) for x in ("en", "zh")}
    row |= {f"content target {language}": value for language, value in content.items()}
    row["delta content target"] = _difference(content["zh"], content["en"])
    by_task = {language: _preserved(system, language) for language in ("en", "zh")}
    for language, rates in by_task.items():
        row[f"preservation {language}"] = _mean(list(rates.values()), "there is no such sample")
    differences = [
        by_task["zh"][task] - en for task, en in by_task["en"].items() if task in by_task["zh"]
    ]
    row["delta preservation"] = _mean(differences, "no task has both languages")
    return row


def _preserved(system: Rates, language: str) -> dict[str, float]:
    """The rates of the non-content tasks that are there."""
    rates = {
        task: system.rate(task, PRESERVATION, _having("language", language)) for task in NON_CONTENT
    }
    return {task: rate for task, rate in rates.items() if not isinstance(rate, Undefined)}


def _mean(values: Sequence[float], otherwise: str) -> Value:
    return sum(values) / len(values) if values else Undefined(otherwise)


def _emotion(system: Rates) -> Row:
    row: Row = {}
    for verdict, name in ((TARGET, "target"), (JOINT, "joint")):
        rates = {
            subset: system.rate("emotion", verdict, _having("subset", subset))
            for subset in ("standard", "challenging")
        }
        row |= {f"{name} {subset}": value for subset, value in rates.items()}
        row[f"delta {name}"] = _difference(rates["challenging"], rates["standard"])
    return row


def _difference(minuend: Value, subtrahend: Value) -> Value:
    if isinstance(minuend, Undefined):
        return minuend
    return subtrahend if isinstance(subtrahend, Undefined) else minuend - subtrahend


def _broken_down(
    known: Mapping[str, Rates], stand_ins: Sequence[str], protocol: str
) -> list[BenchmarkTable]:
    """A table for each kind of `Sample.groups` that the samples have, by name."""
    made = []
    records = [record for system in known.values() for record in system.records]
    for kind, (task, what) in _KINDS.items():
        of_kind = [record for record in records if kind in record["groups"]]
        rows: dict[str, Row] = {name: {} for name in known}
        for group in sorted({record["groups"][kind] for record in of_kind}):

            def keep(record: Record, kind: str = kind, group: str = group) -> bool:
                return bool(record["groups"].get(kind) == group)

            for name, system in known.items():
                rows[name][group] = system.rate(task, JOINT, keep)
                if task != "content":
                    rows[name][f"({group})"] = system.in_parentheses(task, keep)
        columns = dict.fromkeys(column for row in rows.values() for column in row)
        if columns:
            made.append(
                BenchmarkTable.of(
                    f"speecheditbench_by_{kind}",
                    f"{_BENCHMARK}, {protocol} protocol, {what}: joint success, "
                    f"{_IN_PARENTHESES[task]}",
                    tuple(Column(column, "higher", "%") for column in columns),
                    rows,
                    (_COUNTED[protocol], *stand_ins),
                )
            )
    return made


_KINDS: Mapping[str, tuple[Task, str]] = {
    "content": ("content", "content editing by operation"),
    "emotion": ("emotion", "emotion editing by target"),
    "style": ("style", "style editing by target"),
    "prosody": ("prosody", "prosody editing by kind"),
    "event": ("paralinguistic", "paralinguistic editing by event"),
    "operation": ("paralinguistic", "paralinguistic editing by operation"),
    "acoustic": ("acoustic", "acoustic editing by kind"),
    "combination": ("compositional", "compositional editing by combination"),
    "difficulty": ("compositional", "compositional editing by difficulty"),
}
_IN_PARENTHESES: Mapping[Task, str] = {
    **dict.fromkeys(TASKS, "target success in parentheses"),
    "content": "which is target success",
    "compositional": "component success in parentheses",
}


def _coverage(systems: Systems, known: Mapping[str, Rates]) -> BenchmarkTable:
    rows: dict[str, Row] = {}
    for system, records in systems.items():
        for task in TASKS:
            if found := of_task(records, task):
                statuses = [record["status"] for record in found]
                rows[f"{system}, {task}"] = {
                    "samples": len(found),
                    "missing or unreadable": statuses.count("failed"),
                    "unscored": statuses.count("unscored"),
                    "joint": known[system].rate(task, JOINT),
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

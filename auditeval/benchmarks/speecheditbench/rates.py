"""Success rates over records: over all samples, and over those that were scored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from auditeval.benchmarks.benchmark import Record, Value
from auditeval.benchmarks.speecheditbench import failures
from auditeval.benchmarks.speecheditbench.samples import TASKS
from auditeval.types import Undefined

TARGET, PRESERVATION, JOINT = "target_success", "preservation_success", "joint_success"
JUDGED = ("emotion", "style", "paralinguistic")
"""Kinds of edits whose success is for a judge to say."""

_NONE = Undefined("there is no such sample")
_NO_VERDICT = Undefined("no output has a verdict")


class NotTested(Undefined):
    """Of a task nothing was chosen, or nothing was made: the paper prints N/T."""

    mark = "N/T"


class NotJudged(Undefined):
    """Of a task nobody could say whether an edit succeeded."""

    mark = "no judge"


class Rates(NamedTuple):
    """What is known of one system. Of a task that was not tested no rate is defined; `judged` says
    whether there is a judge, without whom some tasks have no verdict at all."""

    records: Sequence[Record]
    judged: bool = True

    def untested(self, task: str, verdict: str) -> Undefined | None:
        """Why a task has no rate; a task of which only some outputs lack a verdict has one, and so
        has one whose outputs a judge was asked about who answered nothing."""
        found = of_task(self.records, task)
        if not found:
            return NotTested("no sample of it was chosen")
        there = [record for record in found if record["failure"] != failures.MISSING]
        if not there:
            return NotTested("there is no output of it")
        said_by = PRESERVATION if verdict == PRESERVATION else TARGET
        if all(record[said_by] is None for record in there):
            kinds = {edit["type"] for record in there for edit in record["edits"]}
            if verdict == PRESERVATION or kinds.isdisjoint(JUDGED):  # a model is what lacks
                return Undefined(there[0].get("reason") or _NO_VERDICT.reason)
            if not self.judged:
                return NotJudged("whether its edits succeed is for a judge to say")
        return None

    def rate(
        self, task: str, verdict: str, keep: Callable[[Record], bool] = lambda record: True
    ) -> Value:
        """`rate` of a task's samples, of which some may be kept only."""
        found = list(filter(keep, of_task(self.records, task)))
        return self.untested(task, verdict) or rate(found, verdict)

    def in_parentheses(
        self, task: str, keep: Callable[[Record], bool] = lambda record: True
    ) -> Value:
        """What Table 2 has in parentheses: target success, or CS of compositional editing."""
        if task != "compositional":
            return self.rate(task, TARGET, keep)
        found = list(filter(keep, of_task(self.records, task)))
        return self.untested(task, TARGET) or component_rate(found)


def of_task(records: Sequence[Record], task: str) -> list[Record]:
    return [record for record in records if record["task"] == task]


def counts(record: Record, verdict: bool | None) -> bool:
    """Whether a verdict enters its rate. The released code leaves out what has none; by our rules
    that is no success."""
    return verdict is not None or record.get("protocol") != "official"


def rate(records: Sequence[Record], verdict: str) -> Value:
    """Share of samples that succeeded, among those that count."""
    found = [record[verdict] for record in records if counts(record, record[verdict])]
    return _share([success is True for success in found], _NO_VERDICT if records else _NONE)


def scored_rate(records: Sequence[Record], verdict: str) -> Value:
    """Share among the outputs that are there and that somebody could give a verdict on."""
    there = [record[verdict] for record in records if record["status"] != "failed"]
    return _share([found for found in there if found is not None])


def component_rate(records: Sequence[Record]) -> Value:
    """CS of Appendix F: successful components among all components, that count, of all samples."""
    found = [
        edit["success"]
        for record in records
        for edit in record["edits"]
        if counts(record, edit["success"])
    ]
    return _share([success is True for success in found], _NO_VERDICT if records else _NONE)


def scored_component_rate(records: Sequence[Record]) -> Value:
    """CS among the components of outputs that are there that somebody could give a verdict on."""
    there = [record for record in records if record["status"] != "failed"]
    found = [edit["success"] for record in there for edit in record["edits"]]
    return _share([success for success in found if success is not None])


def mean(records: Sequence[Record], name: str) -> Value:
    """Mean of a value of the records that have it."""
    found: list[Any] = [record.get(name) for record in records]
    numbers = [float(value) for value in found if value is not None]
    return sum(numbers) / len(numbers) if numbers else Undefined(f"no output has {name}")


def values(records: Sequence[Record], judged: bool = True) -> dict[str, Value]:
    """By task that is there, and `overall` over all samples: each rate, `_scored_only` too.

    Undefined where a task was not tested or, without a judge, cannot be (`Rates.untested`).
    `coverage` is the share of outputs that could be read, `scored` that with every verdict.
    Content editing has no preservation of its own (E.1), so `overall` leaves it out of that.
    """
    found: dict[str, Value] = {}
    groups: dict[str, Sequence[Record]] = {task: of_task(records, task) for task in TASKS}
    groups["overall"] = records
    system = Rates(records, judged)
    for task, group in groups.items():
        if not group:
            continue
        for verdict in (TARGET, PRESERVATION, JOINT):
            gated = [r for r in group if verdict != PRESERVATION or r["task"] != "content"]
            if gated:
                whole = rate(gated, verdict) if task == "overall" else system.rate(task, verdict)
                found[f"{task}/{verdict}"] = whole
                found[f"{task}/{verdict}_scored_only"] = scored_rate(gated, verdict)
        if task == "compositional":
            found[f"{task}/component_success"] = system.in_parentheses(task)
            found[f"{task}/component_success_scored_only"] = scored_component_rate(group)
        found[f"{task}/coverage"] = _share([r["status"] != "failed" for r in group])
        found[f"{task}/scored"] = _share([r["status"] == "ok" for r in group])
        for name in ("error_rate", "exact_match", "source_similarity"):
            found[f"{task}/{name}"] = mean(group, name)
    return found


def _share(successes: Sequence[bool], none: Undefined = _NONE) -> Value:
    return sum(successes) / len(successes) if successes else none

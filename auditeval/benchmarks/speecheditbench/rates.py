"""Success rates over records: over all samples, and over those that were scored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from auditeval.benchmarks.benchmark import Record, Value
from auditeval.benchmarks.speecheditbench.samples import TASKS
from auditeval.types import Undefined

TARGET, PRESERVATION, JOINT = "target_success", "preservation_success", "joint_success"

_NONE = Undefined("there is no such sample")


def of_task(records: Sequence[Record], task: str) -> list[Record]:
    return [record for record in records if record["task"] == task]


def rate(records: Sequence[Record], verdict: str) -> Value:
    """Share of samples that succeeded; what is missing or unscored did not."""
    return _share([record[verdict] is True for record in records])


def scored_rate(records: Sequence[Record], verdict: str) -> Value:
    """Share among the outputs that are there and that somebody could give a verdict on."""
    there = [record[verdict] for record in records if record["status"] != "failed"]
    return _share([found for found in there if found is not None])


def component_rate(records: Sequence[Record]) -> Value:
    """CS of Appendix F: successful components among all components of all samples."""
    return _share([edit["success"] is True for record in records for edit in record["edits"]])


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


def values(records: Sequence[Record]) -> dict[str, Value]:
    """By task that is there, and `overall` over all samples: each rate, `_scored_only` too.

    `coverage` is the share of outputs that could be read, `scored` that with every verdict.
    Content editing has no preservation of its own (E.1), so `overall` leaves it out of that.
    """
    found: dict[str, Value] = {}
    groups: dict[str, Sequence[Record]] = {task: of_task(records, task) for task in TASKS}
    groups["overall"] = records
    for task, group in groups.items():
        if not group:
            continue
        for verdict in (TARGET, PRESERVATION, JOINT):
            gated = [r for r in group if verdict != PRESERVATION or r["task"] != "content"]
            if gated:
                found[f"{task}/{verdict}"] = rate(gated, verdict)
                found[f"{task}/{verdict}_scored_only"] = scored_rate(gated, verdict)
        if task == "compositional":
            found[f"{task}/component_success"] = component_rate(group)
            found[f"{task}/component_success_scored_only"] = scored_component_rate(group)
        found[f"{task}/coverage"] = _share([r["status"] != "failed" for r in group])
        found[f"{task}/scored"] = _share([r["status"] == "ok" for r in group])
        for name in ("error_rate", "exact_match", "source_similarity"):
            found[f"{task}/{name}"] = mean(group, name)
    return found


def _share(successes: Sequence[bool]) -> Value:
    return sum(successes) / len(successes) if successes else _NONE

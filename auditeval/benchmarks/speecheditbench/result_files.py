"""Result files as the released code writes them (commit 1ac1ab89, eval/tasks/*.py).

What is not measured here (UTMOS, preserved speakers) is null. There is no `runs/` of earlier runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from auditeval.benchmarks.benchmark import Record
from auditeval.benchmarks.speecheditbench import failures
from auditeval.benchmarks.speecheditbench.anchors import EmotionAnchor, StyleAnchor
from auditeval.benchmarks.speecheditbench.results import LATEST
from auditeval.benchmarks.speecheditbench.samples import TASKS, Sample, Task, taxonomy
from auditeval.version import __version__

THRESHOLD = 0.10
"""Most error of words that are preserved (E.2)."""

_GROUPS: Mapping[Task, Mapping[str, str]] = {
    "content": {"edit_type": "edit_type"},
    "speaker": {},
    "emotion": {
        "subset": "subset",
        "target_emotion": "target_emotion",
        "source_emotion": "source_emotion",
        "emotion_taxonomy": "emotion_taxonomy",
    },
    "style": {
        "subset": "subset",
        "target_style": "target_style",
        "source_style": "source_style",
    },
    "prosody": {"prosody_type": "prosody_type"},
    "paralinguistic": {"operation": "operation", "event": "target_event"},
    "acoustic": {"subtask": "subtask", "env_type": "env_type", "env_subtype": "env_subtype"},
    "compositional": {"difficulty": "difficulty", "combo_type": "combo_type"},
}
_AVERAGES: Mapping[Task, Mapping[str, str]] = {
    "content": {"avg_wer": "wer", "avg_cer": "cer"},
    "speaker": {"avg_speaker_similarity": "speaker_similarity"},
    "emotion": {},
    "style": {},
    "prosody": {"avg_duration_ratio": "duration_ratio", "avg_f0_semitone_shift": "shift_semitone"},
    "paralinguistic": {},
    "acoustic": {
        **{f"avg_dnsmos_{scale}": f"dnsmos_{scale}" for scale in ("sig", "bak", "ovrl")},
        **{f"avg_dnsmos_{scale}_gain": f"dnsmos_{scale}_gain" for scale in ("sig", "bak", "ovrl")},
        "avg_pesq": "pesq",
        "avg_stoi": "stoi",
        "avg_rt60": "rt60_measured",
        "avg_target_scene_score": "target_scene_score",
    },
    "compositional": {"avg_sample_component_success_rate": "component_success_rate"},
}


def result_files(
    model: str, samples: Sequence[Sample], records: Sequence[Record], eval_set: str, run_id: str
) -> dict[str, Any]:
    """JSON by path beneath eval_results/<model>: latest.json of each task that was tested, and
    aggregate_summary.json, which lies with the task where there is but one."""
    files: dict[str, Any] = {}
    tasks: dict[str, Any] = {}
    skipped: dict[str, str] = {}
    named = {"model_name": model, "eval_set": eval_set, "dataset_version": "unknown"}
    named["evaluator_version"] = f"auditeval {__version__}"
    for task in TASKS:
        pairs = [
            (sample, record)
            for sample, record in zip(samples, records, strict=True)
            if sample.row.task == task
        ]
        there = [pair for pair in pairs if pair[1]["failure"] != failures.MISSING]
        task_id = f"{task}_editing"
        if not there:
            if pairs:
                skipped[task_id] = "there is no output of it"
            continue
        details = [_detail(sample, record) for sample, record in there]
        missing = [sample.id for sample, record in pairs if record["failure"] == failures.MISSING]
        summary = _summary(task, details, missing)
        path = f"{task_id}/{eval_set}/{LATEST}"
        files[path] = {
            "summary": summary,
            "details": details,
            "missing_outputs": missing,
            "metadata": {**named, "task_id": task_id, "samples_file": None},
        }
        errors = Counter(detail["error"] for detail in details if detail["error"])
        tasks[task_id] = {
            "status": "ok",
            "summary": summary,
            "error_stats": {
                "error_count": errors.total(),
                "top_errors": [{"message": e, "count": n} for e, n in errors.most_common(3)],
            },
            **named,
            "result_file": path,
            "latest_file": path,
            "validation_errors": [],
        }
    where = f"{next(iter(tasks))}/{eval_set}" if len(tasks) == 1 else f"aggregate/{eval_set}"
    files[f"{where}/aggregate_summary.json"] = {
        "run_id": run_id,
        "result_layout": "model_task_eval_set_latest_runs",
        "selected_tasks": [*tasks, *skipped],
        "model_name": model,
        "eval_sets": dict.fromkeys(tasks, eval_set),
        "tasks": tasks,
        "skipped": skipped,
        "validation_errors": {},
        "evaluator_version": named["evaluator_version"],
        "status": "ok",
        "failed_status_tasks": {},
        "dataset_versions": dict.fromkeys(tasks, "unknown"),
    }
    return files


def _detail(sample: Sample, record: Record) -> dict[str, Any]:
    row = sample.row
    error, other = record.get("error_rate"), record.get("character_error_rate")
    chinese = row.language == "zh"
    gated = row.task != "content" and error is not None
    lacking = record["reason"] if record["status"] != "ok" else None
    detail: dict[str, Any] = {
        "sample_id": sample.id,
        "language": row.language,
        "source_dataset": row.source_dataset or "unknown",
        "subset": row.subset or "unknown",
        "transcript_target": sample.expected_transcript,
        "transcript_predicted": record.get("transcript"),
        "wer": None if chinese else _rounded(error),
        "cer": _rounded(error if chinese else other),
        "utmos": None,
        "source_output_speaker_similarity": _rounded(record.get("source_similarity")),
        "joint_success": record["joint_success"],
        "error": lacking or None,
    }
    if row.task == "compositional":
        return detail | _composed(sample, record)
    detail |= {
        "target_success": record["target_success"],
        "content_preservation_metric": ("cer" if chinese else "wer") if gated else None,
        "content_preservation_error": _rounded(error) if gated else None,
        "content_preservation_threshold": THRESHOLD if gated else None,
        "content_preservation_pass": record["preservation_success"],
    }
    return detail | _of_task(sample, record["edits"][0], record)


def _composed(sample: Sample, record: Record) -> dict[str, Any]:
    successes = [edit["success"] for edit in record["edits"]]
    checked = all(edit["type"] != "content" for edit in record["edits"])
    preserved = record["preservation_success"] if checked else None
    return {
        "difficulty": sample.groups["difficulty"],
        "combo_type": sample.groups["combination"],
        "component_results": [
            {
                "component_type": edit["type"],
                "success": edit["success"],
                "target_success": edit["success"],
            }
            for edit in record["edits"]
        ],
        "preservation_results": [{"preservation_type": "content", "success": preserved}]
        if checked
        else [],
        "component_success_rate": _rate(successes),
        "preservation_success": preserved,
    }


def _of_task(sample: Sample, edit: Mapping[str, Any], record: Record) -> dict[str, Any]:
    """What only this task has; `edit` is what was found of it."""
    anchor, success = sample.edits[0].anchor, record["target_success"]
    if anchor.type == "content":
        told = {"edit_success": success, "edit_success_reason": edit.get("reason") or None}
        return {"edit_type": anchor.edit_type, "exact_match": record.get("exact_match"), **told}
    if anchor.type == "speaker":
        return {"speaker_similarity": _rounded(edit.get("reference_similarity"))}
    if isinstance(anchor, EmotionAnchor):
        return {
            "source_emotion": anchor.source_emotion or "unknown",
            "target_emotion": anchor.target_emotion,
            "emotion_taxonomy": taxonomy(sample.row, anchor),
            "predicted_emotion": edit.get("predicted_emotion"),
            "correct": success,
        }
    if isinstance(anchor, StyleAnchor):
        told = {name: edit.get(name) for name in ("target_style_score", "target_style_success")}
        styles = {"source_style": anchor.source_style or "unknown", "correct": success}
        return {**styles, "target_style": anchor.target_style, **told}
    if anchor.type == "prosody":
        return {
            "prosody_type": anchor.prosody_type,
            "direction": anchor.direction,
            "stress_words": list(anchor.stress_words),
            "passed": success,
            "duration_ratio": _rounded(edit.get("duration_ratio")),
            "shift_semitone": _rounded(edit.get("f0_shift_semitones")),
        }
    if anchor.type == "paralinguistic":
        scores = edit.get("event_scores") or {}
        score = edit.get("event_score", scores.get(anchor.event))
        told = {"operation": anchor.operation, "target_event": anchor.event}
        return {**told, "predicted_score": score, "correct": success}
    after, before = edit.get("dnsmos") or {}, edit.get("source_dnsmos") or {}
    gains = {name: value - before[name] for name, value in after.items() if name in before}
    scales = ("SIG", "BAK", "OVRL")
    return {
        "subtask": anchor.subtask,
        "env_type": anchor.env_type,
        "env_subtype": anchor.env_subtype,
        "passed": success,
        **{f"dnsmos_{scale.lower()}": _rounded(after.get(scale)) for scale in scales},
        **{f"dnsmos_{scale.lower()}_gain": _rounded(gains.get(scale)) for scale in scales},
        "pesq": _rounded(record.get("pesq")),
        "stoi": _rounded(record.get("stoi")),
        "rt60_measured": _rounded(edit.get("rt60")),
        "target_scene_score": _rounded((edit.get("scene_scores") or {}).get(anchor.env_subtype)),
    }


def _summary(task: Task, details: Sequence[Mapping[str, Any]], missing: Sequence[str]) -> Any:
    total = len(details) + len(missing)
    kinds = {"dataset": "source_dataset", "language": "language", **_GROUPS[task]}
    by_kind: dict[str, Any] = {}
    for kind, key in kinds.items():
        groups = sorted({detail[key] for detail in details if detail[key] is not None})
        by_kind[f"by_{kind}"] = {
            group: _stats(task, [detail for detail in details if detail[key] == group])
            for group in groups
        }
    overall = {
        **_stats(task, details),
        "total": total,
        "outputs_evaluated": len(details),
        "missing_outputs": len(missing),
        "coverage": round(len(details) / total, 4),
        "error_count": sum(bool(detail["error"]) for detail in details),
    }
    return {"overall": overall, **by_kind}


def _stats(task: Task, details: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    def values(key: str) -> list[Any]:
        return [detail.get(key) for detail in details]

    found = {
        "total": len(details),
        "joint_success_rate": _rate(values("joint_success")),
        "avg_utmos": None,
        "avg_source_output_speaker_similarity": _mean(values("source_output_speaker_similarity")),
        **{name: _mean(values(key)) for name, key in _AVERAGES[task].items()},
    }
    if task == "compositional":
        results = [part["success"] for parts in values("component_results") for part in parts]
        preserved = _rate(values("preservation_success"))
        return {
            **found,
            "component_success_rate": _rate(results),
            "preservation_success_rate": preserved,
        }
    found |= {
        "target_success_rate": _rate(values("target_success")),
        "content_preservation_pass_rate": _rate(values("content_preservation_pass")),
        "avg_content_preservation_error": _mean(values("content_preservation_error")),
    }
    correct = sum(success is True for success in values("target_success"))
    if task == "content":
        exact = sum(match is True for match in values("exact_match"))
        rates = {"exact_match_rate": exact, "edit_success_rate": correct}
        shares = {name: round(count / len(details), 4) for name, count in rates.items()}
        return {**found, **shares, "exact_match_count": exact, "edit_success_count": correct}
    if task in ("emotion", "style", "paralinguistic"):
        return {**found, "accuracy": round(correct / len(details), 4), "correct": correct}
    if task in ("prosody", "acoustic"):
        known = [detail for detail in details if detail["target_success"] is not None]
        passed = _rate([detail["joint_success"] for detail in known])
        return {**found, "evaluated": len(known), "pass_rate": passed}
    return found


def _rounded(value: Any) -> float | None:
    return None if value is None else round(float(value), 4)


def _mean(values: Sequence[Any]) -> float | None:
    known = [float(value) for value in values if value is not None]
    return _rounded(sum(known) / len(known)) if known else None


def _rate(values: Sequence[bool | None]) -> float | None:
    return _mean([None if value is None else value is True for value in values])

"""Result files as the released code writes them (commit 1ac1ab89, eval/tasks/*.py).

They have its keys; what is not measured here is null. There is no `runs/` of earlier runs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from auditeval.benchmarks.benchmark import Record
from auditeval.benchmarks.speecheditbench import failures
from auditeval.benchmarks.speecheditbench.result_details import detail
from auditeval.benchmarks.speecheditbench.result_edits import average
from auditeval.benchmarks.speecheditbench.results import LATEST
from auditeval.benchmarks.speecheditbench.samples import TASKS, Sample, Task
from auditeval.version import __version__

_GROUPS: Mapping[Task, tuple[str, ...]] = {
    "content": ("edit_type", "dataset", "language"),
    "speaker": ("language", "dataset", "target_speaker"),
    # There, rows without an error have no language, and are all in one group "unknown".
    "emotion": (
        *("dataset", "subset", "target_emotion", "source_emotion"),
        *("language", "emotion_taxonomy"),
    ),
    "style": ("dataset", "subset", "target_style", "source_style", "language"),
    "prosody": ("prosody_type", "language", "dataset"),
    "paralinguistic": ("operation", "event", "operation_event", "dataset", "language"),
    "acoustic": ("subtask", "degradation_type", "env_type", "env_subtype", "language", "dataset"),
    "compositional": ("difficulty", "combo_type", "language", "combo_language"),
}
_NAMES = {
    "dataset": "{source_dataset}",
    "event": "{target_event}",
    "operation_event": "{operation}/{target_event}",
    "combo_language": "{combo_type}::{language}",
}
"""What names the group of a row, where it is not the key itself; without a name it is in none."""

_EVERY = {"joint_success_rate": "joint_success", "avg_utmos": "utmos"}
_ATOMIC = {
    **_EVERY,
    "target_success_rate": "target_success",
    "content_preservation_pass_rate": "content_preservation_pass",
    "avg_content_preservation_error": "content_preservation_error",
}
_SIMILARITY = {"avg_source_output_speaker_similarity": "source_output_speaker_similarity"}
_JUDGED = {**_ATOMIC, **_SIMILARITY, "accuracy": "correct"}
_DNSMOS = [f"dnsmos_{scale}{gain}" for gain in ("", "_gain") for scale in ("sig", "bak", "ovrl")]
_AVERAGES: Mapping[Task, Mapping[str, str]] = {
    "content": {
        **_ATOMIC,
        **_SIMILARITY,
        "exact_match_rate": "exact_match",
        "edit_success_rate": "edit_success",
        "avg_wer": "wer",
        "avg_cer": "cer",
    },
    "speaker": {
        **_ATOMIC,
        "avg_speaker_similarity": "speaker_similarity",
        "avg_en_wer": "wer",
        "avg_zh_cer": "cer",
    },
    "emotion": _JUDGED,
    "style": _JUDGED,
    "prosody": {
        **_ATOMIC,
        **_SIMILARITY,
        "pass_rate": "joint_success",
        "direction_accuracy": "passed",
        "avg_duration_ratio": "duration_ratio",
        "avg_f0_semitone_shift": "shift_semitone",
        "avg_rpg": "rpg",
    },
    "paralinguistic": _JUDGED,
    "acoustic": {
        **_ATOMIC,
        **_SIMILARITY,
        "pass_rate": "joint_success",
        **{f"avg_{name}": name for name in (*_DNSMOS, "pesq", "stoi", "pesq_gain", "stoi_gain")},
        "avg_rt60": "rt60_measured",
        "avg_target_scene_score": "target_scene_score",
    },
    "compositional": {
        **_EVERY,
        **_SIMILARITY,
        "component_success_rate": "component_results",
        "preservation_success_rate": "preservation_success",
        "avg_sample_component_success_rate": "component_success_rate",
    },
}
"""The mean of which values, those that are null left out; of components that of their successes."""

_AMONG: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "avg_en_wer": ("language", ("en",)),
    "avg_zh_cer": ("language", ("zh",)),
    "direction_accuracy": ("prosody_type", ("speed", "pitch")),
}
"""Averages over some rows only."""

_COUNTS: Mapping[Task, Mapping[str, str]] = {
    "content": {"exact_match_count": "exact_match", "edit_success_count": "edit_success"},
    "emotion": {"correct": "correct"},
    "style": {"correct": "correct"},
    "prosody": {"error_count": "error"},
    "paralinguistic": {"correct": "correct"},
    "acoustic": {"error_count": "error"},
    "compositional": {"error_count": "error"},
}
"""How many rows have a true value."""

_EVALUATED: Mapping[Task, str] = {
    "prosody": "target_success",
    "acoustic": "target_success",
    "compositional": "sample_id",
}
"""`evaluated`: how many rows have a value that is not null."""

_OF_OUTPUTS: Mapping[Task, tuple[str, ...]] = {"speaker": ("evaluated",)}
"""Other names of `outputs_evaluated` in `overall`."""

_NAMES_MISSING = ("speaker", "prosody", "acoustic", "compositional")
"""Tasks whose files list the samples without an output; the others count them."""


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
        details = [detail(sample, record) for sample, record in there]
        missing = [sample.id for sample, record in pairs if record["failure"] == failures.MISSING]
        summary = _summary(task, details, missing)
        path = f"{task_id}/{eval_set}/{LATEST}"
        files[path] = {
            "summary": summary,
            "details": details,
            **({"missing_outputs": missing} if task in _NAMES_MISSING else {}),
            "metadata": {
                **named,
                "task_id": task_id,
                "samples_file": str(there[0][0].folder / "samples.jsonl"),
            },
        }
        errors = Counter(row["error"] for row in details if row["error"])
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


def _summary(task: Task, details: Sequence[Mapping[str, Any]], missing: Sequence[str]) -> Any:
    total = len(details) + len(missing)
    overall = {
        **_stats(task, details),
        "total": total,
        "outputs_evaluated": len(details),
        "missing_outputs": len(missing),
        "coverage": round(len(details) / total, 4),
        "error_count": sum(bool(row["error"]) for row in details),
        **dict.fromkeys(_OF_OUTPUTS.get(task, ()), len(details)),
    }
    by_kind: dict[str, Any] = {}
    for kind in _GROUPS[task]:
        name, groups = _NAMES.get(kind, f"{{{kind}}}"), defaultdict(list)
        for row in details:
            groups[name.format_map({key: value or "" for key, value in row.items()})].append(row)
        found = {group: _stats(task, groups[group]) for group in sorted(groups) if group}
        by_kind[f"by_{kind}"] = found
    return {"overall": overall, **by_kind}


def _stats(task: Task, details: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {"total": len(details)}
    for name, key in _AVERAGES[task].items():
        column, kept = _AMONG.get(name, ("", ()))
        rows = [row for row in details if not column or row[column] in kept]
        if key == "component_results":
            found[name] = average(part["success"] for row in rows for part in row[key])
        else:
            found[name] = average(row.get(key) for row in rows)
    for name, key in _COUNTS.get(task, {}).items():
        found[name] = sum(bool(row[key]) for row in details)
    if task in _EVALUATED:
        found["evaluated"] = sum(row[_EVALUATED[task]] is not None for row in details)
    return found

"""A row of `details` in the result files, with the keys of the released code (commit 1ac1ab89,
eval/tasks/*.py).

All keys of its task, also where an error left some out there. Null is what is not measured here,
UTMOS, and where an output lies.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from auditeval.benchmarks.benchmark import Record
from auditeval.benchmarks.speecheditbench import failures
from auditeval.benchmarks.speecheditbench.official import words
from auditeval.benchmarks.speecheditbench.result_edits import (
    Found,
    average,
    metric,
    path,
    rounded,
    texts,
)
from auditeval.benchmarks.speecheditbench.samples import Sample, Task

_SIMILARITY = "source_output_speaker_similarity"

_BESIDE: Mapping[Task, tuple[str, ...]] = {
    "content": (_SIMILARITY,),
    "speaker": ("output_wav",),
    "emotion": (_SIMILARITY, "subset"),
    "style": (_SIMILARITY, "subset"),
    "prosody": (_SIMILARITY, "source_wav", "output_wav"),
    "paralinguistic": (_SIMILARITY,),
    "acoustic": (_SIMILARITY, "source_wav", "output_wav"),
    "compositional": (_SIMILARITY, "output_wav", "base_component", "base_sample_id"),
}
"""What rows have beside the edit, and beside what all have."""

_COMPONENTS: Mapping[str, tuple[str, ...]] = {
    "content": ("sample_id", "language", "source_dataset", "success_metric"),
    "speaker": ("threshold", "success_metric"),
    "emotion": ("sample_id", "source_dataset", "subset", "success_metric"),
    "prosody": ("source_wav", "success_metric"),
    "acoustic": ("sample_id", "language", "source_dataset", "source_wav", "success_metric"),
}
"""The same of a component. Of others the released code has an error alone."""

_NOT_OF_COMPONENTS = (
    *("source_speaker", "reference_speaker_id", "stress_words"),
    *("target_reference_wav", "reference_diagnostic_error"),
)
_SUCCESS_METRICS = {
    "content": "edit_success",
    "speaker": "speaker_similarity",
    "emotion": "emotion_accuracy",
    "prosody": "prosody_passed",
    "acoustic": "acoustic_passed",
}


def detail(sample: Sample, record: Record) -> dict[str, Any]:
    row, task = sample.row, sample.row.task
    told = {
        _SIMILARITY: rounded(record.get("source_similarity")),
        "subset": row.subset or "unknown",
        "source_wav": path(sample, row.audio_path),
        "output_wav": None,
        "base_component": row.base_component,
        "base_sample_id": row.base_sample_id,
    }
    common = {
        "sample_id": sample.id,
        "language": row.language,
        "source_dataset": row.source_dataset or "unknown",
        **{name: told[name] for name in _BESIDE[task]},
        "utmos": None,
        "joint_success": record["joint_success"],
    }
    if task == "compositional":
        return common | _composed(sample, record)
    # At an error the released code stops before it listens; ours has listened.
    asked = task == "content" or record["preservation_success"] is not None
    heard = record.get("transcript") if asked else None
    return {
        **Found(sample, sample.edits[0], record["edits"][0], heard, record).values,
        **common,
        **texts(sample, sample.expected_transcript, heard),
        "target_success": record["target_success"],
        **{f"content_preservation_{key}": value for key, value in _gate(sample, record).items()},
        "error": record["reason"] if record["status"] != "ok" else _unheard(record),
    }


def _gate(sample: Sample, record: Record) -> dict[str, Any]:
    """Of words that are to be preserved; null where nobody asks for them, or could listen."""
    success = record["preservation_success"]
    error = rounded(record.get("error_rate"))
    found = {"metric": metric(sample), "error": error, "threshold": words.GATE, "pass": success}
    return dict.fromkeys(found) if success is None else found


def _unheard(record: Record) -> str | None:
    """Why nobody could say which words the output says."""
    if record["status"] == "failed":
        return record["reason"]
    return record.get("undefined", {}).get("transcript")


def _composed(sample: Sample, record: Record) -> dict[str, Any]:
    heard = record.get("transcript")
    edits = zip(sample.edits, record["edits"], sample.row.components, strict=True)
    parts = [
        _component(Found(sample, edit, said, heard, record), part.source_dataset)
        for edit, said, part in edits
    ]
    content = any(edit.anchor.type == "content" for edit in sample.edits)
    checks = [] if content or not sample.row.transcript else [_preservation(sample, record)]
    errors = [[row["error"] for row in rows if row["error"]] for rows in (parts, checks)]
    return {
        "difficulty": sample.groups["difficulty"],
        "combo_type": sample.groups["combination"],
        "component_results": parts,
        "preservation_results": checks,
        "component_success_rate": average(part["success"] for part in parts),
        "preservation_success": record["preservation_success"] if checks else None,
        "component_error_count": len(errors[0]),
        "preservation_error_count": len(errors[1]),
        "error": "; ".join([*errors[0], *errors[1]]) or None,
    }


def _component(found: Found, source_dataset: Any) -> dict[str, Any]:
    sample, said, kind = found.sample, found.said, found.anchor.type
    told = {
        "sample_id": f"{sample.id}::{kind}",
        "language": sample.row.language,
        "source_dataset": source_dataset or sample.row.source_dataset or "unknown",
        "subset": sample.row.subset or "compositional",
        "source_wav": path(sample, sample.row.audio_path),
        "threshold": said.get("least_similarity"),
        "success_metric": _SUCCESS_METRICS.get(kind),
    }
    names = _COMPONENTS.get(kind, ())
    values = found.values if names else {}
    unscored = said["reason"] if said.get("failure") == failures.UNSCORED else None
    return {
        "component_type": kind,
        **{name: value for name, value in values.items() if name not in _NOT_OF_COMPONENTS},
        **{name: told[name] for name in names},
        "success": said["success"],
        "target_success": said["success"],
        "error": found.record["reason"] if found.record["status"] == "failed" else unscored,
    }


def _preservation(sample: Sample, record: Record) -> dict[str, Any]:
    gate = _gate(sample, record)
    return {
        "preservation_type": "content",
        "language": sample.row.language,
        **texts(sample, sample.row.transcript, record.get("transcript")),
        "content_preservation_metric": gate["metric"],
        "primary_error": gate["error"],
        "threshold": gate["threshold"],
        "success": gate["pass"],
        "error": _unheard(record),
    }

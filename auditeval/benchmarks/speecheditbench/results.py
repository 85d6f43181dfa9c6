"""Result files of the released code (commit 1ac1ab89), read: verdicts without outputs or models.

It writes eval_results/<model>/<task_id>/<eval_set>/latest.json, {"summary", "details", "metadata"}.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from auditeval.benchmarks.benchmark import Missing, Record
from auditeval.benchmarks.speecheditbench import failures
from auditeval.benchmarks.speecheditbench.samples import Sample, Task
from auditeval.benchmarks.systems import OutputFolder, System, find_outputs
from auditeval.reading import content, json_file
from auditeval.types import UserError, sentence

LATEST = "latest.json"
_PATTERN = f"*_editing/*/{LATEST}"
_MISSED: Mapping[Task, str] = {
    "content": failures.TARGET_NOT_APPLIED,
    "speaker": failures.SPEAKER_MISS,
    "emotion": failures.WRONG_LABEL,
    "style": failures.WRONG_LABEL,
    "prosody": failures.PROSODY_MISS,
    "paralinguistic": failures.PARALINGUISTIC_MISS,
    "acoustic": failures.TARGET_NOT_APPLIED,
    "compositional": failures.TARGET_NOT_APPLIED,
}


class _Read(BaseModel):
    """Keys that tables do not need are passed over."""

    model_config = ConfigDict(frozen=True, strict=True, allow_inf_nan=False)


class _Component(_Read):
    component_type: str
    success: bool | None = None


class Detail(_Read):
    """What the released code found of one output; preservation is named otherwise where edits are
    composed, and a sample that it could not evaluate has an `error`."""

    sample_id: str
    target_success: bool | None = None
    content_preservation_pass: bool | None = None
    preservation_success: bool | None = None
    joint_success: bool | None = None
    component_results: list[_Component] = []
    content_preservation_error: float | None = None
    exact_match: bool | None = None
    source_output_speaker_similarity: float | None = None
    transcript_predicted: str | None = None
    error: str | None = None


class _Metadata(_Read):
    dataset_version: str | None = None
    evaluator_version: str | None = None
    eval_set: str | None = None

    @property
    def words(self) -> str:
        named = {"evaluator": self.evaluator_version, "dataset": self.dataset_version}
        said = [f"{what} {version}" for what, version in named.items() if version]
        return ", ".join([*said, *([f"set {self.eval_set}"] if self.eval_set else [])])


class _File(_Read):
    details: list[Detail]
    metadata: _Metadata = _Metadata()


class Result(NamedTuple):
    """One sample in a result file, which `source` describes."""

    detail: Detail
    source: str

    def record(self, sample: Sample) -> Record:
        """Verdicts as they stand there."""
        detail, task = self.detail, sample.row.task
        if task == "compositional":
            successes = [component.success for component in detail.component_results]
            target = None if None in successes else all(successes)
            preserved = detail.preservation_success
        else:
            successes, target = [detail.target_success], detail.target_success
            preserved = detail.content_preservation_pass
        status, reason, failure = "ok", "", None
        if detail.error or target is None or detail.joint_success is None:
            status, failure = "unscored", failures.UNSCORED
            reason = detail.error or "its result file has no verdict"
        elif not target:
            reason, failure = "no target success in its result file", _MISSED[task]
            if True in successes:
                failure = failures.PARTIAL_SUCCESS
        elif not detail.joint_success:
            reason, failure = "no joint success in its result file", failures.NOT_PRESERVED
        found = {
            "status": status,
            "reason": reason,
            "failure": failure,
            "protocol": "official",
            "verdicts_of": self.source,
            "target_success": target,
            "preservation_success": preserved,
            "joint_success": detail.joint_success,
            "edits": [
                {"type": edit.anchor.type, "edit": edit.anchor.edit, "success": success}
                for edit, success in zip(sample.edits, successes, strict=True)
            ],
            "transcript": detail.transcript_predicted,
            "error_rate": detail.content_preservation_error,
            "exact_match": detail.exact_match,
            "source_similarity": detail.source_output_speaker_similarity,
        }
        return {**found, "undefined": {}}


class Results:
    """A system by its result files instead of its outputs."""

    def __init__(self, name: str, found: Mapping[str, Result], sha256: str) -> None:
        self.name, self._found, self._sha256 = name, found, sha256

    @property
    def settings(self) -> dict[str, Any]:
        return {"results": len(self._found), "results_sha256": self._sha256}

    def output(self, sample: Sample) -> Result | Missing:
        return self._found.get(sample.id, Missing("there is no result of it"))


def holds_results(folder: Path) -> bool:
    """Whether it is eval_results/<model>."""
    return any(folder.glob(_PATTERN))


def system(name: str, place: Path, samples: Sequence[Sample]) -> System:
    """Its result files where these lie there, else its outputs, in one folder or by task."""
    if holds_results(place):
        return read_results(name, place, samples)
    homes = {sample.id: sample.task_id for sample in samples}
    return OutputFolder(name, find_outputs(place, list(homes), homes))


def read_results(name: str, folder: Path, samples: Sequence[Sample]) -> Results:
    """The results of these samples in eval_results/<model>; those of others are passed over.

    Raises UserError naming the file for one that is not of the form, for a task with results of two
    sets, for two results of one sample, for components that are not the sample's, and where there
    is no result of any sample.
    """
    paths = sorted(folder.glob(_PATTERN))
    known = {sample.id: sample for sample in samples}
    found: dict[str, Result] = {}
    sha256 = hashlib.sha256()
    for before, path in zip([None, *paths], paths, strict=False):
        if before is not None and before.parents[1] == path.parents[1]:
            sets = f"{before.parent.name} and {path.parent.name}"
            raise UserError(f"{path.parents[1]}: has results of two sets ({sets}); keep one")
        try:
            file = _File.model_validate(json_file(path))
        except ValidationError as error:
            raise UserError(f"{path}: {sentence(error, _File)}") from None
        sha256.update(content(path))
        for place, detail in enumerate(file.details):
            where, id = f"{path}: details.{place}", detail.sample_id
            if id not in known:
                continue
            if id in found:
                raise UserError(f"{where}: sample_id: {id} is there twice")
            types = [edit.anchor.type for edit in known[id].edits]
            there = [component.component_type for component in detail.component_results]
            if known[id].row.task == "compositional" and there != types:
                raise UserError(
                    f"{where}: component_results: expected {', '.join(types)}, found "
                    f"{', '.join(there) or 'none'}"
                )
            found[id] = Result(detail, file.metadata.words)
    if not found:
        raise UserError(f"{folder}: holds no result of any of the {len(samples)} samples")
    return Results(name, found, sha256.hexdigest())

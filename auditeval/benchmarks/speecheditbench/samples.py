"""The samples of a folder laid out as the public repository's (data/<task>/samples.jsonl)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, get_args

from pydantic import ValidationError, field_validator, model_validator

from auditeval import jsonl
from auditeval.benchmarks.places import leads_out
from auditeval.benchmarks.speecheditbench.anchors import (
    EMOTIONS,
    AcousticAnchor,
    Anchor,
    ContentAnchor,
    EmotionAnchor,
    SpeakerAnchor,
    Strict,
    Taxonomy,
    Text,
    Told,
    emotion,
)
from auditeval.digests import sha256
from auditeval.metrics.transcript import Language
from auditeval.types import UserError, sentence

Task = Literal[
    "content",
    "speaker",
    "emotion",
    "style",
    "prosody",
    "paralinguistic",
    "acoustic",
    "compositional",
]
TASKS: tuple[Task, ...] = get_args(Task)


class Component(Strict):
    """One edit of a compositional sample."""

    component_type: str
    anchor: Anchor
    reference_audio_path: str | None = None
    source_dataset: Told = None

    @model_validator(mode="after")
    def _type_is_the_anchors(self) -> Component:
        if self.component_type != self.anchor.type:
            raise ValueError(f"has an anchor of type {self.anchor.type}")
        return self


class Row(Strict):
    """A line of samples.jsonl: what evaluation needs of it."""

    sample_id: Text
    task: Task
    audio_path: Text
    instruction: str = ""
    transcript: str
    language: Language
    source_dataset: str = ""
    subset: str = ""
    emotion_taxonomy: Taxonomy | None = None
    reference_audio_path: str | None = None
    anchor: Anchor | None = None
    components: tuple[Component, ...] = ()
    combo_type: str = ""
    difficulty: str = ""
    base_component: Told = None
    base_sample_id: Told = None

    @field_validator("task", mode="before")
    @classmethod
    def _task_without_editing(cls, value: object) -> object:
        return value.removesuffix("_editing") if isinstance(value, str) else value

    @field_validator("sample_id")
    @classmethod
    def _id_is_a_file_name(cls, value: str) -> str:
        if value != Path(value).name:
            raise ValueError("expected what can name a file")
        return value

    @model_validator(mode="after")
    def _has_what_its_task_asks(self) -> Row:
        if self.task == "compositional":
            if len(self.components) < 2:
                raise ValueError("components: two or more are needed")
        elif self.anchor is None:
            raise ValueError("anchor: is missing")
        elif self.anchor.type != self.task:
            raise ValueError(f"anchor: is one of {self.anchor.type}, the task is {self.task}")
        for edit in edits(self):
            if isinstance(edit.anchor, EmotionAnchor):
                known = EMOTIONS[taxonomy(self, edit.anchor)]
                if emotion(edit.anchor.target_emotion) not in known:
                    raise ValueError(
                        f"target_emotion: {edit.anchor.target_emotion} is none of "
                        f"{', '.join(known)}"
                    )
            if isinstance(edit.anchor, SpeakerAnchor) and not edit.reference:
                raise ValueError("reference_audio_path: is missing")
        return self


AnyAnchor = TypeVar("AnyAnchor", bound=Anchor, covariant=True)


@dataclass(frozen=True)
class Edit(Generic[AnyAnchor]):
    """One attribute that is to change; `reference` is the path of the target speaker's clip."""

    anchor: AnyAnchor
    reference: str | None = None


def edits(row: Row) -> list[Edit]:
    """The components of a compositional sample, or the one edit of an atomic one."""
    if row.task == "compositional":
        parts = [(part.anchor, part.reference_audio_path) for part in row.components]
    else:
        assert row.anchor is not None
        parts = [(row.anchor, row.reference_audio_path)]
    return [
        Edit(anchor, path or anchor.reference_wav if isinstance(anchor, SpeakerAnchor) else None)
        for anchor, path in parts
    ]


def taxonomy(row: Row, anchor: EmotionAnchor) -> Taxonomy:
    """Of which labels an emotion is: what is written there, or what goes with the language."""
    by_language: Taxonomy = "csemotions_zh" if row.language == "zh" else "iemocap_en"
    return anchor.emotion_taxonomy or row.emotion_taxonomy or by_language


@dataclass(frozen=True)
class Sample:
    """A row and where its paths lead from: `root` is the folder that holds data/."""

    row: Row
    root: Path
    folder: Path

    @property
    def id(self) -> str:
        return self.row.sample_id

    @property
    def task_id(self) -> str:
        """The task as the released code names it, and the folder of its outputs."""
        return f"{self.row.task}_editing"

    @cached_property
    def edits(self) -> list[Edit]:
        return edits(self.row)

    @property
    def groups(self) -> dict[str, str]:
        """What its task is broken down by, as the released code does: {kind: group}."""
        if self.row.task == "compositional":
            types = [edit.anchor.type for edit in self.edits]
            counted = {2: "two_way", 3: "three_way"}.get(len(types), f"{len(types)}_way")
            combination = self.row.combo_type or "+".join(types)
            return {"combination": combination, "difficulty": self.row.difficulty or counted}
        anchor = self.edits[0].anchor
        if anchor.type == "paralinguistic":
            return {"event": anchor.event, "operation": anchor.operation}
        if anchor.type == "prosody":
            return {"prosody": anchor.prosody_type}
        return {} if anchor.type == "speaker" else {anchor.type: anchor.edit}

    @property
    def expected_transcript(self) -> str:
        """What the output should say: the target of its content edit, or the source's words."""
        for edit in self.edits:
            if isinstance(edit.anchor, ContentAnchor):
                return edit.anchor.transcript_target
        return self.row.transcript

    def path(self, written: str) -> Path:
        """A path as written in the row: from the folder of samples.jsonl, or else from the root."""
        beside = self.folder / written
        return beside if beside.exists() else self.root / written

    @property
    def files(self) -> list[Path]:
        """The source, then the references that evaluation needs."""
        references = [edit.reference for edit in self.edits if edit.reference]
        return [self.path(written) for written in (self.row.audio_path, *references)]


def read(root: Path, tasks: Sequence[Task] = TASKS, with_audio: bool = True) -> list[Sample]:
    """The samples of these tasks, in the order of `TASKS` and of their files.

    `root` holds data/<task>/samples.jsonl ("emotion_editing" or "emotion"); a task without a file
    has no samples. Raises UserError for a line that is not of the format, for two samples of one
    id, for audio that is outside `root` or, `with_audio`, not there, and where there is no sample
    at all.
    """
    found: dict[str, Sample] = {}
    for task in TASKS:
        if task in tasks:
            for path in _files(root, task):
                _add(found, root, path, task, with_audio)
    if not found:
        raise UserError(f"{root}: expected data/<task>/samples.jsonl of one of {', '.join(tasks)}")
    return list(found.values())


def digest(samples: Sequence[Sample], with_audio: bool = True) -> str:
    """SHA-256 of what evaluation reads of the samples, `with_audio` of the bytes of their files
    too, in hex."""
    files_of = {
        sample.id: [*sample.files, *_clean(sample)] if with_audio else [] for sample in samples
    }
    files = {path for paths in files_of.values() for path in paths}
    bytes_of = {path: sha256(path) for path in sorted(files)}
    made = hashlib.sha256()
    for sample in samples:
        made.update(sample.row.model_dump_json().encode())
        read = files_of[sample.id]
        made.update("".join(f"\n{bytes_of[path]}" for path in read).encode())
    return made.hexdigest()


def _clean(sample: Sample) -> list[Path]:
    """The clean references that are there: diagnostics read them, no verdict needs them."""
    anchors = [edit.anchor for edit in sample.edits]
    written = [a.target_reference_path for a in anchors if isinstance(a, AcousticAnchor)]
    paths = [sample.path(path) for path in written if path]
    return [path for path in paths if path.is_file()]


def _paths(row: Row) -> Iterator[tuple[str, str]]:
    """(Its key, a path) for all that a row names."""
    named = [("audio_path", row.audio_path), ("reference_audio_path", row.reference_audio_path)]
    named += [("reference_audio_path", part.reference_audio_path) for part in row.components]
    for edit in edits(row):
        if isinstance(edit.anchor, SpeakerAnchor):
            named.append(("reference_wav", edit.anchor.reference_wav))
        elif isinstance(edit.anchor, AcousticAnchor):
            named.append(("target_reference_path", edit.anchor.target_reference_path))
    return ((key, written) for key, written in named if written)


def _files(root: Path, task: Task) -> list[Path]:
    paths = (root / "data" / name / "samples.jsonl" for name in (f"{task}_editing", task))
    return [path for path in paths if path.is_file()]


def _without_nulls(value: Any) -> Any:
    """Some tools write an optional key that has no value as null."""
    if isinstance(value, dict):
        return {key: _without_nulls(part) for key, part in value.items() if part is not None}
    return [_without_nulls(part) for part in value] if isinstance(value, list) else value


def _add(found: dict[str, Sample], root: Path, path: Path, task: Task, with_audio: bool) -> None:
    for where, line in jsonl.objects(path):
        try:
            row = Row.model_validate_json(json.dumps(_without_nulls(line)))
        except ValidationError as error:
            raise UserError(f"{where}: {sentence(error, Row)}") from None
        if row.task != task:
            raise UserError(f"{where}: task: is {row.task} in the file of {task}")
        if row.sample_id in found:
            raise UserError(f"{where}: sample_id: {row.sample_id} is there twice")
        sample = Sample(row, root, path.parent)
        for name, written in _paths(row):
            if Path(written).is_absolute() or leads_out(root, sample.path(written)):
                raise UserError(f"{where}: {name}: {written} leads out of {root}")
        for file in sample.files:
            if with_audio and not file.is_file():
                raise UserError(f"{where}: {file}: no such audio file")
        found[row.sample_id] = sample

"""MMAE-meta.json: samples with instructions, inputs and rubrics [arXiv:2606.07229, Appendix]."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from auditeval.benchmarks.mmae.references import Reference, references
from auditeval.benchmarks.mmae.rubric import Category
from auditeval.benchmarks.places import leads_out
from auditeval.digests import sha256
from auditeval.reading import content, json_file
from auditeval.types import UserError, sentence

MOST_CHOICES = 26
_CATEGORIES: dict[str, Category] = {
    "instruction following": "instruction_following",
    "if": "instruction_following",
    "consistency": "consistency",
    "con": "consistency",
}


def _category(label: Any) -> Any:
    """The paper prints "IF" and "Con." where the file has them in full."""
    if isinstance(label, str):
        words = " ".join(label.replace("_", " ").lower().rstrip(". ").split())
        if words in _CATEGORIES:
            return _CATEGORIES[words]
    raise ValueError(f"expected Instruction Following (IF) or Consistency (Con.), found {label!r}")


CategoryLabel = Annotated[Category, BeforeValidator(_category)]
Axis = Literal["complexity", "modality", "granularity", "operation"]
Text = Annotated[str, Field(min_length=1)]


class _Row(BaseModel):
    # What a later version of the file adds is no error; what is asked here has to be right.
    model_config = ConfigDict(frozen=True, strict=True)


class RubricRow(_Row):
    """A question with one right choice; see `Rubric` for the category."""

    category: CategoryLabel
    question: Text
    right_choice: Text
    wrong_choices: list[Text] = Field(min_length=1, max_length=MOST_CHOICES - 1)

    @model_validator(mode="after")
    def _check(self) -> RubricRow:
        choices = [choice.strip() for choice in self.choices]
        if len(set(choices)) < len(choices) or "" in choices:
            raise ValueError("choices have to differ, and none may be empty")
        _ = self.references
        return self

    @property
    def choices(self) -> list[str]:
        return [self.right_choice, *self.wrong_choices]

    @property
    def references(self) -> list[Reference]:
        """The clips that question and choices speak of, each once, in order; else the output."""
        found = references("\n".join([self.question, *self.choices]))
        return found or references("<audio output>")


class _Operation(_Row):
    operation: Text


class _Part(_Row):
    type: str
    text: str | None = None
    audio_url: Text | None = None


class _Message(_Row):
    role: str
    content: str | list[_Part]


class SampleRow(_Row):
    """One sample: `inputs` are relative to the file's folder."""

    id: Text
    complexity: Text
    modality: Text
    granularity: list[Text]
    operations: list[_Operation]
    messages: list[_Message]
    rubrics: list[RubricRow] = Field(min_length=1)

    @model_validator(mode="after")
    def _check(self) -> SampleRow:
        count = len(self.inputs)
        for number, rubric in enumerate(self.rubrics):
            for reference in rubric.references:
                if reference.input_number > count:
                    raise ValueError(
                        f"rubrics.{number} speaks of input{reference.input_number}, and the "
                        f"messages have {count} audio inputs"
                    )
        return self

    @property
    def inputs(self) -> list[Path]:
        return [Path(part.audio_url) for part in self._asked if part.audio_url is not None]

    @property
    def instruction(self) -> str:
        """What the user writes, in one line."""
        return " ".join(" ".join(part.text for part in self._asked if part.text).split())

    @property
    def _asked(self) -> list[_Part]:
        return [part for m in self.messages if m.role == "user" for part in _parts(m)]


def _parts(message: _Message) -> list[_Part]:
    if isinstance(message.content, str):
        return [_Part(type="text", text=message.content)]
    return message.content


class MMAESample:
    """A sample; `instruction` is what is asked for, `inputs` are the files of its audio, input1
    first; `groups` are by `Axis`."""

    def __init__(self, row: SampleRow, folder: Path) -> None:
        self.id, self.rubrics, self.instruction = row.id, row.rubrics, row.instruction
        self.inputs = [folder / path for path in row.inputs]
        self.groups = {
            "complexity": [row.complexity],
            "modality": [row.modality],
            "granularity": sorted(set(row.granularity)),
            "operation": sorted({operation.operation for operation in row.operations}),
        }


def read_samples(path: Path) -> list[MMAESample]:
    """The samples of MMAE-meta.json, in its order.

    Raises UserError naming the entry, by place and id, that is not as the format says, whose id
    stands twice, or whose input is not there.
    """
    samples, seen = [], set()
    for number, entry in enumerate(read_list(path)):
        name = entry.get("id") if isinstance(entry, dict) else None
        where = f"{path}: entry {number}" + (f" ({name})" if isinstance(name, str) else "")
        try:
            row = SampleRow.model_validate(entry)
        except ValidationError as error:
            raise UserError(f"{where}: {sentence(error, SampleRow)}") from None
        if row.id in seen:
            raise UserError(f"{where}: this id stands twice")
        seen.add(row.id)
        sample = MMAESample(row, path.parent)
        for file in sample.inputs:
            if leads_out(path.parent, file):  # a judge's endpoint is sent what is there
                raise UserError(f"{where}: {file}: leads out of {path.parent}")
            if not os.path.isfile(file):  # noqa: PTH113 (Path's raises for a name too long)
                raise UserError(f"{where}: {file}: no such file")
        samples.append(sample)
    if not samples:
        raise UserError(f"{path}: holds no samples")
    return samples


def read_list(path: Path) -> list[Any]:
    """A JSON list from a file; raises UserError for anything else."""
    entries = json_file(path)
    if not isinstance(entries, list):
        raise UserError(f"{path}: expected a JSON list, found {type(entries).__name__}")
    return entries


def digest(path: Path, samples: list[MMAESample]) -> str:
    """SHA-256 of the file and of all inputs, in hex."""
    found = hashlib.sha256(content(path))
    for sample in samples:
        for file in sample.inputs:
            found.update(bytes.fromhex(sha256(file)))
    return found.hexdigest()

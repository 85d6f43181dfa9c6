"""Verdicts on rubrics that were found before, in place of outputs that a judge would hear.

The paper defines no file of them. Ours is a JSON list, or JSONL, of {"id", "rubrics": [{"category",
"question", "right_choice", "right"}]}, the rubrics being those of the sample in their order and
`right` true, false or null (no verdict). The records of a run are such a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from auditeval import jsonl
from auditeval.benchmarks.benchmark import Missing
from auditeval.benchmarks.mmae.outputs import FILES, find
from auditeval.benchmarks.mmae.samples import CategoryLabel, MMAESample, read_list
from auditeval.benchmarks.run import RECORDS
from auditeval.benchmarks.systems import OutputFolder, System
from auditeval.digests import sha256
from auditeval.types import UserError, sentence


class _Given(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class GivenRubric(_Given):
    category: CategoryLabel
    question: str
    right_choice: str
    right: bool | None
    reason: str = ""
    past_end: list[str] = []
    votes: list[dict[str, Any]] = []


class GivenVerdicts(_Given):
    """Those of one sample; `status` "failed" says that its output was missing (`reason`)."""

    id: str
    rubrics: list[GivenRubric]
    status: str = "ok"
    reason: str = ""
    failure: str | None = None


class Verdicts:
    """A system whose verdicts are read from a file; a sample that it lacks has no output.

    Raises UserError naming the entry that does not hold the rubrics of its sample.
    """

    def __init__(self, name: str, path: Path, samples: Sequence[MMAESample]) -> None:
        self.name, self._path = name, path
        known = {sample.id: sample for sample in samples}
        self._given: dict[str, GivenVerdicts] = {}
        for where, row in _entries(path):
            try:
                given = GivenVerdicts.model_validate(row)
            except ValidationError as error:
                raise UserError(f"{where}: {sentence(error, GivenVerdicts)}") from None
            if given.id in self._given:
                raise UserError(f"{where}: id {given.id!r} stands twice")
            if given.id in known:
                _check(where, given, known[given.id])
                self._given[given.id] = given
        if not self._given:
            raise UserError(f"{path}: has verdicts on none of the {len(samples)} samples")

    @property
    def settings(self) -> dict[str, Any]:
        return {"verdicts": len(self._given), "verdicts_sha256": sha256(self._path)}

    def output(self, sample: MMAESample) -> GivenVerdicts | Missing:
        given = self._given.get(sample.id)
        if given is None:
            return Missing("there is no verdict")
        if given.status == "failed":
            return Missing(given.reason, unreadable=given.failure == "unreadable_output")
        return given


def system(name: str, place: Path, samples: Sequence[MMAESample]) -> System:
    """The verdicts or outputs that lie there: a file of either, the folder of a run, or a folder of
    outputs (see `outputs.find`)."""
    if place.is_dir() and not any((place / file).is_file() for file in FILES):
        file = place / RECORDS
        if file.is_file():
            return Verdicts(name, file, samples)
    elif place.is_file() and any(
        "messages" not in row and "rubrics" in row for row in _first(place)
    ):
        return Verdicts(name, place, samples)
    return OutputFolder(name, find(place, [sample.id for sample in samples]))


def _first(path: Path) -> list[Any]:
    return [row for _, row in islice(_entries(path), 1) if isinstance(row, dict)]


def _entries(path: Path) -> Iterator[tuple[str, Any]]:
    if path.suffix == ".jsonl":
        return jsonl.objects(path)
    return ((f"{path}: entry {number}", row) for number, row in enumerate(read_list(path)))


def _check(where: str, given: GivenVerdicts, sample: MMAESample) -> None:
    theirs = [(r.category, r.question, r.right_choice) for r in given.rubrics]
    ours = [(r.category, r.question, r.right_choice) for r in sample.rubrics]
    for number, (one, other) in enumerate(zip(theirs, ours, strict=False)):
        if one != other:
            raise UserError(f"{where}: rubrics.{number} is not that of sample {sample.id}")
    if len(theirs) != len(ours):
        raise UserError(f"{where}: has {len(theirs)} rubrics, sample {sample.id} has {len(ours)}")

"""What was evaluated while a model was trained: each value by epoch, the last and the best."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from pathlib import Path
from typing import Any

from pydantic import BaseModel, FiniteFloat, TypeAdapter, ValidationError

from auditeval import reading, text
from auditeval.atomic import write_text
from auditeval.report import render
from auditeval.table import Column, Content, Direction, Table
from auditeval.types import Undefined, UserError

NAME = "evaluation"
"""Of the files, NAME.json and NAME.md."""


class Measured(BaseModel):
    """A value of an epoch, which count from 0; None, it is undefined, and why."""

    epoch: int
    value: FiniteFloat | None
    undefined: str | None = None

    @classmethod
    def of(cls, epoch: int, value: float | Undefined) -> Measured:
        if isinstance(value, Undefined):
            return cls(epoch=epoch, value=None, undefined=value.reason)
        return cls(epoch=epoch, value=float(value))

    @property
    def content(self) -> float | Undefined:
        """As a table has it."""
        return Undefined(self.undefined or "not told") if self.value is None else self.value


class Course(BaseModel):
    """A value over the epochs that it was evaluated in, in their order.

    Of values below `least` none is the better one.
    """

    better: Direction
    epochs: list[Measured]
    least: FiniteFloat | None = None

    @property
    def best(self) -> Measured | None:
        """Of the epochs where it is defined; the first of equal ones."""
        defined = [found for found in self.epochs if found.value is not None]
        sign = 1 if self.better == "higher" else -1
        least = -inf if self.least is None else self.least
        return max(defined, key=lambda found: sign * max(found.value or 0.0, least), default=None)


Courses = dict[str, Course]
"""By the name under which the value is logged, `val/<metric>/<value>`."""

_COURSES: TypeAdapter[Courses] = TypeAdapter(Courses)


def plain(courses: Courses) -> dict[str, Any]:
    """As plain values, which JSON and a checkpoint can hold."""
    return _COURSES.dump_python(courses, exclude_unset=True)


def courses(plain: Any) -> Courses:
    """From plain values; raises ValueError for others than `plain` makes."""
    return _COURSES.validate_python(plain)


def read(path: Path) -> Courses:
    """From a file of one model; raises UserError for another."""
    try:
        return courses(reading.json_file(path))
    except ValidationError:
        raise UserError(f"{path}: holds no values by epoch; delete it") from None


def keep(found: Courses, path: Path) -> None:
    """To a file of one model."""
    write_text(path, text.to_json(plain(found)) + "\n")


def to_table(trained: Mapping[str, Courses]) -> Table:
    """A row for each value of each model in training (by its name, "" where it has none)."""
    rows: list[list[Content]] = []
    for model, courses in trained.items():
        for name, course in courses.items():
            last, best = course.epochs[-1], course.best
            defined = sum(found.value is not None for found in course.epochs)
            rows.append(
                [
                    *([model] if any(trained) else []),
                    name,
                    {"higher": "↑", "lower": "↓"}[course.better],
                    last.content,
                    last.epoch,
                    last.content if best is None else best.content,
                    "" if best is None else best.epoch,
                    f"{defined}/{len(course.epochs)}",
                ]
            )
    return Table(
        title="Evaluated while training",
        columns=[
            *([Column("model", label=True)] if any(trained) else []),
            Column("value", label=True),
            Column("better"),
            Column("last"),
            Column("in epoch"),
            Column("best"),
            Column("best epoch"),
            Column("defined"),
        ],
        rows=rows,
        notes=["Epochs count from 0. Defined: in how many of the epochs that were evaluated."],
    )


def write(trained: Mapping[str, Courses], folder: Path) -> None:
    """evaluation.md and evaluation.json, {model: {value: course}}, in `folder`."""
    found = {model: plain(of_model) for model, of_model in trained.items()}
    write_text(folder / f"{NAME}.json", text.to_json(found) + "\n")
    write_text(folder / f"{NAME}.md", render.to_markdown(to_table(trained)))

"""JSON Lines that others wrote; what is wrong in one is told by its file and line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from auditeval import reading
from auditeval.types import UserError, sentence

Row = TypeVar("Row", bound=BaseModel)


def lines(path: Path) -> Iterator[tuple[str, bytes]]:
    """("FILE:LINE", the line) of each line that is not empty; raises UserError without a file."""
    try:
        for number, line in enumerate(reading.lines(path), start=1):
            if line.strip():
                yield f"{path}:{number}", line
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror or error})") from None


def objects(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """("FILE:LINE", its object); raises UserError for a line that is none."""
    for where, line in lines(path):
        try:
            row = reading.from_json(line)
        except ValueError as error:
            raise UserError(f"{where}: {error}") from None
        if not isinstance(row, dict):
            raise UserError(f"{where}: expected an object, found {type(row).__name__}")
        yield where, row


def rows(path: Path, model: type[Row]) -> Iterator[tuple[str, Row]]:
    """("FILE:LINE", its object as a `model`); raises UserError for one that does not fit."""
    for where, row in objects(path):
        try:
            yield where, model.model_validate(row)
        except ValidationError as error:
            raise UserError(f"{where}: {sentence(error, model)}") from None

"""What importers share: the lines of a file, and a row as a pair."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from auditeval.reading import text
from auditeval.types import EditPair, UserError, sentence


def lines(path: Path) -> list[str]:
    """Lines of a UTF-8 file; not `splitlines`, since a JSON string may hold U+2028 as it is."""
    try:
        return text(path).split("\n")
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: is not UTF-8 ({error})") from None


def pair(where: str, row: dict[str, Any]) -> EditPair:
    """The row at `where` (FILE:LINE) as a pair; raises UserError that names it."""
    try:
        return EditPair.model_validate(row)
    except ValidationError as error:
        raise UserError(f"{where}: {sentence(error)}") from None

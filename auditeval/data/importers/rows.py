"""What importers share: the lines of a file, the rows of a CSV file, and a row as a pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from auditeval.reading import BEGINNING, csv_rows, text
from auditeval.types import EditPair, UserError, sentence

Row = TypeVar("Row")


def lines(path: Path) -> list[str]:
    """Lines of a UTF-8 file; not `splitlines`, since a JSON string may hold U+2028 as it is."""
    try:
        return text(path).split("\n")
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: is not UTF-8 ({error})") from None


def of_csv(
    path: Path, beside: str, to_row: Callable[[dict[str, str]], Row | None]
) -> Iterator[tuple[str, Row]]:
    """FILE:LINE and what `to_row` makes of its cells, of the lines that it makes something of.

    From `to_row` a KeyError is a column that lacks, a ValueError says what is wrong with a cell.
    Both become a UserError that names the line; `beside` says what the file belongs to where there
    is none.
    """
    if not path.exists():
        raise UserError(f"{path.parent}: expected {path.name} beside {beside}")
    try:
        read = csv_rows(path)
        _, names = next(read, (BEGINNING, []))
        for (number, _), cells in read:
            where = f"{path}:{number}"
            try:
                row = to_row(dict(zip(names, cells, strict=True)))
            except KeyError as error:
                raise UserError(f"{where}: expected the column {error}") from None
            except ValueError as error:
                raise UserError(f"{where}: {error}") from None
            if row is not None:
                yield where, row
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None


def pair(where: str, row: dict[str, Any]) -> EditPair:
    """The row at `where` (FILE:LINE) as a pair; raises UserError that names it."""
    try:
        return EditPair.model_validate(row)
    except ValidationError as error:
        raise UserError(f"{where}: {sentence(error)}") from None

"""`auditeval import`: other layouts to a manifest."""

from __future__ import annotations

from collections import Counter
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer


class Layout(str, Enum):
    """Layouts that can be read; `data.importers.IMPORTERS` has one function for each."""

    auditscore = "auditscore"
    ms_swift = "ms-swift"
    p835 = "p835"
    mushra_codecs = "mushra-codecs"


def import_(
    layout: Annotated[Layout, typer.Argument(help="What the folder holds.")],
    folder: Annotated[Path, typer.Argument(help="The folder (ms-swift: or the .jsonl file).")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Manifest to write: .jsonl, .csv or .parquet.")
    ],
) -> None:
    """Turn another layout into a manifest. Audio stays where it is.

    Example:

        auditeval import auditscore AuditScore/dataset -o auditscore.jsonl
    """
    from auditeval import manifest
    from auditeval.data.importers import IMPORTERS
    from auditeval.types import UserError

    if not folder.exists():
        raise UserError(f"{folder}: no such folder")
    pairs = IMPORTERS[layout.value](folder)
    if not pairs:
        raise UserError(f"{folder}: holds no pairs")
    twice = [name for name, times in Counter(pair.id for pair in pairs).items() if times > 1]
    if twice:
        raise UserError(f"{folder}: id {twice[0]!r} stands in more than one record")
    try:
        count = manifest.write(pairs, output)
    except OSError as error:
        raise UserError(f"{output}: cannot be written ({error.strerror})") from None
    rated = sum(bool(pair.ratings) for pair in pairs)
    print(f"{output}: {count} pairs, {rated} with ratings")

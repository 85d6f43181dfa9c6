"""Where the weights of a processor lie: a folder, or a checkout of its repository."""

from __future__ import annotations

from pathlib import Path

from auditeval.types import UserError


def find(folder: Path, name: str) -> Path:
    """The file of that name in the folder or below it; UserError where there is none."""
    for path in sorted(folder.rglob(name)) if folder.is_dir() else []:
        return path
    raise UserError(f"{folder}: has no {name}, which holds the weights of a processor")

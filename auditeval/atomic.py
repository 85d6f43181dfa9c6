"""Files that are whole or not there: write under a temporary name, then rename."""

from __future__ import annotations

import glob
import json
import os
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from auditeval import reading, storage
from auditeval.types import UserError

PARTIAL = ".partial"
"""How temporary names end; they begin with a dot."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path`, renamed to it when the block ends without an error.

    The name is this thread's own, so several writers of one file cannot mix their bytes. Of a URL
    the temporary path is one of this machine, from where it is put as a whole.
    """
    if isinstance(path, storage.UrlPath):
        with storage.draft(path) as temporary:
            yield temporary
        return
    unique = f"{os.getpid()}-{threading.get_ident()}"
    temporary = path.with_name(f".{path.name}.{unique}{PARTIAL}")
    if not path.parent.is_dir():
        path.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield temporary
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_text(path: Path, content: str) -> None:
    """The whole file, in UTF-8."""
    with replacing(path) as temporary:
        temporary.write_text(content, encoding="utf-8")


def sweep(path: Path) -> None:
    """Remove what killed processes left half written of a file that no other process writes."""
    if isinstance(path, storage.UrlPath):
        for draft in storage.workplace(path).glob("draft-*"):
            storage.remove(draft)
        return
    for torn in path.parent.glob(f".{glob.escape(path.name)}.*-*{PARTIAL}"):
        torn.unlink(missing_ok=True)


def sweep_all(folder: Path) -> None:
    """`sweep` of all that is below a folder which no other process writes, folders too."""
    for torn in list(folder.rglob(f".*{PARTIAL}")):
        storage.remove(torn)


def claim(folder: Path, name: str, settings: Mapping[str, Any]) -> None:
    """Make `folder` the home of what these settings make, by a record of that name in it.

    What a killed process left half written is removed. Raises UserError for a folder that holds
    what other settings made, or something else.
    """
    record = json.dumps(settings, indent=2) + "\n"
    path = folder / name
    sweep(path)  # killed before there was a record
    if path.exists():
        sweep_all(folder)
        if reading.content(path) == record.encode():
            return
        if any(other != path for other in folder.iterdir()):
            raise UserError(
                f"{folder}: was made with other settings, inputs or another version ({name}); "
                "delete it or choose another folder"
            )
    elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder}: exists and holds something else; choose a new folder")
    write_text(path, record)


@contextmanager
def resumable(output: Path) -> Iterator[None]:
    """Of a command that goes on where it was stopped; what the disk refuses raises UserError."""
    try:
        yield
    except OSError as error:
        raise UserError(
            f"{output}: cannot be written ({error.strerror}); what is finished is kept, and the "
            "same command goes on from there"
        ) from None


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A temporary folder beside `path`, put in its place when the block ends without an error.

    A folder that is there already is replaced. Of a URL see `storage.draft_folder`.
    """
    if isinstance(path, storage.UrlPath):
        with storage.draft_folder(path) as temporary:
            yield temporary
        return
    unique = f"{os.getpid()}-{threading.get_ident()}"
    temporary = path.with_name(f".{path.name}.{unique}{PARTIAL}")
    temporary.mkdir(parents=True)
    try:
        yield temporary
        storage.remove(path)
        temporary.replace(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)

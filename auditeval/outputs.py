"""Where a command writes: not onto its input, not onto a stranger's file, one process at a time."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from filelock import SoftFileLock, Timeout

from auditeval import reading, storage
from auditeval.atomic import sweep, write_text
from auditeval.digests import sha256
from auditeval.types import UserError

_LOCK, _NOTE = ".lock", ".made.json"
_LOOKS, _LOOK_SECONDS = 10, 0.1
_BROKEN_SECONDS = 3.0  # filelock takes over a mark that was broken for two
_ASIDE = r"(\.(break|restore)\.\d+(\.[0-9a-f]{32})?)+"  # filelock's, of a mark it takes over


@contextmanager
def sole_writer(output: Path) -> Iterator[None]:
    """Keep other processes from writing `output`, a file or folder, while the block runs.

    The mark of it, `.OUTPUT.lock` beside it, names host and process. That of a process which is
    gone is taken over; of one on another host that cannot be known. Of a URL the mark lies in the
    cache of this machine, and others do not see it. Raises UserError where another writes, naming
    it, and where no mark can be made.
    """
    mark = output.parent / f".{output.name or output.resolve().name}{_LOCK}"
    if isinstance(output, storage.UrlPath):
        mark = storage.workplace(output) / _LOCK
    lock = SoftFileLock(mark, timeout=0)
    is_new = not mark.parent.exists()
    try:
        mark.parent.mkdir(parents=True, exist_ok=True)
        is_left = mark.exists()
        _acquire(lock, mark)
    except Timeout:
        raise UserError(f"{output}: is being written {_holder(mark)}") from None
    except OSError as error:
        raise UserError(f"{output}: cannot be written ({error.strerror})") from None
    try:
        if is_left:
            _sweep_marks(mark)
        yield
    finally:
        lock.release()
        if is_new:
            with suppress(OSError):  # something is in it
                mark.parent.rmdir()


def _acquire(lock: SoftFileLock, mark: Path) -> None:
    """Raises Timeout where another has it; a mark that stays unsigned is of none that lives."""
    try:
        lock.acquire()
        return
    except Timeout:
        with suppress(FileNotFoundError):
            for _ in range(_LOOKS):  # between a mark and its words are microseconds
                if lock.pid is not None:
                    raise
                time.sleep(_LOOK_SECONDS)
            # To filelock an empty mark is one of its old releases; of a broken one it takes care.
            with mark.open("r+b") as file:
                if not file.read(1):
                    file.write(b"left empty\n")
    lock.acquire(timeout=_BROKEN_SECONDS)


def _sweep_marks(mark: Path) -> None:
    """Processes killed while they took over a mark leave their own aside of it, for nobody."""
    aside = re.compile(re.escape(mark.name) + _ASIDE)
    for torn in [path for path in mark.parent.iterdir() if aside.fullmatch(path.name)]:
        own = SoftFileLock(torn, timeout=0)
        with suppress(OSError):  # its process lives, or it is another user's
            _acquire(own, torn)
            own.release()


def _holder(mark: Path) -> str:
    try:
        since = datetime.fromtimestamp(mark.stat().st_mtime).isoformat(" ", "seconds")
        process, host = mark.read_text("utf-8").split("\n")[:2]
    except (OSError, ValueError):  # it has ended meanwhile
        return "by another process; give the command again"
    return (
        f"by process {process} on {host} since {since}; wait for it, or delete {mark} if that "
        "process is gone"
    )


@contextmanager
def writing(
    output: Path | None,
    made_by: str,
    names: Sequence[str] = (),
    inputs: Iterable[Path] = (),
    force: bool = False,
    digests: bool = False,
) -> Iterator[None]:
    """Be the `sole_writer` of an output, `check` its files, and note them as this command's.

    The output is a file, or the folder of the files `names`; where its own name is among these they
    lie beside it. The note, `.made.json` in the folder or `.OUTPUT.made.json` beside the file,
    holds their digests, so that a file which somebody has changed since is not overwritten either,
    and where the `inputs` lie, from its own folder, for reports that lead back to them, with
    `digests` of what they held.
    What a killed run left half written is removed. Without an output nothing is done. Raises
    UserError as `check` and `sole_writer` do, and where the disk refuses.
    """
    if output is None:
        yield
        return
    inputs = list(inputs)
    is_file = not names or output.name in names
    folder = output.parent if is_file else output
    note = folder / (f".{output.name}{_NOTE}" if is_file else _NOTE)
    files = [folder / name for name in names or [output.name]]
    made_from = [
        storage.relative(str(path), folder) or os.path.relpath(path, folder) for path in inputs
    ]
    held: list[str | None] = []
    try:
        with sole_writer(output):
            known = _noted(note, made_by)
            for file in files:
                check([file], inputs, _is_known(file, known), force)
            # Killed before the end, they are its own too.
            begun = dict.fromkeys(file.name for file in files)
            write_text(note, _to_note(made_by, begun, made_from))
            for file in [note, *files]:
                sweep(file)
            try:
                yield
                if digests:  # not before: what is no file that can be read may have no end
                    held = [sha256(path) if path.is_file() else None for path in inputs]
            finally:
                _note(note, made_by, [file for file in files if file.exists()], made_from, held)
    except OSError as error:
        if error.filename and storage.path(error.filename).parent not in (folder, folder.parent):
            raise
        raise UserError(f"{output}: cannot be written ({error.strerror or error})") from None


def note_folder(folder: Path, made_by: str) -> None:
    """Note all files of a folder as this command's, for `is_own_folder`."""
    _note(folder / _NOTE, made_by, sorted(folder.iterdir()))


def is_own_folder(folder: Path, made_by: str) -> bool:
    """Whether all that a folder holds is as this command made it."""
    known = _noted(folder / _NOTE, made_by)
    return folder.is_dir() and all(
        path.name == _NOTE or _is_known(path, known) for path in folder.iterdir()
    )


def check_file(output: Path, made_by: str, force: bool = False) -> None:
    """`check`, before the work, that the file may be written by `writing`."""
    known = _noted(output.with_name(f".{output.name}{_NOTE}"), made_by)
    check([output], own=_is_known(output, known), force=force)


def _note(
    note: Path,
    made_by: str,
    files: Iterable[Path],
    made_from: Sequence[str] = (),
    held: Sequence[str | None] = (),
) -> None:
    digests = {file.name: sha256(file) for file in files}
    if digests:
        write_text(note, _to_note(made_by, digests, made_from, held))
        return
    note.unlink()  # the command failed before it had written anything
    if note.name == _NOTE:
        with suppress(OSError):  # something else is in the folder
            note.parent.rmdir()


def _noted(note: Path, made_by: str) -> dict[str, str | None]:
    try:
        found = reading.json_file(note)
        return dict(found["files"]) if found["made_by"] == made_by else {}
    except (ValueError, KeyError, TypeError):
        return {}


def _is_known(file: Path, known: Mapping[str, str | None]) -> bool:
    if file.name not in known or not file.is_file():
        return False
    digest = known[file.name]
    return digest is None or digest == sha256(file)


def _to_note(
    made_by: str,
    files: Mapping[str, str | None],
    made_from: Sequence[str],
    held: Sequence[str | None] = (),
) -> str:
    said: dict[str, Any] = {"made_by": made_by, "files": files, "inputs": list(made_from)}
    if any(held):
        said["inputs_sha256"] = list(held)
    return json.dumps(said, indent=2) + "\n"


def inputs_of(output: Path) -> list[Path]:
    """Where the inputs lay of a command that wrote `output`, a file or the folder of its files, as
    its note has it; nothing where there is none. They may be gone or others by now."""
    note = output / _NOTE if output.is_dir() else output.with_name(f".{output.name}{_NOTE}")
    try:
        return [
            storage.joined(note.parent, str(path)) for path in reading.json_file(note)["inputs"]
        ]
    except (ValueError, KeyError, TypeError):
        return []


def changed_inputs(output: Path) -> list[Path]:
    """Those of `inputs_of` that are there and hold something else than when it was written."""
    note = output / _NOTE if output.is_dir() else output.with_name(f".{output.name}{_NOTE}")
    try:
        held = list(reading.json_file(note)["inputs_sha256"])
    except (ValueError, KeyError, TypeError):
        return []
    return [
        path
        for path, digest in zip(inputs_of(output), held, strict=False)
        if digest and path.is_file() and sha256(path) != digest
    ]


def check(
    outputs: Iterable[Path],
    inputs: Iterable[Path] = (),
    own: bool = False,
    force: bool = False,
    folder: bool = False,
) -> None:
    """Raise UserError where a command must not write: over an input, a folder, a stranger's file.

    What is to be a `folder` is neither put in place of a file nor, by force, of a stranger's.

    A file that is there already is a stranger's unless the command knows it as its `own`; `force`
    gives it up. An input is one by any name: through links and other spellings of its path too.
    """
    inputs = list(inputs)
    for output in outputs:
        for given in inputs:
            if _same(output, given):
                raise UserError(
                    f"{output}: is an input and would be overwritten; choose another -o"
                )
        is_there = output.exists() or output.is_symlink()
        if folder and is_there:
            if not output.is_dir() or not own:
                raise UserError(f"{output}: exists and holds something else; choose a new folder")
            continue
        if output.is_dir():
            raise UserError(f"{output}: is a directory, expected a file")
        if is_there and not own and not force:
            raise UserError(
                f"{output}: exists already and is not as this command made it; choose another -o, "
                "or overwrite it with --force"
            )


def _same(output: Path, given: Path) -> bool:
    try:
        return output.samefile(given)
    except OSError:  # one of them is not there
        return output.resolve() == given.resolve()

"""Where a system's outputs are, in the layouts of MMAE's own tools."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from auditeval import jsonl
from auditeval.benchmarks.mmae.samples import read_list
from auditeval.benchmarks.places import leads_out
from auditeval.benchmarks.systems import find_outputs
from auditeval.types import UserError

FILES = ("submission.jsonl", "predictions.json")
"""The tools write both; in the second paths are whole, and lead out of a folder that was moved."""


def find(path: Path, ids: Sequence[str]) -> dict[str, Path]:
    """Output files by sample id, of those that are there, in any layout (see `predicted`,
    `systems.find_outputs`). Raises UserError where no sample has one."""
    if path.is_dir() and not any((path / name).is_file() for name in FILES):
        return find_outputs(path, ids)
    named = predicted(path)
    # Path.is_file raises for a name that is too long: none such is there, nor one with a NUL.
    there = {id for id in ids if id in named and os.path.isfile(named[id])}  # noqa: PTH113
    found = {id: named[id] for id in ids if id in there}
    if not found:
        raise UserError(
            f"{path}: names no file that is there for any of the {len(ids)} samples; expected ids "
            f"like {ids[0]!r}"
        )
    return found


def predicted(path: Path) -> dict[str, Path]:
    """Output files by sample id, of submission.jsonl or predictions.json or a folder with one.

    submission.jsonl: {"id", "audio_path"} a line; predictions.json: a list of {id, messages}, the
    last audio of the last assistant message being the output. Relative paths start at the file's
    folder, and none may lead out of it. An entry without audio has no output. Raises UserError
    naming the entry or line.

    A folder without either is for `systems.find_outputs`.
    """
    if path.is_dir():
        file = next((path / name for name in FILES if (path / name).is_file()), None)
        if file is None:
            raise UserError(f"{path}: holds no {' or '.join(FILES)}")
        path = file
    entries = _lines(path) if path.suffix == ".jsonl" else _predictions(path)
    outputs: dict[str, Path] = {}
    seen = set()
    for where, id, url in entries:
        if id in seen:
            raise UserError(f"{where}: id {id!r} stands twice")
        seen.add(id)
        if url is not None:
            outputs[id] = path.parent / url
            if leads_out(path.parent, outputs[id]):  # a judge's endpoint is sent what is there
                raise UserError(f"{where}: {url}: leads out of {path.parent}")
    return outputs


def _lines(path: Path) -> list[tuple[str, str, str | None]]:
    found: list[tuple[str, str, str | None]] = []
    for where, row in jsonl.objects(path):
        id, url = row.get("id"), row.get("audio_path")
        if not (isinstance(id, str) and isinstance(url, str) and url):
            raise UserError(f'{where}: expected {{"id": ..., "audio_path": ...}}')
        found.append((where, id, url))
    return found


def _predictions(path: Path) -> list[tuple[str, str, str | None]]:
    found = []
    for number, entry in enumerate(read_list(path)):
        where = f"{path}: entry {number}"
        id, messages = (
            entry.get(key) if isinstance(entry, dict) else None for key in ("id", "messages")
        )
        if not (isinstance(id, str) and isinstance(messages, list)):
            raise UserError(f'{where}: expected {{"id": ..., "messages": [...]}}')
        found.append((where, id, _answer(messages)))
    return found


def _answer(messages: list[Any]) -> str | None:
    """The last audio of the last assistant message; None where that has none."""
    said = [m for m in messages if isinstance(m, dict) and m.get("role") == "assistant"]
    parts = said[-1].get("content") if said else None
    urls = [
        part["audio_url"]
        for part in (parts if isinstance(parts, list) else [])
        if isinstance(part, dict) and isinstance(part.get("audio_url"), str) and part["audio_url"]
    ]
    return urls[-1] if urls else None

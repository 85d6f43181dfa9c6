"""Pairs whose original an evaluator knows from its training, by the content of the samples.

Agreement on them says nothing about agreement on others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from auditeval import checkpoint_files, reading
from auditeval.audio import AudioError
from auditeval.checkpoint_files import TrainedOn, read_trained_on
from auditeval.data.contents import digests
from auditeval.text import shortened
from auditeval.types import EditPair, UserError

_NAMED = 5  # ids in a sentence; all of them are in the JSON


class Leaks(NamedTuple):
    """Of so many `pairs` that an evaluator scored, the ids of those whose original it was trained
    on (`train`) or chosen or calibrated by (`validation`), and of those whose original cannot be
    decoded (`unread`). `unknown` is why nothing of it is known, else "".
    """

    evaluator: str
    pairs: int
    train: list[str]
    validation: list[str]
    unread: list[str]
    unknown: str = ""


def trained_on(table: Path, checkpoint: str | None = None) -> TrainedOn | str:
    """What the evaluator that made a scores table was trained on, or why that is not known.

    The checkpoint is the one that the table's sidecar names, by a path from the working directory
    or from the table, and it is believed only where its digest is the sidecar's. Raises UserError
    for a `checkpoint` (folder or hub id) that is none, or that did not make the table.
    """
    sidecar = _sidecar(table)
    record = made_from(table)
    expected = record.get("checkpoint_sha256")
    if checkpoint is not None:
        folder = checkpoint_files.find(checkpoint)
        found = checkpoint_files.digest(folder)
        if expected and found != expected:
            raise UserError(
                f"{checkpoint}: is not the checkpoint that made {table}; {sidecar.name} names one "
                f"with SHA-256 {expected}"
            )
        return read_trained_on(folder) or f"{checkpoint} keeps no list of its originals"
    if "results" in record:
        return f"{record['results']} does not say what its model was trained on"
    made_by = checkpoint_of(table)
    if isinstance(made_by, str):
        return made_by
    named = record["checkpoint"]
    said = "the checkpoint that ships" if named is None else named
    try:
        return read_trained_on(made_by) or f"{said} keeps no list of its originals"
    except UserError as error:
        return f"{shortened(str(error), 300)}; name the checkpoint with --checkpoint"


def checkpoint_of(table: Path) -> Path | str:
    """The folder of the checkpoint that made a scores table, as its sidecar has it, or why it is
    not at hand."""
    sidecar, record = _sidecar(table), made_from(table)
    expected = record.get("checkpoint_sha256")
    folds = sorted(table.parent.glob("*/checkpoint"))
    if record and not expected and len(folds) > 1:
        return f"each of {len(folds)} folds has a checkpoint of its own"
    if not expected or "checkpoint" not in record:
        lacks = "does not name its checkpoint" if sidecar.exists() else "is not beside it"
        return f"{sidecar.name} {lacks}; name the checkpoint with --checkpoint"
    named = record["checkpoint"]
    said = "the checkpoint that ships" if named is None else named
    try:
        folder = _located(named, table)
        if checkpoint_files.digest(folder) != expected:
            return f"{said} is not the checkpoint that made it any more; name it with --checkpoint"
        return folder
    except (UserError, OSError, ValueError) as error:  # a name that can be none, as one with NUL
        return f"{shortened(str(error), 300)}; name the checkpoint with --checkpoint"


def find(
    pairs: Sequence[EditPair],
    scored: Mapping[str, Iterable[str]],
    trained: Mapping[str, TrainedOn | str],
    workers: int = 2,
) -> list[Leaks]:
    """The leaks of each evaluator, by name: `scored` its pairs' ids, `trained` as above.

    Originals are decoded where some evaluator's list is there to look in.
    """
    known = any(isinstance(found, TrainedOn) for found in trained.values())
    contents = digests([pair.original for pair in pairs], workers) if known else {}
    made = []
    for evaluator, ids in scored.items():
        wanted = set(ids)
        there = [pair for pair in pairs if pair.id in wanted]
        seen = trained[evaluator]
        if isinstance(seen, str):
            made.append(Leaks(evaluator, len(there), [], [], [], seen))
            continue
        found = Leaks(evaluator, len(there), [], [], [])
        for pair in there:
            content = contents[pair.original]
            part = "unread" if isinstance(content, AudioError) else seen.part(content)
            if part:
                getattr(found, part).append(pair.id)
        made.append(found)
    return made


def sentences(leaks: Leaks) -> list[str]:
    """What a reader of the table must know of it."""
    name, total = leaks.evaluator, leaks.pairs
    if leaks.unknown:
        return [f"Leaks: whether {name} was trained on these pairs is not known: {leaks.unknown}."]

    def share(ids: list[str]) -> str:
        more = f" and {len(ids) - _NAMED:,} more" if len(ids) > _NAMED else ""
        named = ", ".join(ids[:_NAMED])
        return f"{len(ids):,} of {total:,} pairs ({100 * len(ids) / total:.1f} %): {named}{more}."

    said = []
    if leaks.train:
        said.append(f"LEAK: {name} was trained on the originals of {share(leaks.train)}")
    if leaks.validation:
        said.append(
            f"LEAK: {name} was chosen or calibrated by the originals of {share(leaks.validation)}"
        )
    if not said:
        said.append(
            f"Leaks: {name} knows the original of none of {total - len(leaks.unread):,} pairs."
        )
    if leaks.unread:
        said.append(f"Leaks: the original cannot be read in {share(leaks.unread)}")
    return said


def made_from(table: Path) -> dict[str, str | None]:
    """What the sidecar of a scores table says in words; nothing where there is none."""
    try:
        record = reading.json_file(_sidecar(table))
    except UserError:
        return {}
    if not isinstance(record, dict):
        return {}
    return {key: value for key, value in record.items() if value is None or isinstance(value, str)}


def _sidecar(table: Path) -> Path:
    return table.with_name(f"{table.name}.json")


def _located(named: str | None, table: Path) -> Path:
    """Hub ids are looked up in the local cache only: a report downloads nothing."""
    beside = table.parent / (named or "")
    if named is not None and not Path(named).exists() and beside.is_dir():
        return beside
    return checkpoint_files.find(named, local_files_only=True)

"""AuditScore as its authors' loader reads it: {train,valid,test}_meta.json, ori_wavs/, tar_wavs/.

The metadata is not public yet. What is known: the loader opens train_meta.json and valid_meta.json,
and yields the seven things of `_NAMES`. Each is looked for under the names that the authors use in
their code, paper and examples.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from auditeval.data.importers import clip_names, rows
from auditeval.text import counted
from auditeval.types import AXES, EditPair, UserError

log = logging.getLogger(__name__)

_NAMES = {
    "original": ("ori_wav", "ori_path", "ori_audio", "original_audio", "original"),
    "edited": ("tar_wav", "tar_path", "tar_audio", "target_audio", "edited_audio", "edited"),
    "original_caption": ("ori_prompt", "ori_text", "ori_caption", "original_caption"),
    "target_caption": ("tar_prompt", "tar_text", "tar_caption", "target_caption"),
    "quality": ("quality", "quality_score"),
    "relevance": ("relevance", "relevance_score"),
    "faithfulness": ("faithfulness", "faithfulness_score"),
}
_KEPT = ("instruction", "system", "operation", "source")


class _Record(NamedTuple):
    part: str
    number: int
    where: str
    id: str | None
    values: dict[str, Any]


def import_auditscore(folder: Path) -> list[EditPair]:
    """The pairs of all metadata files of a folder.

    A record's scores are numbers, lists of votes or objects of votes by rater. Its `instruction`,
    `system`, `operation` and `source` are kept; the last three are otherwise what the names of its
    files tell (`clip_names`), and where both do and differ, the record is right and a warning says
    so once. Keys that a manifest has no place for are named in a warning.

    The id is the record's own or its key. Where one stands in two files (both number from 0), all
    begin with the name of their part: train-0, valid-0. A record without one is called by its
    place: train-00001. Twice in one file is an error.

    The train file becomes split "train". The valid file is what the paper reports on, split "test",
    unless there is a test file: then it is "validation".
    """
    found = [(name, folder / f"{name}_meta.json") for name in ("train", "valid", "test")]
    found = [(name, path) for name, path in found if path.exists()]
    if not found:
        raise UserError(f"{folder}: expected train_meta.json beside ori_wavs/ and tar_wavs/")
    splits: dict[str, str | None] = {"train": "train", "valid": "test", "test": "test"}
    if len(found) == 1:
        splits = dict.fromkeys(splits)
    elif found[-1][0] == "test":
        splits["valid"] = "validation"
    records = [record for name, path in found for record in _records(name, path)]
    pairs, no_place = [], set[str]()
    differing: dict[str, list[str]] = {}
    for record, id in zip(records, _ids(records), strict=True):
        row, used = _row(folder, record)
        said = {k: record.values[k] for k in _KEPT if record.values.get(k) not in (None, "")}
        if isinstance(said.get("operation"), str):
            said["operation"] = clip_names.operation(said["operation"])
        told = clip_names.told(row["original"].name, row["edited"].name)
        for field in told.keys() & said.keys():
            if told[field] != said[field]:
                example = f"{record.where} says {said[field]!r}, its files {told[field]!r}"
                differing.setdefault(field, []).append(example)
        no_place |= record.values.keys() - used - {"id", *_KEPT}
        row |= {**told, **said, "id": id, "split": splits[record.part]}
        pairs.append(rows.pair(record.where, row))
    for field, examples in sorted(differing.items()):
        log.warning(
            "%s: %s another %s than the files do; what a record says is taken (%s)",
            *(folder, counted(len(examples), "record names", "records name"), field, examples[0]),
        )
    if no_place:
        log.warning("%s: a manifest has no place for %s", folder, ", ".join(sorted(no_place)))
    return pairs


def _ids(records: Sequence[_Record]) -> list[str]:
    """Unique ids, in order; see `import_auditscore`."""
    parts: dict[str, set[str]] = {}
    for record in records:
        if record.id is not None:
            parts.setdefault(record.id, set()).add(record.part)
    shared = any(len(of_id) > 1 for of_id in parts.values())
    ids: dict[str, str] = {}
    for record in records:
        if record.id is None:
            id = f"{record.part}-{record.number:05d}"
        else:
            id = f"{record.part}-{record.id}" if shared else record.id
        if id in ids:
            raise UserError(
                f"{record.where}: id {id!r} stands in more than one record, first in {ids[id]}"
            )
        ids[id] = record.where
    return list(ids)


def _records(part: str, path: Path) -> Iterator[_Record]:
    """Records of a JSON list, of an object of records by id, or of JSON lines."""
    try:
        data = _parsed(path, rows.lines(path))
    except UserError:
        raise
    except RecursionError:
        raise UserError(f"{path}: nests deeper than anything that is read here") from None
    except ValueError as error:  # a number of thousands of digits
        raise UserError(f"{path}: is not JSON ({error})") from None
    if not isinstance(data, (dict, list)):
        raise UserError(f"{path}: expected records, found {type(data).__name__}")
    by_id = data.items() if isinstance(data, dict) else ((None, record) for record in data)
    for number, (key, record) in enumerate(by_id, start=1):
        if not isinstance(record, dict):
            raise UserError(f"{path}: expected records, found {type(record).__name__}")
        where = f"{path}: record {number}"
        id = key if record.get("id") is None else record["id"]
        if id is not None and (isinstance(id, bool) or not isinstance(id, (str, int)) or id == ""):
            raise UserError(f"{where}: id: expected words or a whole number, found {id!r}")
        yield _Record(part, number, where, None if id is None else str(id), record)


def _parsed(path: Path, lines: list[str]) -> Any:
    def unique(items: list[tuple[str, Any]]) -> dict[str, Any]:
        twice = [key for key, times in Counter(key for key, _ in items).items() if times > 1]
        if twice:
            raise UserError(f"{path}: the key {twice[0]!r} stands twice in one object")
        return dict(items)

    try:
        return json.loads("\n".join(lines), object_pairs_hook=unique)
    except json.JSONDecodeError as whole:
        data = []
        for number, line in enumerate(lines, start=1):
            try:
                data += [json.loads(line, object_pairs_hook=unique)] if line.strip() else []
            except json.JSONDecodeError as error:
                # One document (its first line is no record), or JSON lines?
                number, error = (number, error) if data else (whole.lineno, whole)
                raise UserError(f"{path}:{number}: is not JSON ({error.msg})") from None
        return data


def _row(folder: Path, record: _Record) -> tuple[dict[str, Any], set[str]]:
    """Clips, captions and scores as a manifest has them, and the keys that they stood under."""
    where, used = record.where, set[str]()
    values: dict[str, Any] = {}
    for field, names in _NAMES.items():
        present = [name for name in names if name in record.values]
        if present:
            values[field] = record.values[present[0]]
            used.add(present[0])
        elif field not in AXES:
            raise UserError(
                f"{where}: expected one of {', '.join(names)}, found "
                f"{', '.join(sorted(record.values))}"
            )
    row: dict[str, Any] = {"ratings": {}, "raters": {}}
    for axis in AXES:
        if axis in values:
            value = values.pop(axis)
            row["raters" if isinstance(value, (list, dict)) else "ratings"][axis] = value
    for side, subfolder in (("original", "ori_wavs"), ("edited", "tar_wavs")):
        name = values[side]
        if not isinstance(name, str):
            raise UserError(f"{where}: the {side} clip is {name!r}, expected a file name")
        inside = folder / subfolder / Path(name).name
        row[side] = inside if inside.exists() or not (folder / name).exists() else folder / name
    return {**values, **row}, used

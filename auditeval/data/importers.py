"""Other layouts to pairs: AuditScore's metadata, ms-swift JSONL, tables of listening tests.

Each importer takes a folder and returns pairs, or raises UserError with file and line.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from auditeval import manifest
from auditeval.types import AXES, EditPair, UserError, sentence

_SPEECH_CAPTION = "A person speaking."

# The metadata is not public yet. What is known: the authors' loader opens train_meta.json and
# valid_meta.json beside ori_wavs/ and tar_wavs/, and yields these seven things. Each is looked for
# under the names that the authors use in their code, paper and examples.
_AUDITSCORE_KEYS = {
    "original": ("ori_wav", "ori_path", "ori_audio", "original_audio", "original"),
    "edited": ("tar_wav", "tar_path", "tar_audio", "target_audio", "edited_audio", "edited"),
    "original_caption": ("ori_prompt", "ori_text", "ori_caption", "original_caption"),
    "target_caption": ("tar_prompt", "tar_text", "tar_caption", "target_caption"),
    "quality": ("quality", "quality_score"),
    "relevance": ("relevance", "relevance_score"),
    "faithfulness": ("faithfulness", "faithfulness_score"),
}
_AUDITSCORE_NAME = re.compile(r"^(?P<system>sys\d+)_(?P<operation>add|delete|del|replace|rep)_")
# One clip stands under a name of its own for each system that edited it.
_AUDITSCORE_SOURCE = re.compile(r"^sys\d+_[a-z]+_ori_(?P<source>.+)\.\w+$")
_OPERATIONS = {"del": "delete", "rep": "replace"}
_PROMPT_CAPTIONS = re.compile(
    r"Original Caption:\s*\n(?P<original>.*?)\s*\n\s*Target Caption:\s*\n(?P<target>.*?)\s*$", re.S
)


def import_auditscore(folder: Path) -> list[EditPair]:
    """The authors' layout: {train,valid,test}_meta.json, ori_wavs/, tar_wavs/.

    A record's scores are numbers or lists of the raters' votes. System and operation come from the
    edited file's name (sys1_add_tar_ID.wav), the source from that of the original. The train file
    becomes split "train", the others "test": the paper reports on the held-out tenth.
    """
    found = [(name, folder / f"{name}_meta.json") for name in ("train", "valid", "test")]
    found = [(name, path) for name, path in found if path.exists()]
    if not found:
        raise UserError(f"{folder}: expected train_meta.json beside ori_wavs/ and tar_wavs/")
    pairs = []
    for name, path in found:
        split = "train" if name == "train" else "test"
        for number, (key, record) in enumerate(_records(path), start=1):
            row = _auditscore_row(folder, f"{path}: record {number}", record)
            row["id"] = str(record.get("id", key or f"{name}-{number:05d}"))
            if len(found) > 1:
                row["split"] = split
            pairs.append(_pair(f"{path}: record {number}", row))
    return pairs


def import_ms_swift(path: Path) -> list[EditPair]:
    """ms-swift JSONL: messages, audios [original, edited], label or labels [Q, R, F].

    Labels that are all 0 are placeholders of an inference file: such a pair is unrated.
    """
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    if not files:
        raise UserError(f"{path}: holds no .jsonl file")
    pairs = []
    for file in files:
        for number, line in enumerate(_lines(file), start=1):
            if line.strip():
                where = f"{file}:{number}"
                row = {"id": f"{file.stem}-{number:05d}", **_ms_swift_row(file, where, line)}
                pairs.append(_pair(where, row))
    return pairs


def import_p835(folder: Path) -> list[EditPair]:
    """A P.835 label table: labels.csv with set, edited, original, talker, condition, mos_*.

    The edited file is the degraded one, the original its clean reference, the system its
    condition. Quality <- overall (OVRL), faithfulness <- speech distortion (SIG); nothing was asked
    for, so relevance is unrated and both captions are the same.
    """
    return _table(folder / "labels.csv", "the audio of a P.835 test", _p835_row)


def _p835_row(folder: Path, cells: dict[str, str]) -> dict[str, Any]:
    return {
        **_speech(cells["edited"], folder / cells["original"], folder / cells["edited"]),
        "operation": "enhance",
        "system": cells["condition"],
        "source": f"{cells['set']}-{cells['talker']}",
        "talker": cells["talker"],
        "ratings": {"quality": float(cells["mos_ovrl"]), "faithfulness": float(cells["mos_sig"])},
    }


def import_mushra_codecs(folder: Path) -> list[EditPair]:
    """MUSHRA ratings of neural speech codecs [Stahl et al. 2024, 10.1109/ACCESS.2024.3482359].

    ratings_formated_filtered.csv with signal, condition, ratings and file, beside audio/. The
    edited file is what came out of a codec, the original its ref.wav, the system the codec. Basic
    audio quality counts any difference to the reference as damage [ITU-R BS.1534]: votes of 0 to
    100 become 1 to 5 of quality and of faithfulness alike; nothing was asked for. Left out are the
    hidden reference, which any comparison knows, and the anchor, which has no file.
    """
    path = folder / "ratings_formated_filtered.csv"
    return _table(path, "audio/ of the codecs' test", _mushra_row)


def _mushra_row(folder: Path, cells: dict[str, str]) -> dict[str, Any] | None:
    if cells["file"] == "" or cells["condition"] == "Reference":
        return None
    edited, votes = folder / "audio" / cells["file"], json.loads(cells["ratings"])
    if not isinstance(votes, list) or not all(isinstance(vote, (int, float)) for vote in votes):
        raise ValueError(f"ratings: expected votes as in [40, 62.5], found {cells['ratings']}")
    votes = [1 + vote / 25 for vote in votes]
    return {
        **_speech(cells["file"], edited.with_name("ref.wav"), edited),
        "operation": "code",
        "system": cells["condition"],
        "source": cells["signal"],
        "raters": {"quality": votes, "faithfulness": votes},
    }


def _speech(name: str, original: Path, edited: Path) -> dict[str, Any]:
    return {
        "id": Path(name).with_suffix("").as_posix().replace("/", "_"),
        "original": original,
        "edited": edited,
        "original_caption": _SPEECH_CAPTION,
        "target_caption": _SPEECH_CAPTION,
    }


def _table(
    path: Path, beside: str, to_row: Callable[[Path, dict[str, str]], dict[str, Any] | None]
) -> list[EditPair]:
    """Pairs of the lines of a CSV file that `to_row` makes something of."""
    if not path.exists():
        raise UserError(f"{path.parent}: expected {path.name} beside {beside}")
    pairs = []
    for number, cells in enumerate(csv.DictReader(_lines(path)), start=2):
        where = f"{path}:{number}"
        try:
            row = to_row(path.parent, cells)
        except KeyError as error:
            raise UserError(f"{where}: expected the column {error}") from None
        except TypeError:
            raise UserError(f"{where}: has fewer cells than the header") from None
        except ValueError as error:
            raise UserError(f"{where}: {error}") from None
        if row is not None:
            pairs.append(_pair(where, row))
    return pairs


IMPORTERS: dict[str, Callable[[Path], list[EditPair]]] = {
    "auditscore": import_auditscore,
    "ms-swift": import_ms_swift,
    "p835": import_p835,
    "mushra-codecs": import_mushra_codecs,
}


def _lines(path: Path) -> list[str]:
    """Lines of a UTF-8 file; not `splitlines`, since a JSON string may hold U+2028 as it is."""
    try:
        return path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: is not UTF-8 ({error})") from None


def import_to_manifest(layout: str, folder: str, output: str) -> Path:
    """Import a folder and write its manifest; returns the manifest's path."""
    if not Path(folder).exists():
        raise UserError(f"{folder}: no such folder; name the one that holds the {layout} data")
    manifest.write(IMPORTERS[layout](Path(folder)), output)
    return Path(output)


def _records(path: Path) -> Iterator[tuple[str | None, dict[str, Any]]]:
    """Records of a JSON list, of an object of records by id, or of JSON lines."""
    lines = _lines(path)
    try:
        data = json.loads("\n".join(lines))
    except json.JSONDecodeError as whole:
        data = []
        for number, line in enumerate(lines, start=1):
            try:
                data += [json.loads(line)] if line.strip() else []
            except json.JSONDecodeError as error:
                # One document (its first line is no record), or JSON lines?
                number, error = (number, error) if data else (whole.lineno, whole)
                raise UserError(f"{path}:{number}: is not JSON ({error.msg})") from None
    if not isinstance(data, (dict, list)):
        raise UserError(f"{path}: expected records, found {type(data).__name__}")
    by_id = data.items() if isinstance(data, dict) else ((None, record) for record in data)
    for key, record in by_id:
        if not isinstance(record, dict):
            raise UserError(f"{path}: expected records, found {type(record).__name__}")
        yield key, record


def _auditscore_row(folder: Path, where: str, record: dict[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for field, names in _AUDITSCORE_KEYS.items():
        present = [name for name in names if name in record]
        if present:
            values[field] = record[present[0]]
        elif field not in AXES:
            raise UserError(
                f"{where}: expected one of {', '.join(names)}, found {', '.join(sorted(record))}"
            )
    row: dict[str, Any] = {"ratings": {}, "raters": {}}
    for axis in AXES:
        if axis in values:
            value = values.pop(axis)
            row["raters" if isinstance(value, list) else "ratings"][axis] = value
    for side, subfolder in (("original", "ori_wavs"), ("edited", "tar_wavs")):
        name = values[side]
        if not isinstance(name, str):
            raise UserError(f"{where}: the {side} clip is {name!r}, expected a file name")
        inside = folder / subfolder / Path(name).name
        row[side] = inside if inside.exists() or not (folder / name).exists() else folder / name
    if named := _AUDITSCORE_NAME.match(Path(str(values["edited"])).name):
        row["system"] = named["system"]
        row["operation"] = _OPERATIONS.get(named["operation"], named["operation"])
    if named := _AUDITSCORE_SOURCE.match(Path(str(values["original"])).name):
        row["source"] = named["source"]
    return {**values, **row}


def _ms_swift_row(file: Path, where: str, line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
        prompt = next(m["content"] for m in record["messages"] if m["role"] == "user")
        captions = _PROMPT_CAPTIONS.search(prompt)
        original, edited = (file.parent / name for name in record["audios"])
        labels = record.get("labels", record.get("label"))
        rated = bool(labels) and any(labels)
    except (json.JSONDecodeError, KeyError, TypeError, ValueError, StopIteration) as error:
        raise UserError(
            f"{where}: expected messages with a user prompt, two audios and labels ({error!r})"
        ) from None
    if captions is None:
        raise UserError(f'{where}: the prompt names no "Original Caption:" and "Target Caption:"')
    row = {
        "original": original,
        "edited": edited,
        "original_caption": captions["original"],
        "target_caption": captions["target"],
    }
    if rated:
        if len(labels) != len(AXES):
            raise UserError(f"{where}: expected {len(AXES)} labels, found {len(labels)}")
        row["ratings"] = dict(zip(AXES, labels, strict=True))
    return row


def _pair(where: str, row: dict[str, Any]) -> EditPair:
    try:
        return EditPair.model_validate(row)
    except ValidationError as error:
        raise UserError(f"{where}: {sentence(error)}") from None

"""ms-swift JSONL, the format of AuditEval-llm: pairs for it, and what it answered.

A line has messages, audios [original, edited] and label or labels [Q, R, F]; `swift infer` writes
the same lines again with `response`, the three numbers that its model predicts.
"""

from __future__ import annotations

import json
import re
import reprlib
import sys
from pathlib import Path
from typing import Any, NamedTuple

from auditeval import scores_table
from auditeval.atomic import write_text
from auditeval.data.importers import clip_names, rows
from auditeval.digests import sha256
from auditeval.reading import from_json
from auditeval.types import AXES, EditPair, Scores, UserError
from auditeval.version import __version__

_PROMPT_CAPTIONS = re.compile(
    r"Original Caption:\s*\n(?P<original>.*?)\s*\n\s*Target Caption:\s*\n(?P<target>.*?)\s*$", re.S
)


class _Line(NamedTuple):
    where: str
    number: int
    file: Path
    record: dict[str, Any]
    prompt: str
    original: str
    edited: str


def import_ms_swift(path: Path) -> list[EditPair]:
    """The pairs of a file, or of all .jsonl files of a folder.

    Labels that are all 0 are placeholders of an inference file: such a pair is unrated. System,
    operation and source are what the names of its files tell (`clip_names`).

    The id is the name of the edited file, so that a file and the results of inference on it have
    the same. Where two lines have one name, all are called by their places: train-00001.
    """
    lines = _lines(path)
    return [
        rows.pair(line.where, {"id": id, **_row(line)})
        for line, id in zip(lines, _ids(lines), strict=True)
    ]


def import_omni_results(path: Path, output: Path) -> tuple[int, int]:
    """Write what AuditEval-llm answered as a scores table; returns its rows and those in error.

    `path` is a result file of `swift infer` or a folder of them, `output` a .csv, .jsonl or
    .parquet file; beside it OUTPUT.json says what it was made from. Ids are those that
    `import_ms_swift` gives the same lines. A line whose `response` is not [Q, R, F], three finite
    numbers, becomes an error row with the reason. Scores stay as they are, off the scale of 1 to 5
    too. Raises UserError, also where `output` holds what something else made.
    """
    scores_table.check_suffix(output)
    lines = _lines(path)
    if not lines:
        raise UserError(f"{path}: holds no results")
    _check_asked_once(lines)
    scores = [_scores(line, id) for line, id in zip(lines, _ids(lines), strict=True)]
    read = dict.fromkeys(line.file for line in lines)
    made_from = {
        "evaluator": path.stem,
        "auditeval": __version__,
        "results": path.name,
        "results_sha256": sha256(*read),
        "rows": len(scores),
    }
    record = json.dumps(made_from, indent=2) + "\n"
    sidecar = output.with_name(f"{output.name}.json")
    if output.exists() and not (sidecar.exists() and sidecar.read_text("utf-8") == record):
        raise UserError(
            f"{output}: exists already and was not made from these results; delete it or choose "
            "another output"
        )
    write_text(sidecar, record)
    scores_table.write(scores, output)
    return len(scores), sum(row.status == "error" for row in scores)


def _lines(path: Path) -> list[_Line]:
    """Every line that is not empty, with the two clips that it names."""
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    if not files:
        raise UserError(f"{path}: holds no .jsonl file")
    return [
        _line(file, number, line)
        for file in files
        for number, line in enumerate(rows.lines(file), start=1)
        if line.strip()
    ]


def _line(file: Path, number: int, line: str) -> _Line:
    where = f"{file}:{number}"
    try:
        record = from_json(line)
        prompt = next(m["content"] for m in record["messages"] if m["role"] == "user")
        original, edited = record["audios"]
        if not all(isinstance(words, str) for words in (prompt, original, edited)):
            raise TypeError(f"found {reprlib.repr([prompt, original, edited])}")
    except (KeyError, TypeError, ValueError, StopIteration) as error:
        raise UserError(
            f"{where}: expected messages with a user prompt, and two audios ({error!r})"
        ) from None
    return _Line(where, number, file, record, prompt, original, edited)


def _ids(lines: list[_Line]) -> list[str]:
    """Unique ids, in order; see `import_ms_swift`."""
    names = [Path(line.edited).stem for line in lines]
    if len(set(names)) == len(names) and all(names):
        return names
    return [f"{line.file.stem}-{line.number:05d}" for line in lines]


def _check_asked_once(lines: list[_Line]) -> None:
    """Raise UserError where two lines ask the same of the same clips."""
    asked: dict[tuple[str, ...], str] = {}
    for line in lines:
        first = asked.setdefault((line.original, line.edited, line.prompt), line.where)
        if first != line.where:
            raise UserError(
                f"{line.where}: asks the same of the same clips as {first}; give a file in which "
                "each pair has one answer"
            )


def _row(line: _Line) -> dict[str, Any]:
    where, record = line.where, line.record
    captions = _PROMPT_CAPTIONS.search(line.prompt)
    labels = record.get("labels", record.get("label"))
    if captions is None:
        raise UserError(f'{where}: the prompt names no "Original Caption:" and "Target Caption:"')
    row = {
        "original": line.file.parent / line.original,
        "edited": line.file.parent / line.edited,
        "original_caption": captions["original"],
        "target_caption": captions["target"],
        **clip_names.told(line.original, line.edited),
    }
    if not (labels is None or isinstance(labels, list)):
        raise UserError(f"{where}: labels are {reprlib.repr(labels)}, expected [Q, R, F]")
    if labels and any(labels):
        if len(labels) != len(AXES):
            raise UserError(f"{where}: expected {len(AXES)} labels, found {len(labels)}")
        row["ratings"] = dict(zip(AXES, labels, strict=True))
    return row


def _scores(line: _Line, id: str) -> Scores:
    where = f"{line.file.name}:{line.number}"
    if "response" not in line.record:
        return Scores(id, status="error", reason=f"{where}: has no response")
    response = line.record["response"]
    if isinstance(response, list) and len(response) == len(AXES) and all(map(_is_score, response)):
        scores: dict[str, Any] = dict(zip(AXES, map(float, response), strict=True))
        return Scores(id, **scores)
    reason = f"{where}: response is {reprlib.repr(response)}, expected three numbers [Q, R, F]"
    return Scores(id, status="error", reason=reason)


def _is_score(value: Any) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and abs(value) <= sys.float_info.max  # neither NaN nor infinite

"""Answers in a file, a line each: what was asked, said and spent, for the runs that come after."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from auditeval import jsonl
from auditeval.judges.judge import Answer, Usage
from auditeval.reading import regular
from auditeval.types import UserError, sentence


class RecordedAnswer(BaseModel):
    """A line. `judge` is the model that was asked, `key` that of the question; `usage` is what the
    answer took, None where it was known from before."""

    model_config = ConfigDict(extra="forbid")
    key: str
    judge: str
    value: Any
    reason: str
    revision: str = ""
    usage: Usage | None = None


def read_answers(path: Path) -> Iterator[RecordedAnswer]:
    """The lines of a file; raises UserError for one that is none, naming it."""
    for where, row in jsonl.objects(path):
        try:
            yield RecordedAnswer.model_validate(row)
        except ValidationError as error:
            said = sentence(error, RecordedAnswer)
            raise UserError(f"{where}: expected a recorded answer ({said})") from None


@dataclass
class Tally:
    """Of all that one judge was asked, however many runs it took: different questions, those with
    an answer, those of them whose answer was another run's; what all asking took, and why there
    are questions without an answer."""

    questions: int = 0
    answered: int = 0
    from_cache: int = 0
    usage: Usage = field(default_factory=Usage)
    reasons: Counter[str] = field(default_factory=Counter)


class AnswerLog:
    """The file `path`, which `ReplayJudge` reads too, or no file; several judges may share it.

    A process that is killed loses nothing but the line that it writes, which is cut off here.
    Raises UserError for a file that is something else.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._last: dict[tuple[str, str, str], RecordedAnswer] = {}
        self._spent: dict[str, Usage] = {}
        if path is not None and path.exists():
            _cut_torn_line(path)
            for line in read_answers(path):
                self._take(line)

    def value(self, judge: str, revision: str, key: str) -> Any:
        """What is recorded as the answer of a judge, as JSON; None where there is none."""
        with self._lock:
            found = self._last.get((judge, revision, key))
        return None if found is None else found.value

    def note(
        self, judge: str, revision: str, key: str, answer: Answer[Any], asked: bool = True
    ) -> None:
        """Write down an answer, or why there is none, with what it took if it was `asked` for."""
        value = None if answer.value is None else answer.value.model_dump(mode="json")
        line = RecordedAnswer(
            key=key,
            judge=judge,
            revision=revision,
            value=value,
            reason=answer.reason,
            usage=answer.usage if asked else None,
        )
        with self._lock:
            self._take(line)
            if self._path is not None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                _append(self._path, json.dumps(line.model_dump()).encode() + b"\n")

    def tally(self, judge: str) -> Tally:
        """Of the lines of one judge; the last of a question says whether it has an answer."""
        with self._lock:
            last = [line for line in self._last.values() if line.judge == judge]
            usage = self._spent.get(judge, Usage())
        answered = [line for line in last if line.value is not None]
        return Tally(
            len(last),
            len(answered),
            sum(line.usage is None for line in answered),
            usage,
            Counter(line.reason for line in last if line.value is None),
        )

    def _take(self, line: RecordedAnswer) -> None:
        self._last[line.judge, line.revision, line.key] = line
        if line.usage is not None:
            self._spent[line.judge] = self._spent.get(line.judge, Usage()) + line.usage


def _append(path: Path, line: bytes) -> None:
    """The whole line, or nothing of it and the OSError: a disk that is nearly full takes a part of
    it without one, and what is written next would stand behind that."""
    with path.open("ab", buffering=0) as file:
        start = file.tell()
        try:
            while line:
                line = line[file.write(line) :]
        except OSError:
            file.truncate(start)
            raise


def _cut_torn_line(path: Path) -> None:
    """Of a process that was killed while it wrote."""
    try:
        with regular(path).open("r+b") as file:
            file.truncate(file.read().rfind(b"\n") + 1)
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror or error})") from None

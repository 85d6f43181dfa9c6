"""`CachedJudge`: no question twice. Answers are kept by content, recorded and counted."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from auditeval.backends.cache import ResultCache
from auditeval.judges.judge import Answer, Judge, Question, Reply, Usage
from auditeval.reading import regular


class CachedJudge:
    """`judge` behind a cache in `folder` (None keeps nothing), its answers recorded in `record`.

    Only answers with a value are kept: what failed once (a limit, a timeout, junk) is asked again
    when the run is given again. `record` is a JSONL that `ReplayJudge` reads; a line is added for
    every answer, from cache or not, failed ones with their reason. `spent` is what this run has
    cost.
    """

    def __init__(self, judge: Judge, folder: Path | None, record: Path | None = None) -> None:
        self.name, self.revision = judge.name, judge.revision
        self.model = getattr(judge, "model", judge.name)
        self._judge, self._cache, self._record = judge, ResultCache(folder), record
        self._lock = threading.Lock()
        self._spent = Usage()
        if record is not None:
            _cut_torn_line(record)

    @property
    def spent(self) -> Usage:
        with self._lock:
            return self._spent

    def ask(self, question: Question[Reply]) -> Answer[Reply]:
        """See `Judge.ask`."""
        key = question.key
        usage = Usage()

        def asked() -> Reply:
            nonlocal usage
            answer = self._judge.ask(question)
            usage = answer.usage
            if answer.value is None:
                raise _NoAnswer(answer.reason)
            return answer.value

        answer: Answer[Reply]
        try:
            value = self._cache.get((self.name, self.revision, key), question.reply, asked)
            answer = Answer(value, "", usage)
        except _NoAnswer as none:
            answer = Answer(None, str(none), usage)
        self._note(key, answer)
        return answer

    def _note(self, key: str, answer: Answer[Any]) -> None:
        value = None if answer.value is None else answer.value.model_dump(mode="json")
        row = {"key": key, "judge": self.model, "value": value, "reason": answer.reason}
        with self._lock:
            self._spent += answer.usage
            if self._record is not None:
                # In one piece: judges of several roles may record in one file.
                with self._record.open("ab", buffering=0) as file:
                    file.write(json.dumps(row).encode() + b"\n")


class _NoAnswer(Exception):
    """Carries a reason past the cache, which keeps whatever is returned."""


def _cut_torn_line(path: Path) -> None:
    """Of a process that was killed while it wrote."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        written = regular(path).read_bytes()
        whole = written[: written.rfind(b"\n") + 1]
        if whole != written:
            path.write_bytes(whole)

"""`CachedJudge`: no question twice. Answers are kept by content, recorded and counted."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from pydantic import ValidationError

from auditeval.backends.cache import ResultCache
from auditeval.judges.answers import AnswerLog, Tally
from auditeval.judges.judge import Answer, Judge, Question, Reply, Usage
from auditeval.judges.patience import Patience, is_live
from auditeval.types import UserError


class CachedJudge:
    """`judge` behind what `log` holds, then behind a cache in `folder` (None keeps nothing).

    Only answers with a value are kept: what failed once (a limit, a timeout, junk) is asked again
    when the run is given again, until the judge has failed as often in a row as its `failures`
    say. A line is added to the log for every answer that it did not hold, failed ones with their
    reason. `spent` is what this run has cost.
    """

    def __init__(self, judge: Judge, folder: Path | None, log: AnswerLog | None = None) -> None:
        self.name, self.revision = judge.name, judge.revision
        self.model: str = getattr(judge, "model", judge.name)
        self.host: str | None = getattr(judge, "host", None)
        self._judge, self._cache, self._log = judge, ResultCache(folder), log
        self.is_live = is_live(judge)
        self._patience = Patience(self.name, getattr(judge, "failures", None))
        self._lock = threading.Lock()
        self._turns = WeakValueDictionary[str, Any]()  # a lock for each question that is asked now
        self._spent = Usage()
        self._has_ended = False

    def stop(self) -> None:
        """The run has ended: whoever asks from now on, in whatever thread, gets a UserError, and
        nothing more is paid. What is being asked is still answered and kept."""
        self._has_ended = True

    @property
    def spent(self) -> Usage:
        with self._lock:
            return self._spent

    @property
    def tally(self) -> Tally:
        """Of all runs that the log knows of."""
        return Tally() if self._log is None else self._log.tally(self.model)

    def ask(self, question: Question[Reply]) -> Answer[Reply]:
        """See `Judge.ask`. Raises UserError too where the judge fails at every question.

        Threads that have one question wait for the first of them, and have its answer.
        """
        key = question.key
        with self._lock:
            turn = self._turns.setdefault(key, threading.Lock())
        with turn:
            if self._has_ended:
                raise UserError(f"{self.name}: is asked nothing more, the run has ended")
            return self._asked(question, key)

    def _asked(self, question: Question[Reply], key: str) -> Answer[Reply]:
        if (value := self._recorded(question, key)) is not None:
            return Answer(value)
        asked: list[Answer[Reply]] = []

        def ask() -> Reply:
            answer = self._judge.ask(question)
            asked.append(answer)
            with self._lock:
                self._spent += answer.usage
            # Before the cache has it: what was paid is known whenever this process is killed.
            self._note(key, answer)
            if answer.value is None:
                raise _NoAnswer
            return answer.value

        answer: Answer[Reply]
        with suppress(_NoAnswer):
            answer = Answer(self._cache.get((self.name, self.revision, key), question.reply, ask))
        if asked:
            answer = asked[0]
            self._patience.count(question, answer)
        else:
            self._note(key, answer, asked=False)
        return answer

    def _note(self, key: str, answer: Answer[Any], asked: bool = True) -> None:
        if self._log is not None:
            self._log.note(self.model, self.revision, key, answer, asked)

    def _recorded(self, question: Question[Reply], key: str) -> Reply | None:
        if self._log is None:
            return None
        value = self._log.value(self.model, self.revision, key)
        try:
            return None if value is None else question.reply.model_validate(value)
        except ValidationError:
            return None


class _NoAnswer(Exception):
    """Nothing that the cache could keep."""

"""When to stop asking: a judge that answers nothing any more makes a report of zeros."""

from __future__ import annotations

import threading
from typing import Any

from auditeval.audio import content_hash
from auditeval.judges.judge import Answer, Question
from auditeval.types import UserError

FAILURES = 20
"""Questions in a row without any answer after which a run stops, if nothing else is said."""

GOES_ON = "what was answered is kept, and the same command goes on from there"


def checked_failures(value: object) -> int:
    """A number of failures; raises UserError for what is none."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise UserError(f"failures {value!r}: expected a whole number from 1")
    return value


def is_live(judge: Any) -> bool:
    """Whether answers take time or money, and a run may end for want of them; not a replay's."""
    return hasattr(judge, "failures")


class Patience:
    """With the judge `name`, until `failures` questions in a row had no answer, whoever asked.

    From there on each failure is an error, until there is an answer again. Clips that it refuses
    (too long ones) count once, however many questions are on them. None is for ever.
    """

    def __init__(self, name: str, failures: int | None) -> None:
        self._name, self._failures = name, failures
        self._count = 0
        self._refused: set[tuple[str, ...]] = set()
        self._lock = threading.Lock()

    def count(self, question: Question[Any], answer: Answer[Any]) -> None:
        """Take note of an answer, or of none; raises UserError where it has ended."""
        with self._lock:
            if answer.value is not None:
                self._count = 0
                self._refused.clear()
                return
            if answer.refused:
                clips = tuple(content_hash(clip) for _, clip in question.clips)
                if clips in self._refused:
                    return
                self._refused.add(clips)
            self._count += 1
            if self._failures is not None and self._count >= self._failures:
                raise UserError(
                    f"{self._name}: no answer to {self._count} questions in a row "
                    f"(--judge-failures {self._failures}; the last: {answer.reason}); {GOES_ON}"
                )

"""`ReplayJudge`: recorded answers instead of a model, for re-scoring without cost."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from auditeval import jsonl
from auditeval.judges.judge import Answer, Question, Reply
from auditeval.types import UserError, sentence

_WORDS = {"key", "judge", "reason"}
_KEYS = {*_WORDS, "value"}


class ReplayJudge:
    """Answers out of the JSONL that `CachedJudge` recorded, found by the key of the question.

    The last line of a question counts. One that was never recorded has no answer, whatever is
    recorded of others; so two replays agree byte for byte. It has the name of the judge whose
    answers these are. Raises UserError for a file that is none, naming the line.
    """

    def __init__(self, path: str | Path) -> None:
        self._answers: dict[str, dict[str, Any]] = {}
        for where, row in jsonl.objects(Path(path)):
            if set(row) != _KEYS or not all(isinstance(row[name], str) for name in _WORDS):
                raise UserError(
                    f"{where}: expected a recorded answer, an object of {', '.join(sorted(_KEYS))}"
                )
            self._answers[row["key"]] = row
        judges = sorted({str(row["judge"]) for row in self._answers.values()})
        self.name = judges[0] if len(judges) == 1 else f"replay of {', '.join(judges)}"
        kept = json.dumps(sorted(self._answers.items()))
        self.revision = f"replay-{hashlib.sha256(kept.encode()).hexdigest()[:16]}"

    def ask(self, question: Question[Reply]) -> Answer[Reply]:
        """See `Judge.ask`; never raises, never costs anything."""
        row = self._answers.get(question.key)
        if row is None:
            return Answer(None, "not recorded")
        if row["value"] is None:
            return Answer(None, row["reason"])
        try:
            return Answer(question.reply.model_validate(row["value"]))
        except ValidationError as error:
            reason = f"the recorded answer does not fit ({sentence(error, question.reply)})"
            return Answer(None, reason)

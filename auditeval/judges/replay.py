"""`ReplayJudge`: recorded answers instead of a model, for re-scoring without cost."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from pydantic import ValidationError

from auditeval.judges.answers import read_answers
from auditeval.judges.judge import Answer, Question, Reply
from auditeval.types import sentence


class ReplayJudge:
    """Answers out of the JSONL that `CachedJudge` recorded, found by the key of the question.

    The last line of a question counts. One that was never recorded has no answer, whatever is
    recorded of others; so two replays agree byte for byte. It has the name of the judge whose
    answers these are. Raises UserError for a file that is none, naming the line.
    """

    def __init__(self, path: str | Path) -> None:
        self._answers = {line.key: line for line in read_answers(Path(path))}
        judges = sorted({line.judge for line in self._answers.values()})
        self.name = judges[0] if len(judges) == 1 else f"replay of {', '.join(judges)}"
        said = {"key", "judge", "value", "reason"}
        kept = json.dumps(
            [(key, line.model_dump(include=said)) for key, line in sorted(self._answers.items())]
        )
        self.revision = f"replay-{hashlib.sha256(kept.encode()).hexdigest()[:16]}"

    def ask(self, question: Question[Reply]) -> Answer[Reply]:
        """See `Judge.ask`; never raises, never costs anything."""
        line = self._answers.get(question.key)
        if line is None:
            return Answer(None, "not recorded")
        if line.value is None:
            return Answer(None, line.reason)
        try:
            return Answer(question.reply.model_validate(line.value))
        except ValidationError as error:
            reason = f"the recorded answer does not fit ({sentence(error, question.reply)})"
            return Answer(None, reason)

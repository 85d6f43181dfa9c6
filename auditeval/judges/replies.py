"""What judges write, read strictly: one JSON object that fits the model of the answer, or none."""

from __future__ import annotations

import json
import re

from pydantic import ValidationError

from auditeval.judges.judge import Question, Reply
from auditeval.types import sentence

_FENCED = re.compile(r"```(?:json)?\s*\n(.*)\n\s*```", re.DOTALL)


def parsed(text: str | None, reply: type[Reply]) -> Reply | str:
    """The answer in what a judge wrote, or why there is none.

    A Markdown fence around the whole of it is taken off; words around the object are no answer,
    since which of two objects was meant would be a guess.
    """
    written = (text or "").strip()
    if not written:
        return "the judge wrote nothing"
    if fenced := _FENCED.fullmatch(written):
        written = fenced[1]
    try:
        return reply.model_validate_json(written)
    except ValidationError as error:
        return f"the judge's answer does not fit ({sentence(error, reply)})"


def prompt_with_schema(question: Question[Reply]) -> str:
    """The prompt for a judge that cannot be held to a schema: it is asked for it."""
    schema = json.dumps(question.schema, ensure_ascii=False)
    return (
        f"{question.prompt}\n\nAnswer with one JSON object that fits this JSON schema, and nothing "
        f"else:\n{schema}"
    )


def heading(name: str) -> str:
    """The line that stands before a clip and gives it the name that the prompt uses."""
    return f"Audio {name}:"

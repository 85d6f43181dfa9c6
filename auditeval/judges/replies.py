"""What judges write, read strictly: one JSON object that fits the model of the answer, or none."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationError

from auditeval.judges.judge import AnyObject, Question, Reply
from auditeval.reading import from_json, unique_keys
from auditeval.types import sentence

_MARK = re.compile(r'<think>|\{\s*["}]')
_MOST_OBJECTS = 100
# A judge that is held to no grammar breaks lines within its strings.
_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=unique_keys)


def _no_truth_value(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError(f"expected a number, found {str(value).lower()}")
    return value


WholeNumber = Annotated[int, BeforeValidator(_no_truth_value)]
"""3, 3.0 or "3"; neither 3.5 nor true."""

Number = Annotated[float, BeforeValidator(_no_truth_value)]
"""3.5 or "3.5", not true."""


def parsed(text: str | None, reply: type[Reply]) -> Reply | str:
    """The answer in what a judge wrote, or why there is none.

    It is the one JSON object that fits, whatever is around it: a Markdown fence, a sentence, or
    thoughts (`<think>...</think>`), in which no object counts. Two that fit and differ are no
    answer, since which of them was meant would be a guess; nor is one that is cut.
    """
    written = (text or "").strip()
    if not written:
        return "the judge wrote nothing"
    try:
        objects = _objects(written)
    except (ValueError, RecursionError):
        return "the judge's answer holds a JSON object that is cut or broken"
    answers: list[Reply] = []
    misfit = "it holds no JSON object"
    for found in objects:
        try:
            answer = reply.model_validate_json(found)
        except ValidationError as error:
            misfit = sentence(error, reply)
        else:
            answers += [] if answer in answers else [answer]
    if not answers:
        return f"the judge's answer does not fit ({misfit})"
    return answers[0] if len(answers) == 1 else "the judge's answer holds objects that differ"


def _objects(written: str) -> list[str]:
    """The outermost objects outside of thoughts, as JSON; raises ValueError for one that is none,
    or that no record of it could be read of.

    In one pass: an answer may have megabytes.
    """
    before, closed, behind = written.partition("</think>")
    if closed and "<think>" not in before:
        written = behind  # a chat template opened the thoughts, in the prompt
    objects: list[str] = []
    place = 0
    while mark := _MARK.search(written, place):
        if mark[0] == "<think>":
            end = written.find("</think>", mark.end())
            if end < 0:
                break
            place = end
        else:
            value, place = _DECODER.raw_decode(written, mark.start())
            objects.append(json.dumps(value))
            from_json(f'{{"value": {objects[-1]}}}')  # as it will be read in the records
            if len(objects) > _MOST_OBJECTS:
                raise ValueError
    return objects


def prompt_with_schema(question: Question[Reply]) -> str:
    """The prompt for a judge that cannot be held to a schema: it is asked for it."""
    if question.reply is AnyObject:
        return question.prompt
    schema = json.dumps(question.schema, ensure_ascii=False)
    return (
        f"{question.prompt}\n\nAnswer with one JSON object that fits this JSON schema, and nothing "
        f"else:\n{schema}"
    )


def heading(name: str) -> str:
    """The line that stands before a clip and gives it the name that the prompt uses."""
    return f"Audio {name}:"

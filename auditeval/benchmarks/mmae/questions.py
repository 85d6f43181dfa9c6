"""What the judge is asked of a rubric, in our words: the paper prints its prompt in an appendix, of
which the copy that we could read has the captions alone."""

from __future__ import annotations

import string
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, create_model

from auditeval.audio import Waveform
from auditeval.benchmarks.mmae.rubric import shuffled
from auditeval.benchmarks.mmae.samples import RubricRow
from auditeval.judges.judge import Question

STAND_IN = "prompt: ours, the paper's is not in what we could read"

SYSTEM_PROMPT = (
    "You are an expert in the analysis of sound, music and speech. You are given audio clips, each "
    "behind its name, and a multiple-choice question on them. Judge by what can be heard alone."
)

_PROMPT = """{question}

Options:
{options}

Listen to every clip that the question names before you decide. Exactly one option is right. \
Answer with a JSON object: first "reason", which says in a sentence or two what you hear, then \
"choice", the letter of the right option as one uppercase letter."""


def question(
    rubric: RubricRow, clips: Sequence[tuple[str, Waveform]], options: Sequence[str], query: int
) -> Question[Any]:
    """The rubric with its options in this order, lettered from A; the answer has `choice`."""
    letters = string.ascii_uppercase[: len(options)]
    lines = (f"{letter}. {option}" for letter, option in zip(letters, options, strict=True))
    prompt = _PROMPT.format(question=rubric.question, options="\n".join(lines))
    return Question(prompt, tuple(clips), _reply(letters), SYSTEM_PROMPT, run=query)


def options(rubric: RubricRow, seed: int, query: int) -> list[str]:
    """All choices in the order of this query, a function of the rubric's text and the seed."""
    return shuffled(rubric.choices, f"{seed}\n{query}\n{rubric.question}")


@cache
def _reply(letters: str) -> type[BaseModel]:
    """Reason first, so that the choice follows from it."""
    choice: Any = Literal[tuple(letters)]
    config = ConfigDict(extra="forbid")
    return create_model("Choice", __config__=config, reason=(str, ...), choice=(choice, ...))

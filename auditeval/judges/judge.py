"""What a judge is: clips, a prompt and a schema in; an answer that fits it, or none, out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel

from auditeval.audio import Waveform

Reply = TypeVar("Reply", bound=BaseModel)


@dataclass(frozen=True)
class Question(Generic[Reply]):
    """One question on some clips, which the prompt names in their order ("output", "input1").

    `reply` is the model of the answer: its JSON schema goes to the judge, and an answer that does
    not fit is none. `run` tells apart independent askings of one question (votes, repeated runs).
    """

    prompt: str
    clips: tuple[tuple[str, Waveform], ...]
    reply: type[Reply]
    system_prompt: str = ""
    temperature: float = 0.0
    run: int = 0


class Usage(NamedTuple):
    """Of one answer, retries included; 0 where a judge does not count."""

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0


@dataclass(frozen=True)
class Answer(Generic[Reply]):
    """`value` is None where the judge gave no answer that fits the schema; `reason` says why."""

    value: Reply | None
    reason: str
    usage: Usage


class Judge(Protocol):
    """`name` is printed beside every result ("qwen3-omni"); `revision` is part of cache keys."""

    name: str
    revision: str

    def ask(self, question: Question[Reply]) -> Answer[Reply]:
        """The answer, or one without value. Raises UserError only for what no retry could mend:
        a judge that cannot be reached, or refuses the key."""
        ...

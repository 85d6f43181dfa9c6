"""What a judge is: clips, a prompt and a schema in; an answer that fits it, or none, out."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel, RootModel

from auditeval.audio import Waveform, content_hash
from auditeval.text import counted

Reply = TypeVar("Reply", bound=BaseModel)


class AnyObject(RootModel[dict[str, Any]]):
    """An answer of any form: the prompt itself says which, and no schema goes with it."""


@dataclass(frozen=True)
class Question(Generic[Reply]):
    """One question on some clips, which the prompt names in their order ("output", "input1").

    `reply` is the model of the answer: its JSON schema goes to the judge, and an answer that does
    not fit is none. `run` tells apart independent askings of one question (votes, repeated runs).
    `prompt_first`: the prompt stands before the clips, which then bear no names.
    """

    prompt: str
    clips: tuple[tuple[str, Waveform], ...]
    reply: type[Reply]
    system_prompt: str = ""
    temperature: float = 0.0
    run: int = 0
    prompt_first: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        return self.reply.model_json_schema()

    @property
    def key(self) -> str:
        """SHA-256 of all that an answer depends on but the judge, in hex: no path, no file name."""
        content = {
            "clips": [(name, content_hash(clip)) for name, clip in self.clips],
            "prompt": self.prompt,
            "system_prompt": self.system_prompt,
            "schema": self.schema,
            "temperature": float(self.temperature),
            "run": self.run,
            **({"prompt_first": True} if self.prompt_first else {}),
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


UNKNOWN_PRICE = "price unknown"


@dataclass(frozen=True)
class Usage:
    """Of one answer or several, retries included; 0 where a judge does not count. What a price is
    unknown of costs None, and so does all that it is a part of."""

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0

    def __add__(self, other: Usage) -> Usage:
        costs = (self.cost_usd, other.cost_usd)
        return Usage(
            self.requests + other.requests,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            None if costs[0] is None or costs[1] is None else costs[0] + costs[1],
        )

    def __str__(self) -> str:
        return (
            f"{counted(self.requests, 'request', 'requests')}, {self.prompt_tokens} prompt and "
            f"{self.completion_tokens} completion tokens, {self.cost}"
        )

    @property
    def cost(self) -> str:
        """As it is printed."""
        return UNKNOWN_PRICE if self.cost_usd is None else f"{self.cost_usd:.4f} USD"


@dataclass(frozen=True)
class Answer(Generic[Reply]):
    """`value` is None where the judge gave no answer that fits the schema; `reason` says why.

    Its usage is what it cost now: an answer that was kept costs nothing the second time. `refused`
    says that it is these clips, or this question, that the judge does not take.
    """

    value: Reply | None
    reason: str = ""
    usage: Usage = Usage()
    refused: bool = False


class Judge(Protocol):
    """`name` is printed beside every result ("qwen3-omni"); `revision` is part of cache keys.

    One whose answers take time or money has `failures` too: so many questions in a row without any
    answer end a run (see `CachedJudge`).
    """

    name: str
    revision: str

    def ask(self, question: Question[Reply]) -> Answer[Reply]:
        """The answer, or one without value. Raises UserError only for what no retry could mend:
        a judge that was never reached, refuses the key or wants to be paid. Several threads may
        ask at once."""
        ...

"""What the judge is asked of a rubric: the contents, order and reply of the paper's prompts (its
Appendix C) in our words."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, create_model

from auditeval.audio import Waveform
from auditeval.benchmarks.mmae.rubric import shuffled
from auditeval.benchmarks.mmae.samples import RubricRow
from auditeval.judges.judge import Question

STAND_IN = "prompt: the paper's (Appendix C) in our words"

SYSTEM_PROMPT = """\
You analyse audio. Answer questions on the clips that you are given by what can be heard in them \
and nothing else; listen with care before you answer.
How questions speak of audio:
- <audio output> or <audio input1>, without brackets, is the whole of that clip.
- With [start:end] it is the part between these times: <audio output[0.0s:3s]> is from 0.0 s to \
3.0 s.
- Without a start it begins where the clip does: <audio input1[:2.0s]> is up to 2.0 s.
- Without an end it goes on to the end of the clip: <audio output[1.5s:]> is from 1.5 s on.
- A negative time counts back from the end: <audio input2[-2.5s:]> is the last 2.5 s of that clip.
- Slices are those of Python.
What holds for answers:
- They rest on what is clearly there, or follows directly from it; nothing is made up.
- Where the audio is not enough to answer, say so.
- Name the parts that matter (events, sounds, words, times), and quote speech where it helps.
- Be short, clear and exact; say what is noisy, ambiguous or unclear."""

_PROMPT = """{silent}Answer this multiple-choice question by what the clips objectively hold. \
First listen, analyse and reason, then choose exactly one of the options. Return only JSON with \
the keys "reason" and "choice", the reason first and the choice last. The choice is one uppercase \
letter, that of the option.

Question:
{question}

Choices:
{options}"""

# A letter by itself, or set off from the words of its option; "a dog" and "A. or B." are none.
_LETTER = re.compile(
    r"""[\s(\["'*]*([A-Za-z])[\s"'*]*(?:[.):\]]+(?!.*\b[A-Za-z][.):\]]).*)?""", re.S
)


def question(
    rubric: RubricRow,
    clips: Sequence[tuple[str, Waveform]],
    silent: Sequence[str],
    options: Sequence[str],
    query: int,
) -> Question[Any]:
    """The rubric with its options in this order, lettered from A; the answer has `choice`.

    `silent` are sentences on the parts that hold nothing and so are not among the clips.
    """
    letters = string.ascii_uppercase[: len(options)]
    lines = (f"{letter}. {option}" for letter, option in zip(letters, options, strict=True))
    prompt = _PROMPT.format(
        silent="".join(f"{sentence}\n\n" for sentence in silent),
        question=rubric.question,
        options="\n".join(lines),
    )
    return Question(prompt, tuple(clips), _reply(letters), SYSTEM_PROMPT, run=query)


def options(rubric: RubricRow, seed: int, query: int) -> list[str]:
    """All choices in the order of this query, a function of the rubric's text and the seed."""
    return shuffled(rubric.choices, f"{seed}\n{query}\n{rubric.question}")


def _letter(said: Any) -> Any:
    found = _LETTER.fullmatch(said) if isinstance(said, str) else None
    return found[1].upper() if found else said


@cache
def _reply(letters: str) -> type[BaseModel]:
    """Reason first, so that the choice follows from it."""
    choice: Any = Annotated[Literal[tuple(letters)], BeforeValidator(_letter)]
    config = ConfigDict(extra="forbid")
    return create_model("Choice", __config__=config, reason=(str, ...), choice=(choice, ...))

"""A small MMAE on disk, and a judge whose answers to each rubric are told to it."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path
from typing import Any

import numpy as np

from auditeval.audio import Waveform, files
from auditeval.audio.waveform import quantised
from auditeval.judges.judge import Answer, Question

RATE_HZ = 8000
OUTPUT = Waveform(np.sin(np.arange(4 * RATE_HZ) / 20).astype(np.float32) / 2, RATE_HZ)


def rubric(category: str, question: str, right: str = "yes") -> dict[str, Any]:
    wrong = ["no", "cannot be told", "None of the above"]
    return {
        "category": category,
        "question": question,
        "right_choice": right,
        "wrong_choices": [choice for choice in wrong if choice != right],
    }


def entry(id: str, rubrics: list[dict[str, Any]], inputs: int = 1, **changes: Any) -> Any:
    parts: list[dict[str, str]] = [{"type": "text", "text": "Remove the dog."}]
    parts += [{"type": "audio", "audio_url": f"wav/{id}/audio{n + 1}.wav"} for n in range(inputs)]
    return {
        "id": id,
        "complexity": "single",
        "modality": "sound",
        "granularity": ["local"],
        "operations": [{"granularity": "local", "operation": "remove"}],
        "messages": [{"role": "user", "content": parts}],
        "tags": [],
        "rubrics": rubrics,
        **changes,
    }


IF, CON = "Instruction Following", "Consistency"
ENTRIES = [
    entry("a", [rubric(IF, "a1?"), rubric("IF", "a2?"), rubric("Con.", "a3?")]),
    entry(
        "b",
        [rubric(IF, "b1 in <audio output[1s:2s]>?"), rubric(CON, "b2?"), rubric("Con", "b3?")],
        complexity="multi-hop",
        modality="sound-music",
        granularity=["local", "global"],
        operations=[
            {"granularity": "local", "operation": "remove"},
            {"granularity": "global", "operation": "add"},
        ],
    ),
    entry("c", [rubric(IF, "c1 of <audio input2>?"), rubric(IF, "c2?")], inputs=2),
]


def write(folder: Path, entries: list[Any] = ENTRIES) -> Path:
    for one in entries:
        for number, part in enumerate(one["messages"][0]["content"][1:], start=1):
            level = 0.1 * number
            files.write(folder / part["audio_url"], quantised(level * OUTPUT.samples), RATE_HZ)
    path = folder / "MMAE-meta.json"
    path.write_text(json.dumps(entries))
    return path


def asked(question: Question[Any]) -> str:
    """The rubric's own question, out of the prompt."""
    return question.prompt.partition("Question:\n")[2].partition("\n")[0]


class ToldJudge:
    """`votes` by the first word of a question: r right, w wrong, u no answer, one a query.

    It sees letters and options as a model would; `asked` has every question.
    """

    name, revision = "told", "1"

    def __init__(self, votes: dict[str, str], rights: dict[str, str] | None = None) -> None:
        self.votes, self.rights = votes, rights or {}
        self.asked: list[Question[Any]] = []
        self._lock = threading.Lock()

    def ask(self, question: Question[Any]) -> Answer[Any]:
        with self._lock:
            self.asked.append(question)
        first = asked(question).split()[0].rstrip("?")
        vote = self.votes.get(first, "rrr")[question.run]
        if vote == "u":
            return Answer(None, "the judge wrote nothing")
        options = dict(re.findall(r"^([A-Z])\. (.*)$", question.prompt, re.MULTILINE))
        right = self.rights.get(first, "yes")
        letter = next(k for k, option in options.items() if (option == right) == (vote == "r"))
        reply = {"reason": f"because of {first}", "choice": letter}
        return Answer(question.reply.model_validate_json(json.dumps(reply)))

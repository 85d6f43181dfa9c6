"""A judge on questions whose answers are known, before thousands are paid that it would guess."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Literal

import numpy as np
from pydantic import BaseModel

from auditeval.audio import Waveform
from auditeval.judges.judge import Judge, Question

log = logging.getLogger(__name__)

BETTER_THAN_CHANCE = 7
"""Of the eight: who guesses has as many right in 3.5 of 100 cases (9 / 256), and 6 in 14."""

_RATE_HZ, _SECONDS = 16000, 2
_NOISE = np.random.default_rng(1984).normal(0, 0.1, _RATE_HZ * _SECONDS).astype(np.float32)
_TIMES = np.arange(_RATE_HZ * _SECONDS, dtype=np.float32) / _RATE_HZ
# Three notes and a rest, so that there is something to compare.
_MELODY = 0.3 * np.sin(2 * np.pi * np.repeat([440.0, 554.4, 659.3, 0.0], len(_TIMES) // 4) * _TIMES)

SILENCE, NOISE, MELODY = (
    Waveform(samples.astype(np.float32), _RATE_HZ)
    for samples in (np.zeros_like(_NOISE), _NOISE, _MELODY)
)

_PROMPT = """{question}

A. {options[0]}
B. {options[1]}

Answer with a JSON object: first "reason", which says in a sentence what you hear, then "choice", \
the letter of the right option."""


class Choice(BaseModel):
    reason: str = ""
    choice: Literal["A", "B"]


def known() -> Iterator[tuple[Question[Choice], str]]:
    """Eight questions with the letters of their right options, four of each letter."""
    any_sound = "Is there any sound in the audio clip?"
    same = "Are the audio clips first and second the same recording?"
    facts = (
        (any_sound, (("clip", SILENCE),), "no"),
        (any_sound, (("clip", NOISE),), "yes"),
        (same, (("first", MELODY), ("second", MELODY)), "yes"),
        (same, (("first", MELODY), ("second", NOISE)), "no"),
    )
    for question, clips, right in facts:
        for options in (("yes", "no"), ("no", "yes")):
            prompt = _PROMPT.format(question=question, options=options)
            yield Question(prompt, clips, Choice), "AB"[options.index(right)]


def check(judge: Judge) -> None:
    """Log a warning where the judge is no better than chance at what is known, or answers nothing.

    It is not asked on behind the first question without an answer. Raises UserError as the judge.
    """
    right = total = 0
    for question, letter in known():
        answer = judge.ask(question)
        if answer.value is None:
            log.warning("%s gave no answer when it was checked: %s", judge.name, answer.reason)
            return
        right, total = right + (answer.value.choice == letter), total + 1
    if right < BETTER_THAN_CHANCE:
        log.warning(
            "%s is right in %d of %d questions whose answers are known (is there sound in silence, "
            "in noise; is a clip itself, is it noise), which guessing may be too. For orientation, "
            "MMAE's published judge gives the input returned as it is IFR 27.37, CR 94.13, EMR "
            "4.60, and noise IFR 32.08, CR 15.68, EMR 0.00 (arXiv:2606.07229, Table 2): compare "
            "--baselines. It is asked on; --no-judge-check spares these questions.",
            judge.name,
            right,
            total,
        )

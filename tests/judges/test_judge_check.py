"""The questions whose answers are known: who guesses is warned of, who hears is not."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from auditeval.judges.check import BETTER_THAN_CHANCE, check, known
from auditeval.judges.judge import Answer, Question


class Told:
    """Answers by a function of the question."""

    name, revision = "told", "1"

    def __init__(self, choose: Callable[[Question[Any]], str | None]) -> None:
        self._choose, self.asked = choose, 0

    def ask(self, question: Question[Any]) -> Answer[Any]:
        self.asked += 1
        letter = self._choose(question)
        if letter is None:
            return Answer(None, "no answer within 120 s")
        return Answer(question.reply(choice=letter))


def hears(question: Question[Any]) -> str:
    """By the samples alone."""
    clips = [clip.samples for _, clip in question.clips]
    yes = np.array_equal(*clips) if len(clips) == 2 else bool(np.any(clips[0]))
    return "A" if ("A. yes" in question.prompt) == yes else "B"


def test_the_right_options_are_right_and_balanced() -> None:
    asked = list(known())
    assert [letter for _, letter in asked] == [hears(question) for question, _ in asked]
    letters = [letter for _, letter in asked]
    assert letters.count("A") == letters.count("B") == 4
    assert len({question.key for question, _ in asked}) == 8
    # The first letter, and the first word, of every question are right in half of the cases.
    assert sum(("A. yes" in q.prompt) == (a == "A") for q, a in asked) == 4


def test_who_hears_is_not_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    judge = Told(hears)
    check(judge)
    assert (judge.asked, caplog.messages) == (8, [])


def test_seven_of_eight_are_not_chance() -> None:
    at_least = [sum(math.comb(8, right) for right in range(k, 9)) / 2**8 for k in (6, 7)]
    assert at_least[1] < 0.05 < at_least[0]
    assert BETTER_THAN_CHANCE == 7


@pytest.mark.parametrize("letter", ["A", "B"])
def test_who_guesses_is_warned_of(letter: str, caplog: pytest.LogCaptureFixture) -> None:
    check(Told(lambda question: letter))
    (said,) = caplog.messages
    assert said.startswith("told is right in 4 of 8 questions whose answers are known")
    assert "\n" not in said


def test_who_does_not_answer_is_asked_once(caplog: pytest.LogCaptureFixture) -> None:
    judge = Told(lambda question: None)
    check(judge)
    assert (judge.asked, len(caplog.messages)) == (1, 1)
    assert caplog.messages[0] == "told gave no answer when it was checked: no answer within 120 s"

"""What is read out of what a judge wrote: one object that fits, whatever stands around it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from auditeval.benchmarks.speecheditbench.judging import EventReply, StyleReply
from auditeval.benchmarks.swanbench.listening import Richness
from auditeval.judges.answers import AnswerLog
from auditeval.judges.judge import Answer, AnyObject
from auditeval.judges.replies import parsed
from auditeval.reading import DEEPEST


class Mark(BaseModel):
    model_config = ConfigDict(extra="forbid")
    score: float = Field(ge=1, le=5)
    why: str = ""


GOOD, OTHER = '{"score": 3.5}', '{"score": 2}'

READ = {
    "bare": GOOD,
    "fenced": f"```json\n{GOOD}\n```",
    "a fence that names no language": f"```\n{GOOD}\n```\nDone.",
    "behind a sentence": f"Sure: {GOOD}",
    "before a sentence": f"{GOOD} I hope this helps.",
    "behind thoughts": f"<think>Maybe {OTHER}? No.</think>\n{GOOD}",
    "before thoughts": f"{GOOD}<think>{OTHER}</think>",
    "behind thoughts that the template opened": f"Maybe {OTHER}? No.</think>{GOOD}",
    "between thoughts": f"<think>a</think>{GOOD}<think>b",
    "twice the same": f"{GOOD}\n{GOOD}",
    "beside one that does not fit": f'{{"thought": {{"score": 4}}}} {GOOD}',
    "among braces that are none": f"the set {{a, b}} and \\boxed{{{GOOD}}}",
    "in a list": f"[{GOOD}]",
}


@pytest.mark.parametrize("text", READ.values(), ids=READ)
def test_the_one_object_that_fits_is_the_answer(text: str) -> None:
    assert parsed(text, Mark) == Mark(score=3.5)


def test_a_line_break_or_a_tag_within_a_string_is_of_the_string() -> None:
    assert parsed('{"score": 3, "why": "one\ntwo"}', Mark) == Mark(score=3, why="one\ntwo")
    assert parsed('{"score": 3, "why": "<think>"}', Mark) == Mark(score=3, why="<think>")


NOT_READ = {
    "nothing": ("  ", "the judge wrote nothing"),
    "a refusal": ("I cannot listen to audio.", "does not fit (it holds no JSON object)"),
    "a number": ("3.5", "holds no JSON object"),
    "two that differ": (f"{GOOD} or {OTHER}", "holds objects that differ"),
    "a key twice": ('{"score": 3, "score": 4}', "cut or broken"),
    "cut": ('{"score": 3, "why": "it', "cut or broken"),
    "one in one that is cut": ('{"a": {"score": 3}, "why": "it', "cut or broken"),
    "in thoughts alone": (f"<think>{GOOD}</think>", "holds no JSON object"),
    "in thoughts that are cut": (f"<think>{GOOD}", "holds no JSON object"),
    "out of range": ('{"score": 9}', "score: input should be less than or equal to 5, found 9"),
    "of another schema": ('{"mark": 3}', "score: is missing"),
    "not a number": ('{"score": NaN}', "does not fit (score: "),
}


@pytest.mark.parametrize(("text", "reason"), NOT_READ.values(), ids=NOT_READ)
def test_what_would_be_a_guess_is_no_answer(text: str, reason: str) -> None:
    said = parsed(text, Mark)
    assert isinstance(said, str)
    assert said.startswith("the judge")
    assert reason in said


def test_what_no_record_could_be_read_of_is_no_answer(tmp_path: Path) -> None:
    """Or the answers of a run could not be gone on with."""
    within, beyond = (f'{{"a": {"[" * depth}{"]" * depth}}}' for depth in (DEEPEST - 3, DEEPEST))
    answer, record = parsed(within, AnyObject), tmp_path / "answers.jsonl"
    assert isinstance(answer, AnyObject)
    AnswerLog(record).note("judge", "1", "key", Answer(answer))
    assert AnswerLog(record).value("judge", "1", "key") == answer.root
    assert isinstance(parsed(beyond, AnyObject), str)


def event(score: Any) -> str:
    return json.dumps({"event_scores": {"breath": score, "laugh": 0, "cough": 0, "sigh": 0}})


@pytest.mark.parametrize("score", [2, 2.0, "2", "2.0"])
def test_a_whole_number_counts_in_any_form(score: Any) -> None:
    reply = parsed(event(score), EventReply)
    assert isinstance(reply, EventReply)
    assert repr(reply.event_scores.breath) == "2"
    style = parsed(json.dumps({"target_style_score": score}), StyleReply)
    assert isinstance(style, StyleReply)
    assert repr(style.target_style_score) == "2"


@pytest.mark.parametrize(("score", "is_read"), [(3, True), ("3", True), (3.5, True), (True, False)])
def test_a_truth_value_is_no_score_of_swanbench(score: Any, is_read: bool) -> None:
    words = dict.fromkeys(("Overall_Impression", "Expressiveness", "Final_Recommendation"), "")
    reply = parsed(json.dumps({**words, "Expressiveness_Score": score}), Richness)
    assert isinstance(reply, Richness) == is_read


LONG = ("{", "{ ", '{"a":', "[{", "<think>", "</think>", "{}", '{"score": 9}', '{"why": "', "```")


@pytest.mark.parametrize("part", LONG)
def test_megabytes_are_read_in_one_pass(part: str) -> None:
    start = time.monotonic()
    assert isinstance(parsed(part * (2_000_000 // len(part)), Mark), str)
    assert time.monotonic() - start < 5

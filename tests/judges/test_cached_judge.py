"""Answers kept by content, recorded, replayed and counted."""

from __future__ import annotations

import json
import resource
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel, Field

from auditeval.audio import Waveform
from auditeval.judges.answers import AnswerLog, Tally, read_answers
from auditeval.judges.cached import CachedJudge
from auditeval.judges.judge import Answer, Question, Usage
from auditeval.judges.replay import ReplayJudge
from auditeval.types import UserError


class Mark(BaseModel):
    score: float = Field(ge=1, le=5)


class OtherMark(BaseModel):
    score: float = Field(ge=0, le=9)


CLIP = Waveform(np.linspace(-0.5, 0.5, 2000, dtype=np.float32), 16000)


class Scripted:
    """Says what stands in `script` under the run of a question, else nothing; counts."""

    name = "scripted"

    def __init__(self, script: dict[int, float], revision: str = "1") -> None:
        self.script, self.revision, self.asked = script, revision, 0

    def ask(self, question: Question[Any]) -> Answer[Any]:
        self.asked += 1
        usage = Usage(1, 100, 10, 0.5)
        if question.run in self.script:
            return Answer(question.reply(score=self.script[question.run]), "", usage)
        return Answer(None, "it was busy", usage)


def question(**changes: Any) -> Question[Any]:
    fields: dict[str, Any] = {"prompt": "How good?", "clips": (("output", CLIP),), "reply": Mark}
    return Question(**{**fields, **changes})


QUIETER = Waveform(CLIP.samples / 2, 16000)
CHANGES: tuple[dict[str, Any], ...] = (
    {"prompt": "How bad?"},
    {"system_prompt": "You listen."},
    {"temperature": 0.5},
    {"run": 1},
    {"reply": OtherMark},
    {"clips": ()},
    {"clips": (("input1", CLIP),)},
    {"clips": (("output", QUIETER),)},
    {"clips": (("output", Waveform(CLIP.samples, 8000)),)},
    {"clips": (("output", CLIP), ("output", CLIP))},
)


def test_a_key_is_of_everything_that_an_answer_depends_on() -> None:
    keys = [question(**change).key for change in CHANGES]
    assert len({question().key, *keys}) == 1 + len(CHANGES)
    copy = Waveform(CLIP.samples.copy(), 16000)
    assert question(clips=(("output", copy),), temperature=0).key == question().key


def test_no_question_is_paid_twice(tmp_path: Path) -> None:
    first = CachedJudge(Scripted({0: 3.0}), tmp_path)
    again = CachedJudge(Scripted({0: 4.0}), tmp_path)
    other = CachedJudge(Scripted({0: 4.0}, revision="2"), tmp_path)
    assert [judge.ask(question()).value for judge in (first, first, again, other)] == [
        Mark(score=3.0),
        Mark(score=3.0),
        Mark(score=3.0),
        Mark(score=4.0),
    ]
    assert [judge.spent for judge in (first, again)] == [Usage(1, 100, 10, 0.5), Usage()]


def test_what_failed_is_asked_again(tmp_path: Path) -> None:
    busy, well = Scripted({}), Scripted({0: 2.0})
    failed = CachedJudge(busy, tmp_path).ask(question())
    assert failed == Answer(None, "it was busy", Usage(1, 100, 10, 0.5))
    assert CachedJudge(well, tmp_path).ask(question()).value == Mark(score=2.0)


def test_a_replay_gives_back_what_was_recorded(tmp_path: Path) -> None:
    record = tmp_path / "new" / "answers.jsonl"
    judge = CachedJudge(Scripted({0: 3.0, 1: 4.5}), tmp_path / "cache", AnswerLog(record))
    asked = [question(run=run) for run in range(3)]
    said = [judge.ask(one) for one in asked]
    # A resumed run records what it takes from the cache too, and the last word counts.
    resumed = CachedJudge(Scripted({2: 1.0}), tmp_path / "cache", AnswerLog(record))
    assert [resumed.ask(one).value for one in asked] == [
        Mark(score=3.0),
        Mark(score=4.5),
        Mark(score=1.0),
    ]
    replay = ReplayJudge(record)
    assert (replay.name, replay.revision[:7]) == ("scripted", "replay-")
    assert [replay.ask(one).value for one in asked] == [resumed.ask(one).value for one in asked]
    assert [replay.ask(one).value for one in asked[:2]] == [one.value for one in said[:2]]
    assert replay.ask(asked[0]).usage == Usage()
    assert replay.ask(question(run=9)) == Answer(None, "not recorded")
    assert replay.ask(question(run=0, reply=OtherMark)) == Answer(None, "not recorded")


def test_judges_of_two_roles_record_in_one_file(tmp_path: Path) -> None:
    record, long = tmp_path / "answers.jsonl", "?" * 20_000
    log = AnswerLog(record)
    first, second = (CachedJudge(Scripted({}), None, log) for _ in range(2))
    second.model = "other"
    asked = [question(run=run, prompt=long) for run in range(60)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda one: (first, second)[one.run % 2].ask(one), asked))
    replay = ReplayJudge(record)
    assert replay.name == "replay of other, scripted"
    assert {replay.ask(one).reason for one in asked} == {"it was busy"}
    assert [judge.tally.questions for judge in (first, second)] == [30, 30]


def test_a_failure_is_replayed_with_its_reason(tmp_path: Path) -> None:
    record = tmp_path / "answers.jsonl"
    CachedJudge(Scripted({}), None, AnswerLog(record)).ask(question())
    assert ReplayJudge(record).ask(question()) == Answer(None, "it was busy")


def test_a_replay_is_the_same_whatever_the_order_of_its_lines(tmp_path: Path) -> None:
    record, turned = tmp_path / "answers.jsonl", tmp_path / "turned.jsonl"
    judge = CachedJudge(Scripted({0: 3.0, 1: 4.5}), None, AnswerLog(record))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(judge.ask, [question(run=run) for run in range(40)]))
    assert judge.spent == Usage(40, 4000, 400, 20.0)
    lines = record.read_text().splitlines()
    assert len(lines) == 40
    turned.write_text("\n".join(reversed(lines)) + "\n")
    assert ReplayJudge(record).revision == ReplayJudge(turned).revision
    turned.write_text("\n".join(lines[1:]) + "\n")
    assert ReplayJudge(record).revision != ReplayJudge(turned).revision


def test_a_line_torn_by_a_kill_is_cut_when_recording_goes_on(tmp_path: Path) -> None:
    record = tmp_path / "answers.jsonl"
    CachedJudge(Scripted({0: 3.0}), None, AnswerLog(record)).ask(question())
    whole = record.read_bytes()
    record.write_bytes(whole + whole[:20])
    with pytest.raises(UserError, match=r"answers\.jsonl:2: is not JSON"):
        ReplayJudge(record)
    CachedJudge(Scripted({1: 4.0}), None, AnswerLog(record)).ask(question(run=1))
    assert record.read_bytes().startswith(whole)
    assert ReplayJudge(record).ask(question(run=1)).value == Mark(score=4.0)


LINE = {"key": "a", "judge": "b", "value": None, "reason": "c"}


@pytest.mark.parametrize("bad", ["[]", "{}", "{", json.dumps({**LINE, "key": 3})])
def test_a_bad_record_names_its_line(tmp_path: Path, bad: str) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(f"{json.dumps(LINE)}\n{bad}\n{json.dumps(LINE)}\n")
    with pytest.raises(UserError, match=r"answers\.jsonl:2: "):
        ReplayJudge(path)
    with pytest.raises(UserError, match="cannot be read"):
        ReplayJudge(tmp_path / "none.jsonl")


def test_a_recorded_answer_out_of_range_is_none(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps({**LINE, "key": question().key, "value": {"score": 9}}) + "\n")
    answer = ReplayJudge(path).ask(question())
    assert answer.value is None
    assert "score" in answer.reason


def test_usage_is_summed_over_resumes_and_no_question_counts_twice(tmp_path: Path) -> None:
    record = tmp_path / "answers.jsonl"
    CachedJudge(Scripted({5: 2.0}), tmp_path / "cache").ask(question(run=5))  # another report's
    for script in ({0: 3.0}, {0: 3.0, 1: 4.0}):
        judge = CachedJudge(Scripted(script), tmp_path / "cache", AnswerLog(record))
        for run in (0, 1, 2, 5, 0):
            judge.ask(question(run=run))
    assert judge.spent == Usage(2, 200, 20, 1.0)
    # 0 once, 1 twice, 2 twice; 5 cost this report nothing.
    assert judge.tally == Tally(4, 3, 1, Usage(5, 500, 50, 2.5), Counter({"it was busy": 1}))
    assert AnswerLog(record).tally("scripted") == judge.tally
    assert AnswerLog(record).tally("nobody") == Tally()


def test_what_was_paid_is_known_without_a_cache(tmp_path: Path) -> None:
    """As after a kill between the line of the record and the entry of the cache."""
    record = tmp_path / "answers.jsonl"
    CachedJudge(Scripted({0: 3.0}), None, AnswerLog(record)).ask(question())
    again = Scripted({0: 4.0})
    assert CachedJudge(again, None, AnswerLog(record)).ask(question()).value == Mark(score=3.0)
    assert again.asked == 0
    other = Scripted({0: 4.0}, revision="2")
    assert CachedJudge(other, None, AnswerLog(record)).ask(question()).value == Mark(score=4.0)


class Failing(Scripted):
    """Of which a run has had enough after three questions; `refused` are runs it does not take."""

    failures = 3

    def __init__(self, script: dict[int, float], refused: tuple[int, ...] = ()) -> None:
        super().__init__(script)
        self._refused = refused

    def ask(self, question: Question[Any]) -> Answer[Any]:
        answer = super().ask(question)
        return replace(answer, refused=question.run in self._refused)


def test_a_run_stops_after_so_many_failures_in_a_row(tmp_path: Path) -> None:
    failing = Failing({2: 3.0, 8: 4.0})
    judge = CachedJudge(failing, tmp_path, AnswerLog(tmp_path / "answers.jsonl"))
    for run in (0, 1, 2, 3, 4, 2):  # an answer begins the count anew, one that is kept does not
        judge.ask(question(run=run))
    said = (
        r"^scripted: no answer to {} questions in a row \(--judge-failures 3; the last: it was "
        r"busy\); what was answered is kept, and the same command goes on from there$"
    )
    for run, count in ((5, 3), (6, 4)):  # so does who asks on in another thread
        with pytest.raises(UserError, match=said.format(count)):
            judge.ask(question(run=run))
    assert judge.tally.reasons == {"it was busy": 6}
    for run in (8, 9, 10):  # it is back
        judge.ask(question(run=run))


def test_a_replay_never_stops() -> None:
    silent = CachedJudge(Scripted({}), None)
    assert {silent.ask(question(run=run)).reason for run in range(50)} == {"it was busy"}


def test_clips_that_are_refused_count_once_however_many_questions_are_on_them() -> None:
    judge = CachedJudge(Failing({}, refused=tuple(range(9))), None)
    for run in range(9):
        judge.ask(question(run=run))
    judge.ask(question(clips=(("output", QUIETER),)))
    with pytest.raises(UserError, match="no answer to 3 questions in a row"):
        judge.ask(question(clips=()))


def test_threads_count_together() -> None:
    judge = CachedJudge(Failing({}), None)

    def stops(run: int) -> bool:
        try:
            judge.ask(question(run=run))
        except UserError:
            return True
        return False

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(stops, range(40))).count(False) == 2


def test_a_line_that_the_disk_takes_a_part_of_is_an_error_and_tears_no_record(
    tmp_path: Path,
) -> None:
    record = tmp_path / "answers.jsonl"
    judge = CachedJudge(Scripted({0: 3.0, 1: 4.0, 2: 5.0}), None, AnswerLog(record))
    judge.ask(question())
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (record.stat().st_size + 50, before[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            judge.ask(question(run=1))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    judge.ask(question(run=2))
    assert [line.value for line in read_answers(record)] == [{"score": 3.0}, {"score": 5.0}]


def test_threads_with_one_question_have_one_answer(tmp_path: Path) -> None:
    """As of a baseline that returns one clip for all; a judge need not say the same twice."""

    class Moody(Scripted):
        def ask(self, question: Question[Any]) -> Answer[Any]:
            time.sleep(0.02)
            self.script[0] = 1.0 + self.asked
            return super().ask(question)

    moody, record = Moody({}), tmp_path / "answers.jsonl"
    judge = CachedJudge(moody, tmp_path / "cache", AnswerLog(record))
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(judge.ask, [question()] * 4))
    replayed = ReplayJudge(record).ask(question()).value
    assert [answer.value for answer in answers] == [replayed] * 4
    assert moody.asked == 1


def test_usage_is_printable() -> None:
    spent = Usage(1, 100, 10, 0.25) + Usage(2, 200, 20, 0.5)
    assert str(spent) == "3 requests, 300 prompt and 30 completion tokens, 0.7500 USD"
    assert str(spent + Usage(1, cost_usd=None)).endswith(", price unknown")

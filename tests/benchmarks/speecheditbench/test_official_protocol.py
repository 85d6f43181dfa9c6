"""The protocol `official` against what the released code said of 150 constructed cases."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
import speechedit_cases
from speechedit_cases import evaluate, verdicts
from speechedit_rows import Judges, lay_out, row, tone, write_tone

from auditeval.atomic import write_text
from auditeval.backends.load import Backends
from auditeval.benchmarking import bench
from auditeval.benchmarks.speecheditbench.anchors import EMOTIONS, Event, Style
from auditeval.benchmarks.speecheditbench.benchmark import SpeechEditBench
from auditeval.benchmarks.speecheditbench.official import judging
from auditeval.judges.judge import Answer, Question
from auditeval.metrics.transcript import Language
from auditeval.types import UserError

CASES = speechedit_cases.read()
STYLES = get_args(Style)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_official_verdicts_are_those_of_the_released_code(
    case: dict[str, Any], tmp_path: Path
) -> None:
    found = evaluate(case, tmp_path)
    assert verdicts(found.official) == case["official"], found.official["reason"]
    assert verdicts(found.ours) == case.get("ours", case["official"]), found.ours["reason"]
    edit = found.official["edits"][0]
    measured = case.get("measured", {})
    if "rt60" in measured:
        assert edit["rt60"] == pytest.approx(measured["rt60"], rel=1e-3)
    for word, gain in measured.get("prominence_gain", {}).items():
        assert edit["prominence_gain"][word] == (gain and pytest.approx(gain, abs=1e-5))


@pytest.mark.parametrize("task", ["emotion", "style"])
def test_the_judge_reads_what_should_be_said(task: str, tmp_path: Path) -> None:
    """And not what is: the released code gives it the transcript of the sample."""
    asked: list[Question[Any]] = []

    class Listens(Judges):
        def ask(self, question: Question[Any]) -> Answer[Any]:
            asked.append(question)
            return super().ask(question)

    nodes = {"judge": Listens(None)}
    made = SpeechEditBench(lay_out(tmp_path, row(task)), Backends(nodes))
    record = made.evaluate(made.samples[0], tone(440))
    assert "the yellow lamps" in asked[0].prompt
    assert asked[0].prompt_first
    # No answer fails, as in the released code, and the run asks again.
    assert (record["status"], record["target_success"]) == ("unscored", False)


def test_every_difference_has_a_rule_and_a_reason() -> None:
    for case in CASES:
        assert case["rule"]
        assert ("ours" in case) == ("why" in case), case["name"]
        assert case.get("ours") != case["official"]


def test_the_table_of_differences_is_that_of_the_cases() -> None:
    """`python tests/speechedit_cases.py` writes it."""
    assert speechedit_cases.TABLE.read_text(encoding="utf-8") == speechedit_cases.table()


def test_the_cases_cover_every_task_and_rule() -> None:
    tasks = [case["row"]["task"] for case in CASES]
    assert len(set(tasks)) == 8
    assert len(CASES) >= 60
    least = {"content edit": 8, "stress": 10, "speed": 4, "pitch": 4, "RT60": 10, "scene": 6}
    least |= {"enhancement": 3, "speaker": 3, "judge's reply": 15, "compositional edit": 6}
    rules = [case["rule"] for case in CASES]
    assert {rule: count for rule, count in least.items() if rules.count(rule) < count} == {}
    # A rule that only ever fails, or passes, would be held by nothing.
    for rule in least:
        targets = {c["official"]["target_success"] for c in CASES if c["rule"] == rule}
        assert {True, False} <= targets, rule


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_judge_is_asked_for_all_that_its_answer_is_read_for(language: Language) -> None:
    clip, text = tone(220), "the yellow lamps"
    emotion = judging.emotion_question(clip, text, "iemocap_en", language)
    assert all(label in emotion.prompt for label in ("predicted_emotion", *EMOTIONS["iemocap_en"]))
    styles = {style: judging.style_question(clip, text, style, language) for style in STYLES}
    for question in styles.values():
        for field in ("target_style_score", "target_style_success", "style_scores", *STYLES):
            assert field in question.prompt
    definitions = {question.prompt.replace(style, "") for style, question in styles.items()}
    assert len(definitions) == len(STYLES)
    for question in (emotion, *styles.values()):
        assert text in question.prompt
        assert (re.search(r"[\u4e00-\u9fff]", question.prompt) is not None) == (language == "zh")
        assert "$" not in question.prompt
    without = judging.style_question(clip, " ", "dramatic", language)
    assert "Not available" in without.prompt
    events = judging.event_question(clip)
    assert all(word in events.prompt for word in ("event_scores", *get_args(Event)))
    for question in (emotion, events, without):
        assert question.clips == (("output", clip),)
        assert question.temperature == 0


def test_a_run_of_another_protocol_is_another_run(tmp_path: Path) -> None:
    """And the protocol stands in the title, in the report and in every record."""
    lay_out(tmp_path / "set", row("prosody"))
    write_tone(tmp_path / "outputs" / "s__prosody.wav", 220)
    none = tmp_path / "none.yaml"
    write_text(none, "pitch: null\n")

    def run(protocol: str | None, folder: str) -> Any:
        systems = {"mine": tmp_path / "outputs"}
        return bench(
            *("speecheditbench", tmp_path / "set", systems, tmp_path / folder),
            backends=none,
            protocol=protocol,
            cache_dir=tmp_path / "cache",
        )

    for protocol in (None, "ours", "both"):
        report = run(protocol, f"by {protocol}")
        first = "ours" if protocol == "ours" else "official"
        assert report.tables[0].title.startswith(f"SpeechEditBench, {first} protocol: ")
        (record,) = report.records["mine"]
        assert record["protocol"] == first
        assert (protocol == "both") == ("ours" in record)
        assert (protocol == "both") == (report.tables[-1].name == "speecheditbench_protocols")
        written = json.loads((tmp_path / f"by {protocol}" / "speecheditbench.json").read_text())
        assert written["protocol"] == (protocol or "official")
    with pytest.raises(UserError, match="protocol"):
        run("ours", "by both")
    with pytest.raises(UserError, match=r"has no protocol 'paper'; it has official, ours, both$"):
        run("paper", "new")
    assert not (tmp_path / "new").exists()

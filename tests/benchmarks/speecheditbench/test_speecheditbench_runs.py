"""Runs of SpeechEditBench that go on: open questions, recorded answers, baselines beside files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from speechedit_rows import ANCHORS, Says, lay_out, row, write_tone

import auditeval
from auditeval.backends.backend import Transcript
from auditeval.backends.load import Backends
from auditeval.benchmarking import BenchmarkReport
from auditeval.benchmarks.benchmark import Record
from auditeval.benchmarks.run import RECORDS, run
from auditeval.benchmarks.speecheditbench.benchmark import SpeechEditBench
from auditeval.benchmarks.systems import Identity
from auditeval.judges.answers import AnswerLog
from auditeval.judges.cached import CachedJudge
from auditeval.judges.judge import Answer, AnyObject, Question, Usage
from auditeval.judges.replies import parsed
from auditeval.types import UserError

LAUGHS = {"event_scores": {"breath": 0, "laugh": 3, "cough": 0, "sigh": 0}}
STYLES = {
    **{"public-broadcast": 1, "intimate": 3, "dramatic": 0},
    **{"restrained-flat": 2, "storytelling": 0, "conversational": 1},
}
INTIMATE = {"target_style_score": 3, "target_style_success": True, "style_scores": STYLES}


class Endpoint:
    """A judge that writes this reply, or none to the questions of our protocol while it is `out`"""

    name = model = "endpoint"
    revision = "1"

    def __init__(self, reply: dict[str, Any]) -> None:
        self._reply, self.out = reply, False

    def ask(self, question: Question[Any]) -> Answer[Any]:
        if self.out and question.reply is not AnyObject:
            return Answer(None, "no answer within 120 s")
        return Answer(parsed(json.dumps(self._reply), question.reply), "", Usage(1))


def transcriber() -> Says:
    return Says(lambda clip: Transcript("the yellow lamps", ()))


def test_what_only_our_rules_leave_open_is_asked_again(tmp_path: Path) -> None:
    root, judge = lay_out(tmp_path, row("paralinguistic")), Endpoint(LAUGHS)

    def records() -> list[Record]:
        models = Backends({"transcriber_en": transcriber(), "judge": judge})
        bench = SpeechEditBench(root, models, protocol="both")
        return run(bench, Identity(bench), tmp_path / "run", workers=0)

    judge.out = True
    (first,) = records()
    assert (first["status"], first["ours"]["status"]) == ("ok", "unscored")
    assert BenchmarkReport([], {"identity": [first]}, {}).count("unscored") == {"identity": 1}
    judge.out = False
    (second,) = records()
    assert (second["status"], second["ours"]["status"]) == ("ok", "ok")
    assert second["ours"]["target_success"] is True


def test_recorded_answers_have_all_that_the_judge_said(tmp_path: Path) -> None:
    root = lay_out(tmp_path, row("style"))

    def whole() -> bytes:
        log = AnswerLog(tmp_path / "answers.jsonl")
        judge = CachedJudge(Endpoint(INTIMATE), None, log)
        models = Backends({"transcriber_en": transcriber(), "judge": judge})
        bench = SpeechEditBench(root, models, protocol="ours")
        run(bench, Identity(bench), tmp_path / "run", workers=0)
        return (tmp_path / "run" / RECORDS).read_bytes()

    asked = whole()
    assert json.loads(asked)["edits"][0]["style_scores"] == STYLES
    (tmp_path / "run" / RECORDS).unlink()  # as after a kill
    assert whole() == asked


@pytest.mark.parametrize("changed", ["backends", "audio"])
def test_baselines_beside_result_files_are_of_the_models_and_clips_that_made_them(
    changed: str, tmp_path: Path
) -> None:
    root = lay_out(tmp_path / "samples", row("prosody"))
    results = tmp_path / "results" / "prosody_editing" / "full"
    results.mkdir(parents=True)
    verdicts = {"target_success": True, "content_preservation_pass": True, "joint_success": True}
    file = {"details": [{"sample_id": "s__prosody", **verdicts}], "metadata": {}}
    (results / "latest.json").write_text(json.dumps(file))
    models = tmp_path / "models.yaml"

    def bench() -> BenchmarkReport:
        return auditeval.bench(
            *("speecheditbench", root, {"mine": tmp_path / "results"}, tmp_path / "report"),
            baselines=True,
            backends=models,
            cache_dir=tmp_path / "cache",
        )

    models.write_text("judge: null\n")
    report = bench()
    assert "not comparable" in report.tables[0].title
    if changed == "audio":
        write_tone(root / "data" / "prosody_editing" / "audio" / "s.wav", 700)
    else:
        models.write_text("pitch: {_target_: auditeval.backends.pitch.Pyin}\n")
    with pytest.raises(UserError, match="was made with other settings"):
        bench()


def test_a_task_that_lacks_another_model_says_which(tmp_path: Path) -> None:
    anchor = {**ANCHORS["content"], "transcript_target": "红灯"}
    anchor |= {"edit_original": "黄", "edit_target": "红"}
    root = lay_out(tmp_path, row("content", anchor, language="zh", transcript="黄灯"))
    bench = SpeechEditBench(root, Backends({"transcriber_en": transcriber()}))
    (sample,) = bench.samples
    found = bench.evaluate(sample, Identity(bench).output(sample))
    value = bench.values([{"id": sample.id, "system": "identity", **found}])
    assert value["content/target_success"].mark != "no judge"  # type: ignore[union-attr]
    assert "transcriber_zh" in value["content/target_success"].reason  # type: ignore[union-attr]

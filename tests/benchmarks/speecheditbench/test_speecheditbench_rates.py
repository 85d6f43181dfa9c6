"""Rates and tables against numbers worked out by hand."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from speechedit_rows import ANCHORS, lay_out, row

from auditeval.backends.load import Backends
from auditeval.benchmarks.benchmark import BenchmarkTable, Record
from auditeval.benchmarks.provenance import FINGERPRINTS
from auditeval.benchmarks.speecheditbench import comparison, failures, rates
from auditeval.benchmarks.speecheditbench.benchmark import PAPER, SpeechEditBench
from auditeval.benchmarks.speecheditbench.tables import tables
from auditeval.report import render
from auditeval.types import Undefined


def record(
    task: str,
    t: bool | None,
    p: bool | None,
    j: bool | None,
    edits: tuple[tuple[str, bool | None], ...] = (),
    **more: Any,
) -> Record:
    scored = None not in (t, j)
    return {
        "status": "ok" if scored else "unscored",
        "failure": None if j else (failures.TARGET_NOT_APPLIED if scored else failures.UNSCORED),
        "task": task,
        "language": "en",
        "subset": "",
        "groups": {},
        "target_success": t,
        "preservation_success": p,
        "joint_success": j,
        "edits": [{"type": kind, "success": s} for kind, s in edits or ((task, t),)],
        **more,
    }


MISSING = {"status": "failed", "failure": failures.MISSING}
COMPOSITIONAL = [
    # Two components, one of which fails: 1 of 2; all = 0.
    record("compositional", False, True, False, (("content", True), ("prosody", False))),
    # Both succeed, but the words drifted: all = 1, p = 0.
    record("compositional", True, False, False, (("emotion", True), ("acoustic", True))),
    # Three components, all good and preserved.
    record(
        "compositional",
        True,
        True,
        True,
        (("content", True), ("emotion", True), ("acoustic", True)),
    ),
    # With a speaker; the judge gave no verdict on the emotion.
    record("compositional", None, True, None, (("speaker", True), ("emotion", None))),
    # No output.
    record(
        "compositional", False, False, False, (("content", False), ("acoustic", False)), **MISSING
    ),
]


def test_compositional_rates_by_hand() -> None:
    values = rates.values(COMPOSITIONAL)
    assert values["compositional/component_success"] == pytest.approx(7 / 11)
    assert values["compositional/component_success_scored_only"] == pytest.approx(7 / 8)
    assert values["compositional/target_success"] == pytest.approx(2 / 5)
    assert values["compositional/target_success_scored_only"] == pytest.approx(2 / 3)
    assert values["compositional/joint_success"] == pytest.approx(1 / 5)
    assert values["compositional/joint_success_scored_only"] == pytest.approx(1 / 3)
    assert values["compositional/preservation_success"] == pytest.approx(3 / 5)
    assert values["compositional/coverage"] == pytest.approx(4 / 5)
    assert values["compositional/scored"] == pytest.approx(3 / 5)
    assert values["overall/joint_success"] == pytest.approx(1 / 5)


def table(found: list[BenchmarkTable], name: str) -> BenchmarkTable:
    (one,) = [table for table in found if table.name == f"speecheditbench_{name}"]
    return one


def test_table_4_by_number_of_components_and_speaker() -> None:
    row = table(tables({"x": COMPOSITIONAL}, []), "compositional").row("x")
    assert row["2-component comp."] == pytest.approx(3 / 6)
    assert row["2-component all"] == pytest.approx(1 / 3)
    assert row["2-component joint"] == 0.0
    assert row["3-component joint"] == 1.0
    assert row["2-component with speaker comp."] == 0.5
    assert row["2-component with speaker all"] == 0.0
    assert isinstance(row["3-component with speaker all"], Undefined)


def test_content_has_no_part_in_the_rate_of_preservation() -> None:
    values = rates.values(
        [
            record("content", True, None, True),
            record("style", True, True, True),
            record("style", True, False, False),
        ]
    )
    assert "content/preservation_success" not in values
    assert values["overall/preservation_success"] == 0.5
    assert values["overall/joint_success"] == pytest.approx(2 / 3)
    assert values["overall/coverage"] == 1.0


def test_languages_and_sets_and_their_differences() -> None:
    records = [
        record("content", True, None, True),
        record("content", False, None, False, language="zh"),
        record("emotion", True, True, True, subset="standard"),
        record("emotion", False, True, False, subset="challenging", language="zh"),
        record("emotion", True, False, False, subset="challenging", language="zh"),
        record("style", True, True, True, language="zh"),
        record("speaker", True, False, False),  # no part of Table 5
    ]
    found = tables({"x": records}, [])
    language = table(found, "language").row("x")
    assert (language["content target en"], language["content target zh"]) == (1.0, 0.0)
    assert language["delta content target"] == -1.0
    assert language["preservation en"] == 1.0
    assert language["preservation zh"] == pytest.approx((0.5 + 1.0) / 2)  # of tasks, not samples
    assert language["delta preservation"] == pytest.approx(-0.5)  # of emotion, which is in both
    emotion = table(found, "emotion").row("x")
    assert (emotion["target standard"], emotion["target challenging"]) == (1.0, 0.5)
    assert (emotion["delta target"], emotion["delta joint"]) == (-0.5, -1.0)


def test_coverage_and_failures_count_samples() -> None:
    found = tables({"x": COMPOSITIONAL}, [])
    row = table(found, "coverage").row("x, compositional")
    assert (row["samples"], row["missing or unreadable"], row["unscored"]) == (5, 1, 1)
    assert row["joint"] == pytest.approx(1 / 5)
    assert row["joint of scored"] == pytest.approx(1 / 3)
    counts = table(found, "failures").row("x")
    assert counts[failures.MISSING] == counts[failures.UNSCORED] == 1
    assert sum(count for count in counts.values() if isinstance(count, int)) == 4


def test_systems_keep_their_order_and_absent_tasks_are_undefined() -> None:
    found = tables({"b": [record("style", True, True, True)], "a": []}, [])
    main = table(found, "main")
    assert main.labels == ["b", "a"]
    assert (main.row("b")["style"], main.row("b")["(style)"]) == (1.0, 1.0)
    assert isinstance(main.row("a")["style"], Undefined)
    assert isinstance(main.row("b")["content"], Undefined)
    assert main.radar == ("style",)
    assert all(set(t.radar) <= {column.name for column in t.columns} for t in found)


def test_a_task_that_was_not_tested_or_not_judged_has_no_rate() -> None:
    missing = record("style", False, False, False, **MISSING)
    unreadable = {"status": "failed", "failure": failures.UNREADABLE}
    unjudged = record("emotion", None, True, None)
    drifted = record("emotion", None, False, False)
    records = [
        missing,
        missing,
        record("speaker", False, False, False, **unreadable),
        unjudged,
        drifted,
        record("paralinguistic", False, False, False, **MISSING),
        record("paralinguistic", None, True, None),
    ]
    main = table(tables({"x": records}, [], judged=False), "main")
    row = main.row("x")
    marks = {name: v.mark for name, v in row.items() if isinstance(v, Undefined)}
    untested = ["style", "(style)", "content", "prosody", "(prosody)", "acoustic", "(acoustic)"]
    assert marks == {
        **dict.fromkeys([*untested, "compositional", "(compositional)"], "N/T"),
        **dict.fromkeys(["emotion", "(emotion)", "paralinguistic", "(paralinguistic)"], "no judge"),
    }
    assert (row["speaker"], row["(speaker)"]) == (0.0, 0.0)  # what cannot be read was tested
    not_tested, not_judged = render.notes_of(main)[-2:]
    assert not_tested.startswith("N/T: no sample of it was chosen (content")
    assert "; there is no output of it (style, (style))" in not_tested
    assert not_judged.startswith("no judge: whether its edits succeed is for a judge to say (")
    values = rates.values(records, judged=False)
    assert isinstance(values["style/joint_success"], rates.NotTested)
    assert isinstance(values["emotion/joint_success"], rates.NotJudged)
    assert values["emotion/preservation_success"] == 0.5  # nobody has to listen for that
    # With a judge who did not answer, or with some answers, that is no success.
    assert rates.values(records)["emotion/joint_success"] == 0.0
    some = [*records, record("emotion", True, True, True)]
    assert rates.values(some, judged=False)["emotion/joint_success"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("judged", [False, True])
def test_what_no_model_could_say_is_no_failure_whoever_judges_else(judged: bool) -> None:
    reason = "no backend for tagger is configured"
    records = [record("acoustic", None, None, None, reason=reason)] * 2
    values = rates.values(records, judged=judged)
    for verdict in (rates.TARGET, rates.PRESERVATION, rates.JOINT):
        assert values[f"acoustic/{verdict}"] == Undefined(reason)


def test_a_missing_output_of_a_task_that_was_tested_is_no_success() -> None:
    records = [record("style", True, True, True), record("style", False, False, False, **MISSING)]
    assert table(tables({"x": records}, []), "main").row("x")["style"] == 0.5


def test_what_a_task_is_broken_down_by_has_a_table_where_there_are_samples() -> None:
    def prosody(kind: str, joint: bool) -> Record:
        return record("prosody", True, joint, joint, groups={"prosody": kind})

    one = [prosody("speed", True), prosody("speed", False), prosody("stress", False)]
    both = (("content", True), ("emotion", False))
    combined = {"combination": "content+emotion", "difficulty": "two_way"}
    one.append(record("compositional", False, True, False, both, groups=combined))
    other = [{**made, **MISSING, "target_success": False} for made in one]
    found = tables({"one": one, "other": other}, ["speaker: another"])
    assert [t.name.removeprefix("speecheditbench_by_") for t in found if "_by_" in t.name] == [
        *("prosody", "combination", "difficulty")
    ]
    prosodies = table(found, "by_prosody")
    assert prosodies.row("one") == {"speed": 0.5, "(speed)": 1.0, "stress": 0.0, "(stress)": 1.0}
    assert {v.mark for v in prosodies.row("other").values()} == {"N/T"}
    assert "speaker: another" in prosodies.notes
    assert table(found, "by_combination").row("one") == {
        "content+emotion": 0.0,
        "(content+emotion)": 0.5,
    }


@pytest.mark.parametrize(
    ("made", "groups"),
    [
        (row("content"), {"content": "replace"}),
        (row("emotion"), {"emotion": "fearful"}),
        (row("style"), {"style": "intimate"}),
        (row("prosody"), {"prosody": "speed"}),
        (row("paralinguistic"), {"event": "laugh", "operation": "add"}),
        (row("acoustic"), {"acoustic": "noise"}),
        (
            row("acoustic", {"type": "acoustic", "subtask": "enhancement"}),
            {"acoustic": "enhancement"},
        ),
        (row("speaker"), {}),
        (row("compositional"), {"combination": "content+speaker", "difficulty": "two_way"}),
        (
            row("compositional", combo_type="speaker+content", difficulty="hard"),
            {"combination": "speaker+content", "difficulty": "hard"},
        ),
    ],
)
def test_a_sample_knows_its_groups(
    made: dict[str, Any], groups: dict[str, str], tmp_path: Path
) -> None:
    (sample,) = SpeechEditBench(lay_out(tmp_path, made), Backends({})).samples
    assert sample.groups == groups


def paper(**changes: Any) -> Backends:
    """Models of the paper's names that say they have its weights, or answer at its host."""
    nodes: dict[str, Any] = {
        role: SimpleNamespace(name=name, fingerprint=FINGERPRINTS.get(name), host=None)
        for role, name in {**PAPER, **changes}.items()
    }
    nodes["judge"].host = "generativelanguage.googleapis.com"
    return Backends(nodes)


def test_a_name_alone_never_gives_the_papers_title(tmp_path: Path) -> None:
    chinese = row("speaker", ANCHORS["speaker"], language="zh")
    lay_out(tmp_path, chinese, row("style"))
    main = SpeechEditBench(tmp_path, paper(transcriber_zh="whisper-large-v3")).tables({})[0]
    assert main.title.startswith("SpeechEditBench, official protocol: ")
    assert "not comparable with the paper's Table 2" in main.title
    assert "transcriber_zh: whisper-large-v3 stands in for paraformer-zh" in main.notes
    unseen = "by name; its weights were not compared with the paper's"
    assert f"transcriber_en: whisper-large-v3 {unseen}" in main.notes
    assert not any(note.startswith(("judge", "pitch", "tagger", "speech_q")) for note in main.notes)
    lay_out(tmp_path / "en", row("style"))
    english = SpeechEditBench(tmp_path / "en", paper(transcriber_zh="other")).tables({})[0]
    assert not any(note.startswith("transcriber_zh") for note in english.notes)  # none calls for it


def test_our_rules_never_give_the_papers_title(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("auditeval.benchmarks.provenance._doubt", lambda model: "")
    lay_out(tmp_path / "style", row("style"))
    (judged, *_) = SpeechEditBench(tmp_path / "style", paper()).tables({})
    assert "prompts: what the released code asks, in our words" in judged.notes
    assert "not comparable with the paper's Table 2" in judged.title
    lay_out(tmp_path, row("prosody"))
    titles = {
        protocol: SpeechEditBench(tmp_path, paper(), protocol=protocol).tables({})[0].title
        for protocol in ("official", "ours", "both")
    }
    claimed = "SpeechEditBench, Table 2 (official protocol): "
    assert titles["official"].startswith(claimed)
    assert titles["both"] == titles["official"]
    assert titles["ours"].startswith("SpeechEditBench, ours protocol: ")


MIXED = [
    record("prosody", True, True, True),
    record("prosody", None, None, None),  # no voiced frame
    record("prosody", None, None, None, **MISSING),
]


def test_official_rates_leave_out_what_has_no_verdict() -> None:
    """The released code: what is missing, or an error, counts in the coverage alone."""
    official = [{**found, "protocol": "official"} for found in MIXED]
    assert rates.rate(official, rates.TARGET) == rates.rate(official, rates.JOINT) == 1.0
    assert rates.rate(MIXED, rates.TARGET) == pytest.approx(1 / 3)
    assert rates.values(official)["prosody/coverage"] == pytest.approx(2 / 3)
    parts = [{**found, "protocol": "official"} for found in COMPOSITIONAL]
    assert rates.component_rate(parts) == pytest.approx(7 / 10)
    assert rates.rate(official[1:], rates.JOINT) == Undefined("no output has a verdict")


def test_of_both_protocols_it_is_told_how_often_they_differ() -> None:
    ours = record("prosody", False, True, False)
    records = [{**found, "protocol": "official", "ours": ours} for found in MIXED]
    for found in records:
        found["edits"] = [{**edit, "edit": "faster"} for edit in found["edits"]]
    row = comparison.table({"x": records}).row("x, prosody faster")
    assert (row["samples"], row["target differs"], row["pres. differs"]) == (3, 3, 2)
    assert (row["joint official"], row["joint ours"], row["unscored by ours"]) == (1.0, 0.0, 0)

"""Result files of the released code: what is read of them, and what is written in their form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from speechedit_rows import lay_out, row

import auditeval
from auditeval.backends.load import Backends
from auditeval.benchmarks.benchmark import Missing, Record
from auditeval.benchmarks.speecheditbench import failures, rates
from auditeval.benchmarks.speecheditbench.benchmark import SpeechEditBench
from auditeval.benchmarks.speecheditbench.results import Results, holds_results, read_results
from auditeval.types import UserError

METADATA = {"evaluator_version": "v2", "dataset_version": "v1.1", "eval_set": "full"}


def detail(id: str, t: bool | None, p: bool | None, j: bool | None, **more: Any) -> dict[str, Any]:
    """As eval/tasks/*.py write them, with keys that are not read."""
    verdicts = {"target_success": t, "content_preservation_pass": p, "joint_success": j}
    return {"sample_id": id, **verdicts, "wer": 0.0, "utmos": 3.1, "error": None, **more}


def composed(id: str, successes: list[bool | None], j: bool | None, **more: Any) -> dict[str, Any]:
    parts = [
        {"component_type": kind, "success": success, "wer": 0.0}
        for kind, success in zip(("content", "speaker"), successes, strict=False)
    ]
    return {"sample_id": id, "joint_success": j, "component_results": parts, **more}


def write(folder: Path, task: str, *details: Any, eval_set: str = "full") -> Path:
    path = folder / f"{task}_editing" / eval_set / "latest.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"summary": {}, "details": details, "metadata": METADATA}
    path.write_text(json.dumps(content))
    return path


@pytest.fixture
def bench(tmp_path: Path) -> SpeechEditBench:
    """Three of each, without their audio, as the repository has them."""
    kinds = ("content", "style", "compositional")
    rows = [row(task, sample_id=f"{task}{n}") for task in kinds for n in range(3)]
    root = lay_out(tmp_path / "set", *rows)
    for clip in root.rglob("*.wav"):
        clip.unlink()
    return SpeechEditBench(root, Backends({}), with_audio=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "eval_results" / "mine"
    write(
        found,
        "content",
        detail("content0", True, None, True),
        detail("content1", False, None, False),
        detail("of another set", True, None, True),
    )
    write(
        found,
        "style",
        detail("style0", True, True, True, content_preservation_error=0.05),
        detail("style1", True, False, False),
        detail("style2", False, None, False, error="HTTP 500"),
    )
    write(
        found,
        "compositional",
        composed("compositional0", [True, True], True),
        composed("compositional1", [True, False], False),
        composed("compositional2", [True, None], None, error="no speaker"),
    )
    write(found, "aggregate", eval_set="mixed")
    return found


def records(bench: SpeechEditBench, system: Results) -> dict[str, Record]:
    return {s.id: bench.evaluate(s, system.output(s)) for s in bench.samples}


def test_verdicts_are_those_of_the_files(bench: SpeechEditBench, folder: Path) -> None:
    assert holds_results(folder)
    found = records(bench, read_results("mine", folder, bench.samples))

    def verdicts(id: str) -> tuple[Any, ...]:
        record = found[id]
        names = (rates.TARGET, rates.PRESERVATION, rates.JOINT)
        return (record["status"], *(record[name] for name in names))

    assert verdicts("content0") == ("ok", True, None, True)
    assert verdicts("style0") == ("ok", True, True, True)
    assert verdicts("style1") == ("ok", True, False, False)
    assert verdicts("style2") == ("unscored", False, None, False)
    assert found["style2"]["reason"] == "HTTP 500"
    assert found["style1"]["failure"] == failures.NOT_PRESERVED
    assert found["style0"]["error_rate"] == 0.05
    assert verdicts("compositional0") == ("ok", True, None, True)
    assert verdicts("compositional1") == ("ok", False, None, False)
    assert found["compositional1"]["failure"] == failures.PARTIAL_SUCCESS
    assert [edit["success"] for edit in found["compositional1"]["edits"]] == [True, False]
    assert verdicts("compositional2") == ("unscored", None, None, None)
    assert found["content2"]["failure"] == failures.MISSING
    main = bench.tables({"mine": list(found.values())})[0]
    said = "mine: verdicts are those of its result files (evaluator v2, dataset v1.1, set full)"
    assert said in main.notes
    assert "not comparable" in main.title
    assert main.row("mine")["style"] == pytest.approx(1 / 3)


def test_the_command_needs_neither_audio_nor_models(
    bench: SpeechEditBench, folder: Path, tmp_path: Path
) -> None:
    report = auditeval.bench(
        "speecheditbench", tmp_path / "set", {"mine": folder}, tmp_path / "report"
    )
    assert report.tables[0].row("mine")["(style)"] == pytest.approx(2 / 3)
    assert not (tmp_path / "report" / "mine" / "eval_results").exists()  # they are there already
    other = json.loads((folder / "style_editing/full/latest.json").read_text())
    other["details"][0]["joint_success"] = False
    (folder / "style_editing/full/latest.json").write_text(json.dumps(other))
    with pytest.raises(UserError, match="was made with other settings"):
        auditeval.bench("speecheditbench", tmp_path / "set", {"mine": folder}, tmp_path / "report")


@pytest.mark.parametrize(
    ("details", "said"),
    [
        ([{"sample_id": "style0", "joint_success": "yes"}], r"details\.0\.joint_success: "),
        ([{"joint_success": True}], r"details\.0\.sample_id: is missing"),
        (2 * [detail("style0", True, True, True)], r"details\.1: sample_id: style0 is there twice"),
        (
            [composed("compositional0", [True], True)],
            r"details\.0: component_results: expected content, speaker, found content",
        ),
    ],
)
def test_a_file_that_is_not_of_the_form_is_one_sentence(
    bench: SpeechEditBench, tmp_path: Path, details: list[Any], said: str
) -> None:
    write(tmp_path / "x", "style", *details)
    with pytest.raises(UserError, match=rf"style_editing/full/latest\.json: {said}"):
        read_results("mine", tmp_path / "x", bench.samples)


def test_results_of_two_sets_or_of_no_sample_are_refused(
    bench: SpeechEditBench, folder: Path
) -> None:
    write(folder, "style", detail("style0", True, True, True), eval_set="smoke")
    with pytest.raises(UserError, match=r"has results of two sets \(full and smoke\); keep one"):
        read_results("mine", folder, bench.samples)
    other = write(folder.parent / "other", "style", detail("none", True, True, True)).parents[2]
    with pytest.raises(UserError, match="holds no result of any of the 9 samples"):
        read_results("other", other, bench.samples)


def made(bench: SpeechEditBench) -> list[Record]:
    """Of all tasks, as evaluation makes them."""
    found = []
    for number, sample in enumerate(bench.samples):
        record = bench.evaluate(sample, Missing("there is no output"))
        if number % 3 < 2:
            t, p = number % 2 == 0, None if sample.row.task == "content" else True
            edits = [{**edit, "success": t} for edit in record["edits"]]
            record |= {"status": "ok", "reason": "", "failure": None if t else "x", "edits": edits}
            record |= {rates.TARGET: t, rates.PRESERVATION: p, rates.JOINT: t, "error_rate": 0.051}
        found.append({"id": sample.id, "system": "mine", **record})
    return found


def test_what_is_written_can_be_read_again(bench: SpeechEditBench, tmp_path: Path) -> None:
    written = made(bench)
    files = bench.result_files("mine", written)
    names = ("content", "style", "compositional")
    assert [*files] == [
        *(f"eval_results/{name}_editing/full/latest.json" for name in names),
        "eval_results/aggregate/full/aggregate_summary.json",
    ]
    style = files["eval_results/style_editing/full/latest.json"]
    assert set(style) == {"summary", "details", "metadata"}
    overall = style["summary"]["overall"]
    assert (overall["total"], overall["outputs_evaluated"], overall["missing_outputs"]) == (3, 2, 1)
    assert (overall["target_success_rate"], overall["accuracy"]) == (0.5, 0.5)
    assert style["summary"]["by_target_style"]["intimate"]["total"] == 2
    assert style["details"][0]["content_preservation_error"] == 0.051
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(json.dumps(content, allow_nan=False))
    again = records(bench, read_results("mine", tmp_path / "eval_results", bench.samples))
    for record in written:
        for verdict in (rates.TARGET, rates.JOINT):
            assert again[record["id"]][verdict] == record[verdict]


def test_a_task_without_outputs_is_skipped_and_one_alone_holds_the_aggregate(
    bench: SpeechEditBench,
) -> None:
    written = made(bench)
    for record in written:
        if record["task"] != "style":
            record |= {"status": "failed", "failure": failures.MISSING}
    files = bench.result_files("mine", written)
    assert [*files] == [
        "eval_results/style_editing/full/latest.json",
        "eval_results/style_editing/full/aggregate_summary.json",
    ]
    aggregate = files["eval_results/style_editing/full/aggregate_summary.json"]
    assert set(aggregate["skipped"]) == {"content_editing", "compositional_editing"}

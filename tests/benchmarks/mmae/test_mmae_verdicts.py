"""Verdicts that were found before give the tables of the run that found them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mmae_files import ENTRIES, OUTPUT, ToldJudge, write

import auditeval
from auditeval.backends.load import Backends
from auditeval.benchmarks.benchmark import Missing
from auditeval.benchmarks.mmae.benchmark import MMAE
from auditeval.benchmarks.mmae.verdicts import Verdicts, system
from auditeval.benchmarks.systems import OutputFolder
from auditeval.types import UserError


@pytest.fixture
def meta(tmp_path: Path) -> Path:
    return write(tmp_path / "set")


def entries(**changes: Any) -> list[dict[str, Any]]:
    """One verdict file, all right but the last rubric of "b", which has none."""
    made = []
    for entry in ENTRIES:
        rubrics = [
            {**{k: r[k] for k in ("category", "question", "right_choice")}, "right": True}
            for r in entry["rubrics"]
        ]
        made.append({"id": entry["id"], "rubrics": rubrics})
    made[1]["rubrics"][-1]["right"] = None
    return made


def written(path: Path, made: Any) -> Path:
    path.write_text(json.dumps(made))
    return path


def test_verdicts_give_tables_without_audio_or_judge(meta: Path, tmp_path: Path) -> None:
    path = written(tmp_path / "verdicts.json", entries()[:2])
    report = auditeval.bench("mmae", meta, {"theirs": path}, tmp_path / "report")
    assert [r["status"] for r in report.records["theirs"]] == ["ok", "unscored", "failed"]
    row = report.tables[0].row("theirs")
    assert (row["IFR"], row["CR"]) == (pytest.approx(2 / 3), pytest.approx((1 + 1 / 2) / 2))
    assert (row["IFR (scored)"], row["Scored"]) == (1, 5 / 8)
    assert "verdicts: read from a file, not asked for here (theirs)" in report.tables[0].notes
    assert "not comparable" in report.tables[0].title


def test_the_records_of_a_run_are_its_verdicts(meta: Path, tmp_path: Path) -> None:
    made = MMAE(meta, Backends({"judge": ToldJudge({"a1": "www", "b2": "uuu"})}))
    outputs = [OUTPUT, OUTPUT, Missing("cannot be read", unreadable=True)]
    records = [
        {"id": sample.id, **made.evaluate(sample, output)}
        for sample, output in zip(made.samples, outputs, strict=True)
    ]
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "records.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    read = system("mine", folder, made.samples)
    again = [{"id": s.id, **made.evaluate(s, read.output(s))} for s in made.samples]
    assert [{**r, "read": r["status"] != "failed"} for r in records] == again
    assert made.values(again) == made.values(records)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda e: e[1].update(id="a"), r"entry 1: id 'a' stands twice"),
        (lambda e: e[0].pop("rubrics"), r"entry 0: rubrics: is missing"),
        (lambda e: e[1].pop("rubrics"), r"entry 1: rubrics: is missing"),
        (lambda e: e[1]["rubrics"].pop(), r"entry 1: has 2 rubrics, sample b has 3"),
        (lambda e: e[1]["rubrics"].reverse(), r"entry 1: rubrics.0 is not that of sample b"),
        (lambda e: e[0]["rubrics"][1].pop("right"), r"entry 0: rubrics.1.right: is missing"),
        (lambda e: e[0]["rubrics"][1].update(right="yes"), r"entry 0: rubrics.1.right: .*'yes'"),
        (lambda e: e[0]["rubrics"][1].update(category="Q"), r"entry 0: rubrics.1.category: .*'Q'"),
        (
            lambda e: [one.update(id=f"x{n}") for n, one in enumerate(e)],
            "has verdicts on none of the 3",
        ),
    ],
)
def test_verdicts_that_are_not_on_these_rubrics_are_refused(
    meta: Path, tmp_path: Path, change: Any, says: str
) -> None:
    made = entries()
    change(made)
    path = written(tmp_path / "verdicts.json", made)
    with pytest.raises(UserError, match=rf"verdicts\.json: {says}"):
        Verdicts("theirs", path, MMAE(meta, Backends({})).samples)


def test_a_file_of_outputs_is_no_file_of_verdicts(meta: Path, tmp_path: Path) -> None:
    samples = MMAE(meta, Backends({})).samples
    (tmp_path / "a.wav").write_bytes(b"not audio")
    said = [{"role": "assistant", "content": [{"type": "audio", "audio_url": "a.wav"}]}]
    predictions = written(tmp_path / "predictions.json", [{"id": "a", "messages": said}])
    (tmp_path / "run_meta.json").write_text('{"model": "any"}')
    for place in (predictions, tmp_path):
        assert isinstance(system("mine", place, samples), OutputFolder)
    (tmp_path / "list.jsonl").write_text('{"id": "a", "audio_path": "a.wav"}\n')
    assert isinstance(system("mine", tmp_path / "list.jsonl", samples), OutputFolder)
    (tmp_path / "verdicts.jsonl").write_text(json.dumps(entries()[0]) + "\n")
    assert isinstance(system("mine", tmp_path / "verdicts.jsonl", samples), Verdicts)

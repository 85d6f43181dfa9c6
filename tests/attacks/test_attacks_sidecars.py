"""Whose table it is: hostile sidecars, another manifest, tables of one name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from outcomes import refused, same

from auditeval import scores_table


@pytest.fixture
def scored(cli: Any, pairs_path: Path, spectrum_checkpoint: Path, tmp_path: Path) -> Path:
    cli("score", pairs_path, "-o", tmp_path / "scores.csv", "-c", spectrum_checkpoint)
    return tmp_path / "scores.csv"


def test_scores_of_another_manifest_are_called_so(
    cli: Any, pairs_path: Path, scored: Path, tmp_path: Path
) -> None:
    arguments = ("--resamples", 0, "-o", tmp_path / "report")
    assert (
        "another manifest" not in cli("evaluate", scored, "--against", pairs_path, *arguments).out
    )
    changed = pairs_path.with_name("changed.jsonl")
    changed.write_bytes(pairs_path.read_bytes() + b"\n")
    ended = cli("evaluate", scored, "--against", changed, *arguments)
    line = "scores was made from another manifest (pairs.jsonl) than changed.jsonl is now."
    assert line in ended.out.splitlines()
    assert line in (tmp_path / "report" / "agreement.md").read_text().replace("\\", "")
    assert json.loads((tmp_path / "report" / "agreement.json").read_bytes())["notes"] == [line]


SIDECARS = {
    "empty": b"",
    "junk": b"\xff\xfe",
    "a list": b"[1]",
    "nested": b"[" * 100_000,
    "a checkpoint that is a number": b'{"checkpoint_sha256": "x", "checkpoint": 3}',
    "a checkpoint that is a list": b'{"checkpoint_sha256": "x", "checkpoint": []}',
    "a digest that is an object": b'{"checkpoint_sha256": {}, "checkpoint": "x"}',
    "a checkpoint with NUL": b'{"checkpoint_sha256": "x", "checkpoint": "a\\u0000b"}',
    "a checkpoint of 10,000 letters": json.dumps(
        {"checkpoint_sha256": "x", "checkpoint": "x" * 10_000}
    ).encode(),
    "a checkpoint of half a pair": b'{"checkpoint_sha256": "x", "checkpoint": "\\ud800"}',
    "a manifest that is a list": b'{"manifest_sha256": ["x"], "manifest": []}',
}


@pytest.mark.parametrize("record", SIDECARS.values(), ids=SIDECARS)
def test_a_hostile_sidecar_is_as_none(
    cli: Any, pairs_path: Path, scored: Path, record: bytes
) -> None:
    scored.with_name("scores.csv.json").write_bytes(record)
    ended = cli("evaluate", scored, "--against", pairs_path, "--resamples", 0)
    assert ended.status == 0, ended.err
    assert "Leaks: whether scores was trained on these pairs is not known" in ended.out


NAMESAKES = {
    "two folders": (["x/s.csv", "y/s.csv"], ["x/s", "y/s"]),
    "two suffixes": (["s.csv", "s.jsonl"], ["s.csv", "s.jsonl"]),
    "as the ceiling": (["rater ceiling.csv"], ["rater ceiling"]),
}


@pytest.mark.parametrize(("paths", "names"), NAMESAKES.values(), ids=NAMESAKES)
def test_tables_of_one_name_are_told_apart(
    cli: Any, pairs_path: Path, scored: Path, tmp_path: Path, paths: list[str], names: list[str]
) -> None:
    rows = list(scores_table.read(scored))
    for path in paths:
        scores_table.write(rows, tmp_path / path)
    tables = [tmp_path / path for path in paths]
    report = tmp_path / "report"
    ended = cli("evaluate", *tables, "--against", pairs_path, "-o", report, "--resamples", 0)
    assert ended.status == 0, ended.err
    evaluators = {
        row["evaluator"] for row in json.loads((report / "agreement.json").read_bytes())["rows"]
    }
    same(len(evaluators), len(paths), "evaluators")
    for name in names:
        assert any(found.endswith(name) for found in evaluators)
    assert "rater ceiling" not in evaluators


@pytest.mark.parametrize("other", ["./s.csv", "x/../s.csv", "link.csv"])
def test_a_table_named_twice_is_refused(
    cli: Any, pairs_path: Path, scored: Path, tmp_path: Path, other: str
) -> None:
    (tmp_path / "x").mkdir()
    scored.rename(tmp_path / "s.csv")
    (tmp_path / "link.csv").symlink_to("s.csv")
    ended = cli("evaluate", tmp_path / "s.csv", tmp_path / other, "--against", pairs_path)
    refused(ended, "a scores table is named twice")

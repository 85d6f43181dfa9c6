"""Benchmark tables as Markdown, JSON, text and radar."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from auditeval.benchmarks.benchmark import BenchmarkTable
from auditeval.report import benchmarks, render
from auditeval.table import Column
from auditeval.types import Undefined

TABLE = BenchmarkTable.of(
    "main",
    "Two | systems",
    (Column("success", "higher", "%"), Column("WER", "lower"), Column("cell"), Column("seconds")),
    {
        "a": {"success": 0.5, "WER": 0.125, "cell": "1 (2)", "seconds": 1.0},
        "b|c": {"success": 0.25, "WER": Undefined("no words"), "seconds": 1.0},
        "d": {"success": 0.5, "WER": 0.0625, "cell": "3", "seconds": 2.0},
    },
    notes=("With stand-ins.",),
    radar=("success", "WER"),
)


def test_markdown() -> None:
    assert benchmarks.to_markdown([TABLE]).splitlines() == [
        "## Two \\| systems",
        "",
        "|  | success (%) ↑ | WER ↓ | cell | seconds |",
        "|---|--:|--:|--:|--:|",
        "| a | 50.00 | 0.125 | 1 (2) | 1 |",
        "| b\\|c | 25.00 | – |  | 1 |",
        "| d | 50.00 | **0.0625** | 3 | 2 |",
        "",
        "With stand-ins.",
        "",
        "Bold: best of its column.",
        "",
        "– undefined: no words (WER of b\\|c).",
    ]


def test_best_needs_a_direction_and_two_values_that_differ() -> None:
    assert [(TABLE.labels[row], TABLE.columns[at].name) for row, at in TABLE.best()] == [
        ("d", "WER")
    ]


def test_files(tmp_path: Path) -> None:
    benchmarks.write([TABLE], {"benchmark": "toy", "seed": 3}, tmp_path, "toy")
    data = json.loads((tmp_path / "toy.json").read_text())
    assert (data["benchmark"], data["seed"]) == ("toy", 3)
    cells = data["tables"]["main"]["rows"]["b|c"]
    assert cells["WER"] == {"value": None, "undefined": "no words"}
    assert (tmp_path / "toy.md").read_text() == benchmarks.to_markdown([TABLE])
    with Image.open(tmp_path / "main.png") as image:
        assert image.format == "PNG"
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    benchmarks.write([TABLE], {"benchmark": "toy", "seed": 3}, tmp_path, "toy")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_print(capsys: pytest.CaptureFixture[str]) -> None:
    render.show(TABLE)
    shown = capsys.readouterr().out
    assert all(text in shown for text in ("Two | systems", "b|c", "0.0625", "no words"))


def test_what_others_wrote_is_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    """Groups are a benchmark's words, reasons a judge's."""
    said = "found '[/INST] A'"
    table = BenchmarkTable.of(
        "t", "[/b]", (Column("[/add]|x"),), {"a\nb": {"[/add]|x": Undefined(said)}}
    )
    render.show(table)
    printed = capsys.readouterr().out
    assert all(text in " ".join(printed.split()) for text in ("[/b]", "[/add]|x", said))
    assert "|  | [/add]\\|x |" in benchmarks.to_markdown([table])
    assert "| a\\nb | – |" in benchmarks.to_markdown([table])


def test_a_count_has_all_its_digits() -> None:
    assert render.printed(17741, Column("Rubrics")) == ["17,741"]

"""`--html` of the commands whose results are pages too."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from commands import row_of, write_rows, write_scores

from auditeval.types import AXES, EditPair, Scores

pytestmark = pytest.mark.usefixtures("blank_plots")


@pytest.fixture
def inputs(tmp_path: Path, simulated: list[EditPair]) -> tuple[Path, Path]:
    """Ten pairs and scores near their ratings."""
    given = simulated[:10]
    rows = [Scores(pair.id, **{a: min(5, pair.ratings[a] + 0.1) for a in AXES}) for pair in given]
    table = write_scores(tmp_path / "scores.csv", rows)
    return table, write_rows(tmp_path / "pairs.jsonl", [row_of(pair) for pair in given])


def test_evaluate_writes_its_page_beside_the_rest(cli: Any, inputs: tuple[Path, Path]) -> None:
    table, manifest = inputs
    report = table.parent / "report"
    page = report / "report.html"
    arguments = ["evaluate", table, "--against", manifest, "-o", report, "--resamples", "10"]
    ended = cli(*arguments, "--html", page)
    assert ended.status == 0
    assert f"page: {page}" in ended.out
    assert "Agreement with the ratings of pairs.jsonl" in page.read_text(encoding="utf-8")
    first = page.read_bytes()
    assert cli(*arguments, "--html", page).status == 0
    assert page.read_bytes() == first


def test_filter_writes_its_page(cli: Any, inputs: tuple[Path, Path]) -> None:
    table, manifest = inputs
    recipe = table.parent / "recipe.yaml"
    recipe.write_text("stages:\n- {name: best, axis: quality, keep_top: 1}\n")
    page = table.parent / "kept.html"
    kept = table.parent / "kept.jsonl"
    ended = cli("filter", manifest, table, "--recipe", recipe, "-o", kept, "--html", page)
    assert ended.status == 0
    assert "After best" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--html", "page.html"], "--html is the page of a report; it needs -o FOLDER"),
        (["-o", "report", "--html", "page.pdf"], r"page\.pdf: a page ends in \.html"),
    ],
)
def test_what_cannot_be_a_page_is_refused_first(
    cli: Any,
    inputs: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    says: str,
) -> None:
    table, manifest = inputs
    monkeypatch.chdir(table.parent)
    ended = cli("evaluate", table, "--against", manifest, *options)
    assert ended.status == 2
    assert re.search(says, ended.sentence)
    assert not (table.parent / "report").exists()


def test_help_says_whose_curves_there_are(cli: Any, inputs: tuple[Path, Path]) -> None:
    """Scores that no checkpoint is known of get none, not those of the evaluator that ships."""
    table, manifest = inputs
    shown = " ".join(cli("report", "--help").out.replace("│", " ").split())
    assert "default: what made the scores" in shown
    page = table.parent / "page.html"
    assert cli("report", table, "--manifest", manifest, "-o", page).status == 0
    assert "No curves over time: " in page.read_text(encoding="utf-8")

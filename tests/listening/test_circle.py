"""The whole circle: edits, raters in real browsers, an export, a training, a report on it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from browser import CHROMIUM

from auditeval import manifest, scores_table
from auditeval.types import AXES

RECIPE = Path(__file__).parents[2] / "recipes" / "listening_test"
# Without practice and known answers, which test_browser.py and test_design.py see.
DESIGN = "title: A circle\nraters_per_pair: 3\nblock: 10\ntraining: false\nattention_share: 0\n"


def test_from_edits_to_an_evaluator_of_people(tmp_path: Path) -> None:
    pytest.importorskip("playwright", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    work = tmp_path / "work"
    (tmp_path / "design.yaml").write_text(f"{DESIGN}repeat_share: 0\n")
    settings = {
        "PYTHON": sys.executable,
        "SECONDS_A_CLIP": "0.5",
        "SCENES": "2",
        "EPOCHS": "3",
        "RESAMPLES": "20",
        "DESIGN": str(tmp_path / "design.yaml"),
        "RESULTS": str(tmp_path / "results"),
        "PICTURES": str(tmp_path / "pictures"),
    }
    made = subprocess.run(
        ["bash", RECIPE / "run.sh", work],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert made.returncode == 0, made.stderr[-3000:]
    assert "votes: 10 10 10" in made.stdout
    assert "30 of 30 votes, 10 of 10 pairs have all of theirs, 3 raters have begun" in made.stdout
    rated = manifest.read(work / "rated.jsonl")
    assert len(rated) == 10
    for pair in rated:
        for axis in AXES:
            given = pair.raters[axis]
            assert isinstance(given, dict)
            assert set(given) == {"r01", "r02", "r03"}
    scores = list(scores_table.read(work / "scores.csv"))
    assert [row.status for row in scores] == ["ok"] * 10
    assert "SRCC" in (work / "report" / "agreement.md").read_text()
    for picture in ("trial", "admin"):
        assert (tmp_path / "pictures" / f"{picture}.png").stat().st_size > 50_000

"""Contrast reports: pooling is the report of all trials, and what cannot be pooled is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from auditeval.metrics.pairwise import contrasts
from auditeval.report import contrasts as report
from auditeval.types import EditPair, UserError

VARIANTS = ("right", "wrong", "hiss")


def scores(run: int, count: int = 12) -> dict[str, report.Trials]:
    rng = np.random.default_rng(run)
    return {
        evaluator: {
            f"trial{i}": {name: float(rng.normal()) for name in VARIANTS} for i in range(count)
        }
        for evaluator in ("model", "baseline")
    }


def test_pooled_runs_are_one_report_of_all_their_trials() -> None:
    """Trials of one name in two runs are two trials."""
    runs = {f"run{run}": scores(run) for run in range(3)}
    reports = {
        name: report.of_scores("title", "relevance", found)._replace(set_sha256=name)
        for name, found in runs.items()
    }
    pooled = report.pool(reports)
    for evaluator in ("model", "baseline"):
        every = [trial for run in runs.values() for trial in run[evaluator].values()]
        assert pooled.accuracies[evaluator] == contrasts(every)
    assert pooled.accuracies["model"]["total"].trials == 36


def test_runs_that_were_tested_on_one_set_are_not_pooled() -> None:
    same = report.of_scores("title", "relevance", scores(0))
    with pytest.raises(UserError, match="a and b were tested on one contrast set"):
        report.pool({"a": same, "b": same})


def test_what_is_written_is_what_was_found(tmp_path: Path) -> None:
    made = report.of_scores("title", "relevance", scores(1))
    report.write(made, tmp_path)
    found = json.loads((tmp_path / "contrasts.json").read_text())
    assert found["scores"] == made.scores
    markdown = (tmp_path / "contrasts.md").read_text()
    for row in found["rows"]:
        for name, cell in row["variants"].items():
            contrast = made.accuracies[row["evaluator"]][name]
            assert (cell["value"], cell["trials"]) == (contrast.accuracy, contrast.trials)
            low, high = (f"{bound:.2f}".removeprefix("0") for bound in cell["interval"])
            assert f" {cell['value']:.3f} [{low} {high}] " in markdown
    assert "| evaluator | wrong | hiss | total | trials |" in markdown


def test_a_variant_that_is_called_as_the_total_is_refused() -> None:
    """Its column would be that of all variants together."""
    clips = {"original": "a.wav", "edited": "b.wav", "original_caption": "", "target_caption": ""}
    pairs = [EditPair(id=x, source="trial", system=x, **clips) for x in ("right", "total")]
    with pytest.raises(UserError, match="pair 'total': a variant is called 'total'"):
        report.make_report(pairs, [], "title")

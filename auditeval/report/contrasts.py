"""Contrast reports: how often the right edit scores above each wrong one, by evaluator."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from auditeval.atomic import write_text
from auditeval.metrics.pairwise import TOTAL, Contrast, contrasts
from auditeval.report.agreement import Predictions
from auditeval.report.render import plain, to_markdown
from auditeval.table import Cell, Column, Table
from auditeval.types import Axis, EditPair, Undefined, UserError

RIGHT = "right"
_NO_TRIAL = Undefined("no trial has such a variant")
Trials = Mapping[str, Mapping[str, float | None]]


class Report(NamedTuple):
    """`accuracies` :: evaluator -> variant -> Contrast, "total" last; `scores` :: evaluator ->
    trial -> variant -> score, from which the trials of several runs can be pooled. `set_sha256` is
    the SHA-256 of the manifest, in hex."""

    title: str
    axis: Axis
    accuracies: dict[str, dict[str, Contrast]]
    scores: dict[str, Trials]
    set_sha256: str = ""


def make_report(
    pairs: Sequence[EditPair],
    predictions: Sequence[Predictions],
    title: str,
    axis: Axis = "relevance",
) -> Report:
    """Of pairs whose `source` names the trial and whose `system` the variant, RIGHT among them.

    Raises UserError for a pair that names neither, for a variant that stands twice in a trial or is
    called as the total is, and for a trial without a right one.
    """
    trials: dict[str, dict[str, str]] = {}
    for pair in pairs:
        if pair.source is None or pair.system is None:
            raise UserError(f"pair {pair.id!r} names no trial (source) or no variant (system)")
        if pair.system == TOTAL:
            raise UserError(f"pair {pair.id!r}: a variant is called {TOTAL!r}, as all together are")
        if pair.system in trials.setdefault(pair.source, {}):
            raise UserError(f"pair {pair.id!r}: trial {pair.source} has {pair.system!r} twice")
        trials[pair.source][pair.system] = pair.id
    for name, variants in trials.items():
        if RIGHT not in variants:
            raise UserError(f"trial {name!r} has no pair whose system is {RIGHT!r}")
    scores: dict[str, Trials] = {
        made.evaluator: {
            trial: {variant: made.values.get(id, {}).get(axis) for variant, id in variants.items()}
            for trial, variants in trials.items()
        }
        for made in predictions
        if any(axis in row for row in made.values.values())
    }
    return of_scores(title, axis, scores)


def of_scores(title: str, axis: Axis, scores: dict[str, Trials]) -> Report:
    """The report that belongs to these scores."""
    accuracies = {name: contrasts(list(trials.values()), RIGHT) for name, trials in scores.items()}
    return Report(title, axis, accuracies, scores)


def pool(reports: Mapping[str, Report]) -> Report:
    """One report over the trials of several runs ({name: report}), models of other training data.

    Raises UserError where two of them were tested on one set.
    """
    scores: dict[str, dict[str, Mapping[str, float | None]]] = {}
    seen: dict[str, str] = {}
    for run, report in reports.items():
        if seen.setdefault(report.set_sha256, run) != run:
            raise UserError(
                f"{seen[report.set_sha256]} and {run} were tested on one contrast set; only runs "
                "with trials of their own can be pooled"
            )
        for evaluator, trials in report.scores.items():
            pooled = scores.setdefault(evaluator, {})
            pooled.update({f"{run}/{trial}": variants for trial, variants in trials.items()})
    first = next(iter(reports.values()))
    title = f"{first.title} ({len(reports)} runs pooled)"
    return of_scores(title, first.axis, dict(scores))


def to_table(report: Report) -> Table:
    """A row an evaluator, a column a variant, the total last."""
    names = dict.fromkeys(name for found in report.accuracies.values() for name in found)
    variants = [*(name for name in names if name != TOTAL), TOTAL]
    return Table(
        title=f"Share of trials in which {report.axis} prefers the right edit: {report.title}",
        columns=[
            Column("evaluator", label=True),
            *(Column(name, form=".3f", bounds=".2f") for name in variants),
            Column("trials"),
        ],
        rows=[
            [evaluator, *(_cell(found.get(name)) for name in variants), found[TOTAL].trials]
            for evaluator, found in report.accuracies.items()
        ],
        notes=["Ties count half. Brackets: 95 % Wilson interval over trials."],
    )


def _cell(found: Contrast | None) -> Cell:
    return Cell(_NO_TRIAL) if found is None else Cell(found.accuracy, found.interval)


def to_json(report: Report) -> dict[str, Any]:
    """The report as plain values, with the scores of each trial."""
    return {
        "title": report.title,
        "axis": report.axis,
        "set_sha256": report.set_sha256,
        "rows": [
            {
                "evaluator": evaluator,
                "variants": {
                    name: plain(found.accuracy, found.interval, trials=found.trials)
                    for name, found in variants.items()
                },
            }
            for evaluator, variants in report.accuracies.items()
        ],
        "scores": report.scores,
    }


def write(report: Report, folder: Path) -> None:
    """contrasts.json and contrasts.md in `folder`."""
    write_text(folder / "contrasts.json", json.dumps(to_json(report), indent=1) + "\n")
    write_text(folder / "contrasts.md", to_markdown(to_table(report)))

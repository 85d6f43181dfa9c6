"""Contrast reports: how often the right edit scores above each wrong one, by evaluator."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from auditeval import text
from auditeval.atomic import replacing
from auditeval.metrics.pairwise import Contrast, contrasts
from auditeval.report.agreement import Predictions
from auditeval.types import Axis, EditPair, Undefined, UserError

if TYPE_CHECKING:
    from rich.table import Table

RIGHT = "right"
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
    resamples: int = 1000,
    seed: int = 1984,
) -> Report:
    """Of pairs whose `source` names the trial and whose `system` the variant, RIGHT among them.

    Raises UserError for a pair that names neither, for a variant that stands twice in a trial, and
    for a trial without a right one.
    """
    trials: dict[str, dict[str, str]] = {}
    for pair in pairs:
        if pair.source is None or pair.system is None:
            raise UserError(f"pair {pair.id!r} names no trial (source) or no variant (system)")
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
    return of_scores(title, axis, scores, resamples, seed)


def of_scores(
    title: str, axis: Axis, scores: dict[str, Trials], resamples: int = 1000, seed: int = 1984
) -> Report:
    """The report that belongs to these scores."""
    accuracies = {
        name: contrasts(list(trials.values()), RIGHT, resamples, seed)
        for name, trials in scores.items()
    }
    return Report(title, axis, accuracies, scores)


def pool(reports: Mapping[str, Report], resamples: int = 1000, seed: int = 1984) -> Report:
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
    return of_scores(title, first.axis, dict(scores), resamples, seed)


def render_table(report: Report) -> Table:
    """A row an evaluator, a column a variant, 95 % intervals under the values."""
    from rich.table import Table

    table = Table(title=text.cell(_title(report), style="table.title"), caption=_caption())
    table.add_column("evaluator", no_wrap=True)
    variants = _variants(report)
    for name in variants:
        table.add_column(text.label(name), justify="right", no_wrap=True)
    table.add_column("trials", justify="right", no_wrap=True)
    for evaluator, found in report.accuracies.items():
        cells = [text.cell(*cell(found.get(name))) for name in variants]
        table.add_row(text.label(evaluator), *cells, str(found["total"].trials))
    return table


def to_markdown(report: Report) -> str:
    """The same table in Markdown, intervals in brackets."""
    variants = _variants(report)
    lines = [
        f"# {text.markdown(_title(report))}",
        "",
        f"| evaluator | {' | '.join(map(text.markdown, variants))} | trials |",
        f"|---|{'--:|' * (len(variants) + 1)}",
    ]
    for evaluator, found in report.accuracies.items():
        cells = [" ".join(part for part in cell(found.get(name)) if part) for name in variants]
        name = text.markdown(evaluator)
        lines.append(f"| {name} | {' | '.join(cells)} | {found['total'].trials} |")
    return "\n".join([*lines, "", _caption(), ""])


def to_json(report: Report) -> dict[str, Any]:
    """The report as plain values, with the scores of each trial."""
    return {
        "title": report.title,
        "axis": report.axis,
        "set_sha256": report.set_sha256,
        "rows": [
            {
                "evaluator": evaluator,
                "variants": {name: _plain(found) for name, found in variants.items()},
            }
            for evaluator, variants in report.accuracies.items()
        ],
        "scores": report.scores,
    }


def write(report: Report, folder: Path) -> None:
    """contrasts.json and contrasts.md in `folder`."""
    data = json.dumps(to_json(report), indent=1) + "\n"
    for name, content in (("contrasts.json", data), ("contrasts.md", to_markdown(report))):
        with replacing(folder / name) as temporary:
            temporary.write_text(content, encoding="utf-8")


def cell(found: Contrast | None) -> tuple[str, str]:
    """Accuracy and interval as they are printed."""
    if found is None or isinstance(found.accuracy, Undefined):
        return "–", ""
    if isinstance(found.interval, Undefined):
        return f"{found.accuracy:.3f}", ""
    low, high = found.interval
    return f"{found.accuracy:.3f}", f"[{low:.2f} {high:.2f}]"


def _variants(report: Report) -> list[str]:
    """All that are there, the total last."""
    names = dict.fromkeys(name for found in report.accuracies.values() for name in found)
    return [*(name for name in names if name != "total"), "total"]


def _title(report: Report) -> str:
    return f"Share of trials in which {report.axis} prefers the right edit: {report.title}"


def _caption() -> str:
    return "Ties count half. Brackets: 95 % bootstrap over trials."


def _plain(found: Contrast) -> dict[str, Any]:
    undefined = isinstance(found.accuracy, Undefined)
    return {
        "value": None if undefined else found.accuracy,
        "interval": None if isinstance(found.interval, Undefined) else list(found.interval),
        "trials": found.trials,
        **({"undefined": found.accuracy.reason} if isinstance(found.accuracy, Undefined) else {}),
    }

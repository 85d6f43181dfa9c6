"""Agreement reports: one table in the paper's layout, as text, Markdown, JSON and a plot."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from auditeval.atomic import replacing
from auditeval.metrics.agreement import (
    LEVELS,
    STATISTICS,
    Agreement,
    Coverage,
    agreement,
    coverage,
    paired_difference,
    system_means,
)
from auditeval.types import AXES, Axis, EditPair, Scores, Undefined

if TYPE_CHECKING:
    from rich.table import Table

_NOT_ON_SCALE = Undefined("its values are not ratings on the 1 to 5 scale")
_OF_A_SYSTEM = Undefined("its values are of whole systems, not of single pairs")


class Predictions(NamedTuple):
    """What one evaluator says :: pair id -> {axis: value}; an axis it does not rate is absent.

    Without `on_rating_scale` (PESQ, a distance) a squared error would mean nothing; where
    `of_systems` (a distribution metric) all pairs of a system have one value.
    """

    evaluator: str
    values: Mapping[str, Mapping[Axis, float]]
    on_rating_scale: bool = True
    of_systems: bool = False
    intervals: Mapping[str, Mapping[Axis, Sequence[float]]] = MappingProxyType({})

    @classmethod
    def from_scores(cls, evaluator: str, scores: Sequence[Scores]) -> Predictions:
        """From a scores table; its error rows have no values."""
        return cls(
            evaluator,
            {
                row.id: {a: getattr(row, a) for a in AXES if getattr(row, a) is not None}
                for row in scores
            },
            intervals={row.id: {a: x for a in AXES if (x := row.interval(a))} for row in scores},
        )


class Row(NamedTuple):
    """One evaluator on one axis; `missing` pairs are rated but have no prediction.

    `coverage` is of its intervals, None of an evaluator without.
    """

    axis: Axis
    evaluator: str
    agreement: dict[str, dict[str, Agreement]]
    rated: int
    missing: int
    coverage: Coverage | None = None


class Report(NamedTuple):
    """Rows by axis, then in the order of the evaluators; `ratings_from` says who rated."""

    rows: list[Row]
    ratings_from: str
    plotted: str
    points: dict[Axis, list[tuple[float, float, str | None]]]


def make_report(
    pairs: Sequence[EditPair],
    predictions: Sequence[Predictions],
    ratings_from: str,
    resamples: int = 1000,
    seed: int = 1984,
    plotted: str | None = None,
) -> Report:
    """Agreement of each evaluator with the pairs' ratings, on the axes that both have.

    `points` holds (rating, prediction, system) of the evaluator `plotted`, or of the first.
    """
    plotted = plotted or predictions[0].evaluator
    rows: list[Row] = []
    points: dict[Axis, list[tuple[float, float, str | None]]] = {}
    for axis in AXES:
        rated = [pair for pair in pairs if axis in pair.ratings]
        for made in predictions:
            there = [pair for pair in rated if axis in made.values.get(pair.id, {})]
            if not there:
                continue
            predicted = [made.values[pair.id][axis] for pair in there]
            ratings = [pair.ratings[axis] for pair in there]
            systems = [pair.system for pair in there]
            found = agreement(predicted, ratings, systems, resamples, seed)
            if not made.on_rating_scale:
                for level in LEVELS:
                    items = found[level]["MSE"].items
                    found[level]["MSE"] = Agreement(_NOT_ON_SCALE, _NOT_ON_SCALE, items)
            if made.of_systems:
                found["utterance"] = {
                    name: Agreement(_OF_A_SYSTEM, _OF_A_SYSTEM, value.items)
                    for name, value in found["utterance"].items()
                }
            sure = [pair for pair in there if axis in made.intervals.get(pair.id, {})]
            covered = None
            if sure:
                bounds = [made.intervals[pair.id][axis] for pair in sure]
                covered = coverage(bounds, [pair.ratings[axis] for pair in sure])
            missing = len(rated) - len(there)
            rows.append(Row(axis, made.evaluator, found, len(rated), missing, covered))
            if made.evaluator == plotted:
                points[axis] = list(zip(ratings, predicted, systems, strict=True))
    return Report(rows, ratings_from, plotted, points)


def compare(
    pairs: Sequence[EditPair],
    first: Predictions,
    second: Predictions,
    axis: Axis,
    resamples: int = 1000,
    seed: int = 1984,
) -> str | None:
    """One sentence: by how much the first evaluator's utterance SRCC exceeds the second's.

    On the pairs that both scored; None where there is none.
    """
    both = [
        pair
        for pair in pairs
        if axis in pair.ratings
        and all(axis in made.values.get(pair.id, {}) for made in (first, second))
    ]
    if not both:
        return None
    found = paired_difference(
        [first.values[pair.id][axis] for pair in both],
        [second.values[pair.id][axis] for pair in both],
        [pair.ratings[axis] for pair in both],
        [pair.system for pair in both],
        resamples=resamples,
        seed=seed,
    )
    value, interval = _cell(found)
    names = f"{first.evaluator} minus {second.evaluator}"
    return f"{axis}: utterance SRCC of {names}: {value} {interval} on {len(both)} pairs"


def render_table(report: Report) -> Table:
    """The table of the paper's Table 2, with 95 % intervals under the values."""
    from rich.table import Table

    table = Table(title=f"Agreement with {report.ratings_from}", caption=_caption(report))
    table.add_column("axis", no_wrap=True)
    table.add_column("evaluator", no_wrap=True)
    for level in LEVELS:
        for statistic in STATISTICS:
            table.add_column(f"{level}\n{statistic}", justify="right", no_wrap=True)
    if sure := _has_intervals(report):
        table.add_column("interval\ncovers", justify="right", no_wrap=True)
    table.add_column("pairs", justify="right", no_wrap=True)
    for index, row in enumerate(report.rows):
        following = report.rows[index + 1 : index + 2]
        table.add_row(
            row.axis,
            row.evaluator,
            *("\n".join(_cell(value)) for value in _values(row)),
            *(["\n".join(_covered(row))] if sure else []),
            f"{row.rated - row.missing}/{row.rated}",
            end_section=not following or following[0].axis != row.axis,
        )
    return table


def print_table(report: Report) -> None:
    """Print the table; see `print_whole`."""
    print_whole(render_table(report))


def print_whole(table: Table) -> None:
    """Print a table; in a terminal too narrow for it lines run over, no digit is cut."""
    from rich.console import Console

    width = Console(width=10_000).measure(table).maximum
    Console(width=max(Console().width, width)).print(table)


def to_markdown(report: Report) -> str:
    """The same table in Markdown, intervals in brackets."""
    columns = [f"{level} {statistic}" for level in LEVELS for statistic in STATISTICS]
    sure = _has_intervals(report)
    columns += ["interval covers"] if sure else []
    lines = [
        f"# Agreement with {report.ratings_from}",
        "",
        f"| axis | evaluator | {' | '.join(columns)} | pairs |",
        f"|---|---|{'--:|' * (len(columns) + 1)}",
    ]
    for row in report.rows:
        cells = [" ".join(part for part in _cell(value) if part) for value in _values(row)]
        cells += [" ".join(_covered(row)).strip()] if sure else []
        lines.append(
            f"| {row.axis} | {row.evaluator} | {' | '.join(cells)} "
            f"| {row.rated - row.missing}/{row.rated} |"
        )
    return "\n".join([*lines, "", _caption(report), ""])


def to_json(report: Report) -> dict[str, Any]:
    """The report as plain values; an undefined one is null beside its reason."""

    def plain(value: Agreement) -> dict[str, Any]:
        undefined = isinstance(value.value, Undefined)
        interval = None if isinstance(value.interval, Undefined) else list(value.interval)
        return {
            "value": None if undefined else value.value,
            "interval": interval,
            "items": value.items,
            **({"undefined": value.value.reason} if isinstance(value.value, Undefined) else {}),
        }

    return {
        "ratings_from": report.ratings_from,
        "rows": [
            {
                "axis": row.axis,
                "evaluator": row.evaluator,
                "rated": row.rated,
                "missing": row.missing,
                **{
                    level: {name: plain(value) for name, value in row.agreement[level].items()}
                    for level in LEVELS
                },
                **({"coverage": row.coverage._asdict()} if row.coverage else {}),
            }
            for row in report.rows
        ],
    }


def write(report: Report, folder: str | os.PathLike[str]) -> None:
    """agreement.json, agreement.md and agreement.png in `folder`; no plot of what has no points."""
    folder = Path(folder)
    _write_text(folder / "agreement.json", json.dumps(to_json(report), indent=2) + "\n")
    _write_text(folder / "agreement.md", to_markdown(report))
    if report.points:
        plot(report, folder / "agreement.png")


def plot(report: Report, path: Path) -> None:
    """Predictions over ratings of the plotted evaluator: pairs above, system means below."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    axes = list(report.points)
    figure, panels = pyplot.subplots(
        2, len(axes), figsize=(3.4 * len(axes), 6.6), squeeze=False, layout="constrained"
    )
    figure.suptitle(f"{report.plotted}, against {report.ratings_from}")
    for column, axis in enumerate(axes):
        ratings, predicted, systems = zip(*report.points[axis], strict=True)
        panels[0, column].scatter(ratings, predicted, s=9, alpha=0.5, linewidths=0)
        if None not in systems:
            means = [system_means(values, systems) for values in (ratings, predicted)]
            panels[1, column].scatter(*(list(mean.values()) for mean in means), s=18)
            for system in means[0]:
                at = (means[0][system], means[1][system])
                panels[1, column].annotate(system, at, fontsize=5, alpha=0.7)
        for row, level in enumerate(("utterance", "system")):
            panel = panels[row, column]
            panel.plot([1, 5], [1, 5], color="0.7", linewidth=0.8, zorder=0)
            panel.set(xlim=(0.9, 5.1), ylim=(0.9, 5.1), aspect="equal")
            panel.set(title=f"{axis}, {level}", xlabel="rating", ylabel="prediction")
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=150, format="png", metadata={"Software": None})
    pyplot.close(figure)


def _values(row: Row) -> list[Agreement]:
    return [row.agreement[level][statistic] for level in LEVELS for statistic in STATISTICS]


def _has_intervals(report: Report) -> bool:
    return any(row.coverage for row in report.rows)


def _covered(row: Row) -> tuple[str, str]:
    """Coverage and mean width as they are printed."""
    if row.coverage is None:
        return "", ""
    return f"{row.coverage.share:.3f}", f"±{row.coverage.width / 2:.2f}"


def _cell(value: Agreement) -> tuple[str, str]:
    if isinstance(value.value, Undefined):
        return "–", ""
    if isinstance(value.interval, Undefined):
        return f"{value.value:.3f}", ""
    low, high = (re.sub(r"^(-?)0\.", r"\1.", f"{bound:.2f}") for bound in value.interval)
    return f"{value.value:.3f}", f"[{low} {high}]"


def _caption(report: Report) -> str:
    reasons: dict[str, dict[str, None]] = {}
    for row in report.rows:
        for value in _values(row):
            if isinstance(value.value, Undefined):
                reasons.setdefault(value.value.reason, {})[row.evaluator] = None
    lines = ["Brackets: 95 % bootstrap over systems."]
    if _has_intervals(report):
        lines.append(
            "Interval covers: share of ratings in the evaluator's interval, half its width."
        )
    if missing := {row.evaluator: row.missing for row in report.rows if row.missing}:
        listed = ", ".join(f"{name} {count}" for name, count in missing.items())
        lines.append(f"Rated pairs without a prediction, left out: {listed}.")
    if reasons:
        listed = "; ".join(f"{reason} ({', '.join(names)})" for reason, names in reasons.items())
        lines.append(f"– undefined: {listed}.")
    return " ".join(lines)


def _write_text(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")

"""Agreement in the layout of the paper's Table 2, and what is said beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from auditeval import text
from auditeval.metrics.agreement import LEVELS, LOWER_IS_BETTER, STATISTICS, Agreement
from auditeval.report import leaks, render
from auditeval.table import Cell, Column, Content, Table, brackets
from auditeval.text import counted
from auditeval.types import Undefined

if TYPE_CHECKING:
    from auditeval.report.agreement import Difference, Report, Row

CEILING = "rater ceiling"
_CEILING = (
    "Rater ceiling: the correlation with the mean of these votes that their noise leaves to an "
    "evaluator without error (root of the split-half reliability)."
)
_COVERS = "Interval covers: share of ratings in the evaluator's interval, half its width."


def to_table(report: Report, explained: bool = True) -> Table:
    """A row an evaluator, grouped by axis, and below those of an axis the ceiling of its ratings; a
    column a statistic at each level. Notes say what is missing and, if `explained`, what is what.
    """
    sure = any(row.coverage for row in report.rows)
    columns = [
        Column("axis", label=True),
        Column("evaluator", label=True),
        *(
            Column(name, "lower" if name in LOWER_IS_BETTER else "higher",
                   over=(level,), form=".3f", bounds=".2f")
            for level in LEVELS
            for name in STATISTICS
        ),
        *([Column("covers", over=("interval",), form=".3f")] if sure else []),
        Column("pairs"),
    ]  # fmt: skip
    rows: list[list[Content]] = []
    for axis in dict.fromkeys(row.axis for row in report.rows):
        of_axis = [row for row in report.rows if row.axis == axis]
        for row in of_axis:
            pairs = f"{row.rated - row.missing}/{row.rated}"
            covered = [_covered(row)] if sure else []
            rows.append([axis, row.evaluator, *_contents(row.agreement), *covered, pairs])
        if ceiling := report.ceilings.get(axis):
            pairs = f"{ceiling['utterance']['SRCC'].items}/{of_axis[0].rated}"
            rows.append([axis, CEILING, *_contents(ceiling), *([None] if sure else []), pairs])
    notes = []
    if explained:
        lacking = [row.axis for row in report.rows if row.axis not in report.ceilings]
        notes = [
            *brackets(chain(*rows)),
            *([_CEILING] if report.ceilings else []),
            *no_ceiling(lacking, report.no_votes),
        ]
        notes += [_COVERS] if sure else []
    if missing := [
        f"{row.axis}, {row.evaluator} {row.missing}" for row in report.rows if row.missing
    ]:
        notes.append(f"Rated pairs without a prediction, left out: {'; '.join(missing)}.")
    title = f"Agreement with {report.ratings_from}"
    return Table(title=title, columns=columns, rows=rows, notes=notes, marked=False)


def tables(report: Report) -> list[Table]:
    """That of the report and those of its groups."""
    return [to_table(report), *(to_table(group, False) for group in report.groups.values())]


def print_report(report: Report) -> None:
    """Print the table, what goes with it, and the tables of its groups."""
    whole, *groups = tables(report)
    render.show(whole)
    for remark in remarks(report):
        text.say(remark)
    render.show(*groups)


def to_markdown(report: Report) -> str:
    """The same in Markdown."""
    whole, *groups = tables(report)
    said = remarks(report)
    return "\n".join(
        [
            render.to_markdown(whole),
            *([render.bullets(said)] if said else []),
            *(render.to_markdown(group, 2) for group in groups),
        ]
    )


def no_ceiling(axes: Sequence[str], why: str) -> list[str]:
    """A sentence on the axes whose ratings have no rater ceiling, where there are any."""
    return [f"No rater ceiling of {', '.join(dict.fromkeys(axes))}: {why}."] if axes else []


def cell(value: Agreement) -> Cell:
    """A value with its interval."""
    return Cell(value.value, value.interval)


def _contents(found: Mapping[str, Mapping[str, Agreement]]) -> Iterator[Content]:
    """None for a statistic that there is not."""
    for level in LEVELS:
        for name in STATISTICS:
            yield cell(found[level][name]) if name in found[level] else None


def _covered(row: Row) -> Cell | None:
    return row.coverage and Cell(row.coverage.share, note=f"±{row.coverage.width / 2:.2f}")


def remarks(report: Report) -> list[str]:
    """Differences between evaluators, what they may know of the pairs, and the notes."""
    known = [sentence for found in report.leaks for sentence in leaks.sentences(found)]
    return [*map(_sentence, report.differences), *known, *report.notes]


def _sentence(found: Difference) -> str:
    column = Column("SRCC", form=".3f", bounds=".2f")

    def said(value: Agreement) -> str:
        if isinstance(value.value, Undefined):
            return f"undefined ({value.value.reason})"
        return " ".join(render.printed(cell(value), column))

    names = f"{found.first} minus {found.second}"
    values = ", ".join(f"{level} {said(found.srcc[level])}" for level in LEVELS)
    return f"{found.axis}: SRCC of {names}: {values}, on {counted(found.pairs, 'pair', 'pairs')}"

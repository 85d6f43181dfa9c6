"""Agreement in the layout of the paper's Table 2, for a terminal and as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from auditeval import text
from auditeval.metrics.agreement import LEVELS, LOWER_IS_BETTER, STATISTICS, Agreement
from auditeval.report import leaks
from auditeval.types import Undefined

if TYPE_CHECKING:
    from rich.table import Table

    from auditeval.report.agreement import Difference, Report, Row

CEILING = "rater ceiling"


class _Line(NamedTuple):
    """A row of the table; a statistic that `found` lacks is an empty cell."""

    axis: str
    name: str
    found: Mapping[str, Mapping[str, Agreement]]
    covered: tuple[str, str]
    pairs: str


def render_table(
    report: Report, levels: Sequence[str] = LEVELS, tight: bool = False, explained: bool = True
) -> Table:
    """A row an evaluator, grouped by axis; a column a statistic at each of the levels.

    95 % intervals stand under the values. A `tight` one has no space beside its lines; one that is
    not `explained` says below it only what is missing.
    """
    from rich.table import Table

    caption = _caption(report, levels, explained)
    table = Table(
        title=text.cell(f"Agreement with {report.ratings_from}", style="table.title"),
        caption=text.cell(caption, style="table.caption") if caption else None,
        padding=(0, 0) if tight else (0, 1),
    )
    table.add_column("axis", no_wrap=True)
    table.add_column("evaluator", no_wrap=True)
    for level in levels:
        for name in STATISTICS:
            table.add_column(f"{level}\n{_directed(name)}", justify="right", no_wrap=True)
    if sure := _has_intervals(report) and "utterance" in levels:
        table.add_column("interval\ncovers", justify="right", no_wrap=True)
    table.add_column("pairs", justify="right", no_wrap=True)
    lines = list(_lines(report))
    for before, line, after in zip([None, *lines], lines, [*lines[1:], None], strict=False):
        table.add_row(
            "" if before and before.axis == line.axis else line.axis,
            text.label(line.name),
            *(text.cell(*filter(None, cell(value))) for value in _values(line, levels)),
            *(["\n".join(filter(None, line.covered))] if sure else []),
            line.pairs,
            end_section=after is None or after.axis != line.axis,
        )
    return table


def print_table(report: Report, explained: bool = True) -> None:
    """Print the table, in a terminal too narrow for it one table a level; see `print_whole`."""
    from rich.console import Console

    console = Console()
    whole = render_table(report, explained=explained)
    if console.is_terminal and _width(whole) > console.width:
        for level in LEVELS:
            last = level == LEVELS[-1]
            print_whole(render_table(report, (level,), tight=True, explained=explained and last))
    else:
        print_whole(whole)


def print_whole(table: Table) -> None:
    """Print a table; in a terminal too narrow for it lines run over, no digit is cut."""
    from rich.console import Console

    Console(width=max(Console().width, _width(table))).print(table)


def print_report(report: Report) -> None:
    """Print the table, what goes with it, and the tables of its groups."""
    print_table(report)
    for line in _remarks(report):
        text.say(line)
    for group in report.groups.values():
        print_table(group, explained=False)


def to_markdown(report: Report) -> str:
    """The same in Markdown, intervals in brackets."""
    parts = [f"# Agreement with {text.markdown(report.ratings_from)}", *_markdown(report)]
    for group in report.groups.values():
        title = text.markdown(group.ratings_from)
        parts += [f"## Agreement with {title}", *_markdown(group, explained=False)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _markdown(report: Report, explained: bool = True) -> Iterator[str]:
    columns = [f"{level} {_directed(name)}" for level in LEVELS for name in STATISTICS]
    sure = _has_intervals(report)
    columns += ["interval covers"] if sure else []
    rows = [
        f"| axis | evaluator | {' | '.join(columns)} | pairs |",
        f"|---|---|{'--:|' * (len(columns) + 1)}",
    ]
    for line in _lines(report):
        cells = [" ".join(cell(value)).strip() for value in _values(line, LEVELS)]
        cells += [" ".join(line.covered).strip()] if sure else []
        name = text.markdown(line.name)
        rows.append(f"| {line.axis} | {name} | {' | '.join(cells)} | {line.pairs} |")
    yield "\n".join(rows)
    yield text.markdown(_caption(report, LEVELS, explained))
    yield "\n".join(f"- {text.markdown(remark)}" for remark in _remarks(report))


def cell(value: Agreement | None) -> tuple[str, str]:
    """A value and its interval as they are printed."""
    if value is None:
        return "", ""
    if isinstance(value.value, Undefined):
        return "–", ""
    if isinstance(value.interval, Undefined):
        return f"{value.value:.3f}", ""
    low, high = (re.sub(r"^(-?)0\.", r"\1.", f"{bound:.2f}") for bound in value.interval)
    return f"{value.value:.3f}", f"[{low} {high}]"


def _lines(report: Report) -> Iterator[_Line]:
    """Those of the evaluators, and after those of an axis the ceiling of its ratings."""
    for axis in dict.fromkeys(row.axis for row in report.rows):
        rows = [row for row in report.rows if row.axis == axis]
        for row in rows:
            pairs = f"{row.rated - row.missing}/{row.rated}"
            yield _Line(axis, row.evaluator, row.agreement, _covered(row), pairs)
        if ceiling := report.ceilings.get(axis):
            voted = ceiling["utterance"]["SRCC"].items
            yield _Line(axis, CEILING, ceiling, ("", ""), f"{voted}/{rows[0].rated}")


def _values(line: _Line, levels: Sequence[str]) -> list[Agreement | None]:
    return [line.found[level].get(name) for level in levels for name in STATISTICS]


def _covered(row: Row) -> tuple[str, str]:
    """Coverage and mean width as they are printed."""
    if row.coverage is None:
        return "", ""
    return f"{row.coverage.share:.3f}", f"±{row.coverage.width / 2:.2f}"


def _has_intervals(report: Report) -> bool:
    return any(row.coverage for row in report.rows)


def _directed(statistic: str) -> str:
    return f"{statistic}{'↓' if statistic in LOWER_IS_BETTER else '↑'}"


def _width(table: Table) -> int:
    from rich.console import Console

    return Console(width=10_000).measure(table).maximum


def _caption(report: Report, levels: Sequence[str], explained: bool) -> str:
    lines = []
    if explained:
        lines.append("Brackets: 95 % bootstrap over systems.")
    if explained and report.ceilings:
        lines.append(
            "Rater ceiling: the correlation with the mean of these votes that their noise leaves "
            "to an evaluator without error (root of the split-half reliability)."
        )
    if explained and _has_intervals(report):
        lines.append(
            "Interval covers: share of ratings in the evaluator's interval, half its width."
        )
    if missing := {row.evaluator: row.missing for row in report.rows if row.missing}:
        listed = ", ".join(f"{name} {count}" for name, count in missing.items())
        lines.append(f"Rated pairs without a prediction, left out: {listed}.")
    reasons: dict[str, dict[str, None]] = {}
    for line in _lines(report):
        for value in _values(line, levels):
            if value and isinstance(value.value, Undefined):
                reasons.setdefault(value.value.reason, {})[line.name] = None
    if reasons:
        listed = "; ".join(f"{reason} ({', '.join(names)})" for reason, names in reasons.items())
        lines.append(f"– undefined: {listed}.")
    return " ".join(lines)


def _remarks(report: Report) -> list[str]:
    """Differences between evaluators, what they may know of the pairs, and the notes."""
    known = [sentence for found in report.leaks for sentence in leaks.sentences(found)]
    return [*map(_sentence, report.differences), *known, *report.notes]


def _sentence(found: Difference) -> str:
    def said(value: Agreement) -> str:
        if isinstance(value.value, Undefined):
            return f"undefined ({value.value.reason})"
        return " ".join(cell(value)).strip()

    names = f"{found.first} minus {found.second}"
    values = ", ".join(f"{level} {said(found.srcc[level])}" for level in LEVELS)
    return f"{found.axis}: SRCC of {names}: {values}, on {found.pairs} pairs"

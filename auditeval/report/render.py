"""Tables for a terminal and as Markdown, HTML, JSON and CSV.

Here alone values are printed, the best of a column is marked and a user's text is escaped.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from auditeval import text
from auditeval.table import Cell, Column, Content, Table, value_of
from auditeval.types import Undefined

if TYPE_CHECKING:
    from rich.table import Table as RichTable
    from rich.text import Text as RichText


def show(*tables: Table) -> None:
    """Print tables, and behind them once what notes several of them have.

    In a terminal that a table is too wide for, it comes in parts or, where its columns have no
    headings in common, with a row for each column. No digit is cut: where that is too wide as well,
    lines run over.
    """
    from rich.console import Console

    console = Console()
    width = console.width if console.is_terminal else sys.maxsize
    fitted = [_fitted(table, width) for table in tables]
    shared = _shared(notes for _, notes in fitted)
    for number, (parts, notes) in enumerate(fitted):
        if number:
            console.print()
        for part in parts:
            wide = Console(width=max(console.width, _width(part)))
            wide.print(part)
        if own := [note for note in notes if note not in shared]:
            wide.print(text.cell(*own, style="table.caption"))
    if shared:
        console.print()
        console.print(text.cell(_OF_SEVERAL, *shared, style="table.caption"))


_OF_SEVERAL = "Of several tables:"
_BEST = "Bold: best of its {}."


def _shared(notes: Iterable[Sequence[str]]) -> list[str]:
    """Those that stand under more than one table."""
    counts = Counter(note for of_table in notes for note in dict.fromkeys(of_table))
    return [note for note, count in counts.items() if count > 1]


def _fitted(table: Table, width: int) -> tuple[list[RichTable], list[str]]:
    """What is printed of a table in a terminal of this width, and its notes."""
    notes = notes_of(table)
    whole = to_rich(table)
    if _width(whole) <= width:
        return [whole], notes
    if table.headings():
        return [to_rich(part, tight=True) for part in _parts(table, width)], notes
    tight = to_rich(table, tight=True)
    if _width(tight) <= width or not table.rows:
        return [tight], notes
    turned = [note.replace(_BEST.format("column"), _BEST.format("row")) for note in notes]
    return _turned_parts(table, width), turned


def _parts(table: Table, width: int) -> list[Table]:
    """Each the columns under as many headings as this width has room for."""
    parts: list[list[str]] = [[]]
    for name in table.headings():
        wider = table.under([*parts[-1], name])
        if parts[-1] and _width(to_rich(wider, tight=True)) > width:
            parts.append([])
        parts[-1].append(name)
    return [table.under(part) for part in parts]


def _turned_parts(table: Table, width: int) -> list[RichTable]:
    """With a row for each column, each part as many of its rows as this width has room for."""
    parts: list[list[int]] = [[]]
    for number in range(len(table.rows)):
        if parts[-1] and _width(_turned(table, [*parts[-1], number])) > width:
            parts.append([])
        parts[-1].append(number)
    return [_turned(table, part) for part in parts]


def _turned(table: Table, numbers: Sequence[int]) -> RichTable:
    """These rows of it, as columns."""
    from rich.table import Table as RichTable

    rendered = RichTable(title=text.cell(table.title, style="table.title"))
    rendered.add_column("")
    rows, best = lines_of(table), table.best()
    labels = [place for place, column in enumerate(table.columns) if column.label]
    for number in numbers:
        heads = [line for place in labels for line in rows[number][place]]
        values = [lines for place, lines in enumerate(rows[number]) if place not in labels]
        widest = max((len(line) for lines in values for line in lines), default=0)
        broken = [line for head in heads for line in _broken(head, widest)]
        rendered.add_column(text.label(*broken), justify="right", no_wrap=True)
    for place, column in enumerate(table.columns):
        if not column.label:
            cells = [_cell(rows[number][place], (number, place) in best) for number in numbers]
            rendered.add_row(text.label(str(column)), *cells)
    return rendered


def _cell(lines: Sequence[str], best: bool) -> RichText:
    cell = text.label(*lines)
    if best:
        cell.stylize("bold", 0, len(lines[0]))
    return cell


def to_rich(table: Table, tight: bool = False) -> RichTable:
    """For a terminal: intervals under the values, a line between groups of rows, without notes.

    A `tight` one has no space beside its lines, and headings no wider than need be.
    """
    from rich.table import Table as RichTable

    rendered = RichTable(
        title=text.cell(table.title, style="table.title"), padding=(0, 0) if tight else (0, 1)
    )
    rows = lines_of(table)
    for place, column in enumerate(table.columns):
        widest = max((len(line) for row in rows for line in row[place]), default=0)
        heads = column.heading
        if tight:
            heads = tuple(line for head in heads for line in _broken(head, widest))
        rendered.add_column(
            text.label(*heads),
            justify="left" if column.label else "right",
            no_wrap=True,
        )
    best, groups = table.best(), table.groups()
    for number, row in enumerate(rows):
        cells = [_cell(lines, (number, place) in best) for place, lines in enumerate(row)]
        if number and groups[number] == groups[number - 1] != "":
            cells[0] = text.cell("")
        last = number + 1 == len(rows) or groups[number] != groups[number + 1]
        rendered.add_row(*cells, end_section=last)
    return rendered


def together(tables: Sequence[Table], level: int = 1) -> str:
    """Tables as Markdown, and behind them once what notes several of them have."""
    shared = _shared(map(notes_of, tables))
    parts = [to_markdown(table, level, shared) for table in tables]
    said = [heading(_OF_SEVERAL.rstrip(":"), level), *map(paragraph, shared)] if shared else []
    return "\n".join([*parts, *said])


def to_markdown(table: Table, level: int = 1, without: Sequence[str] = ()) -> str:
    """A heading of this level, the table, intervals in brackets, and a paragraph for each note but
    those that it goes `without`."""
    best = table.best()

    def marked(row: int, place: int, lines: Sequence[str]) -> str:
        value, *more = map(text.markdown, lines)
        return " ".join([f"**{value}**" if (row, place) in best else value, *more])

    rows = [list(map(text.markdown, map(str, table.columns)))]
    for number, row in enumerate(lines_of(table)):
        rows.append([marked(number, place, lines) for place, lines in enumerate(row)])
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    sides = "".join("---|" if column.label else "--:|" for column in table.columns)
    said = [note for note in notes_of(table) if note not in without]
    notes = [line for note in said for line in ("", text.markdown(note))]
    return "\n".join([heading(table.title, level), head, f"|{sides}", *body, *notes, ""])


_NOTHING = {type(None), Undefined}


def to_html(table: Table, level: int = 2) -> str:
    """A heading of this level, the table, intervals below the values, and a paragraph a note.

    Each place has what it is sorted by in `data-value`; one that is undefined says why.
    """
    best, rows = table.best(), lines_of(table)
    of_words = [
        column.label or {type(value_of(row[at])) for row in table.rows} - _NOTHING == {str}
        for at, column in enumerate(table.columns)
    ]

    def place(number: int, at: int) -> str:
        content = table.rows[number][at]
        first, *more = map(text.html, rows[number][at])
        value = value_of(content)
        sorted_by = "" if value is None or isinstance(value, Undefined) else text.html(str(value))
        why = f' title="{text.html(value.reason)}"' if isinstance(value, Undefined) else ""
        shown = f"<strong>{first}</strong>" if (number, at) in best else first
        below = "".join(f"<small>{line}</small>" for line in more)
        kind = "" if of_words[at] else ' class="amount"'
        tag = 'th scope="row"' if table.columns[at].label else "td"
        return f'<{tag}{kind} data-value="{sorted_by}"{why}>{shown}{below}</{tag[:2]}>'

    heads = "".join(
        f'<th scope="col"{"" if are_words else " class=amount"}>'
        f"{'<br>'.join(map(text.html, filter(None, column.heading)))}</th>"
        for column, are_words in zip(table.columns, of_words, strict=True)
    )
    body = "".join(
        f"<tr>{''.join(place(number, at) for at in range(len(table.columns)))}</tr>\n"
        for number in range(len(rows))
    )
    notes = "".join(f'<p class="quiet">{text.html(note)}</p>\n' for note in notes_of(table))
    return (
        f"<h{level}>{text.html(table.title)}</h{level}>\n"
        f'<div class="wide" tabindex="0" role="region" aria-label="{text.html(table.title)}">'
        f'<table class="plain sortable"><thead><tr>{heads}</tr></thead>\n'
        f"<tbody>{body}</tbody></table></div>\n{notes}"
    )


def heading(title: str, level: int = 1) -> str:
    """A heading of Markdown, and the end of its line."""
    return f"{'#' * level} {text.markdown(title)}\n"


def bullets(sentences: Sequence[str]) -> str:
    """A list of Markdown, a line each."""
    return "".join(f"- {text.markdown(sentence)}\n" for sentence in sentences)


def paragraph(sentences: str) -> str:
    """A paragraph of Markdown."""
    return f"{text.markdown(sentences)}\n"


def to_csv(table: Table) -> str:
    """For a spreadsheet: all digits, bounds in columns of their own, without the notes."""
    columns: list[list[Any]] = []
    for place, column in enumerate(table.columns):
        contents = [_flat(row[place]) for row in table.rows]
        parts = ("", " low", " high")[: max(map(len, contents), default=1)]
        for n, part in enumerate(parts):
            cells = [found[n] if n < len(found) else "" for found in contents]
            columns.append([column.full_name + part, *cells])
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(
        [text.spreadsheet(x) if isinstance(x, str) else x for x in row]
        for row in zip(*columns, strict=True)
    )
    return file.getvalue()


def _flat(content: Content) -> list[Any]:
    value = value_of(content)
    interval = content.interval if isinstance(content, Cell) else None
    if value is None or isinstance(value, Undefined):
        return [""]
    return [value, *(() if interval is None or isinstance(interval, Undefined) else interval)]


def to_json(table: Table) -> dict[str, Any]:
    """Title, columns, notes and {row's label: {column's name: value}}, without empty places.

    An undefined value is null beside its reason.
    """

    def value(content: Content) -> Any:
        if isinstance(content, Cell):
            return plain(*content[:2])
        if isinstance(content, Undefined):
            return {"value": None, "undefined": content.reason}
        return content

    return {
        "title": table.title,
        "columns": [
            {"name": column.name, "better": column.better, "unit": column.unit}
            for column in table.columns
            if not column.label
        ],
        "rows": {
            label: {name: value(content) for name, content in table.row(label).items()}
            for label in table.labels
        },
        "notes": list(table.notes),
    }


def plain(
    value: float | Undefined, interval: Sequence[float] | Undefined | None, **counts: int
) -> dict[str, Any]:
    """A value and its interval for JSON; the first that is undefined is null, its reason there."""
    none = next((found for found in (value, interval) if isinstance(found, Undefined)), None)
    return {
        "value": None if isinstance(value, Undefined) else value,
        "interval": None if interval is None or isinstance(interval, Undefined) else [*interval],
        **counts,
        **({"undefined": none.reason} if none else {}),
    }


def lines_of(table: Table) -> list[list[list[str]]]:
    """Its rows as they are printed."""
    return [
        [printed(content, column) for content, column in zip(row, table.columns, strict=True)]
        for row in table.rows
    ]


def printed(content: Content, column: Column) -> list[str]:
    """The lines of a place: its value, and the interval and the note that there are."""
    if not isinstance(content, Cell):
        return [_value(content, column)]
    bounds = [_bound(bound, column) for bound in _flat(content)[1:]]
    low_high = f"[{' '.join(bounds)}]" if bounds else ""
    return [_value(content.value, column), *filter(None, (low_high, content.note))]


def _value(value: float | str | Undefined | None, column: Column) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, Undefined):
        return value.mark
    if column.unit:
        return f"{100 * value:.2f}"
    return f"{value:,}" if isinstance(value, int) else format(value, column.form)


def _bound(bound: float, column: Column) -> str:
    """Without the zero before its point."""
    return re.sub(r"^(-?)0\.", r"\1.", _value(float(bound), column._replace(form=column.bounds)))


def notes_of(table: Table) -> list[str]:
    """Those of the table, what bold type means in it, and by its mark what is undefined and why."""
    reasons: dict[str, list[str]] = {}
    for value, places in table.undefined().items():
        reasons.setdefault(value.mark, []).append(f"{value.reason} ({_where(table, places)})")
    return [
        *table.notes,
        *([_BEST.format("column")] if table.best() else []),
        *(
            f"{mark}{' undefined' if mark == Undefined.mark else ''}: {'; '.join(found)}."
            for mark, found in reasons.items()
        ),
    ]


def _where(table: Table, places: Sequence[tuple[int, int]]) -> str:
    """Rows, where they are fewer than the columns; else columns, and of which rows they are where
    others have a value in them."""
    labels = table.labels
    rows_of: dict[int, dict[str, None]] = {}
    for row, place in sorted(places, key=lambda found: found[1]):
        others = any(isinstance(value_of(row[place]), (int, float)) for row in table.rows)
        rows_of.setdefault(place, {}).update({labels[row]: None} if others else {})
    rows = dict.fromkeys(labels[row] for row, _ in places)
    if any(rows_of.values()) and len(rows) < len(rows_of):
        return ", ".join(rows)
    columns_of: dict[str, list[str]] = {}
    for place, names in rows_of.items():
        of = f" of {', '.join(names)}" if names else ""
        columns_of.setdefault(of, []).append(table.columns[place].full_name)
    return "; ".join(f"{', '.join(columns)}{of}" for of, columns in columns_of.items())


def _broken(heading: str, width: int) -> list[str]:
    """Over as many lines as keep it as narrow as its longest word or this width."""
    words = re.findall(r"[^ _]+(?: [↑↓]$)?[ _]?|[ _]", heading)
    width = max([width, *(len(word.rstrip()) for word in words)])
    lines = [""]
    for word in words:
        if len(lines[-1] + word.rstrip()) > width:
            lines.append("")
        lines[-1] += word
    return [line.rstrip() for line in lines]


def _width(table: RichTable) -> int:
    from rich.console import Console

    return Console(width=10_000).measure(table).maximum

"""Tables rendered: what each way keeps, and what is said of what is not there."""

from __future__ import annotations

import csv
import io
import re

import pytest

from auditeval.report import render
from auditeval.table import Cell, Column, Content, Table
from auditeval.types import Undefined

FLAT = Undefined("all are equal")


def table(*rows: list[Content], columns: int = 2, marked: bool = True) -> Table:
    """Rows of a group, a name, and values under two headings."""
    headings = ("system", "utterance")
    return Table(
        title="Some | values",
        columns=[
            Column("axis", label=True),
            Column("evaluator", label=True),
            *(
                Column("SRCC", "higher", over=(name,), form=".3f", bounds=".2f")
                for name in headings[:columns]
            ),
        ],
        rows=rows,
        notes=["Brackets: 95 %."],
        marked=marked,
    )


TABLE = table(
    ["quality", "ours", Cell(0.5, (-0.25, 0.75)), Cell(0.25, (0.125, 1.0), "N=3")],
    ["quality", "constant", FLAT, FLAT],
    ["relevance", "ours", Cell(-0.5, FLAT), None],
    ["relevance", "ceiling", Cell(0.9, ranked=False), "about 1"],
)


def test_values_intervals_and_notes_stand_under_one_another_or_in_a_line() -> None:
    assert render.to_markdown(TABLE).splitlines() == [
        "# Some \\| values",
        "",
        "| axis | evaluator | system SRCC ↑ | utterance SRCC ↑ |",
        "|---|---|--:|--:|",
        "| quality | ours | **0.500** [-.25 .75] | 0.250 [.12 1.00] N=3 |",
        "| quality | constant | – | – |",
        "| relevance | ours | -0.500 |  |",
        "| relevance | ceiling | 0.900 | about 1 |",
        "",
        "Brackets: 95 %.",
        "",
        "Bold: best of its column.",
        "",
        "– undefined: all are equal (constant).",
    ]
    assert render.lines_of(TABLE)[0][3] == ["0.250", "[.12 1.00]", "N=3"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([["ours", 1.0, 1.0], ["constant", FLAT, FLAT]], "constant"),
        ([["ours", 1.0, 1.0], ["a", FLAT, 1.0], ["b", FLAT, 1.0]], "system SRCC of a, b"),
        ([["ours", FLAT, 1.0], ["PESQ", FLAT, 2.0]], "system SRCC"),
        ([["ours", FLAT, FLAT], ["PESQ", FLAT, 2.0]], "system SRCC; utterance SRCC of ours"),
    ],
)  # fmt: skip
def test_it_is_said_once_where_what_is_undefined_stands(
    rows: list[list[Content]], said: str
) -> None:
    shown = table(*(["quality", *row] for row in rows), marked=False)
    assert render.notes_of(shown)[-1] == f"– undefined: all are equal ({said})."


def test_the_best_needs_a_direction_a_rank_and_a_value_of_its_own() -> None:
    five = 25 * (0.1 + 0.2 + 0.3) / 3  # and a last digit, as the order of a sum may give it
    assert five > 5
    values: list[Content] = [3.0, 5, five, "9", Cell(9.0, ranked=False), FLAT, None]
    for better, least, expected in (
        ("lower", -9.0, {(0, 0)}),
        ("lower", 5.0, set()),  # what lies below is level with it
        ("higher", -9.0, set()),  # level
        (None, -9.0, set()),
    ):
        made = Table(
            title="t",
            columns=[Column("x", better, least=least)],  # type: ignore[arg-type]
            rows=[[value] for value in values],
        )
        assert made.best() == expected


def test_a_spreadsheet_has_all_digits_and_bounds_of_their_own() -> None:
    head, *rows = csv.reader(io.StringIO(render.to_csv(TABLE)))
    names = [f"{level} SRCC" for level in ("system", "utterance")]
    bounds = [f"{name}{end}" for name in names for end in ("", " low", " high")]
    assert head == ["axis", "evaluator", *bounds]
    assert rows[0] == ["quality", "ours", "0.5", "-0.25", "0.75", "0.25", "0.125", "1.0"]
    assert rows[1] == ["quality", "constant", *[""] * 6]
    assert render.to_csv(table()) == f"axis,evaluator,{','.join(names)}\n"


@pytest.mark.parametrize("width", [20, 40, 45, 200])
def test_a_narrow_terminal_loses_nothing(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Notes come once; labels with each part; the group of rows once in it."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(width))
    render.show(TABLE)
    shown = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    parts = shown.count("┏")
    assert parts == (2 if width < 42 else 1)
    for value in ("0.500", "[-.25 .75]", "-0.500", "0.250", "[.12 1.00]", "N=3", "about 1"):
        assert shown.count(f" {value}") + shown.count(f"│{value}") == 1, value
    assert shown.count("Brackets") == 1
    assert shown.count("quality") == parts == shown.count("ceiling")


def wide(systems: int = 3) -> Table:
    """14 measures without a heading in common."""
    names = [f"measure {n} of the outputs" for n in range(14)]
    return Table(
        title="Many measures",
        columns=[Column("", label=True), *(Column(name, "higher", "%") for name in names)],
        rows=[
            [f"system {s}", *((100 * n + s) / 10000 for n in range(13)), NotTested("none")]
            for s in range(systems)
        ],
        notes=["All of 9 samples."],
    )


class NotTested(Undefined):
    mark = "N/T"


@pytest.mark.parametrize(("width", "parts"), [(80, 1), (120, 1), (55, 2)])
def test_a_table_too_wide_for_a_terminal_has_a_row_for_each_column(
    width: int, parts: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(width))
    render.show(wide())
    shown = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert shown.count("┏") == parts == shown.count("measure 3 of the outputs (%) ↑")
    assert max(map(len, shown.splitlines())) <= width
    for s in range(3):
        for n in range(13):
            assert shown.count(f" {(100 * n + s) / 100:.2f} ") == 1
    assert shown.count(" N/T ") == 3
    assert "Bold: best of its row." in shown
    assert "N/T: none (measure 13 of the outputs)." in " ".join(shown.split())


def test_in_a_file_a_table_is_as_wide_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    render.show(wide())
    shown = capsys.readouterr().out
    assert shown.count("│ system 1 ") == 1
    assert "Bold: best of its column." in " ".join(shown.split())


def test_what_several_tables_note_stands_once_behind_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tables = [wide(), wide(2), TABLE]
    render.show(*tables)
    shown = " ".join(capsys.readouterr().out.split())
    markdown = render.together(tables)
    for printed in (shown, markdown):
        assert printed.count("All of 9 samples.") == 1 == printed.count("Brackets: 95 %.")
        assert printed.index("Brackets") < printed.index("All of 9 samples.")
        assert printed.count("Bold: best of its column.") == 1
    assert "# Of several tables\n\nAll of 9 samples.\n" in markdown
    # One alone keeps its notes.
    assert render.together([wide()]) == render.to_markdown(wide())


def test_json_has_each_value_with_its_reason() -> None:
    columns = (Column("", label=True), Column("x", "lower", "%"), Column("y"))
    made = Table(title="t", columns=columns, rows=[["a", 0.5, FLAT], ["b", Cell(1, (0, 2)), None]])
    assert render.to_json(made) == {
        "title": "t",
        "columns": [
            {"name": "x", "better": "lower", "unit": "%"},
            {"name": "y", "better": None, "unit": ""},
        ],
        "rows": {
            "a": {"x": 0.5, "y": {"value": None, "undefined": "all are equal"}},
            "b": {"x": {"value": 1, "interval": [0, 2]}},
        },
        "notes": [],
    }

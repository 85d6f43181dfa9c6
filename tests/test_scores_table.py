"""Laws of scores tables: three formats hold the same rows; what is no scores table is refused."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

from auditeval import scores_table
from auditeval.types import AXES, Scores, UserError

SUFFIXES = (".csv", ".jsonl", ".parquet")


@pytest.fixture(scope="module")
def rows() -> list[Scores]:
    """300 rows: errors, axes not trained, intervals, ids and reasons with awkward characters."""
    rng = np.random.default_rng(0)
    return [
        Scores(f'{i}, "é"\r\n\r{i}', status="error", reason=f"a,b\r{i}: 'x' \u2028\n")
        if i % 3 == 0
        else Scores(
            str(i),
            None if i % 5 == 0 else 4.5,
            *rng.uniform(1, 5, 2).round(6).tolist(),
            intervals={"relevance": (1.0, 5.0)} if i % 2 else {},
        )
        for i in range(300)
    ]


def written(rows: list[Scores], path: Path) -> Path:
    scores_table.write(rows, path)
    return path


def of_columns(columns: Sequence[str], rows: list[Scores], path: Path) -> Path:
    """A table of these columns, written without `scores_table`."""
    cells = [{name: getattr(row, name) for name in columns} for row in rows]
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(cells), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in cells))
    else:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, columns, quoting=csv.QUOTE_ALL)
            writer.writeheader()
            writer.writerows(cells)
    return path


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".CSV"])
def test_what_is_written_is_read(tmp_path: Path, rows: list[Scores], suffix: str) -> None:
    assert list(scores_table.read(written(rows, tmp_path / f"scores{suffix}"))) == rows


def test_csv_is_what_the_csv_module_reads(tmp_path: Path, rows: list[Scores]) -> None:
    with written(rows, tmp_path / "scores.csv").open(newline="", encoding="utf-8") as file:
        cells = list(csv.DictReader(file))
    ends = [f"{axis}_{end}" for axis in AXES for end in ("low", "high")]
    assert list(cells[0]) == ["id", *AXES, "status", "reason", *ends]
    assert [row["id"] for row in cells] == [row.id for row in rows]
    assert [row["quality"] for row in cells] == [
        "" if row.quality is None else repr(row.quality) for row in rows
    ]


def test_parquet_has_empty_scores_as_nulls(tmp_path: Path, rows: list[Scores]) -> None:
    table = pyarrow.parquet.read_table(written(rows, tmp_path / "scores.parquet"))
    assert str(table.schema.field("quality").type) == "double"
    assert table["relevance"].null_count == sum(row.status == "error" for row in rows)
    assert table["quality"].null_count == sum(row.quality is None for row in rows)


def test_a_failed_conversion_keeps_the_old_table(tmp_path: Path, rows: list[Scores]) -> None:
    path = written(rows, tmp_path / "scores.csv")
    before = path.read_bytes()

    def broken() -> Iterator[Scores]:
        yield rows[0]
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        scores_table.write(broken(), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["scores.csv"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_table_without_intervals_is_read(tmp_path: Path, rows: list[Scores], suffix: str) -> None:
    """As they were written before there were any: six columns."""
    columns = ("id", *AXES, "status", "reason")
    bare = [Scores(**{name: getattr(row, name) for name in columns}) for row in rows]
    assert list(scores_table.read(of_columns(columns, bare, tmp_path / f"old{suffix}"))) == bare


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_table_without_status_and_reason_is_read(
    tmp_path: Path, rows: list[Scores], suffix: str
) -> None:
    """As other tools write them: a row that has no score is an error."""
    path = of_columns(("id", *AXES), rows, tmp_path / f"other{suffix}")
    assert list(scores_table.read(path)) == [
        replace(row, reason="no score" if row.status == "error" else "", intervals={})
        for row in rows
    ]


def test_a_table_that_states_some_of_its_statuses_is_refused(tmp_path: Path) -> None:
    first = {"id": "a", "quality": 1, "relevance": 2, "faithfulness": 3}
    path = tmp_path / "x.jsonl"
    rows = [first, {**first, "id": "b", "status": "error", "reason": "x"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(UserError, match=r"x\.jsonl: row 1: status is None, expected ok or error"):
        list(scores_table.read(path))


WIDE = "id,quality,relevance,faithfulness,status,reason,quality_low,quality_high\n"
HEADER = "id,quality,relevance,faithfulness,status,reason\n"
GOOD = "a,1.5,2,3,ok,\n"
BROKEN = {
    "other columns": ("x.csv", "name,score\na,3\n", ": lacks id, .* found name, score"),
    "a word": (
        "x.csv",
        f"{HEADER}{GOOD}b,good,2,3,ok,\n",
        ": row 2: quality is 'good', exp",
    ),
    "cut row": ("x.csv", f"{HEADER}{GOOD}b,1.5,2\n", ":3: expected 6 cells, found 3"),
    "unknown status": ("x.csv", f"{HEADER}{GOOD}b,1,2,3,fine,\n", ": row 2: status is 'fine', exp"),
    "ok without score": ("x.csv", f"{HEADER}{GOOD}b,,,,ok,\n", ": row 2: status is ok, and"),
    "error with score": ("x.csv", f"{HEADER}{GOOD}b,1,,3,error,\n", ": row 2: status is error, an"),
    "NaN": ("x.csv", f"{HEADER}{GOOD}b,1,nan,3,ok,\n", ": row 2: relevance is nan, expected a fi"),
    "outside of its interval": ("x.csv", f"{WIDE}a,1,2,3,ok,,2,3\n", ": row 1: .*from 2.0 to 3.0"),
    "half an interval": ("x.csv", f"{WIDE}a,1,2,3,ok,,1,\n", ": row 1: .*from 1.0 to None"),
    "interval of an error": (
        "x.csv",
        f"{WIDE}a,,,,error,,1,2\n",
        ": row 1: quality is None, not",
    ),
    "no id": ("x.csv", f"{HEADER},1,2,3,ok,\n", ": row 1: id is empty"),
    "not JSON": ("x.jsonl", '{"id": "a"', ":1: is not JSON"),
    "a JSON list": ("x.jsonl", "[1]\n", ":1: expected a JSON object, found list"),
    "id is a number": (
        "x.jsonl",
        json.dumps({**scores_table.cells_of(Scores("a", 1, 2, 3)), "id": 3}),
        r":1: Column\(/id\) changed from string to number",
    ),
    "not Parquet": ("x.parquet", "hello", ": is no PARQUET table"),
}


@pytest.mark.parametrize(("name", "text", "said"), BROKEN.values(), ids=BROKEN)
def test_a_broken_table_is_named_with_file_and_row(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UserError, match=rf"{name}{said}"):
        list(scores_table.read(tmp_path / name))


@pytest.mark.parametrize("name", ["scores.txt", "scores", "scores.json"])
def test_other_suffixes_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match=r"a scores file ends in \.csv, \.jsonl, \.parquet"):
        scores_table.check_suffix(tmp_path / name)


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none\.csv: cannot be read \(No such file"):
        list(scores_table.read(tmp_path / "none.csv"))

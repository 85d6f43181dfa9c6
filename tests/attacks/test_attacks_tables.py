"""What is no plain scores table: `filter` and `evaluate` say the same of it, or read the same."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from commands import Ended, row_of, write_rows
from outcomes import WrongResult, refused, same

from auditeval import scores_table
from auditeval.types import AXES, EditPair, Scores, UserError

SIX = "id,quality,relevance,faithfulness,status,reason\n"
TWELVE = SIX[:-1] + "".join(f",{axis}_low,{axis}_high" for axis in AXES) + "\n"
GOOD = {"id": "a", "quality": 2.0, "relevance": 3.0, "faithfulness": 4.0, "status": "ok"}
GOOD["reason"] = ""
FAR = "".join(f"{n},1,2,3,ok,\n" for n in range(25_000))


def lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps({**GOOD, **row}) + "\n" for row in rows)


def without(key: str) -> str:
    return json.dumps({k: v for k, v in GOOD.items() if k != key}) + "\n"


def parquet(**columns: Any) -> bytes:
    whole = {**{name: [cell, cell] for name, cell in GOOD.items()}, "id": ["a", "b"], **columns}
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.table(whole), sink)
    return bytes(sink.getvalue())


def two_columns_of_one_name() -> bytes:
    cells = [pyarrow.array([value]) for value in (*GOOD.values(), 5.0)]
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.table(cells, names=[*GOOD, "quality"]), sink)
    return bytes(sink.getvalue())


def bad_text() -> bytes:
    """Of bytes that are not UTF-8, in a column that says it is."""
    whole = pyarrow.table({name: [cell] for name, cell in GOOD.items()})
    broken = pyarrow.Array.from_buffers(
        pyarrow.string(),
        1,
        [None, pyarrow.py_buffer(b"\0\0\0\0\1\0\0\0"), pyarrow.py_buffer(b"\xff")],
    )
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(whole.set_column(0, "id", broken), sink)
    return bytes(sink.getvalue())


# Name -> (suffix, content, what is said behind the name of the file)
REFUSED: dict[str, tuple[str, str | bytes, str]] = {
    "an empty CSV": (".csv", "", ": lacks id, .* found none"),
    "a header cut off": (".csv", SIX[:20], ": lacks faithfulness, "),
    "no reasons": (".csv", "id,quality,relevance,faithfulness,status\na,1,2,3,ok\n", ": lacks re"),
    "no ids": (".csv", SIX.replace("id,", "name,", 1) + "a,1,2,3,ok,\n", ": lacks id; expected"),
    "semicolons": (".csv", SIX.replace(",", ";") + "a;1;2;3;ok;\n", ": lacks id, "),
    "a column twice": (".csv", SIX[:-1] + ",quality\na,1,2,3,ok,,5\n", ":1: a column stands twice"),
    "a quote left open": (".csv", SIX + 'a,1,2,3,ok,"\nb,1,2,3,ok,\n', ":2: is not CSV "),
    "words behind a quote": (".csv", SIX + 'a,1,2,3,ok,"x" y\n', ":2: is not CSV "),
    "a cell too few": (".csv", SIX + "a,1,2,3,ok\n", ":2: expected 6 cells, found 5"),
    "a cell too many": (".csv", SIX + "a,1,2,3,ok,,\n", ":2: expected 6 cells, found 7"),
    "an interval cut off": (".csv", TWELVE + "a,1,2,3,ok,,1,5\n", ":2: expected 12 cells, found 8"),
    "1_0": (".csv", SIX + "a,1_0,2,3,ok,\n", ": row 1: quality is '1_0', expected a number"),
    "true": (".csv", SIX + "a,true,2,3,ok,\n", ": row 1: quality is 'true', expected a number"),
    "a space": (".csv", SIX + "a, 1,2,3,ok,\n", ": row 1: quality is ' 1', expected a number"),
    "nothing but a space": (".csv", SIX + "a, ,2,3,ok,\n", ": row 1: quality is ' ', expected"),
    "a decimal comma": (".csv", SIX + 'a,"1,5",2,3,ok,\n', ": row 1: quality is '1,5', expected"),
    "digits of another script": (".csv", SIX + "a,٣,2,3,ok,\n", ": row 1: quality is '٣', expect"),
    "hexadecimal": (".csv", SIX + "a,0x3,2,3,ok,\n", ": row 1: quality is '0x3', expected a"),
    "None": (".csv", SIX + "a,None,2,3,ok,\n", ": row 1: quality is 'None', expected a number"),
    "N/A": (".csv", SIX + "a,N/A,2,3,ok,\n", ": row 1: quality is 'N/A', expected a number"),
    "NA": (".csv", SIX + "a,NA,2,3,ok,\n", ": row 1: quality is 'NA', expected a number"),
    "a formula": (".csv", SIX + "a,=1+1,2,3,ok,\n", ": row 1: quality is '=1\\+1', expected a"),
    "nan": (".csv", SIX + "a,1,nan,3,ok,\n", ": row 1: relevance is nan, expected a finite"),
    "inf": (".csv", SIX + "a,1,2,-inf,ok,\n", ": row 1: faithfulness is -inf, expected a fini"),
    "1e999": (".csv", SIX + "a,1e999,2,3,ok,\n", ": row 1: quality is inf, expected a finite"),
    "nan of an error": (".csv", SIX + "a,nan,nan,nan,error,x\n", ": row 1: quality is nan"),
    "ok without scores": (".csv", SIX + "a,,,,ok,\n", ": row 1: status is ok, and .* None, None"),
    "an error with scores": (".csv", SIX + "a,1,2,3,error,x\n", ": row 1: status is error, and"),
    "an error with one score": (".csv", SIX + "a,,,3,error,x\n", ": row 1: status is error, and"),
    "an error with an interval": (".csv", TWELVE + "a,,,,error,x,1,2,,,,\n", ": row 1: quality is"),
    "no status": (".csv", SIX + "a,1,2,3,,\n", ": row 1: status is '', expected ok or error"),
    "OK": (".csv", SIX + "a,1,2,3,OK,\n", ": row 1: status is 'OK', expected ok or error"),
    "ok and a space": (".csv", SIX + "a,1,2,3,ok ,\n", ": row 1: status is 'ok ', expected"),
    "no id": (".csv", SIX + "a,1,2,3,ok,\n,1,2,3,ok,\n", ": row 2: id is empty"),
    "one end": (".csv", TWELVE + "a,1,2,3,ok,,,,1,,,\n", ": row 1: relevance is 2.0, .* 1.0 to N"),
    "ends turned round": (".csv", TWELVE + "a,1,2,3,ok,,5,1,,,,\n", ": row 1: quality is 1.0, n"),
    "outside": (".csv", TWELVE + "a,1,2,3,ok,,,,,,3.1,5\n", ": row 1: faithfulness is 3.0, not in"),
    "an interval of nothing": (".csv", TWELVE + "a,,2,3,ok,,1,2,,,,\n", ": row 1: quality is None"),
    "an endless interval": (".csv", TWELVE + "a,1,2,3,ok,,-inf,inf,,,,\n", ": row 1: quality_low"),
    "an id twice": (".csv", SIX + "a,1,2,3,ok,\nb,1,2,3,ok,\na,4,4,4,ok,\n", ": id 'a' stands in "),
    "the same row twice": (".csv", SIX + "a,1,2,3,ok,\n" * 2, ": id 'a' stands in rows 1 and 2"),
    "an id twice, an error": (".csv", SIX + "a,1,2,3,ok,\na,,,,error,x\n", ": id 'a' stands in "),
    "Latin-1": (".csv", SIX.encode() + "ä,1,2,3,ok,\n".encode("latin-1"), ":2: is not CSV .*utf-8"),
    "a header in Latin-1": (".csv", "ä".encode("latin-1") + SIX.encode(), ":1: is not CSV"),
    "UTF-16": (".csv", (SIX + "a,1,2,3,ok,\n").encode("utf-16"), ":1: is not CSV"),
    "an open quote": (".csv", SIX + '"a,1,2,3,ok,\nb,1,2,3,ok,\n', ":2: is not CSV"),
    "a row of 40 MB": (".csv", SIX + "a,1,2,3,ok,\n" + "b" * 40_000_000, ": .*a line of more"),
    "a header of 20 MB": (".csv", "a" * 20_000_000 + SIX, ": .*a line of more"),
    "Parquet called CSV": (".csv", parquet(), ":(1:)? (is no CSV table|lacks id|is not CSV)"),
    "a far row": (".csv", SIX + FAR + "x,y,2,3,ok,\n", ": row 25001: quality is 'y', expected a"),
    "a score as text": (".jsonl", lines({"quality": "3"}), r":1: Column\(/quality\) changed from"),
    "a boolean": (".jsonl", lines({}, {"id": "b", "quality": True}), r":2: Column\(/quality\) cha"),
    "a list": (".jsonl", lines({"quality": [3]}), r":1: Column\(/quality\) changed from number to"),
    "an object": (".jsonl", lines({"quality": {}}), r":1: Column\(/quality\) changed from number"),
    "an id as number": (".jsonl", lines({"id": 3}), r":1: Column\(/id\) changed from string to"),
    "an id as null": (".jsonl", lines({"id": None}), ": row 1: id is empty"),
    "a status as boolean": (".jsonl", lines({"status": True}), r":1: Column\(/status\) changed"),
    "a reason as number": (".jsonl", lines({"reason": 3}), r":1: Column\(/reason\) changed from"),
    "NaN in JSON": (".jsonl", lines({"quality": float("nan")}), ": row 1: quality is nan, expec"),
    "Infinity": (".jsonl", lines({"quality": float("inf")}), ": row 1: quality is inf"),
    "400 digits": (".jsonl", lines({"quality": 10**400}), ": ?(row )?1: "),
    "a key twice": (".jsonl", lines({}, {})[:-2] + ', "quality": 5}\n', r":2: Column\(.quality"),
    "a key missing": (".jsonl", without("status"), ": lacks status; expected the columns"),
    "a key missing later": (".jsonl", lines({}) + without("status"), ": row 2: status is None"),
    "half a surrogate pair": (".jsonl", lines({}, {"id": "\ud800"}), ":2: The surrogate pair"),
    "no UTF-8": (".jsonl", lines({}).encode().replace(b'"a"', b'"\xff"'), ":1: "),
    "two rows on one line": (".jsonl", (lines({}) + lines({"id": "b"})).replace("\n", " "), ":1: "),
    "a row on two lines": (".jsonl", lines({}) + lines({"id": "b"}).replace(", ", ",\n"), ":2: "),
    "a list of rows": (".jsonl", f"[{lines({})}]\n", ":1: expected a JSON object|:1: is not JSON"),
    "a number for a row": (".jsonl", lines({}) + "3\n", ":2: Column"),
    "junk": (".jsonl", lines({}) + "junk\n", ":2: Invalid value"),
    "cut off": (".jsonl", lines({}, {"id": "b"})[:-9], ":2: "),
    "100,000 deep": (".jsonl", lines({})[:-2] + f', "x": {"[" * 100_000}\n', ":1: "),
    "CSV called JSONL": (".jsonl", SIX + "a,1,2,3,ok,\n", ":1: is not JSON"),
    "numbers as texts": (".parquet", parquet(quality=["1", "2"]), ": the column quality holds str"),
    "booleans": (".parquet", parquet(quality=[True, False]), ": the column quality holds bool"),
    "ids as numbers": (".parquet", parquet(id=[1, 2]), ": the column id holds int64, expected te"),
    "ids as bytes": (".parquet", parquet(id=[b"a", b"b"]), ": the column id holds binary, expect"),
    "lists": (".parquet", parquet(quality=[[1.0], [2.0]]), ": the column quality holds list"),
    "NaN in Parquet": (".parquet", parquet(quality=[1.0, float("nan")]), ": row 2: quality is nan"),
    "integers beyond doubles": (".parquet", parquet(quality=[1, 2**53 + 1]), ": is no PARQUET"),
    "two columns of one name": (".parquet", two_columns_of_one_name(), ": the column quality sta"),
    "text that is not UTF-8": (".parquet", bad_text(), ": is no PARQUET table .*UTF"),
    "cut off Parquet": (".parquet", parquet()[:-40], ": is no PARQUET table|: cannot be read"),
    "an empty Parquet": (".parquet", b"", ": is no PARQUET table"),
    "zeros": (".parquet", bytes(1000), ": is no PARQUET table"),
    "a damaged page": (".parquet", parquet()[:4] + bytes(60) + parquet()[64:], ": "),
}  # fmt: skip

BOTH = [("a", 2.0, 3.0, 4.0), ("b", 2.0, 3.0, 4.0)]
CSV = SIX + "a,2,3,4,ok,\nb,2,3,4,ok,\n"
# Name -> (suffix, content): each of them is these two rows.
READ: dict[str, tuple[str, str | bytes]] = {
    "plain": (".csv", CSV),
    "a byte order mark": (".csv", "\ufeff" + CSV),
    "CRLF": (".csv", CSV.replace("\n", "\r\n")),
    "no last newline": (".csv", CSV[:-1]),
    "blank lines": (".csv", CSV.replace("\n", "\n\n")),
    "quotes": (".csv", '"' + CSV.replace(",", '","').replace("\n", '"\n"')[:-1]),
    "other columns": (".csv", CSV.replace("\n", ",x\n").replace("reason,x", "reason,more")),
    "a nameless column": (".csv", CSV.replace("\n", ",\n")),
    "columns turned round": (".csv", "\n".join(",".join(r.split(",")[::-1]) for r in CSV.split())),
    "as many digits": (".csv", CSV.replace(",2,", ",2.000,").replace(",3,", ",+3e0,")),
    "a capital suffix": (".CSV", CSV),
    "rows as JSON": (".jsonl", lines({}, {"id": "b"})),
    "JSON with a byte order mark": (".jsonl", "\ufeff" + lines({}, {"id": "b"})),
    "JSON with CRLF": (".jsonl", lines({}, {"id": "b"}).replace("\n", "\r\n")),
    "JSON with blank lines": (".jsonl", "\n" + lines({}, {"id": "b"}).replace("\n", "\n \n")),
    "JSON without the last newline": (".jsonl", lines({}, {"id": "b"})[:-1]),
    "whole numbers": (".jsonl", lines({"quality": 2}, {"id": "b", "faithfulness": 4})),
    "other keys of any kind": (".jsonl", lines({"x": 1}, {"id": "b", "x": {"y": ["z"]}})),
    "no reason": (".jsonl", lines({"reason": None}, {"id": "b"})),
    "Parquet": (".parquet", parquet()),
    "whole numbers in Parquet": (".parquet", parquet(quality=[2, 2])),
    "categories": (".parquet", parquet(status=pyarrow.array(["ok"] * 2).dictionary_encode())),
    "large texts": (".parquet", parquet(id=pyarrow.array(["a", "b"], pyarrow.large_string()))),
    "views of texts": (".parquet", parquet(id=pyarrow.array(["a", "b"], pyarrow.string_view()))),
    "single precision": (".parquet", parquet(quality=pyarrow.array([2, 2], pyarrow.float32()))),
    "null reasons": (".parquet", parquet(reason=[None, None])),
}  # fmt: skip


@pytest.fixture
def both(cli: Any, good: list[EditPair], tmp_path: Path) -> Callable[[Path], list[Ended]]:
    """`evaluate` and `filter` of a table that rates the pairs a, b and c."""
    rows = [
        row_of(pair, id=name, ratings=dict.fromkeys(AXES, 2.0 + n), raters={})
        for n, (name, pair) in enumerate(zip("abc", good, strict=True))
    ]
    pairs = write_rows(tmp_path / "pairs.jsonl", rows)
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text("stages:\n- {name: s, axis: quality, at_least: 1}\n")

    def run(table: Path) -> list[Ended]:
        evaluated = cli("evaluate", table, "--against", pairs, "--resamples", 0)
        kept = ("--recipe", recipe, "-o", tmp_path / "kept.jsonl")
        return [evaluated, cli("filter", pairs, table, *kept)]

    return run


def table_of(folder: Path, suffix: str, content: str | bytes) -> Path:
    path = folder / f"t{suffix}"
    data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(("suffix", "content", "said"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_table_is_refused_by_all_alike(
    both: Any, tmp_path: Path, attacks: Any, suffix: str, content: str | bytes, said: str
) -> None:
    attacks(2)
    first, second = both(table_of(tmp_path, suffix, content))
    for ended in (first, second):
        refused(ended, rf"t\{suffix}({said})")
    same(first.err.splitlines()[-1], second.err.splitlines()[-1], "what is said of the table")


@pytest.mark.parametrize(("suffix", "content"), READ.values(), ids=READ)
def test_what_is_a_table_is_read_by_all_alike(
    both: Any, tmp_path: Path, attacks: Any, suffix: str, content: str | bytes
) -> None:
    attacks(2)
    path = table_of(tmp_path, suffix, content)
    same(scores_table.read_table(path).rows()[:2], [(*r, "ok", "", *[None] * 6) for r in BOTH], "")
    same([(r.id, *(getattr(r, a) for a in AXES)) for r in scores_table.read(path)], BOTH, "rows")
    for ended in both(path):
        if ended.status or "Traceback" in ended.err:
            raise WrongResult(ended.err)
    same((tmp_path / "kept.jsonl").read_text().count("\n"), 2, "pairs kept")


def test_numbers_off_the_scale_are_read_as_they_are(both: Any, tmp_path: Path) -> None:
    path = table_of(tmp_path, ".csv", SIX + "a,999,-3,0,ok,\nb,4,3,2,ok,\nc,2,2,3,ok,\n")
    evaluated, filtered = both(path)
    assert evaluated.status == filtered.status == 0
    same(scores_table.read_table(path)["quality"].to_list(), [999.0, 4.0, 2.0], "scores")


@pytest.mark.parametrize("content", [SIX, TWELVE, SIX + "x,1,2,3,ok,\n"])
def test_a_table_of_no_pair_is_refused(both: Any, tmp_path: Path, content: str) -> None:
    for ended in both(table_of(tmp_path, ".csv", content)):
        refused(ended, r"t\.csv: has a (score|row) for none of the 3 ")


def test_an_error_needs_no_reason(both: Any, tmp_path: Path) -> None:
    path = table_of(tmp_path, ".csv", CSV + "c,,,,error,\n")
    assert [ended.status for ended in both(path)] == [0, 0]
    same(list(scores_table.read(path))[-1], Scores("c", status="error"), "the row of an error")


def test_a_pipe_is_no_table(both: Any, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "t.csv")
    for ended in both(tmp_path / "t.csv"):
        refused(ended, r"t\.csv: cannot be read \(is no regular file\)")


# --- tables at random, against a rule written a second time, a cell at a time ------------------

CELLS = [
    "",
    "1",
    "3.25",
    "5",
    "-7",
    "999",
    "1e1",
    "nan",
    "inf",
    "1_0",
    "true",
    " 2",
    "0x1",
    "x",
    ".",
]
SEEDS = 40


def number(cell: str) -> float | None:
    if cell == "":
        return None
    if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", cell):
        raise ValueError(cell)
    return float(cell)


def expected(cells: dict[str, str]) -> Scores:
    row = {k: number(v) if k in scores_table.NUMBERS else v for k, v in cells.items()}
    scored, ok = [axis for axis in AXES if row[axis] is not None], row["status"] == "ok"
    if not row["id"] or row["status"] not in ("ok", "error") or bool(scored) != ok:
        raise ValueError
    for axis in AXES:
        score, low, high = (row[f"{axis}{end}"] for end in ("", "_low", "_high"))
        if (low, high) != (None, None) and (None in (score, low, high) or not low <= score <= high):
            raise ValueError
    return scores_table.of_cells(row)


def random_rows(rng: np.random.Generator) -> list[dict[str, str]]:
    """Mostly plain cells, since a table of hostile ones is refused at its first."""
    rows = []
    for name in range(int(rng.integers(1, 4))):
        cells = dict.fromkeys(scores_table.COLUMNS, "") | {"id": f"{name}"}
        ok = rng.random() < 0.7
        cells["status"] = "ok" if ok else "error"
        if ok:
            cells |= {axis: str(rng.choice(["1", "2.5", "5", ""])) for axis in AXES[1:]}
            cells |= {"quality": "3", "quality_low": "2", "quality_high": "3.0"}
        if rng.random() < 0.5:
            column = str(rng.choice(scores_table.COLUMNS))
            cells[column] = str(rng.choice([*CELLS, "ok", "error", 'a"b', "a,b", "a\nb"]))
        rows.append(cells)
    return rows


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_tables_are_read_by_the_rule(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(25):
        rows = random_rows(rng)
        path = tmp_path / "t.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            quoting = csv.QUOTE_ALL if rng.random() < 0.3 else csv.QUOTE_MINIMAL
            writer = csv.DictWriter(file, scores_table.COLUMNS, quoting=quoting)
            writer.writeheader()
            writer.writerows(rows)
        try:
            said: list[Scores] | None = [expected(row) for row in rows]
            assert said is not None
            if len({row.id for row in said}) < len(said):
                said = None
        except ValueError:
            said = None
        try:
            found = list(scores_table.of_frame(scores_table.read_table(path)))
            same(found, said, f"{rows}")
            for suffix in (".jsonl", ".parquet"):  # what was read once is what is read again
                scores_table.write(found, tmp_path / f"t{suffix}")
                same(list(scores_table.read(tmp_path / f"t{suffix}")), found, suffix)
        except UserError as error:
            same(None, said, f"{error}: {rows}")


def test_numbers_are_read_to_the_last_bit(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    numbers = [
        *rng.uniform(1, 5, 3000),
        *(rng.uniform(1, 9, 3000) * 10.0 ** rng.integers(-300, 300)),
    ]
    rows = [Scores(str(n), float(x), 0.1 + 0.2) for n, x in enumerate(numbers)]
    for suffix in scores_table.SUFFIXES:
        scores_table.write(rows, tmp_path / f"t{suffix}")
        same(list(scores_table.read(tmp_path / f"t{suffix}")) == rows, True, suffix)

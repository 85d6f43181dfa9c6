"""Laws of manifests: three formats hold the same pairs, and each mistake is named by its line."""

from __future__ import annotations

import csv
import json
import string
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from auditeval import manifest
from auditeval.types import AXES, EditPair, UserError

SUFFIXES = (".jsonl", ".csv", ".parquet")
ROW: dict[str, Any] = {
    "id": "a",
    "original": "a.wav",
    "edited": "b.wav",
    "original_caption": "Rain.",
    "target_caption": "Rain, with a bell.",
}


def random_pairs(folder: Path, count: int, seed: int = 0) -> list[EditPair]:
    """Pairs with every combination of absent fields and with text that formats stumble over."""
    rng = np.random.default_rng(seed)
    alphabet = [*string.printable, "é", "雨", "🔔", "\u2028", "\x85"]

    def text(least: int = 0) -> str:
        return "".join(rng.choice(alphabet, rng.integers(least, 12)))

    def maybe(value: Any) -> Any:
        return value if rng.random() < 0.5 else None

    pairs = []
    for index in range(count):
        votes: dict[str, Any] = {
            axis: rng.integers(1, 6, rng.integers(1, 6)).astype(float).tolist()
            for axis in AXES
            if rng.random() < 0.4
        }
        for axis in votes:
            if rng.random() < 0.5:  # some rows have both forms
                raters = [f"{text()} {place}" for place in range(len(votes[axis]))]
                raters = [name.replace(";", ",").replace("=", "-") for name in raters]
                votes[axis] = dict(zip(raters, votes[axis], strict=True))
        ratings = {
            axis: float(rng.uniform(1, 5))
            for axis in AXES
            if axis not in votes and rng.random() < 0.5
        }
        pairs.append(
            EditPair(
                id=f"{index} {text()}",
                original=folder / "audio" / f"o{index}.wav",
                edited=folder.parent / f"e, {index}.wav",
                original_caption=text(),
                target_caption=text(),
                instruction=maybe(text()),
                operation=maybe("add"),
                system=maybe(text()),
                source=maybe("scene"),
                talker=maybe("007"),
                split=maybe("train"),
                ratings=ratings,
                raters=votes,
            )
        )
    return pairs


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_writing_and_reading_gives_the_same_pairs(tmp_path: Path, suffix: str) -> None:
    pairs = random_pairs(tmp_path, 200)
    pairs[0] = pairs[0].model_copy(update={"target_caption": "rain, " * 50_000})
    path = tmp_path / "deep" / f"pairs{suffix}"
    assert manifest.write(pairs, path) == 200
    found = manifest.read(path)
    for pair, back in zip(pairs, found, strict=True):
        assert back.original.resolve() == pair.original.resolve()
        assert back.edited.resolve() == pair.edited.resolve()
        paths = {"original", "edited"}
        assert back.model_dump(exclude=paths) == pair.model_dump(exclude=paths)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_writing_what_was_read_gives_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    first, second = tmp_path / f"first{suffix}", tmp_path / f"second{suffix}"
    manifest.write(random_pairs(tmp_path, 30), first)
    manifest.write(manifest.read(first), second)
    assert second.read_bytes() == first.read_bytes()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_moved_folder_keeps_its_manifest(tmp_path: Path, suffix: str) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    pair = EditPair(**{**ROW, "original": before / "x" / "a.wav", "edited": before / "b.wav"})
    manifest.write([pair], before / f"pairs{suffix}")
    before.rename(after)
    (found,) = manifest.read(after / f"pairs{suffix}")
    assert found.original == after / "x" / "a.wav"
    assert found.edited == after / "b.wav"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_empty_text_is_no_name_in_any_format(tmp_path: Path, suffix: str) -> None:
    """Other programs write "" where they know no system; captions may well be empty."""
    names = ["instruction", "operation", "system", "source", "talker", "listening_test"]
    row = {**ROW, "target_caption": "", **dict.fromkeys(names, "")}
    path = tmp_path / f"pairs{suffix}"
    if suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist([row]), path)
    elif suffix == ".csv":
        path.write_text(",".join(row) + "\n" + ",".join(row.values()) + "\n")
    else:
        path.write_text(json.dumps(row) + "\n")
    (found,) = manifest.read(path)
    assert [getattr(found, name) for name in names] == [None] * len(names)
    assert found.target_caption == ""
    assert found == EditPair(
        **{**row, "original": tmp_path / "a.wav", "edited": tmp_path / "b.wav"}
    )
    manifest.write([found], path)
    assert manifest.read(path) == [found]


def test_an_absolute_path_stays_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(json.dumps({**ROW, "original": "/data/a.wav"}) + "\n")
    assert manifest.read(path)[0].original == Path("/data/a.wav")


def test_jsonl_is_read_as_the_json_module_reads_it(tmp_path: Path) -> None:
    rows = [{**ROW, "id": str(i), "ratings": {"quality": 1 + i / 4}} for i in range(10)]
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n\n".join(json.dumps(row) for row in rows))  # blank lines, no last newline
    assert [(p.id, p.ratings) for p in manifest.iterate(path)] == [
        (row["id"], row["ratings"]) for row in rows
    ]


@pytest.mark.parametrize("head", [b"", b"\xef\xbb\xbf"], ids=["plain", "byte order mark"])
@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_a_byte_order_mark_and_windows_line_ends_change_nothing(
    tmp_path: Path, suffix: str, head: bytes
) -> None:
    path = tmp_path / f"pairs{suffix}"
    manifest.write(random_pairs(tmp_path, 1)[:1], path)
    rows = [EditPair(**{**ROW, "id": name}) for name in "ab"]
    manifest.write(rows, path)
    path.write_bytes(head + path.read_bytes().replace(b"\n", b"\r\n"))
    assert [pair.id for pair in manifest.read(path)] == ["a", "b"]
    assert manifest.read(path)[1].target_caption == ROW["target_caption"]


def test_raters_with_ids_are_a_cell_of_csv_and_a_column_of_parquet(tmp_path: Path) -> None:
    votes = [{"quality": {"r1": 4.0, "é, 2": 5.0}, "relevance": [3.0, 4.5]}, {"quality": [2.0]}, {}]
    pairs = [EditPair(**{**ROW, "id": str(n)}, raters=given) for n, given in enumerate(votes)]
    for suffix in SUFFIXES:
        manifest.write(pairs, tmp_path / f"pairs{suffix}")
        assert [pair.raters for pair in manifest.read(tmp_path / f"pairs{suffix}")] == votes
    with (tmp_path / "pairs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["raters.quality"] for row in rows] == ["r1=4.0;é, 2=5.0", "2.0", ""]
    table = pyarrow.parquet.read_table(tmp_path / "pairs.parquet").to_pylist()
    assert table[0]["raters"]["quality"] == [4, 5]
    assert table[0]["rater_ids"] == {
        "quality": ["r1", "é, 2"],
        "relevance": None,
        "faithfulness": None,
    }
    assert [row["rater_ids"] for row in table[1:]] == [None, None]


@pytest.mark.parametrize("number", [1, 25])
def test_ids_may_begin_to_stand_in_any_row_of_parquet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Batches are written before it is known whether a later one has ids."""
    monkeypatch.setattr(manifest, "_ROWS_AT_A_TIME", 10)
    path = tmp_path / "pairs.parquet"
    plain = EditPair(**ROW, raters={"quality": [4, 5]})
    named = EditPair(**ROW, raters={"quality": {"r": 3}})
    manifest.write((named if n == number else plain for n in range(number + 1)), path)
    *before, last = manifest.iterate(path)
    assert last.raters == {"quality": {"r": 3}}
    assert all(pair.raters == plain.raters for pair in before)


def test_parquet_of_other_writers_and_of_earlier_versions_is_read(tmp_path: Path) -> None:
    path = tmp_path / "pairs.parquet"
    lists = pyarrow.struct([(axis, pyarrow.list_(pyarrow.float64())) for axis in AXES])
    schema = pyarrow.schema([*((name, pyarrow.string()) for name in ROW), ("raters", lists)])
    rows = [{**ROW, "raters": {"quality": [4.0]}}, {**ROW, "id": "b"}]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema), path)
    assert [pair.raters for pair in manifest.read(path)] == [{"quality": [4]}, {}]
    # As pyarrow or polars write JSONL: a struct of all raters, most of them null.
    votes: list[dict[str, Any]] = [{"quality": {"r1": 4.0}}, {"quality": {"r2": 2.0, "r3": 3.0}}]
    rows = [{**ROW, "id": str(n), "raters": given} for n, given in enumerate(votes)]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    assert [pair.raters for pair in manifest.read(path)] == votes


BAD_IDS: dict[str, Any] = {
    "fewer": {"quality": ["r1"]},
    "twice": {"quality": ["r1", "r1"]},
    "of another axis": {"relevance": ["r1", "r2"]},
    "text": "r1",
}


@pytest.mark.parametrize("ids", BAD_IDS.values(), ids=BAD_IDS)
def test_rater_ids_that_do_not_fit_the_votes_are_named(tmp_path: Path, ids: Any) -> None:
    path = tmp_path / "pairs.parquet"
    row = {**ROW, "raters": {"quality": [4.0, 5.0]}, "rater_ids": ids}
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([row]), path)
    with pytest.raises(UserError, match=r"pairs\.parquet:1: rater_ids is .* one for each vote"):
        manifest.read(path)


def test_csv_columns_may_stand_in_any_order(tmp_path: Path) -> None:
    cells = {**ROW, "ratings.relevance": "2.25", "raters.quality": "3;4;5", "system": ""}
    path = tmp_path / "pairs.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(reversed(cells))
        writer.writerow(reversed(cells.values()))
    (pair,) = manifest.read(path)
    assert pair.ratings == {"quality": 4.0, "relevance": 2.25}
    assert pair.raters == {"quality": [3, 4, 5]}
    assert pair.system is None


def json_line(**change: Any) -> str:
    return json.dumps({**ROW, **change})


BAD_LINES = {
    "not JSON": ('{"id": "x",', "is not JSON"),
    "a list": ("[1, 2]", "expected a JSON object, found list"),
    "a number of 5000 digits": ("1" * 5000, "is not JSON"),
    "deep nesting": ("[" * 100_000, "nests deeper than 64 levels"),
    "a key twice": ('{"id": "x", "id": "y"}', "key 'id' stands twice"),
    "half a surrogate pair": (json_line(original_caption="\ud83d"), "surrogate"),
    "unknown key": (json_line(colour="red"), "colour: unknown key (known: id, original"),
    "missing key": (json.dumps({k: v for k, v in ROW.items() if k != "edited"}), "edited: is mis"),
    "wrong type": (json_line(target_caption=5), "target_caption: input should be a valid string"),
    "rating out of range": (json_line(ratings={"quality": 5.5}), "ratings.quality: "),
    "rating NaN": (json_line(ratings={"quality": float("nan")}), "ratings.quality: "),
    "path is empty": (json_line(original=""), "original: expected the path of an audio file"),
}


@pytest.mark.parametrize(("line", "said"), BAD_LINES.values(), ids=BAD_LINES)
def test_a_bad_line_is_named_with_file_and_number(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(f"{json_line(id='1')}\n\n{line}\n{json_line(id='2')}\n")
    with pytest.raises(UserError) as caught:
        manifest.read(path)
    assert str(caught.value).startswith(f"{path}:3: {said}"[: len(f"{path}:3: ")])
    assert said in str(caught.value)
    assert len(str(caught.value)) < len(str(path)) + 300


def test_bytes_that_are_no_utf8_are_named_with_their_line(tmp_path: Path) -> None:
    header, row = ",".join(ROW), ",".join(f'"{cell}"' for cell in ROW.values())
    path = tmp_path / "pairs.csv"
    path.write_bytes(f"{header}\n{row}\n".encode() + "b,a.wav,b.wav,Café,x\n".encode("latin-1"))
    with pytest.raises(UserError, match=r"pairs\.csv:3: is not CSV in UTF-8 \('utf-8' codec"):
        manifest.read(path)


BAD_CSV = {
    "too many cells": (f"{','.join(ROW)}\na,b,c,d,e,f\n", "pairs.csv:2: expected 5 cells"),
    "empty cells": (f"{','.join(ROW)}\na,b,c,d,e\n,,,,\n", "pairs.csv:3: all cells are empty"),
    "too few cells": (f"{','.join(ROW)}\na,b,c,d\n", "pairs.csv:2: expected 5 cells"),
    "open quote": (f'{",".join(ROW)}\na,b,c,d,"e\na,b,c,d,e\n', "pairs.csv:2: is not CSV"),
    "an open quote that another closes": (
        f'{",".join(ROW)}\na,b,c,d,"e\nb,b,c,d,e\nc,b,c,d,"e"\nd,b,c,d,e\n',
        "pairs.csv:2: is not CSV",
    ),
    "words behind a quote": (
        f'{",".join(ROW)}\na,b,c,d,e\nb,b,c,d,"ten" is said\n',
        "pairs.csv:3: is not CSV",
    ),
    "a column twice": (f"id,{','.join(ROW)}\na,a,b,c,d,e\n", "pairs.csv:1: a column stands twice"),
    "an unknown column without a word": (
        f"{','.join(ROW)},hue\na,b,c,d,e,\n",
        "csv:1: hue: unknown",
    ),
    "semicolons": (f"{';'.join(ROW)}\na;b;c;d;e\n", "); columns stand apart by commas, not by"),
    "no name": (f"{','.join(ROW)},\na,b,c,d,e,\n", "csv:1: '': unknown key"),
    "a missing column": (
        "id,original\na,b\n",
        "csv:1: edited: is missing; the columns are 'id', 'o",
    ),
    "a word as rating": (
        f"{','.join(ROW)},ratings.quality\na,b,c,d,e,good\n",
        "pairs.csv:2: ratings.quality is 'good', expected a number",
    ),
    "two ratings": (f"{','.join(ROW)},ratings.quality\na,b,c,d,e,3;4\n", "expected a number"),
    "a vote without its rater": (
        f"{','.join(ROW)},raters.quality\na,b,c,d,e,r1=3;4\n",
        "pairs.csv:2: raters.quality is 'r1=3;4', expected votes as in 3;4 or, of different raters",
    ),
    "a rater twice": (f"{','.join(ROW)},raters.quality\na,b,c,d,e,r=3;r=4\n", "different raters"),
    "a rater without a vote": (f"{','.join(ROW)},raters.quality\na,b,c,d,e,r=\n", "expected votes"),
    "a vote of nobody": (f"{','.join(ROW)},raters.quality\na,b,c,d,e,=3\n", "a rater's id is not"),
    "an unknown axis": (f"{','.join(ROW)},ratings.beauty\na,b,c,d,e,3\n", "ratings.beauty: unkn"),
    "rating nan": (f"{','.join(ROW)},ratings.quality\na,b,c,d,e,nan\n", "ratings.quality: "),
}


@pytest.mark.parametrize(("text", "said"), BAD_CSV.values(), ids=BAD_CSV)
def test_a_bad_csv_row_is_named_with_file_and_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text(text)
    with pytest.raises(UserError) as caught:
        manifest.read(path)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({**{k: [v] for k, v in ROW.items()}, "colour": ["red"]}, ":1: colour: unknown key"),
        ({**{k: [v] for k, v in ROW.items()}, "id": [7]}, ":1: id: input should be a valid str"),
        ({k: [v, None] for k, v in ROW.items()}, ":2: id: is missing"),
    ],
)
def test_a_bad_parquet_row_is_named_with_file_and_row(
    tmp_path: Path, columns: dict[str, list[Any]], said: str
) -> None:
    path = tmp_path / "pairs.parquet"
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    with pytest.raises(UserError) as caught:
        manifest.read(path)
    assert f"{path}{said}" in str(caught.value)


@pytest.mark.parametrize("keep", [0, 10, 0.5, 0.99])
def test_a_cut_parquet_file_is_refused(tmp_path: Path, keep: float) -> None:
    path = tmp_path / "pairs.parquet"
    manifest.write(random_pairs(tmp_path, 50), path)
    data = path.read_bytes()
    path.write_bytes(data[: int(keep if keep > 1 else keep * len(data))])
    with pytest.raises(UserError, match=r"pairs\.parquet: is not Parquet"):
        manifest.read(path)


def test_a_damaged_parquet_page_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.parquet"
    manifest.write(random_pairs(tmp_path, 2000), path)
    data = bytearray(path.read_bytes())
    data[100:2000] = bytes(byte ^ 0xFF for byte in data[100:2000])
    path.write_bytes(data)
    with pytest.raises(UserError, match=r"pairs\.parquet: (cannot be read|is not Parquet)"):
        manifest.read(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_duplicate_id_names_both_rows(tmp_path: Path, suffix: str) -> None:
    pairs = [EditPair(**{**ROW, "id": name}) for name in ("a", "b", "c", "b")]
    path = tmp_path / f"pairs{suffix}"
    manifest.write(pairs, path)
    with pytest.raises(UserError, match=r"id 'b' stands in rows 2 and 4; ids must be unique"):
        manifest.check(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_check_counts_the_rows_and_refuses_none(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"pairs{suffix}"
    manifest.write(random_pairs(tmp_path, 1234), path)
    assert manifest.check(path) == 1234
    manifest.write([], path)
    with pytest.raises(UserError, match="holds no pairs"):
        manifest.check(path)


@pytest.mark.parametrize("name", ["pairs.txt", "pairs", "pairs.json"])
def test_other_suffixes_are_refused_before_anything_is_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match=r"a manifest ends in \.jsonl, \.csv, \.parquet"):
        manifest.write([EditPair(**ROW)], tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_reading_is_a_stream(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(f"{json_line(id='1')}\n{json_line(id='2')}\nnot JSON\n")
    rows = manifest.iterate(path)
    assert [next(rows).id, next(rows).id] == ["1", "2"]
    with pytest.raises(UserError, match=":3: is not JSON"):
        next(rows)

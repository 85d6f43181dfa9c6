"""`auditeval filter` as a user types it: what it prints, how it refuses, how it survives a kill."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import content, folder, start, write_rows, write_scores

from auditeval import manifest
from auditeval.types import Scores

RECIPE = "stages:\n- {name: best, axis: quality, keep_top: 2}\n"
ROW = {
    "original": "a.wav",
    "edited": "b.wav",
    "original_caption": "Rain.",
    "target_caption": "Rain, with a bell.",
}
FILES = [
    "kept.filter.json",
    "kept.filter.md",
    "kept.filter.png",
    "kept.jsonl",
    "kept.rejected.jsonl",
]
NOTE = ".kept.jsonl.made.json"


def row(name: Any, **change: Any) -> dict[str, Any]:
    return {"id": name, **ROW, "operation": "add", **change}


def score(name: str, value: float = 3.0) -> Scores:
    return Scores(name, value, value, value)


@pytest.fixture
def inputs(tmp_path: Path) -> list[Path]:
    """Four pairs of two operations, their scores, and a recipe that keeps two of each."""
    rows = [row(name, operation="delete" if name == "d" else "add") for name in "abcd"]
    return [
        write_rows(tmp_path / "pairs.jsonl", rows),
        write_scores(tmp_path / "scores.csv", [score(n, 2 + i) for i, n in enumerate("abcd")]),
        content(tmp_path / "recipe.yaml", RECIPE.encode()),
    ]


def arguments(inputs: list[Path], output: str = "kept.jsonl") -> list[Any]:
    pairs, scores, recipe = inputs
    return ["filter", pairs, scores, "--recipe", recipe, "-o", pairs.parent / output]


def test_the_table_is_printed_and_the_files_are_there(cli: Any, inputs: list[Path]) -> None:
    ended = cli(*arguments(inputs, "out/kept.jsonl"))
    assert ended.status == 0
    cells = [re.findall(r"[^│┃\s][^│┃]*[^│┃\s]|\d", line) for line in ended.out.splitlines()]
    assert ["Selection stage", "add", "delete", "all"] in cells
    assert ["Original number", "3", "1", "4"] in cells
    assert ["After best", "2", "1", "3"] in cells
    assert "best: delete had only 1 of the 2 pairs to keep" in " ".join(ended.out.split())
    assert "kept.jsonl: 3 of 4 pairs kept" in ended.out
    out = inputs[0].parent / "out"
    assert sorted(path.name for path in out.glob("[!.]*")) == FILES
    assert [pair.id for pair in manifest.read(out / "kept.jsonl")] == ["b", "c", "d"]
    (rejected,) = manifest.read(out / "kept.rejected.jsonl")
    assert (rejected.id, rejected.rejected_by) == ("a", "best")
    assert rejected.original.resolve() == out.parent / "a.wav"
    assert (out / "kept.filter.png").read_bytes().startswith(b"\x89PNG")


def test_nothing_that_takes_long_to_import_is_imported(inputs: list[Path]) -> None:
    inputs[0] = inputs[0].with_suffix(".parquet")
    manifest.write(manifest.read(inputs[0].with_suffix(".jsonl")), inputs[0])
    slow = {"torch", "scipy", "transformers", "pandas"}
    code = "import sys; from auditeval.cli import main\ntry:\n main()\nfinally:\n"
    code += f" print('LOADED', *sorted({slow} & set(sys.modules)))"
    command = [sys.executable, "-c", code, *map(str, arguments(inputs, "kept.parquet"))]
    ended = subprocess.run(command, check=True, capture_output=True, text=True)
    assert ended.stdout.splitlines()[-1].strip() == "LOADED"


def test_its_own_output_is_replaced_and_nobody_else_s(cli: Any, inputs: list[Path]) -> None:
    assert cli(*arguments(inputs)).status == 0
    first = inputs[0].with_name("kept.jsonl").read_bytes()
    inputs[2].write_text(RECIPE.replace("2", "1"))
    assert cli(*arguments(inputs)).status == 0
    assert inputs[0].with_name("kept.jsonl").read_bytes() != first
    content(inputs[0].with_name("mine.jsonl"), b"my thesis")
    ended = cli(*arguments(inputs, "mine.jsonl"))
    assert ended.status == 2
    assert "mine.jsonl: exists already and is not as this command made it" in ended.sentence
    assert inputs[0].with_name("mine.jsonl").read_bytes() == b"my thesis"
    # A selection of another name does not hand over the reports that it stands beside.
    ended = cli(*arguments(inputs, "kept.csv"))
    assert ended.status == 2
    assert "kept.filter.md: exists already" in ended.sentence
    content(inputs[0].with_name("new.rejected.jsonl"), b"my thesis")
    assert "new.rejected.jsonl: exists already" in cli(*arguments(inputs, "new.jsonl")).sentence


def test_what_a_killed_run_left_is_swept(cli: Any, inputs: list[Path]) -> None:
    torn = content(inputs[0].with_name(".kept.jsonl.7-7.partial"), b"{")
    other = content(inputs[0].with_name(".other.jsonl.7-7.partial"), b"{")
    assert cli(*arguments(inputs)).status == 0
    assert not torn.exists()
    assert other.exists()


def test_a_csv_of_no_pairs_still_names_its_columns(cli: Any, inputs: list[Path]) -> None:
    inputs[2].write_text("stages:\n- {name: none, axis: quality, at_least: 9}\n")
    assert cli(*arguments(inputs, "kept.csv")).status == 0
    kept = inputs[0].with_name("kept.csv").read_text()
    assert kept == "id,original,edited,original_caption,target_caption\n"


HEAD = "id,quality,relevance,faithfulness,status,reason\n"
BAD: dict[str, tuple[Callable[[list[Path]], Any], str]] = {
    "no manifest": (lambda p: p[0].unlink(), r"pairs\.jsonl: cannot be read \(No such file"),
    "no scores": (lambda p: p[1].unlink(), r"scores\.csv: cannot be read \(No such file"),
    "no recipe": (lambda p: p[2].unlink(), r"recipe\.yaml: cannot be read \(No such file"),
    "manifest is a directory": (
        lambda p: p[0].unlink() or folder(p[0]),
        r"pairs\.jsonl: cannot be read \(Is a directory\)",
    ),
    "empty manifest": (lambda p: p[0].write_text(""), r"pairs\.jsonl: holds no pairs"),
    "not JSON": (
        lambda p: write_rows(p[0], [row("a"), '{"id": "b",']),
        r"pairs\.jsonl:2: is not JSON",
    ),
    "a list": (lambda p: write_rows(p[0], [row("a"), "[1]"]), r"pairs\.jsonl:2: expected a JSON o"),
    "a number as id": (
        lambda p: write_rows(p[0], [row("a"), row(7)]),
        r"pairs\.jsonl:2: id: input should be a valid string, found 7",
    ),
    "no id": (
        lambda p: write_rows(p[0], [row("a"), ROW]),
        r"pairs\.jsonl:2: id: is missing",
    ),
    "an id twice": (
        lambda p: write_rows(p[0], [row("a"), row("b"), row("a")]),
        r"pairs\.jsonl: id 'a' stands in rows 1 and 3; ids must be unique",
    ),
    "a score twice": (
        lambda p: write_scores(p[1], [score("a"), score("b"), score("b")]),
        r"scores\.csv: id 'b' stands in rows 2 and 3; ids must be unique",
    ),
    "scores of other pairs": (
        lambda p: write_scores(p[1], [score("x"), score("y")]),
        r"scores\.csv: has a row for none of the 4 pairs",
    ),
    "no scores table": (
        lambda p: p[1].write_text("id,quality\na,3\n"),
        r"scores\.csv: lacks relevance, .*; expected the columns id, .* found id, quality$",
    ),
    "a word as score": (
        lambda p: p[1].write_text(HEAD + "a,3,3,3,ok,\nb,good,3,3,ok,\n"),
        r"scores\.csv: row 2: quality is 'good', expected a number",
    ),
    "a status of its own": (
        lambda p: p[1].write_text(HEAD + "a,3,3,3,ok,\nb,3,3,3,fine,\n"),
        r"scores\.csv: row 2: status is 'fine', expected ok or error",
    ),
    "scores without id": (
        lambda p: p[1].write_text(HEAD + "a,3,3,3,ok,\n,3,3,3,ok,\n"),
        r"scores\.csv: row 2: id is empty",
    ),
    "a recipe of an unknown operation": (
        lambda p: p[2].write_text("stages:\n- {name: x, axis: quality, at_least: {dub: 3}}\n"),
        r"recipe\.yaml: stage 1 \('x'\): at_least names the operation 'dub', which no pair has",
    ),
    "a recipe without rule": (
        lambda p: p[2].write_text("stages:\n- {name: x, axis: quality}\n"),
        r"recipe\.yaml: stage 1 \('x'\): expected exactly one of",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_input_is_one_sentence(cli: Any, inputs: list[Path], kind: str) -> None:
    spoil, said = BAD[kind]
    spoil(inputs)
    before = sorted(inputs[0].parent.iterdir())
    ended = cli(*arguments(inputs))
    assert ended.status == 2
    assert re.search(said, ended.sentence)
    assert sorted(inputs[0].parent.iterdir()) == before


BAD_TEXT = {
    "pairs.csv": [
        (b"id,original,edited,original_caption,target_caption\na,b,c,d\n", ":2: expected 5 cells"),
        (b"id,original,edited,original_caption,target_caption\na,b,c,d,e,f\n", ":2: expected 5 c"),
        (b"id,id,edited,original_caption,target_caption\na,b,c,d,e\n", ":1: a column stands twice"),
        (b"id,edited,original_caption,target_caption\na,b,c,d\n", ":1: original: is missing"),
        (b"id,original,edited,original_caption,target_caption\na,b,c,\xff,e\n", ":2: is not CSV"),
        (b"", ": holds no pairs"),
    ],
    "pairs.parquet": [(b"PAR1", ": is not Parquet"), (b"", ": is not Parquet")],
    "pairs.txt": [(b"", r": a manifest ends in \.jsonl, \.csv, \.parquet")],
}


@pytest.mark.parametrize("output", ["kept", "out/kept"])
@pytest.mark.parametrize(
    ("name", "text", "said"),
    [(name, text, said) for name, cases in BAD_TEXT.items() for text, said in cases],
)
def test_a_bad_manifest_is_one_sentence(
    cli: Any, inputs: list[Path], name: str, text: bytes, said: str, output: str
) -> None:
    path = content(inputs[0].with_name(name), text)
    ended = cli(*arguments([path, *inputs[1:]], output + (path.suffix.replace("txt", "csv"))))
    assert ended.status == 2
    assert re.search(re.escape(name) + said, ended.sentence)
    assert not list(path.parent.rglob("*kept*"))


def test_a_column_that_was_not_needed_may_be_damaged(cli: Any, inputs: list[Path]) -> None:
    """Damage on the way: the sentence is about what was read, and nothing is left behind."""
    path = inputs[0].with_suffix(".parquet")
    rows = [row(name, original_caption=f"caption {name}" * 50) for name in map(str, range(5000))]
    manifest.write(manifest.read(write_rows(inputs[0], rows)), path)
    data = bytearray(path.read_bytes())
    where = data.index(b"caption 3")
    data[where - 200 : where + 3000] = bytes(3200)
    path.write_bytes(data)
    write_scores(inputs[1], [score(name) for name in map(str, range(5000))])
    ended = cli(*arguments([path, *inputs[1:]], "kept.parquet"))
    assert ended.status == 2
    assert re.search(r"pairs\.parquet: (cannot be read|is not Parquet)", ended.sentence)
    assert not list(path.parent.rglob("*kept*"))


OUTPUTS: dict[str, tuple[str, str]] = {
    "the manifest": ("pairs.jsonl", r"pairs\.jsonl: is an input and would be overwritten"),
    "unknown suffix": ("kept.txt", r"kept\.txt: a manifest ends in \.jsonl, \.csv, \.parquet"),
    "a directory": ("made.jsonl", r"made\.jsonl: is a directory, expected a file"),
    "below a file": ("pairs.jsonl/kept.jsonl", r"kept\.jsonl: cannot be written"),
}


@pytest.mark.parametrize("kind", OUTPUTS)
def test_a_bad_output_is_one_sentence(cli: Any, inputs: list[Path], kind: str) -> None:
    name, said = OUTPUTS[kind]
    folder(inputs[0].with_name("made.jsonl"))
    before = inputs[0].read_bytes()
    ended = cli(*arguments(inputs, name))
    assert ended.status == 2
    assert re.search(said, ended.sentence)
    assert inputs[0].read_bytes() == before


def test_the_rejected_never_replace_an_input(cli: Any, inputs: list[Path]) -> None:
    pairs = inputs[0].rename(inputs[0].with_name("kept.rejected.jsonl"))
    before = pairs.read_bytes()
    ended = cli(*arguments([pairs, *inputs[1:]]))
    assert ended.status == 2
    assert "kept.rejected.jsonl: is an input and would be overwritten" in ended.sentence
    assert pairs.read_bytes() == before


def test_after_a_kill_the_same_command_gives_the_same_bytes(tmp_path: Path) -> None:
    """Killed while files are being written; what is there under its own name is whole."""
    rows = [row(str(n), operation=("add", "delete")[n % 2]) for n in range(30_000)]
    inputs = [
        write_rows(tmp_path / "pairs.jsonl", rows),
        write_scores(
            tmp_path / "scores.csv", [score(row["id"], 1 + i % 7) for i, row in enumerate(rows)]
        ),
        content(tmp_path / "recipe.yaml", RECIPE.replace("2", "2700").encode()),
    ]
    assert start(*arguments(inputs, "whole/kept.jsonl")).wait() == 0
    whole = {path.name: path.read_bytes() for path in (tmp_path / "whole").iterdir()}
    assert sorted(whole) == [NOTE, *FILES]
    out, killed = tmp_path / "out", 0
    for seconds in (0, 0.2):
        run = start(*arguments(inputs, "out/kept.jsonl"))
        before = set(out.glob(".kept.jsonl.*.partial"))
        while run.poll() is None and set(out.glob(".kept.jsonl.*.partial")) <= before:
            time.sleep(0.001)
        time.sleep(seconds)
        run.kill()
        killed += run.wait() != 0
        there = {path.name: path.read_bytes() for path in out.glob("kept*")}
        assert there.items() <= whole.items()
        assert "kept.jsonl" not in there or len(there) == len(FILES)
    assert killed
    assert start(*arguments(inputs, "out/kept.jsonl")).wait() == 0
    assert {path.name: path.read_bytes() for path in out.iterdir()} == whole


def test_a_kill_never_leaves_an_older_selection_beside_a_new_report(
    inputs: list[Path], cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli(*arguments(inputs)).status == 0
    inputs[2].write_text(RECIPE.replace("2", "1"))
    replace, renamed = Path.replace, []

    def stop_after_one(path: Path, target: Path) -> Any:
        if renamed:
            raise RuntimeError
        renamed.append(target.name)
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", stop_after_one)
    with pytest.raises(RuntimeError):
        cli(*arguments(inputs))
    assert renamed != ["kept.jsonl"]
    assert not inputs[0].with_name("kept.jsonl").exists()


def test_the_recipe_s_numbers_are_in_the_record(cli: Any, inputs: list[Path]) -> None:
    cli(*arguments(inputs))
    record = json.loads(inputs[0].with_name("kept.filter.json").read_bytes())
    (stage,) = record["stages"]
    assert stage["keep_top"] == 2
    assert stage["lowest"] == {"add": 3.0, "delete": 5.0, "all": 3.0}
    text = inputs[0].with_name("kept.filter.md").read_text()
    assert "| best | quality | keep_top 2 | 3.000 | 5.000 | 3.000 |" in text

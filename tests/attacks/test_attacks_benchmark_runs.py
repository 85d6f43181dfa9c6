"""Names of systems, records that somebody changed, and runs without any score."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from commands import Run, write_rows
from outcomes import kept, refused
from small_benchmarks import (
    clip,
    ended_well,
    mmae,
    salmon,
    script,
)

NAMES = ("..", ".", "a/b", "/etc", "a\\b", "", "x" * 300, "a\nb", "a\0b", "$x$", "[/red]", "-x",
         "salmon.md", "salmon.json", "constant", " ", "~", "a|b", "\u202e")  # fmt: skip


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_name_of_a_system_is_no_path(name: str, tmp_path: Path, bench: Run) -> None:
    salmon(tmp_path)
    (tmp_path / "l.csv").write_text(
        "file,score\n" + "".join(f"speaker_consistency/sample_0_{n}.wav,{n}\n" for n in range(2))
    )
    before = {path.name for path in tmp_path.iterdir()}
    ended_well(bench("salmon", "salmon", "--scores", f"{name}=l.csv"))
    kept({path.name for path in tmp_path.iterdir()} - {"report"}, before, "the folder around")


RECORDS: dict[str, Callable[[str], str]] = {
    "not JSON": lambda line: "words",
    "a list": lambda line: "[]",
    "nested deep": lambda line: "[" * 100_000,
    "a key gone": lambda line: line.replace('"outcome"', '"income"'),
    "a part gone": lambda line: line.replace('"part"', '"party"'),
    "another id": lambda line: line.replace("sample_0", "sample_9"),
    "a status of its own": lambda line: line.replace('"status": "ok"', '"status": ["ok"]'),
    "no status": lambda line: line.replace('"status"', '"state"'),
    "words for an outcome": lambda line: line.replace('"outcome": 0.5', '"outcome": "much"'),
    "nothing": lambda line: "",
    "twice": lambda line: f"{line}\n{line}",
    "no UTF-8": lambda line: f"{line[:-1]}\udcff",
}


@pytest.mark.parametrize("change", RECORDS.values(), ids=RECORDS)
def test_records_that_somebody_changed_are_one_sentence(
    change: Callable[[str], str], tmp_path: Path, bench: Run
) -> None:
    salmon(tmp_path)
    kept(bench("salmon", "salmon", "--baselines").status, 0, "the first run")
    path = tmp_path / "report" / "constant" / "records.jsonl"
    line = path.read_text().splitlines()[0]
    assert change(line) != line
    path.write_text(f"{change(line)}\n", encoding="utf-8", errors="surrogateescape")
    changed = path.read_bytes()
    ended = bench("salmon", "salmon", "--baselines")
    refused(ended, r"records\.jsonl: does not hold the records of these samples")
    kept(path.read_bytes(), changed, "the records")


@pytest.mark.parametrize("name", ["swanbench", "mmae"])
def test_a_run_without_any_score_is_none(name: str, tmp_path: Path, bench: Run) -> None:
    (tmp_path / "answers.jsonl").write_text("")
    path = (
        write_rows(tmp_path / "scripts.jsonl", [script()])
        if name == "swanbench"
        else mmae(tmp_path)
    )
    clip(tmp_path / "outputs" / "1.wav")
    ended = bench(name, path, "-s", "x=outputs", "--judge", "answers.jsonl")
    kept(ended.status, 1, "the status")
    assert ended.err.rstrip().endswith("all outputs are unscored: x")


def test_a_table_without_any_likelihood_is_no_run(tmp_path: Path, bench: Run) -> None:
    salmon(tmp_path)
    rows = "".join(f"speaker_consistency/sample_0_{n}.wav,\n" for n in range(2))
    (tmp_path / "l.csv").write_text(f"file,score\n{rows}")
    ended = bench("salmon", "salmon", "--scores", "x=l.csv", "--baselines")
    kept(ended.status, 1, "the status")
    assert ended.err.rstrip().endswith("all outputs are unscored: x")

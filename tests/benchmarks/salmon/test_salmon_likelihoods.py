"""Tables of likelihoods: their forms, what is wrong in them, and scores that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from salmon_files import by_part, lay_out, likelihoods, written

from auditeval.benchmarks.salmon.benchmark import Salmon
from auditeval.benchmarks.salmon.samples import PARTS
from auditeval.benchmarks.salmon.scorers import Likelihoods, PairScores, read_likelihoods
from auditeval.types import Undefined, UserError


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lay_out(tmp_path_factory.mktemp("salmon"))


@pytest.fixture(scope="module")
def benchmark(root: Path) -> Salmon:
    return Salmon(root)


def test_every_form_of_the_table_reads_alike(benchmark: Salmon, root: Path, tmp_path: Path) -> None:
    rows = likelihoods(root)
    joined = [{"score": r["score"], "file": f"{r['part']}/{r['file']}", "x": 1} for r in rows]
    forms = [
        written(tmp_path / name, form)
        for name, form in (
            ("a.csv", rows),
            ("b.jsonl", rows),
            ("c.csv", joined),
            ("d.jsonl", joined),
        )
    ]
    read = [read_likelihoods(path, benchmark.samples).settings for path in forms]
    assert all(settings == read[0] for settings in read)


def test_rows_that_are_left_out_are_as_rows_without_likelihood(
    benchmark: Salmon, root: Path, tmp_path: Path
) -> None:
    rows = likelihoods(root)
    empty = [row | {"score": None} if i % 7 == 0 else row for i, row in enumerate(rows)]
    gone = [row for i, row in enumerate(rows) if i % 7]
    found = [
        by_part(
            benchmark,
            read_likelihoods(written(tmp_path / f"{name}.jsonl", form), benchmark.samples),
            tmp_path / name,
        )
        for name, form in (("empty", empty), ("gone", gone))
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("rows", "named"),
    [
        ([{"file": "rir_consistency/sample_0_0.wav", "score": "good"}], ":1: score is 'good'"),
        ([{"file": "rir_consistency/sample_0_0.wav", "score": 10**400}], ":1: score is '1000"),
        (
            [{"file": "rir_consistency/sample_99_0.wav", "score": 1}],
            ":1: rir_consistency/sample_99",
        ),
        ([{"file": "rir_consistency/sample_0_0.wav", "score": True}], ":1: score is 'True'"),
        ([{"file": "rir_consistency/sample_0_0.wav", "score": "1_0"}], ":1: score is '1_0'"),
        ([{"file": "sample_0_0.wav", "score": 1}], ":1: no part of SALMon: ''"),
        (
            [{"file": "bg_alignment/sample_0_0.wav", "part": "rir_consistency", "score": 1}],
            ":1: part is rir_consistency, file one of bg_alignment: ",
        ),
        (
            [{"file": f"rir_consistency/{300 * 'x'}.wav", "score": 1}],
            ":1: rir_consistency/xxx.* is no clip of the benchmark",
        ),
        ([{"file": "rir_consistency/sample_0_0.wav", "score": 1}] * 2, ":2: .* stands twice"),
        (
            [{"file": "rir_consistency/sample_0_0.wav"}],
            ":1: expected an object with file and score",
        ),
    ],
)
def test_a_table_that_is_wrong_is_one_sentence_with_its_line(
    benchmark: Salmon, tmp_path: Path, rows: list[dict[str, Any]], named: str
) -> None:
    with pytest.raises(UserError, match=named):
        read_likelihoods(written(tmp_path / "m.jsonl", rows), benchmark.samples)


@pytest.mark.parametrize(
    ("name", "content", "named"),
    [
        ("m.csv", b'file,score\n"x,1\n', "m.csv:2: is not CSV"),
        ("m.csv", b"x" * 200_000, "m.csv:1: expected the columns file and score"),
        ("m.csv", b"file,score\n\xff,1\n", "m.csv:2: is not CSV"),
        ("m.csv", b"", "m.csv:1: expected the columns file and score"),
        ("m.jsonl", b"\n{\n", "m.jsonl:2: is not JSON"),
        ("m.jsonl", b"[" * 200_000, "m.jsonl:1: nests deeper than 64 levels"),
        ("m.jsonl", b"[1]\n", "m.jsonl:1: expected an object"),
        ("m.txt", b"", r"m.txt: expected .csv or .jsonl"),
    ],
)
def test_what_is_no_table_is_one_sentence(
    benchmark: Salmon, tmp_path: Path, name: str, content: bytes, named: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=named):
        read_likelihoods(tmp_path / name, benchmark.samples)


def test_minus_infinity_is_a_likelihood_and_its_record_is_json(benchmark: Salmon) -> None:
    key = benchmark.samples[0].id.rsplit("_", 1)[0]
    table = Likelihoods("m", {f"{key}_0.wav": -3.0, f"{key}_1.wav": float("-inf")})
    record = benchmark.evaluate(benchmark.samples[0], table.output(benchmark.samples[0]))
    assert record["outcome"] == 1
    assert json.dumps(record, allow_nan=False)


def test_a_model_that_finds_everything_impossible_is_at_chance(
    benchmark: Salmon, root: Path, tmp_path: Path
) -> None:
    """Equal likelihoods are a tie in the authors' script, these too."""
    path = written(tmp_path / "m.jsonl", likelihoods(root, "-inf"))
    found = by_part(benchmark, read_likelihoods(path, benchmark.samples), tmp_path / "r")
    for part in PARTS:
        assert (found[part], found[f"{part}_coverage"]) == (0.5, 1)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), Undefined("none")])
@pytest.mark.parametrize("other", [1.0, float("-inf")])
def test_a_score_that_is_none_is_called_what_it_is(
    benchmark: Salmon, bad: Any, other: float
) -> None:
    pair = benchmark.samples[0]
    for scores in (PairScores(other, bad), PairScores(bad, other)):
        record = benchmark.evaluate(pair, scores)
        clip = pair[2 + scores.index(bad)].name
        said = bad.reason if isinstance(bad, Undefined) else f"its score is {bad}"
        assert (record["status"], record["outcome"]) == ("unscored", None)
        assert record["reason"] == record["undefined"]["outcome"] == f"{clip}: {said}"
        assert json.dumps(record, allow_nan=False)

"""What AuditEval-llm answered: a scores table that joins the pairs of the same file."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auditeval import manifest, scores_table
from auditeval.data.importers import import_ms_swift, import_omni_results
from auditeval.types import AXES, Scores, UserError
from auditeval.version import __version__

PROMPT = "You rate.\n\nOriginal Caption:\nRain {0}.\n\nTarget Caption:\nRain {0}, with a bell.\n"


def asked(number: int, labels: list[float], edited: str = "") -> dict[str, Any]:
    """A line of the file that inference is on, as the authors write it."""
    name = f"{number}_add_a_2_ab"
    return {
        "messages": [{"role": "user", "content": PROMPT.format(number)}],
        "label": labels,
        "audios": [f"original_wavs/{name}_ori.wav", edited or f"target_wavs/{name}_tar.wav"],
    }


def answered(line: dict[str, Any], response: Any) -> dict[str, Any]:
    """The same line as `swift infer` writes it."""
    answer = {"role": "assistant", "content": response}
    return {
        "response": response,
        "labels": line["label"],
        "logprobs": None,
        "messages": [{**line["messages"][0], "loss": None}, answer],
        "audios": line["audios"],
    }


def write(path: Path, lines: list[Any]) -> Path:
    path.write_text("".join(f"{x if isinstance(x, str) else json.dumps(x)}\n" for x in lines))
    return path


@pytest.fixture
def rated() -> list[dict[str, Any]]:
    """Twelve pairs with ratings."""
    rng = np.random.default_rng(5)
    return [asked(number, rng.uniform(1, 5, 3).round(2).tolist()) for number in range(1, 13)]


@pytest.fixture
def responses(rated: list[dict[str, Any]]) -> np.ndarray:
    """Multiples of 1/32, as those of the authors, one of them off the scale :: (12, 3)."""
    rng = np.random.default_rng(6)
    ratings = np.array([line["label"] for line in rated])
    made = np.round(32 * (ratings + rng.normal(0, 0.5, ratings.shape))) / 32
    made[0, 0] = 5.09375
    return made


@pytest.fixture
def results(tmp_path: Path, rated: list[dict[str, Any]], responses: np.ndarray) -> Path:
    lines = [answered(*row) for row in zip(rated, responses.tolist(), strict=True)]
    return write(tmp_path / "test_res.jsonl", lines[::-1])  # several devices keep no order


@pytest.mark.parametrize("suffix", scores_table.SUFFIXES)
def test_import_and_evaluate(
    cli: Any,
    tmp_path: Path,
    rated: list[dict[str, Any]],
    responses: np.ndarray,
    results: Path,
    suffix: str,
) -> None:
    pairs, scores = tmp_path / "pairs.jsonl", tmp_path / f"auditeval_llm{suffix}"
    test = write(tmp_path / "test.jsonl", rated)
    for source in (test, results):  # with the results themselves, and with what was asked
        assert cli("import", "ms-swift", source, "-o", pairs).status == 0
        ended = cli("import", "omni-results", results, "-o", scores)
        assert ended.status == 0, ended.err
        assert ended.out == f"{scores}: 12 scored, 0 errors\n"
        told = cli(
            *("evaluate", scores, "--against", pairs, "-o", tmp_path / "out", "--resamples", 10)
        )
        assert told.status == 0, told.err
        assert "auditeval_llm" in told.out
        rows = json.loads((tmp_path / "out" / "agreement.json").read_text())["rows"]
        assert [(row["axis"], row["rated"], row["missing"]) for row in rows] == [
            (axis, 12, 0) for axis in AXES
        ]
        ratings = np.array([line["label"] for line in rated])
        for row, x, y in zip(rows, responses.T, ratings.T, strict=True):
            found = {name: row["utterance"][name]["value"] for name in ("MSE", "LCC")}
            assert found["MSE"] == pytest.approx(np.mean(np.square(x - y)), rel=1e-9)
            assert found["LCC"] == pytest.approx(np.corrcoef(x, y)[0, 1], rel=1e-9)


def test_the_record_beside_it_says_who_made_it(results: Path, tmp_path: Path) -> None:
    output = tmp_path / "out" / "s.csv"
    assert import_omni_results(results, output) == (12, 0)
    first = output.read_bytes()
    assert json.loads((tmp_path / "out" / "s.csv.json").read_text()) == {
        "evaluator": "test_res",
        "auditeval": __version__,
        "results": "test_res.jsonl",
        "results_sha256": hashlib.sha256(results.read_bytes()).hexdigest(),
        "rows": 12,
    }
    assert import_omni_results(results, output) == (12, 0)
    assert output.read_bytes() == first
    write(results, results.read_text().splitlines()[1:])
    with pytest.raises(UserError, match=r"s\.csv: exists already and was not made from these"):
        import_omni_results(results, output)
    assert output.read_bytes() == first


UNREADABLE: dict[str, Any] = {
    "two numbers": [4, 3],
    "words": ["4", "3", "2"],
    "a sentence": "4 3 2",
    "nothing": None,
    "true": [True, 4, 3],
    "NaN": [float("nan"), 4, 3],
    "infinite": [4, 3, float("inf")],
    "beyond a float": [4, 3, 10**400],
    "an object": {"quality": 4},
}


@pytest.mark.parametrize("response", UNREADABLE.values(), ids=list(UNREADABLE))
def test_an_unreadable_answer_is_an_error_row(cli: Any, tmp_path: Path, response: Any) -> None:
    lines = [asked(number, [4, 3, 2]) for number in (1, 2, 3)]
    absent = {key: x for key, x in answered(lines[2], 0).items() if key != "response"}
    made = [answered(lines[0], [4, 3.5, 2]), answered(lines[1], response), absent]
    path = write(tmp_path / "res.jsonl", made)
    ended = cli("import", "omni-results", path, "-o", tmp_path / "s.csv")
    assert ended.status == 1
    assert ended.out == f"{tmp_path / 's.csv'}: 1 scored, 2 errors\n"
    right, wrong, none = scores_table.read(tmp_path / "s.csv")
    assert right == Scores("1_add_a_2_ab_tar", 4, 3.5, 2)
    assert (wrong.id, wrong.status) == ("2_add_a_2_ab_tar", "error")
    assert wrong.reason.startswith("res.jsonl:2: response is ")
    assert wrong.reason.endswith(", expected three numbers [Q, R, F]")
    assert none.reason == "res.jsonl:3: has no response"


def test_ids_are_those_of_the_pairs_where_names_stand_twice(tmp_path: Path) -> None:
    """Systems with folders of their own may use the same names; then a line's place is its id."""
    lines = [asked(1, [4, 3, 2], f"{system}/1.wav") for system in ("x", "y")]
    path = write(tmp_path / "res.jsonl", [answered(line, [1, 2, 3]) for line in lines])
    import_omni_results(path, tmp_path / "s.jsonl")
    ids = [row.id for row in scores_table.read(tmp_path / "s.jsonl")]
    assert ids == [pair.id for pair in import_ms_swift(path)] == ["res-00001", "res-00002"]


def test_a_folder_of_results_is_read_whole(results: Path, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    lines = results.read_text().splitlines()
    write(folder / "1.jsonl", lines[:5])
    write(folder / "0.jsonl", lines[5:])
    import_omni_results(folder, tmp_path / "s.parquet")
    rows = list(scores_table.read(tmp_path / "s.parquet"))
    assert [row.id for row in rows] == [pair.id for pair in import_ms_swift(folder)]
    manifest.write(import_ms_swift(folder), tmp_path / "pairs.csv")
    assert len(manifest.read(tmp_path / "pairs.csv")) == 12


def test_a_pair_with_two_answers_is_refused(results: Path, tmp_path: Path) -> None:
    lines = results.read_text().splitlines()
    write(results, [*lines, lines[4]])
    with pytest.raises(
        UserError, match=r"test_res\.jsonl:13: asks .* as .*test_res\.jsonl:5; give"
    ):
        import_omni_results(results, tmp_path / "s.csv")


LINE = answered(asked(1, [4, 3, 2]), [4, 3, 2])
MISTAKES: dict[str, Any] = {
    "not JSON": "{",
    "cut off": json.dumps(LINE)[:-9],
    "a list": "[]",
    "no messages": {**LINE, "messages": None},
    "one audio": {**LINE, "audios": ["a.wav"]},
}


@pytest.mark.parametrize("line", MISTAKES.values(), ids=list(MISTAKES))
def test_mistakes_are_named_with_their_line(tmp_path: Path, line: Any) -> None:
    path = write(tmp_path / "res.jsonl", [LINE, "", line])
    with pytest.raises(UserError, match=r"res\.jsonl:3: expected messages with a user prompt"):
        import_omni_results(path, tmp_path / "s.csv")
    assert not (tmp_path / "s.csv").exists()


@pytest.mark.parametrize(
    ("content", "output", "said"),
    [
        ("\n", "s.csv", "res.jsonl: holds no results"),
        (json.dumps(LINE), "s.txt", "s.txt: a scores file ends in .csv, .jsonl, .parquet"),
        (json.dumps(LINE), "file/s.csv", "s.csv: cannot be written"),
    ],
)
def test_one_sentence_says_what_is_wrong(
    cli: Any, tmp_path: Path, content: str, output: str, said: str
) -> None:
    (tmp_path / "file").touch()
    path = write(tmp_path / "res.jsonl", [content])
    ended = cli("import", "omni-results", path, "-o", tmp_path / output)
    assert ended.status == 2
    assert said in ended.sentence
    ended = cli("import", "omni-results", tmp_path / "none.jsonl", "-o", tmp_path / "s.csv")
    assert ended.sentence == f"{tmp_path / 'none.jsonl'}: no such file or folder"

"""Bad manifests, scores tables and layouts: one sentence with file and line, status 2.

Nothing is scored and nothing is written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import content, folder, noise, row_of, sound, start, write_rows, write_scores

from auditeval import manifest
from auditeval.scoring import Evaluator
from auditeval.types import AXES, EditPair, Scores

LINES: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "bad JSON": (lambda row: json.dumps(row)[:-5], r"pairs\.jsonl:2: is not JSON"),
    "a JSON list": (lambda row: [row], r"pairs\.jsonl:2: expected a JSON object, found list"),
    "an unknown key": (
        lambda row: {**row, "colour": "red"},
        r"pairs\.jsonl:2: colour: unknown key \(known: id, original",
    ),
    "a duplicate id": (
        lambda row: {**row, "id": "first"},
        r"pairs\.jsonl: id 'first' stands in rows 1 and 2; ids must be unique",
    ),
    "a missing key": (
        lambda row: {k: v for k, v in row.items() if k != "edited"},
        r"pairs\.jsonl:2: edited: is missing",
    ),
    "a wrong type": (
        lambda row: {**row, "target_caption": 7},
        r"pairs\.jsonl:2: target_caption: input should be a valid string, found 7",
    ),
    "a rating out of range": (
        lambda row: {**row, "ratings": {"quality": 5.5}, "raters": {}},
        r"pairs\.jsonl:2: ratings\.quality: .* less than or equal to 5, found 5\.5",
    ),
    "a rating of NaN": (
        lambda row: {**row, "ratings": {"quality": float("nan")}, "raters": {}},
        r"pairs\.jsonl:2: ratings\.quality: .* finite number, found nan",
    ),
    "an unknown axis": (
        lambda row: {**row, "ratings": {"beauty": 3}, "raters": {}},
        r"pairs\.jsonl:2: ratings\.beauty: .* 'quality', 'relevance' or 'faithfulness'",
    ),
    "an empty path": (lambda row: {**row, "original": ""}, r"pairs\.jsonl:2: original: expected"),
}


@pytest.mark.parametrize("command", ["score", "evaluate"])
@pytest.mark.parametrize("kind", LINES)
def test_a_bad_line_ends_the_command_before_any_work(
    tmp_path: Path,
    cli: Any,
    spectrum_checkpoint: Path,
    good: list[EditPair],
    kind: str,
    command: str,
) -> None:
    change, said = LINES[kind]
    rows = [row_of(good[0], id="first"), change(row_of(good[1])), row_of(good[2])]
    path, output = write_rows(tmp_path / "pairs.jsonl", rows), tmp_path / "out.csv"
    if command == "score":
        ended = cli("score", path, "-o", output, "-c", spectrum_checkpoint, "--device", "cpu")
    else:
        ended = cli("evaluate", tmp_path / "none.csv", "--against", path, "-o", output)
    assert ended.status == 2
    assert re.search(said, ended.sentence)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["pairs.jsonl"]


MANIFESTS: dict[str, tuple[Callable[[Path], Path], str]] = {
    "missing": (lambda d: d / "none.jsonl", r"none\.jsonl: no such manifest"),
    "a directory": (lambda d: folder(d / "pairs.jsonl"), r"pairs\.jsonl: is a directory"),
    "0 bytes": (lambda d: content(d / "pairs.jsonl", b""), r"pairs\.jsonl: holds no pairs"),
    "blank lines": (lambda d: content(d / "p.jsonl", b"\n \n"), r"p\.jsonl: holds no pairs"),
    "only part of a header": (
        lambda d: content(d / "p.csv", b"id,original\n"),
        r"p\.csv:1: edited: is missing; the columns are 'id', 'original'",
    ),
    "another suffix": (lambda d: content(d / "pairs.txt", b"x"), r"pairs\.txt: a manifest ends in"),
    "no Parquet": (lambda d: content(d / "p.parquet", b"x"), r"p\.parquet: is not Parquet"),
    "not UTF-8": (lambda d: content(d / "p.jsonl", b'{"id": "\xe9"}\n'), r"p\.jsonl:1: is not J"),
    "audio": (lambda d: sound(d / "a.wav", noise()).rename(d / "a.csv"), r"a\.csv:1: is not CSV"),
}


@pytest.mark.parametrize("kind", MANIFESTS)
def test_what_is_no_manifest_ends_the_command(
    tmp_path: Path, cli: Any, spectrum_checkpoint: Path, kind: str
) -> None:
    make, said = MANIFESTS[kind]
    output = tmp_path / "scores.csv"
    ended = cli("score", make(tmp_path), "-o", output, "-c", spectrum_checkpoint)
    assert ended.status == 2
    assert re.search(said, ended.sentence)
    assert not output.exists()


# --- evaluate and import -----------------------------------------------------------------------


def test_one_system_has_no_system_level_values_and_says_why(
    tmp_path: Path, cli: Any, evaluator: Evaluator, simulated: list[EditPair]
) -> None:
    pairs = [pair.model_copy(update={"system": "only"}) for pair in simulated[:12]]
    manifest.write(pairs, tmp_path / "pairs.jsonl")
    scores = write_scores(tmp_path / "scores.csv", evaluator.score(pairs))
    ended = cli("evaluate", scores, "--against", tmp_path / "pairs.jsonl", "-o", tmp_path / "r",
                "--resamples", 50)  # fmt: skip
    assert ended.status == 0
    report = json.loads((tmp_path / "r" / "agreement.json").read_bytes())
    assert [row["axis"] for row in report["rows"]] == list(AXES)
    for row in report["rows"]:
        for statistic in ("LCC", "SRCC", "KTAU"):
            assert row["system"][statistic]["value"] is None
            assert "a correlation needs 3" in row["system"][statistic]["undefined"]
            assert -1 <= row["utterance"][statistic]["value"] <= 1
            assert row["utterance"][statistic]["interval"] is None
    said = " ".join(ended.out.split())
    assert re.search(r"undefined: .*1 item; a correlation needs 3", said)
    assert (tmp_path / "r" / "agreement.png").stat().st_size > 0


def flat(value: float, names: list[str]) -> list[Scores]:
    return [Scores(name, value, value, value) for name in names]


EVALUATE: dict[str, tuple[Callable[[Path, list[str]], Path], str]] = {
    "no rated pair covered": (
        lambda d, ids: write_scores(d / "s.csv", flat(3.0, ["x", "y"])),
        r"s\.csv: has a score for none of the 3 rated pairs",
    ),
    "errors only": (
        lambda d, ids: write_scores(
            d / "s.csv", [Scores(name, status="error", reason="none") for name in ids]
        ),
        r"s\.csv: has a score for none of the 3 rated pairs",
    ),
    "no rated axis covered": (
        lambda d, ids: write_scores(d / "s.csv", [Scores(name, relevance=3.0) for name in ids]),
        r"s\.csv: has a score for none of the 3 rated pairs",
    ),
    "missing": (lambda d, ids: d / "none.csv", r"none\.csv: cannot be read"),
    "0 bytes": (lambda d, ids: content(d / "s.csv", b""), r"s\.csv: lacks id, .* found none"),
    "a directory": (lambda d, ids: folder(d / "s.csv"), r"s\.csv: is a directory"),
    "another suffix": (lambda d, ids: content(d / "s.txt", b"x"), r"s\.txt: a scores file ends"),
    "other columns": (
        lambda d, ids: content(d / "s.csv", b"name,score\na,3\n"),
        r"s\.csv: lacks id, .*; expected the columns id, quality, .* found name, score",
    ),
    "cut": (
        lambda d, ids: content(
            d / "s.csv", write_scores(d / "s.csv", flat(3.0, ids)).read_bytes()[:-12]
        ),
        r"s\.csv:4: expected 6 cells, found 3",
    ),
    "a NaN score": (
        lambda d, ids: write_scores(d / "s.csv", flat(float("nan"), ids)),
        r"s\.csv: row 1: quality is nan, expected a finite number",
    ),
    "an id twice": (
        lambda d, ids: write_scores(d / "s.csv", flat(3.0, [*ids, ids[0]])),
        r"s\.csv: id '.*' stands in rows 1 and 4; ids must be unique",
    ),
    "broken JSON": (
        lambda d, ids: content(d / "s.jsonl", b'{"id": "a"'),
        r"s\.jsonl:1: is not JSON",
    ),
    "no Parquet": (
        lambda d, ids: content(d / "s.parquet", b"PAR"),
        r"s\.parquet: is no PARQUET table",
    ),
}


@pytest.mark.parametrize("kind", EVALUATE)
def test_evaluating_a_bad_scores_table_is_one_sentence(
    tmp_path: Path, cli: Any, good: list[EditPair], kind: str
) -> None:
    make, said = EVALUATE[kind]
    rows = [row_of(pair, ratings={"quality": 3.0}, raters={}) for pair in good]
    path = write_rows(tmp_path / "pairs.jsonl", rows)
    scores = make(tmp_path, [pair.id for pair in good])
    ended = cli("evaluate", scores, "--against", path, "-o", tmp_path / "report")
    assert ended.status == 2
    assert re.search(said, ended.sentence)
    assert not (tmp_path / "report").exists()


def test_evaluating_against_pairs_without_ratings_is_one_sentence(
    tmp_path: Path, cli: Any, good: list[EditPair]
) -> None:
    rows = [row_of(pair, ratings={}, raters={}) for pair in good]
    path = write_rows(tmp_path / "pairs.jsonl", rows)
    scores = write_scores(tmp_path / "s.csv", flat(3.0, [pair.id for pair in good]))
    ended = cli("evaluate", scores, "--against", path)
    assert ended.status == 2
    assert "pairs.jsonl: no pair has ratings" in ended.sentence


def test_a_report_folder_that_cannot_be_made_is_one_sentence(
    tmp_path: Path, cli: Any, pairs_path: Path, good: list[EditPair]
) -> None:
    scores = write_scores(tmp_path / "s.csv", flat(3.0, [pair.id for pair in good]))
    ended = cli("evaluate", scores, "--against", pairs_path, "-o", scores / "r", "--resamples", 9)
    assert ended.status == 2
    assert re.search(r"r: cannot be written", ended.sentence)


SWIFT = {
    "messages": [{"role": "user", "content": "Original Caption:\na\nTarget Caption:\nb"}],
    "audios": ["a.wav", "b.wav"],
}
IMPORTS: dict[str, tuple[str, Callable[[Path], Path], str]] = {
    "missing": ("auditscore", lambda d: d / "none", r"none: no such file or folder"),
    "an empty folder": ("auditscore", lambda d: d, r"expected train_meta\.json"),
    "an empty list": (
        "auditscore",
        lambda d: content(d / "train_meta.json", b"[]").parent,
        r"holds no pairs",
    ),
    "an id twice": (
        "auditscore",
        lambda d: (
            content(
                d / "train_meta.json",
                json.dumps(
                    2
                    * [{"id": "x", "ori_wav": "a", "tar_wav": "b", "ori_text": "", "tar_text": ""}]
                ).encode(),
            ).parent
        ),
        r"id 'x' stands in more than one record",
    ),
    "a bad line": (
        "ms-swift",
        lambda d: write_rows(d / "x.jsonl", [SWIFT, "{"]),
        r"x\.jsonl:2: expected messages",
    ),
    "a bad cell": (
        "p835",
        lambda d: (
            content(
                d / "labels.csv",
                b"set,edited,original,talker,condition,mos_sig,mos_ovrl\na,b,c,d,e,f,g\n",
            ).parent
        ),
        r"labels\.csv:2: could not convert",
    ),
}


@pytest.mark.parametrize("kind", IMPORTS)
def test_importing_what_is_broken_is_one_sentence_and_writes_nothing(
    tmp_path: Path, cli: Any, kind: str
) -> None:
    layout, make, said = IMPORTS[kind]
    output = tmp_path / "out" / "pairs.jsonl"
    ended = cli("import", layout, make(tmp_path), "-o", output)
    assert ended.status == 2
    assert re.search(said, ended.sentence)
    assert not output.parent.exists()


@pytest.mark.parametrize(
    ("name", "said"), [("x.txt", "a manifest ends in"), ("x.jsonl/m.csv", "cannot be written")]
)
def test_importing_to_where_nothing_can_be_written_is_one_sentence(
    tmp_path: Path, cli: Any, name: str, said: str
) -> None:
    source = write_rows(tmp_path / "x.jsonl", [SWIFT])
    ended = cli("import", "ms-swift", source, "-o", tmp_path / name)
    assert ended.status == 2
    assert said in ended.sentence


# --- a process of its own (see also the hour) --------------------------------------------------


def test_a_process_ends_with_status_2_and_its_sentence_alone(
    tmp_path: Path, pairs_path: Path
) -> None:
    scores = content(tmp_path / "s.csv", b"id\nx\n")
    process = start("evaluate", scores, "--against", pairs_path)
    out, err = process.communicate()
    assert (process.returncode, out) == (2, "")
    assert re.fullmatch(
        r"auditeval: .*s\.csv: lacks quality, .*; expected the columns id, quality.*\n", err
    )

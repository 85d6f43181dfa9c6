"""AuditScore's records: ids that are unique and stay so, and what a record says itself."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from auditeval import manifest
from auditeval.data.importers import import_auditscore
from auditeval.types import UserError

RECORD: dict[str, Any] = {
    "ori_wav": "sys3_add_ori_17.wav",
    "tar_wav": "sys3_add_tar_17.wav",
    "ori_prompt": "Rain.",
    "tar_prompt": "Rain, with a bell.",
    "quality": 4.2,
}


def write(folder: Path, **parts: Any) -> Path:
    for name, content in parts.items():
        (folder / f"{name}_meta.json").write_text(json.dumps(content))
    return folder


def numbered(count: int, *, by_key: bool) -> Any:
    if by_key:
        return {str(number): RECORD for number in range(count)}
    return [{**RECORD, "id": number} for number in range(count)]


@pytest.mark.parametrize("by_key", [True, False], ids=["keys", "ids"])
def test_files_that_both_number_from_zero(cli: Any, tmp_path: Path, by_key: bool) -> None:
    write(tmp_path, train=numbered(3, by_key=by_key), valid=numbered(2, by_key=by_key))
    ended = cli("import", "auditscore", tmp_path, "-o", tmp_path / "pairs.jsonl")
    assert ended.status == 0, ended.err
    pairs = manifest.read(tmp_path / "pairs.jsonl")
    expected = ["train-0", "train-1", "train-2", "valid-0", "valid-1"]
    assert [pair.id for pair in pairs] == expected
    assert [pair.split for pair in pairs] == ["train"] * 3 + ["test"] * 2


def test_ids_are_kept_where_they_differ_between_the_files(tmp_path: Path) -> None:
    write(tmp_path, train={"a": RECORD, "0": RECORD}, valid={"b": RECORD, "1": RECORD})
    assert [pair.id for pair in import_auditscore(tmp_path)] == ["a", "0", "b", "1"]


def test_an_id_does_not_depend_on_other_records_of_its_file(tmp_path: Path) -> None:
    """Only that one stands in two files changes ids, and then all of them alike."""
    write(tmp_path, train=[{**RECORD, "id": "x"}, RECORD], valid=[{**RECORD, "id": "x"}, RECORD])
    whole = [pair.id for pair in import_auditscore(tmp_path)]
    assert whole == ["train-x", "train-00002", "valid-x", "valid-00002"]
    write(tmp_path, train=[{**RECORD, "id": "x"}, RECORD, {**RECORD, "id": "z"}])
    assert [pair.id for pair in import_auditscore(tmp_path)] == [*whole[:2], "train-z", *whole[2:]]


def test_an_id_of_its_own_comes_before_the_key(tmp_path: Path) -> None:
    write(tmp_path, train={"0": {**RECORD, "id": "mine"}, "1": {**RECORD, "id": None}})
    assert [pair.id for pair in import_auditscore(tmp_path)] == ["mine", "1"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            json.dumps([{**RECORD, "id": "x"}, RECORD, {**RECORD, "id": "x"}]),
            "train_meta.json: record 3: id 'x' stands in more than one record, first in "
            "{folder}/train_meta.json: record 1",
        ),
        (
            json.dumps([{**RECORD, "id": 7}, {**RECORD, "id": "7"}]),
            "train_meta.json: record 2: id '7' stands in more than one record, first in "
            "{folder}/train_meta.json: record 1",
        ),
        (
            f'{{"0": {json.dumps(RECORD)}, "0": {json.dumps(RECORD)}}}',
            "train_meta.json: the key '0' stands twice in one object",
        ),
        (
            json.dumps([{**RECORD, "id": [1]}]),
            "train_meta.json: record 1: id: expected words or a whole number, found [1]",
        ),
        (
            json.dumps([{**RECORD, "id": ""}]),
            "train_meta.json: record 1: id: expected words or a whole number, found ''",
        ),
        (
            json.dumps([{**RECORD, "system": 3}]),
            "train_meta.json: record 1: system: input should be a valid string, found 3",
        ),
    ],
)
def test_what_is_wrong_with_an_id_or_a_name_is_said(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "train_meta.json").write_text(text)
    with pytest.raises(UserError) as caught:
        import_auditscore(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path}/{said.format(folder=tmp_path)}")


def test_what_a_record_says_is_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    own = {
        "system": "sys3",
        "operation": "Addition",
        "instruction": "Add a bell.",
        "source": "17",
    }
    write(tmp_path, train=[{**RECORD, **own}, {**RECORD, "instruction": None, "system": ""}])
    with caplog.at_level(logging.WARNING):
        said, named = import_auditscore(tmp_path)
    assert (said.system, said.operation, said.source) == ("sys3", "add", "17")
    assert said.instruction == "Add a bell."
    assert (named.system, named.operation, named.source) == ("sys3", "add", "17")
    assert named.instruction is None
    assert caplog.messages == []


def test_a_record_is_right_where_its_files_say_otherwise(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    records = [RECORD, {**RECORD, "system": "SDEdit", "operation": "restyle", "source": "clip 5"}]
    write(tmp_path, train=[*records, {**RECORD, "system": "ZETA"}])
    with caplog.at_level(logging.WARNING):
        pairs = import_auditscore(tmp_path)
    assert [pair.system for pair in pairs] == ["sys3", "SDEdit", "ZETA"]
    assert [pair.operation for pair in pairs] == ["add", "restyle", "add"]
    assert [pair.source for pair in pairs] == ["17", "clip 5", "17"]
    where = f"{tmp_path}/train_meta.json: record 2"
    taken = "than the files do; what a record says is taken"
    assert caplog.messages == [
        f"{tmp_path}: 1 record names another operation {taken} ({where} says 'restyle', its files "
        "'add')",
        f"{tmp_path}: 1 record names another source {taken} ({where} says 'clip 5', its files "
        "'17')",
        f"{tmp_path}: 2 records name another system {taken} ({where} says 'SDEdit', its files "
        "'sys3')",
    ]


def test_votes_by_rater_arrive_as_they_are(cli: Any, tmp_path: Path) -> None:
    votes = {"r1": 3, "r2": 4, "r5": 4}
    record = {**RECORD, "quality": votes, "relevance": [2, 3], "faithfulness": 5}
    write(tmp_path, train=[record])
    for name in ("pairs.jsonl", "pairs.csv", "pairs.parquet"):
        assert cli("import", "auditscore", tmp_path, "-o", tmp_path / name).status == 0
        (pair,) = manifest.read(tmp_path / name)
        assert pair.raters == {"quality": votes, "relevance": [2, 3]}
        expected = {"quality": 11 / 3, "relevance": 2.5, "faithfulness": 5}
        assert pair.ratings == pytest.approx(expected)


@pytest.mark.parametrize("votes", [{}, {"r1": 6}, {"r1": "4"}, {"r1": [4]}], ids=repr)
def test_votes_that_are_none_are_named(tmp_path: Path, votes: Any) -> None:
    write(tmp_path, train=[RECORD, {**RECORD, "quality": votes}])
    with pytest.raises(UserError, match=r"train_meta\.json: record 2: raters\.quality"):
        import_auditscore(tmp_path)


def test_what_finds_no_place_is_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    record = {**RECORD, "seed": 5, "original_caption": "Rain, again.", "duration": 10.0}
    write(tmp_path, train=[record, record], valid=[RECORD])
    with caplog.at_level(logging.WARNING):
        assert import_auditscore(tmp_path)[0].original_caption == "Rain."
    assert caplog.messages == [
        f"{tmp_path}: a manifest has no place for duration, original_caption, seed"
    ]

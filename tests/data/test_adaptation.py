"""Learning a listening test beside pairs that are plenty: who trains, who tests, how often."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from auditeval import manifest
from auditeval.data import splits
from auditeval.data.combining import combine, without
from auditeval.types import EditPair, UserError


def pair(id: str, **fields: Any) -> EditPair:
    return EditPair(
        id=id, original=f"{id}.wav", edited="e.wav", original_caption="a", target_caption="b",
        **fields,
    )  # fmt: skip


def simulated(count: int = 20) -> list[EditPair]:
    """Two rows a source, some with a talker who also stands in the listening test."""
    return [
        pair(f"s{i}", source=f"scene{i // 2}", talker="t0" if i % 5 == 0 else None,
             ratings={"quality": 3.0, "relevance": 2.0}, split="validation")
        for i in range(count)
    ]  # fmt: skip


def rated(talkers: int = 4, each: int = 3) -> list[EditPair]:
    return [
        pair(f"r{t}-{i}", talker=f"t{t}", ratings={"quality": 4.0}, split="test")
        for t in range(talkers)
        for i in range(each)
    ]


@pytest.fixture
def combined(tmp_path: Path) -> list[EditPair]:
    manifest.write(simulated(), tmp_path / "always.jsonl")
    unrated = pair("nobody", talker="t9")
    manifest.write([*rated(), unrated], tmp_path / "rated.jsonl")
    output = tmp_path / "both.jsonl"
    made = combine(tmp_path / "always.jsonl", tmp_path / "rated.jsonl", output)
    assert made == output
    return manifest.read(output)


def test_combined_rows_say_which_of_them_always_train(combined: list[EditPair]) -> None:
    assert [pair.split for pair in combined] == ["train"] * 20 + [None] * 12
    assert [pair.id for pair in combined[20:23]] == ["rated/r0-0", "rated/r0-1", "rated/r0-2"]
    assert "relevance" not in combined[-1].ratings


@pytest.mark.parametrize("times", [1, 3])
def test_each_talker_is_left_out_once_and_the_others_are_learned(
    combined: list[EditPair], times: int
) -> None:
    folds = splits.adaptation(combined, times=times, validation_share=0.2)
    assert [fold.name for fold in folds] == ["t0", "t1", "t2", "t3"]
    assert sorted(row for fold in folds for row in fold.test) == list(range(20, 32))
    for fold in folds:
        assert {combined[row].talker for row in fold.test} == {fold.name}
        counts = Counter(fold.train)
        assert all(counts[row] == (1 if row < 20 else times) for row in counts)
        others = [row for row in range(20, 32) if row not in fold.test]
        assert sorted(row for row in counts if row >= 20) == others
        # Whole sources of the pairs that always train make the validation part.
        assert len(fold.validation) == 4
        assert sorted([*fold.validation, *(r for r in counts if r < 20)]) == list(range(20))
        held = {combined[row].source for row in fold.validation}
        assert not held & {combined[row].source for row in counts}


def test_groups_are_dealt_into_folds(combined: list[EditPair]) -> None:
    folds = splits.adaptation(combined, by="original", folds=3, validation_share=0)
    assert [fold.name for fold in folds] == ["fold1", "fold2", "fold3"]
    assert [len(fold.test) for fold in folds] == [4, 4, 4]
    assert sorted(row for fold in folds for row in fold.test) == list(range(20, 32))
    assert not any(fold.validation for fold in folds)


def test_what_cannot_be_left_out_is_refused(combined: list[EditPair], tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"4 talker group\(s\) cannot be left out in 5 folds"):
        splits.adaptation(combined, folds=5)
    with pytest.raises(UserError, match=r"1 talker group\(s\)"):
        splits.adaptation(combined[:23])
    with pytest.raises(UserError, match="beside 0 pairs that always train"):
        splits.adaptation(combined[20:])
    manifest.write([pair("nobody")], tmp_path / "bare.jsonl")
    with pytest.raises(UserError, match=r"bare\.jsonl: no pair has ratings"):
        combine(tmp_path / "always.jsonl", tmp_path / "bare.jsonl", tmp_path / "x.jsonl")
    with pytest.raises(UserError, match="no manifest is named"):
        combine(tmp_path / "always.jsonl", None, tmp_path / "x.jsonl")


def test_a_set_without_some_faults_and_sounds(tmp_path: Path) -> None:
    edits = [
        {"id": "a", "faults": {}, "sounds": ["rain", "dog_bark"]},
        {"id": "b", "faults": {"mnru": 0.5, "hum": 0.1}, "sounds": ["rain"]},
        {"id": "c", "faults": {"hum": 0.5}, "sounds": ["beep"]},
        {"id": "d", "faults": {}, "sounds": ["rain", "beep"]},
    ]
    (tmp_path / "edits.jsonl").write_text("".join(json.dumps(edit) + "\n" for edit in edits))
    table = tmp_path / "manifest.jsonl"
    manifest.write([pair(edit["id"]) for edit in edits], table)

    def left(**unwanted: list[str]) -> list[str]:
        written = without([table, None], tmp_path / "x.jsonl", **unwanted)
        return [pair.id for pair in manifest.read(written)]

    assert left() == ["a", "b", "c", "d"]
    assert left(faults=["mnru"]) == ["a", "c", "d"]
    assert left(sounds=["beep"]) == ["a", "b"]
    assert left(faults=["mnru", "hum"], sounds=["beep"]) == ["a"]
    with pytest.raises(UserError, match="'wow' is no fault of simulated edits"):
        left(faults=["hum", "wow"])

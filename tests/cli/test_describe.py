"""`auditeval describe` end to end: what it prints, writes and refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import row_of, write_rows

from auditeval import manifest
from auditeval.types import AXES, EditPair


def test_a_simulated_set_is_described(simulated: list[EditPair], tmp_path: Path, cli: Any) -> None:
    path = tmp_path / "pairs.jsonl"
    manifest.write(simulated, path)
    ended = cli("describe", path, "-o", tmp_path / "out", "--resamples", 20)
    assert ended.status == 0, ended.err
    plain = json.loads((tmp_path / "out" / "description.json").read_text())
    assert plain["all"]["pairs"] == 60
    assert sum(group["pairs"] for group in plain["by_system"].values()) == 60
    assert set(plain["panels"]) == set(AXES)
    for axis in AXES:
        # Simulated listeners differ by half a point or so: a panel of five leaves little noise.
        assert plain["panels"][axis]["ceiling"]["utterance"]["LCC"]["value"] > 0.95
        votes = {len(pair.raters[axis]) for pair in simulated}
        assert plain["panels"][axis]["votes"] == [min(votes), 5, max(votes)]
    originals = plain["clips"]["original"]
    assert originals["files"] == len({pair.original for pair in simulated})
    assert originals["seconds"]["total"] == pytest.approx(1.5 * originals["files"])
    assert (tmp_path / "out" / "description.png").stat().st_size > 10_000
    for line in (tmp_path / "out" / "description.md").read_text().splitlines():
        if line.startswith("## "):
            assert line.removeprefix("## ") in ended.out
        if line.startswith("- "):
            assert line.removeprefix("- ") in ended.out


def test_a_leak_and_a_missing_clip_are_said_and_the_status_is_1(
    simulated: list[EditPair], tmp_path: Path, cli: Any
) -> None:
    other = next(pair for pair in simulated if pair.source != simulated[0].source)
    first, second = (row_of(pair, raters={}) for pair in (simulated[0], other))
    copy = tmp_path / "copy.wav"
    copy.write_bytes(Path(first["original"]).read_bytes())
    rows = [
        {**first, "split": "train", "source": None},
        {**first, "id": "leaks", "original": str(copy), "split": "test", "source": None},
        {**second, "edited": "gone.wav", "split": "train", "source": "another"},
    ]
    path = write_rows(tmp_path / "pairs.jsonl", rows)
    ended = cli("describe", path, "-o", tmp_path / "out")
    assert ended.status == 1
    assert "Cannot be used: 1 clip of 1 pair: gone.wav no such file." in ended.out
    assert "with 1 of 2 train, 1 of 1 test pairs: " in ended.out
    (leak,) = json.loads((tmp_path / "out" / "description.json").read_text())["leaks"]
    assert leak["pairs"] == {"train": [first["id"]], "test": ["leaks"]}
    quick = cli("describe", path, "--no-audio")
    assert quick.status == 0
    assert "LEAK" not in quick.out
    assert "no audio was read" in quick.out


def test_raters_with_ids_are_listed_the_worst_first(
    good: list[EditPair], tmp_path: Path, cli: Any
) -> None:
    votes = [(1, 2, 5), (3, 3, 1), (4, 5, 2), (5, 4, 1)]
    rows = [
        row_of(
            good[0],
            id=str(n),
            ratings={},
            raters={"quality": dict(zip(("ann", "bob", "[contrary]"), given, strict=True))},
        )
        for n, given in enumerate(votes)
    ]
    ended = cli("describe", write_rows(tmp_path / "pairs.jsonl", rows), "--no-audio")
    assert ended.status == 0, ended.err
    listed = ended.out.split("Each rater against the others")[1]
    assert listed.index("[contrary]") < listed.index("bob")
    assert listed.index("[contrary]") < listed.index("ann")
    assert "ICC(2,1)" in ended.out


def test_a_mistake_is_one_sentence(good: list[EditPair], tmp_path: Path, cli: Any) -> None:
    ended = cli("describe", tmp_path / "none.jsonl")
    assert ended.status == 2
    assert (
        ended.sentence == f"{tmp_path / 'none.jsonl'}: cannot be read (No such file or directory)"
    )
    path = write_rows(
        tmp_path / "pairs.jsonl", [row_of(good[0], ratings={}, raters={"quality": {"a=b": 3}})]
    )
    assert "pairs.jsonl:1: raters.quality.a=b: a rater's id" in cli("describe", path).sentence
    fine = write_rows(tmp_path / "fine.jsonl", [row_of(good[0])])
    (tmp_path / "file").write_text("x")
    ended = cli("describe", fine, "--no-audio", "-o", tmp_path / "file", "--resamples", 0)
    assert ended.status == 2
    assert "cannot be written" in ended.sentence
    assert ended.out == "", "it is told before anything is computed"

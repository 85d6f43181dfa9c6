"""What a run leaves for other commands, and that no original is on both sides of it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir

from auditeval import checkpoint, manifest, scores_table
from auditeval.checkpoint_files import read_trained_on
from auditeval.data.contents import digests
from auditeval.scoring import Evaluator, load
from auditeval.training.run import Trained, train
from auditeval.types import AXES, EditPair

ROOT = Path(__file__).parents[2]


def run(table: Path, folder: Path, *overrides: str) -> Trained:
    few = ["data=manifest", f"data.path={table}", f"run_dir={folder}", "features=spectrum"]
    few += ["model.rank=0", "model.hidden=[8]", "model.members=1", "compare=none", "workers=0"]
    few += ["fit.epochs={quality: 2, relevance: 2, faithfulness: 2}", "resamples=10"]
    few += ["~callbacks.progress", "+trainer.enable_progress_bar=false", "trainer.accelerator=cpu"]
    with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
        made = train(compose("train", [*few, *overrides]))
    assert made is not None
    return made


@pytest.fixture(scope="module")
def copied(simulated: list[EditPair], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three systems, each with its own copy of every original, as exports of studies have them."""
    folder = tmp_path_factory.mktemp("study")
    pairs = []
    for row, pair in enumerate(simulated):
        original = folder / f"system{row % 3}" / pair.original.name
        original.parent.mkdir(exist_ok=True)
        shutil.copy(pair.original, original)
        pairs.append(
            pair.model_copy(
                update={"original": original, "source": None, "system": f"system{row % 3}"}
            )
        )
    manifest.write(pairs, folder / "pairs.jsonl")
    return folder / "pairs.jsonl"


@pytest.fixture(scope="module")
def finished(copied: Path) -> Path:
    run(copied, copied.parent / "run")
    return copied.parent / "run"


def test_copies_of_an_original_are_on_one_side(finished: Path, copied: Path) -> None:
    """By the names of files alone all but a few of the test pairs have a copy in training."""
    found = {pair.id: pair.original for pair in manifest.read(copied)}
    contents = digests(found.values())
    (split,) = json.loads((finished / "splits.json").read_text())
    train, validation, test = (
        {contents[found[row]] for row in split[part]} for part in ("train", "validation", "test")
    )
    assert not test & (train | validation)
    assert not train & validation
    kept = read_trained_on(finished / "pairwise" / "holdout" / "checkpoint")
    assert kept is not None
    assert {kept.part(str(digest)) for digest in train} == {"train"}
    assert {kept.part(str(digest)) for digest in validation} == {"validation"}
    assert {kept.part(str(digest)) for digest in test} == {None}


def test_other_commands_go_on_from_the_held_out_part(finished: Path, cli: Any) -> None:
    table, scores = finished / "held_out.jsonl", finished / "pairwise" / "scores.csv"
    held = manifest.read(table)
    (split,) = json.loads((finished / "splits.json").read_text())
    assert sorted(pair.id for pair in held) == sorted(split["test"])
    assert {pair.split for pair in held} == {"test"}
    rows = list(scores_table.read(scores))
    assert [row.id for row in rows] == [pair.id for pair in held]
    record = json.loads(scores.with_name("scores.csv.json").read_text())
    loaded = checkpoint.load(scores.parent / record["checkpoint"])
    assert record["checkpoint_sha256"] == loaded.digest

    again = Evaluator("again", loaded, "cpu", finished.parent / "cache", workers=0).score(held)
    for row, scored in zip(rows, again, strict=True):
        for axis in AXES:
            assert getattr(row, axis) == pytest.approx(getattr(scored, axis), abs=1e-5)
    report = finished.parent / "report"
    ended = cli("evaluate", scores, "--against", table, "--resamples", 10, "-o", report)
    assert ended.status == 0, ended.err
    by_run = json.loads((finished / "report" / "agreement.json").read_text())["rows"]
    by_command = json.loads((report / "agreement.json").read_text())["rows"]
    for row, found in zip(
        [row for row in by_run if row["evaluator"] == "pairwise"], by_command, strict=True
    ):
        assert row["axis"] == found["axis"]
        for name, value in row["utterance"].items():
            assert value["value"] == pytest.approx(found["utterance"][name]["value"], abs=1e-4)


def test_an_evaluation_on_its_own_training_pairs_says_so(
    finished: Path, copied: Path, cli: Any
) -> None:
    scores = finished.parent / "scores.csv"
    loaded = load(finished / "pairwise" / "holdout" / "checkpoint", "cpu", workers=0)
    for _ in loaded.score_manifest(copied, scores):
        pass
    (split,) = json.loads((finished / "splits.json").read_text())
    parts = {part: set(split[part]) for part in ("train", "validation")}
    for table, against, known in (
        (scores, copied, parts),
        (finished / "pairwise" / "scores.csv", finished / "held_out.jsonl", {}),
    ):
        report = table.parent / "evaluated"
        ended = cli("evaluate", table, "--against", against, "--resamples", 5, "-o", report)
        assert ended.status == 0, ended.err
        (found,) = json.loads((report / "agreement.json").read_text())["leaks"]
        assert not found["unknown"]
        assert {part: set(found[part]) for part in parts if found[part]} == known
        assert ("LEAK: scores was trained on the originals of" in ended.out) == bool(known)


def test_a_published_split_that_leaks_is_used_and_says_so(copied: Path, tmp_path: Path) -> None:
    """The systems are the parts, and edited the same clips."""
    parts = {"system0": "train", "system1": "train", "system2": "test"}
    pairs = [
        pair.model_copy(update={"split": parts[str(pair.system)]}) for pair in manifest.read(copied)
    ]
    manifest.write(pairs, tmp_path / "published.jsonl")
    tested = [pair for pair in pairs if pair.split == "test"]
    contents = digests(pair.original for pair in pairs)
    trained = {contents[pair.original] for pair in pairs if pair.split == "train"}
    leaks = sum(contents[pair.original] in trained for pair in tested)
    assert leaks > len(tested) / 2
    made = run(tmp_path / "published.jsonl", tmp_path / "run")
    said = f"(LEAKS: {leaks} of {len(tested)} pairs have an original that was trained on)"
    assert said in made.report.ratings_from
    assert said in (tmp_path / "run" / "report" / "agreement.md").read_text()
    assert len(manifest.read(tmp_path / "run" / "held_out.jsonl")) == len(tested)

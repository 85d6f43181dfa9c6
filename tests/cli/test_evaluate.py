"""`auditeval evaluate`: which pairs are evaluated, what the evaluator knows of them, and groups."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import write_scores

from auditeval import checkpoint, manifest
from auditeval.checkpoint_files import TrainedOn
from auditeval.data.contents import digests
from auditeval.metrics.agreement import LEVELS
from auditeval.scoring import load
from auditeval.text import counted
from auditeval.types import AXES, EditPair, Scores

FEW = ("--resamples", 5)


@pytest.fixture(scope="module")
def pairs(simulated: list[EditPair]) -> list[EditPair]:
    """25 that a run trained on, 10 that chose its epoch, 25 that it held out."""
    splits = ["train"] * 25 + ["validation"] * 10 + ["test"] * 25
    originals = [[p.original for p in part] for part in (simulated[:25], simulated[25:])]
    assert not set(originals[0]) & set(originals[1])
    return [p.model_copy(update={"split": s}) for p, s in zip(simulated, splits, strict=True)]


@pytest.fixture(scope="module")
def run(
    pairs: list[EditPair], spectrum_checkpoint: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder with a run's checkpoint, its pairs with and without their splits, and scores."""
    folder = tmp_path_factory.mktemp("run")
    made = checkpoint.load(spectrum_checkpoint)
    contents = digests([pair.original for pair in pairs])
    parts = [
        [str(contents[p.original]) for p in pairs if p.split == s] for s in ("train", "validation")
    ]
    checkpoint.save(folder / "checkpoint", made.model, made.encoder, {}, TrainedOn.of(*parts))
    manifest.write(pairs, folder / "split.jsonl")
    bare = [pair.model_copy(update={"split": None}) for pair in pairs]
    manifest.write(bare, folder / "pairs.jsonl")
    for _ in load(folder / "checkpoint", "cpu").score_manifest(
        folder / "pairs.jsonl", folder / "scores.csv"
    ):
        pass
    return folder


def ids(pairs: list[EditPair], split: str) -> list[str]:
    return [pair.id for pair in pairs if pair.split == split]


def written(folder: Path) -> Any:
    return json.loads((folder / "agreement.json").read_text())


def test_a_table_scored_on_its_own_training_pairs_is_reported_with_the_leak(
    cli: Any, run: Path, pairs: list[EditPair], tmp_path: Path
) -> None:
    ended = cli("evaluate", run / "scores.csv", "--against", run / "pairs.jsonl", "-o", tmp_path,
                *FEW)  # fmt: skip
    assert ended.status == 0, ended.err
    (found,) = written(tmp_path)["leaks"]
    assert found == {
        "evaluator": "scores",
        "pairs": 60,
        "train": ids(pairs, "train"),
        "validation": ids(pairs, "validation"),
        "unread": [],
        "unknown": "",
    }
    some = ", ".join(ids(pairs, "train")[:5])
    said = f"scores was trained on the originals of 25 of 60 pairs (41.7 %): {some} and 20 more."
    assert f"LEAK: {said}" in ended.out
    assert "LEAK: scores was chosen or calibrated by the originals of 10 of 60 pairs" in ended.out
    assert f"- LEAK: {said}" in (tmp_path / "agreement.md").read_text()


def test_the_test_part_is_evaluated_where_splits_are_stated(
    cli: Any, run: Path, pairs: list[EditPair], tmp_path: Path
) -> None:
    command = ("evaluate", run / "scores.csv", "--against", run / "split.jsonl", *FEW)
    for split, said, count in (
        ((), "(split test, 25 of 60 pairs)", 25),
        (("--split", "train"), "(split train, 25 of 60 pairs)", 25),
        (("--split", "all"), "(all splits, 60 pairs)", 60),
    ):
        ended = cli(*command, *split, "-o", tmp_path)
        assert ended.status == 0, ended.err
        report = written(tmp_path)
        assert report["ratings_from"] == f"the ratings of split.jsonl {said}"
        assert report.get("split", "all") == (split[1] if split else "test")
        assert said in " ".join(ended.out.split())
        assert {row["rated"] for row in report["rows"]} == {count}
        (leaks,) = report["leaks"]
        for part in ("train", "validation"):
            known = split[1:] in ((part,), ("all",))
            assert leaks[part] == (ids(pairs, part) if known else [])
        none = "Leaks: scores knows the original of none of 25 pairs."
        assert (none in ended.out) == (split == ())


def test_a_split_that_is_not_there_is_one_sentence(
    cli: Any, run: Path, pairs: list[EditPair], tmp_path: Path
) -> None:
    part = tmp_path / "part.jsonl"
    manifest.write(pairs[:30], part)
    for against, split, said in (
        (run / "pairs.jsonl", ("--split", "test"), r"in the split test .*none stated 60"),
        (part, (), r"part\.jsonl: .* split test \(there are: train 25, validation 5\)"),
        (run / "split.jsonl", ("--split", "dev"), "'dev': expected test, validation, train or all"),
    ):
        ended = cli("evaluate", run / "scores.csv", "--against", against, *split)
        assert ended.status == 2
        assert re.search(said, ended.sentence)


def test_groups_are_the_reports_of_their_pairs(
    cli: Any, run: Path, pairs: list[EditPair], tmp_path: Path
) -> None:
    command = ("evaluate", run / "scores.csv", "--against", run / "split.jsonl", *FEW)
    ended = cli(*command, "--by", "split", "-o", tmp_path / "by")
    assert ended.status == 0, ended.err
    whole = written(tmp_path / "by")
    assert whole["ratings_from"].endswith("(all splits, 60 pairs)")
    assert list(whole["groups"]) == ["test", "train", "validation"]
    assert cli(*command, "--split", "train", "-o", tmp_path / "train").status == 0
    for key in ("rows", "rater_ceiling"):
        assert whole["groups"]["train"][key] == written(tmp_path / "train")[key]
    for split, group in whole["groups"].items():
        assert f"split {split} ({group['rows'][0]['rated']} pairs)" in " ".join(ended.out.split())
        assert f": split {split} (" in (tmp_path / "by" / "agreement.md").read_text()

    ended = cli(*command, "--by", "system", "--split", "validation", "-o", tmp_path / "system")
    groups = written(tmp_path / "system")["groups"]
    counts = Counter(pair.system for pair in pairs if pair.split == "validation")
    assert {name: group["rows"][0]["rated"] for name, group in groups.items()} == counts
    few = min(counts, key=lambda name: counts[name])
    assert counts[few] < 3  # or the case is not there
    cell = groups[few]["rows"][0]["utterance"]["SRCC"]
    assert cell["value"] is None
    assert cell["undefined"] == f"{counted(counts[few], 'item', 'items')}; a correlation needs 3"


def test_groups_are_in_the_order_of_people(
    cli: Any, run: Path, pairs: list[EditPair], tmp_path: Path
) -> None:
    talkers = ["t10", "t2", None, "t1"]
    named = [p.model_copy(update={"talker": talkers[i % 4]}) for i, p in enumerate(pairs[35:])]
    manifest.write(named, tmp_path / "pairs.jsonl")
    command = ("evaluate", run / "scores.csv", "--against", tmp_path / "pairs.jsonl")
    ended = cli(*command, "--by", "talker", "--resamples", 0)
    found = re.findall(r"talker (t\d+|not stated)\s+\(\d+ pairs\)", " ".join(ended.out.split()))
    assert found == ["t1", "t2", "t10", "not stated"]


def test_groups_by_what_no_pair_states_are_refused(cli: Any, run: Path) -> None:
    command = ("evaluate", run / "scores.csv", "--against", run / "pairs.jsonl", *FEW)
    assert (
        "by talker: none of the 60 rated pairs states its talker"
        in cli(*command, "--by", "talker").sentence
    )
    assert "by 'mood': expected one of original, edited" in cli(*command, "--by", "mood").sentence


def test_a_moved_checkpoint_is_named_by_hand(
    cli: Any, run: Path, pairs: list[EditPair], spectrum_checkpoint: Path, tmp_path: Path
) -> None:
    for name in ("scores.csv", "scores.csv.json"):
        shutil.copy(run / name, tmp_path)
    record = json.loads((tmp_path / "scores.csv.json").read_text())
    assert record["checkpoint"] == str(run / "checkpoint")
    gone = {**record, "checkpoint": str(tmp_path / "gone")}
    (tmp_path / "scores.csv.json").write_text(json.dumps(gone))
    command = ("evaluate", tmp_path / "scores.csv", "--against", run / "pairs.jsonl", *FEW)
    ended = cli(*command)
    assert ended.status == 0
    assert re.search(r"Leaks: whether scores was trained .* not known: .*gone: is no", ended.out)
    for named in (f"{run / 'checkpoint'}", f"scores={run / 'checkpoint'}"):
        assert "LEAK: scores was trained" in cli(*command, "--checkpoint", named).out
    ended = cli(*command, "-c", spectrum_checkpoint)
    assert ended.status == 2
    assert "is not the checkpoint that made" in ended.sentence
    assert "is no checkpoint" in cli(*command, "-c", tmp_path).sentence

    (tmp_path / "scores.csv.json").unlink()  # no sidecar: the user is believed
    assert "not known: scores.csv.json is not beside it" in cli(*command).out
    assert "LEAK: scores was trained" in cli(*command, "-c", run / "checkpoint").out
    assert "keeps no list of its originals" in cli(*command, "-c", spectrum_checkpoint).out


def test_several_tables_each_have_their_own_checkpoint(
    cli: Any, run: Path, pairs: list[EditPair], tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    rows = [Scores(pair.id, *rng.uniform(1, 5, 3).tolist()) for pair in pairs]
    (tmp_path / "other").mkdir()
    others = [write_scores(tmp_path / name, rows) for name in ("theirs.csv", "other/scores.csv")]
    command = ("evaluate", run / "scores.csv", *others, "--against", run / "pairs.jsonl", *FEW)
    ended = cli(*command, "-c", f"theirs={run / 'checkpoint'}", "-o", tmp_path / "report")
    assert ended.status == 0, ended.err
    leaks = {found["evaluator"]: found for found in written(tmp_path / "report")["leaks"]}
    names = [f"{run.name}/scores", "theirs", "other/scores"]  # two are called scores
    assert list(leaks) == names
    assert [len(found["train"]) for found in leaks.values()] == [25, 25, 0]
    assert [bool(found["unknown"]) for found in leaks.values()] == [False, False, True]
    rows_of = [(row["axis"], row["evaluator"]) for row in written(tmp_path / "report")["rows"]]
    assert rows_of == [(axis, name) for axis in AXES for name in names]
    assert "expected TABLE=FOLDER, TABLE one of" in cli(*command, "-c", run / "checkpoint").sentence
    assert (
        "a scores table is named twice"
        in cli("evaluate", others[0], others[0], "--against", run / "pairs.jsonl").sentence
    )


def test_originals_that_cannot_be_read_are_counted_and_the_evaluation_goes_on(
    cli: Any, run: Path, pairs: list[EditPair], tmp_path: Path
) -> None:
    gone = [p.model_copy(update={"original": tmp_path / "gone.wav"}) for p in pairs[:3]]
    manifest.write([*gone, *pairs[3:]], tmp_path / "pairs.jsonl")
    ended = cli("evaluate", run / "scores.csv", "--against", tmp_path / "pairs.jsonl", "--split",
                "train", "-o", tmp_path / "report", *FEW)  # fmt: skip
    assert ended.status == 0, ended.err
    (found,) = written(tmp_path / "report")["leaks"]
    assert found["unread"] == ids(pairs, "train")[:3]
    assert found["train"] == ids(pairs, "train")[3:]
    assert "Leaks: the original cannot be read in 3 of 25 pairs (12.0 %): " in ended.out


@pytest.mark.parametrize("columns", [100, 300])
def test_in_a_terminal_a_wide_table_becomes_one_a_level(
    cli: Any, run: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(columns))
    ended = cli("evaluate", run / "scores.csv", "--against", run / "pairs.jsonl", *FEW)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", ended.out)
    tables = [line for line in plain.splitlines() if line[:1] in ("┏", "│")]
    assert max(map(len, tables)) <= columns
    assert len([line for line in tables if line.startswith("┏")]) == (2 if columns == 100 else 1)
    assert all(plain.count(f"{level}") >= 4 for level in LEVELS)


def test_scores_that_are_no_ratings_have_no_squared_error(
    cli: Any, run: Path, pairs: list[EditPair], tmp_path: Path
) -> None:
    """A regressor's may lie a little beyond the scale; similarities and per cent are none."""
    drawn = np.random.default_rng(0).uniform(size=len(pairs))
    rows = [Scores(p.id, 1 + 4.3 * x, 0.6 + x / 2.5, 100 * x) for p, x in zip(pairs, drawn)]  # noqa: B905
    table = write_scores(tmp_path / "scores.csv", rows)
    ended = cli(
        "evaluate", table, "--against", run / "pairs.jsonl", "-o", tmp_path / "report", *FEW
    )
    assert ended.status == 0, ended.err
    found = {row["axis"]: row["utterance"] for row in written(tmp_path / "report")["rows"]}
    assert found["quality"]["MSE"]["value"] > 0
    for axis in ("relevance", "faithfulness"):
        assert "not ratings on the 1 to 5 scale" in found[axis]["MSE"]["undefined"]
        assert found[axis]["SRCC"]["value"] is not None

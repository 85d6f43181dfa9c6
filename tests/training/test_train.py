"""Training: what a run leaves behind, resuming, the axes' own schedules, best heads, seeds."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import pytorch_lightning as lightning
import torch
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf

from auditeval import checkpoint, manifest, scoring
from auditeval.training.callbacks import SaveLast
from auditeval.training.run import train
from auditeval.types import AXES, EditPair, UserError

ROOT = Path(__file__).parents[2]
QUIET = ["~callbacks.progress", "+trainer.enable_progress_bar=false", "trainer.accelerator=cpu"]
SMALL = [
    "data=manifest",
    "features=spectrum",
    "compare=none",
    "resamples=10",
    "workers=0",
    "fit.batch_size=16",
    "model.rank=0",  # the spectrum has no words
    "model.hidden=[8]",
    "scheduler.patience=0",  # the step shrinks within a few epochs, and that has to survive
    *QUIET,
]
Heads = dict[str, dict[str, torch.Tensor]]


def configured(table: Path, folder: Path, *overrides: str) -> DictConfig:
    with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
        return compose("train", [*SMALL, f"data.path={table}", f"run_dir={folder}", *overrides])


def epochs(quality: int, relevance: int, faithfulness: int) -> str:
    return (
        f"fit.epochs={{quality: {quality}, relevance: {relevance}, faithfulness: {faithfulness}}}"
    )


FEW = epochs(4, 2, 3)


@pytest.fixture(scope="module")
def table(partly_rated: list[EditPair], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("training") / "pairs.jsonl"
    manifest.write(partly_rated, path)
    return path


@pytest.fixture(scope="module")
def finished(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An uninterrupted run, with a feature cache of its own."""
    folder = tmp_path_factory.mktemp("runs") / "finished"
    train(configured(table, folder, FEW, f"cache_dir={folder.parent / 'cache'}"))
    return folder


def fold(folder: Path, name: str = "holdout") -> Path:
    return folder / "pairwise" / name


def head_bytes(folder: Path) -> bytes:
    return (fold(folder) / "checkpoint" / checkpoint.WEIGHTS).read_bytes()


def metrics(folder: Path, name: str = "holdout") -> dict[str, dict[int, float]]:
    """{column: {epoch: value}} of metrics.csv, written by Lightning's own logger."""
    found: dict[str, dict[int, float]] = {}
    with (fold(folder, name) / "metrics.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            for column, cell in row.items():
                if cell and column not in ("epoch", "step"):
                    found.setdefault(column, {})[int(row["epoch"])] = float(cell)
    return found


class Recorder(lightning.Callback):
    """Copies every head as each epoch leaves it; an interruption in the middle of epoch `stop`."""

    heads: ClassVar[list[Heads]] = []

    def __init__(self, stop: int = -1) -> None:
        self.stop = stop
        self.heads.clear()

    def on_train_batch_end(self, trainer: lightning.Trainer, module: Any, *_: Any) -> None:
        if trainer.current_epoch == self.stop:
            raise InterruptedError("as if killed")

    def on_train_epoch_end(self, trainer: lightning.Trainer, module: Any) -> None:
        self.heads.append(
            {
                axis: {k: v.clone() for k, v in module.model.heads[axis].state_dict().items()}
                for axis in AXES
            }
        )


def recorder(stop: int = -1) -> str:
    return f"+callbacks.recorder={{_target_: {__name__}.Recorder, stop: {stop}}}"


def same(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(first[key], second[key]) for key in {*first, *second})


def test_a_run_folder_says_what_it_was_made_from(finished: Path, table: Path) -> None:
    names = {path.name for path in finished.iterdir()}
    assert {"config.yaml", "run.json", "splits.json", "report", "pairwise"} <= names
    reported = {f"agreement.{suffix}" for suffix in ("json", "md", "png")} | {"machine.md"}
    assert {path.name for path in (finished / "report").iterdir()} == reported
    kept = {path.name for path in fold(finished).iterdir()}
    assert {"metrics.csv", "last.ckpt", "predictions.json", "checkpoint"} <= kept

    record = json.loads((finished / "run.json").read_text())
    assert record["manifest_sha256"] == hashlib.sha256(table.read_bytes()).hexdigest()
    config = OmegaConf.load(finished / "config.yaml")
    assert config.seed == 1984
    assert config.data.split.seed == 1984  # resolved
    assert dict(config.fit.epochs) == {"quality": 4, "relevance": 2, "faithfulness": 3}


def test_splits_are_whole_and_share_no_original(finished: Path, table: Path) -> None:
    (split,) = json.loads((finished / "splits.json").read_text())
    pairs = {pair.id: pair for pair in manifest.read(table)}
    parts = {name: split[name] for name in ("train", "validation", "test")}
    assert sorted(i for part in parts.values() for i in part) == sorted(pairs)
    sources = [{pairs[i].source for i in part} for part in parts.values()]
    assert all(sources)
    assert len(set.union(*sources)) == sum(map(len, sources))
    predicted = json.loads((fold(finished) / "predictions.json").read_text())
    assert sorted(predicted) == sorted(parts["test"])


def test_the_checkpoint_of_a_run_gives_its_predictions(finished: Path, table: Path) -> None:
    predicted = json.loads((fold(finished) / "predictions.json").read_text())
    pairs = [pair for pair in manifest.read(table) if pair.id in predicted]
    evaluator = scoring.load(fold(finished) / "checkpoint", "cpu", workers=0)
    for row in evaluator.score(pairs):
        for axis in AXES:
            assert getattr(row, axis) == pytest.approx(predicted[row.id][axis], abs=2e-6)
    training = evaluator.checkpoint.config.training
    assert training["seed"] == 1984
    assert set(training["best_epochs"]) == set(AXES)


def test_the_report_is_of_the_test_part_beside_a_constant(finished: Path, table: Path) -> None:
    rows = json.loads((finished / "report" / "agreement.json").read_text())["rows"]
    pairs = {pair.id: pair for pair in manifest.read(table)}
    (split,) = json.loads((finished / "splits.json").read_text())
    predicted = json.loads((fold(finished) / "predictions.json").read_text())
    assert [(r["axis"], r["evaluator"]) for r in rows] == [
        (axis, name) for axis in AXES for name in ("pairwise", "constant")
    ]
    for row in rows:
        axis = row["axis"]
        rated = [i for i in split["test"] if axis in pairs[i].ratings]
        known = [pairs[i].ratings[axis] for i in split["train"] if axis in pairs[i].ratings]
        errors = [
            (predicted[i][axis] if row["evaluator"] == "pairwise" else np.mean(known))
            - pairs[i].ratings[axis]
            for i in rated
        ]
        assert row["utterance"]["MSE"]["value"] == pytest.approx(np.mean(np.square(errors)))
        assert row["utterance"]["MSE"]["items"] == len(rated)


def test_the_same_seed_gives_the_same_run_and_encodes_nothing_again(
    finished: Path, table: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "again"
    train(configured(table, folder, FEW, f"cache_dir={finished.parent / 'cache'}"))
    assert head_bytes(folder) == head_bytes(finished)
    name = "predictions.json"
    assert (fold(folder) / name).read_bytes() == (fold(finished) / name).read_bytes()
    first, second = (json.loads((f / "timing.json").read_text()) for f in (finished, folder))
    clips = {p for pair in manifest.read(table) for p in (pair.original, pair.edited)}
    assert 0 < first["encoded"] <= len(clips)
    assert second["encoded"] == 0
    assert second["encoder_seconds"] == 0

    other = tmp_path / "other"
    train(configured(table, other, FEW, "seed=2", "data.split.seed=1984"))
    assert head_bytes(other) != head_bytes(finished)


@pytest.mark.parametrize("stop", [1, 3])
def test_a_resumed_run_ends_as_an_uninterrupted_one(
    finished: Path, table: Path, tmp_path: Path, stop: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SaveLast, "SHARE", float("inf"))  # every epoch is written, however slowly
    folder = tmp_path / "resumed"
    with pytest.raises(InterruptedError):
        train(configured(table, folder, FEW, recorder(stop)))
    assert not (fold(folder) / "checkpoint").exists()
    state = torch.load(fold(folder) / "last.ckpt", weights_only=True)
    assert state["epoch"] == stop - 1
    train(configured(table, folder, FEW, recorder()))
    assert len(Recorder.heads) == 4 - stop  # the epochs before were not trained again
    assert head_bytes(folder) == head_bytes(finished)
    name = "predictions.json"
    assert (fold(folder) / name).read_bytes() == (fold(finished) / name).read_bytes()
    logged, whole = metrics(folder)["val/mse/quality"], metrics(finished)["val/mse/quality"]
    assert logged == {epoch: whole[epoch] for epoch in range(stop, 4)}
    with (fold(folder) / "metrics-1.csv").open(newline="") as file:  # what went before is kept
        before = {int(row["epoch"]) for row in csv.DictReader(file) if row["val/mse/quality"]}
    assert before == set(range(stop))


def test_a_finished_run_is_not_trained_again(finished: Path, table: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in fold(finished).rglob("*")}
    Recorder.heads.clear()
    train(configured(table, finished, FEW, recorder()))
    assert Recorder.heads == []
    assert {path: path.stat().st_mtime_ns for path in fold(finished).rglob("*")} == before


def test_a_run_folder_of_another_manifest_is_refused(
    finished: Path, table: Path, tmp_path: Path
) -> None:
    manifest.write(manifest.read(table)[:-5], tmp_path / "fewer.jsonl")
    with pytest.raises(UserError, match="another manifest"):
        train(configured(tmp_path / "fewer.jsonl", finished, FEW))


def test_a_head_rests_when_its_epochs_are_over(table: Path, tmp_path: Path) -> None:
    wanted = {"quality": 4, "relevance": 2, "faithfulness": 3}
    train(configured(table, tmp_path / "run", FEW, recorder()))
    heads = list(Recorder.heads)
    assert len(heads) == 4
    for axis, count in wanted.items():
        for epoch in range(1, 4):
            changed = not same(heads[epoch][axis], heads[epoch - 1][axis])
            assert changed == (epoch < count), (axis, epoch)
    logged = metrics(tmp_path / "run")
    assert {axis: len(logged[f"train/mse/{axis}"]) for axis in AXES} == wanted

    # One pass over the data serves all axes: each is as if it had been trained alone.
    train(configured(table, tmp_path / "alone", epochs(0, 2, 0), recorder()))
    assert same(Recorder.heads[1]["relevance"], heads[1]["relevance"])
    assert not same(Recorder.heads[1]["quality"], heads[1]["quality"])


def test_an_axis_of_no_epochs_is_not_rated(table: Path, tmp_path: Path) -> None:
    train(configured(table, tmp_path, epochs(1, 0, 1)))
    predicted = json.loads((fold(tmp_path) / "predictions.json").read_text())
    assert {axis for row in predicted.values() for axis in row} == {"quality", "faithfulness"}


def test_best_heads_are_those_of_the_lowest_validation_error(table: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    # A large step, so that the error goes up and down.
    train(configured(table, folder, epochs(6, 6, 6), "optimizer.lr=0.05", recorder()))
    logged = metrics(folder)
    lowest = {axis: min(logged[f"val/mse/{axis}"].items(), key=lambda item: item[1])[0]
              for axis in AXES}  # fmt: skip
    assert set(lowest.values()) != {5}  # or the last epoch would do
    loaded = checkpoint.load(fold(folder) / "checkpoint")
    assert loaded.config.training["best_epochs"] == lowest
    for axis, epoch in lowest.items():
        assert same(loaded.model.heads[axis].state_dict(), Recorder.heads[epoch][axis])


def test_a_training_that_diverged_ends_with_a_sentence(table: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    said = r"^pairwise, fold holdout: the scores are not finite; a smaller optimizer\.lr may help$"
    with pytest.raises(UserError, match=said):
        train(configured(table, folder, FEW, "optimizer.lr=1e30"))
    assert not (fold(folder) / "predictions.json").exists()


@pytest.mark.parametrize("model", ["pairwise", "concat"])
def test_it_learns_sixteen_pairs_by_heart(
    simulated: list[EditPair], tmp_path: Path, model: str
) -> None:
    pairs = []
    for scene, part in ((0, "train"), (1, "train"), (2, "train"), (3, "train"),
                        (4, "validation"), (5, "test")):  # fmt: skip
        of_scene = [pair for pair in simulated if pair.source == f"scene{scene:05d}"]
        # Nobody could tell two edits apart that left one clip, and votes on them differ.
        unlike = list({pair.edited.read_bytes(): pair for pair in of_scene}.values())[:4]
        pairs += [pair.model_copy(update={"split": part}) for pair in unlike]
    manifest.write(pairs, tmp_path / "pairs.jsonl")
    chosen = {
        "pairwise": ["model.hidden=[64]"],
        # A tiny concat head in the place of the pairwise one.
        "concat": ["model.name=concat", "~model.rank", "~model.matching", "model.hidden=[64, 16]"],
    }[model]
    folder = tmp_path / "run"
    train(
        configured(
            *(tmp_path / "pairs.jsonl", folder, epochs(160, 160, 160), "optimizer.lr=0.01"),
            *("model.dropout=0.0", "scheduler.patience=99", *chosen),
        )
    )
    logged = metrics(folder, "published")
    for axis in AXES:
        errors = list(logged[f"train/mse/{axis}"].values())
        assert errors[0] > 0.3
        assert errors[-1] < 0.05


def test_leave_one_out_tests_every_pair_once(simulated: list[EditPair], tmp_path: Path) -> None:
    pairs = [
        pair.model_copy(update={"talker": f"talker{int(pair.source[-1]) % 3}"})
        for pair in simulated[:30]
    ]
    manifest.write(pairs, tmp_path / "pairs.jsonl")
    made = train(
        configured(
            *(tmp_path / "pairs.jsonl", tmp_path / "run", epochs(2, 2, 2)),
            "data.split._target_=auditeval.data.splits.leave_one_out",
            *("data.split.by=talker", "~data.split.test_share"),
        )
    )
    splits = json.loads((tmp_path / "run" / "splits.json").read_text())
    assert [split["name"] for split in splits] == ["talker0", "talker1", "talker2"]
    tested: list[str] = []
    for split in splits:
        path = fold(tmp_path / "run", split["name"])
        predicted = json.loads((path / "predictions.json").read_text())
        assert list(predicted) == split["test"]
        tested += predicted
    assert sorted(tested) == sorted(pair.id for pair in pairs)
    assert {(row.rated, row.missing) for row in made.report.rows} == {(30, 0)}


def test_an_axis_that_nobody_rated_is_neither_learned_nor_predicted(
    simulated: list[EditPair], tmp_path: Path
) -> None:
    pairs = [
        pair.model_copy(
            update={
                "raters": {},
                "ratings": {a: r for a, r in pair.ratings.items() if a != "relevance"},
            }
        )
        for pair in simulated
    ]
    manifest.write(pairs, tmp_path / "pairs.jsonl")
    made = train(configured(tmp_path / "pairs.jsonl", tmp_path / "run", FEW, recorder()))
    first, *_, last = Recorder.heads
    assert same(first["relevance"], last["relevance"])
    assert {row.axis for row in made.report.rows} == {"quality", "faithfulness"}
    predicted = json.loads((fold(tmp_path / "run") / "predictions.json").read_text())
    assert all(set(row) == {"quality", "faithfulness"} for row in predicted.values())
    evaluator = scoring.load(fold(tmp_path / "run") / "checkpoint", "cpu", workers=0)
    (row,) = evaluator.score(pairs[:1])
    assert row.relevance is None
    assert row.quality is not None


def test_unrated_pairs_have_nothing_to_teach(simulated: list[EditPair], tmp_path: Path) -> None:
    bare = [pair.model_copy(update={"ratings": {}, "raters": {}}) for pair in simulated]
    manifest.write(bare, tmp_path / "bare.jsonl")
    with pytest.raises(UserError, match="nothing to learn"):
        train(configured(tmp_path / "bare.jsonl", tmp_path / "run", FEW))


def test_one_rated_pair_teaches_nothing(simulated: list[EditPair], tmp_path: Path) -> None:
    three = [pair for pair in simulated if pair.ratings][::10][:3]
    manifest.write(three, tmp_path / "three.jsonl")
    with pytest.raises(UserError, match="holdout: no axis has 2 rated pairs to train on, of 1 in"):
        train(configured(tmp_path / "three.jsonl", tmp_path / "run", FEW))


def test_pairs_that_cannot_be_encoded_stop_the_run_with_their_names(
    simulated: list[EditPair], tmp_path: Path
) -> None:
    pairs = [*simulated[1:], simulated[0].model_copy(update={"edited": tmp_path / "absent.wav"})]
    manifest.write(pairs, tmp_path / "pairs.jsonl")
    with pytest.raises(UserError, match=rf"1 of 60 pairs .*{simulated[0].id}.*absent\.wav"):
        train(configured(tmp_path / "pairs.jsonl", tmp_path / "run", FEW))


def test_a_run_folder_of_other_settings_is_refused(
    finished: Path, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for changed in (epochs(5, 2, 3), "optimizer.lr=0.5", "seed=3"):
        with pytest.raises(UserError, match="was made with other settings; choose another run_dir"):
            train(configured(table, finished, FEW, changed))
    cut = "+trainer.limit_train_batches=1"
    with pytest.raises(UserError, match="was made with other settings of the trainer; choose"):
        train(configured(table, finished, FEW, cut))
    with pytest.raises(UserError, match="was made with another split; choose another run_dir"):
        train(configured(table, finished, FEW, "data.split.test_share=0.3"))
    monkeypatch.setattr("auditeval.training.record.REVISION", "0")
    with pytest.raises(UserError, match="was made with another revision of the comparison"):
        train(configured(table, finished, FEW))

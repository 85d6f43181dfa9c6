"""Training ensembles: scikit-learn's members beside Lightning's, calibration apart from both."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig
from safetensors.torch import load_file

from auditeval import checkpoint, manifest, scoring
from auditeval.training import ensemble
from auditeval.training.callbacks import SaveLast
from auditeval.training.run import train
from auditeval.types import AXES, EditPair

ROOT = Path(__file__).parents[2]
SMALL = [
    "data=manifest",
    "features=spectrum",
    "model=ensemble",
    "name=ensemble",
    "fit=ensemble",
    "compare=none",
    "resamples=10",
    "workers=0",
    "model.hidden=[8]",
    "model.members=2",
    "model.level=0.7",
    "fit.batch_size=16",
    "fit.epochs={quality: 4, relevance: 2, faithfulness: 3}",
    "fit.estimators.extra_trees.n_estimators=6",
    "fit.estimators.boosting.n_estimators=10",
    "scheduler.patience=0",
    "~callbacks.progress",
    "+trainer.enable_progress_bar=false",
    "trainer.accelerator=cpu",
]


def configured(table: Path, folder: Path, *overrides: str) -> DictConfig:
    with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
        return compose("train", [*SMALL, f"data.path={table}", f"run_dir={folder}", *overrides])


@pytest.fixture(scope="module")
def pairs(partly_rated: list[EditPair]) -> list[EditPair]:
    """Six scenes to train, four to calibrate, two to test."""
    parts = ["train"] * 6 + ["validation"] * 4 + ["test"] * 2
    return [
        pair.model_copy(update={"split": parts[int(str(pair.source).removeprefix("scene"))]})
        for pair in partly_rated
    ]


@pytest.fixture(scope="module")
def table(pairs: list[EditPair], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("training") / "pairs.jsonl"
    manifest.write(pairs, path)
    return path


@pytest.fixture(scope="module")
def finished(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An uninterrupted run, with a ridge alone and plain heads beside the ensemble."""
    folder = tmp_path_factory.mktemp("runs") / "finished"
    beside = (
        "+compare.ridge={name: ensemble, kinds: [ridge], level: 0.7}",
        "+compare.pairwise={name: pairwise, rank: 0, hidden: [8]}",
    )
    train(configured(table, folder, *beside))
    return folder


def fold(folder: Path, model: str = "ensemble") -> Path:
    return folder / model / "published"


def weights(folder: Path, model: str = "ensemble") -> dict[str, torch.Tensor]:
    return load_file(fold(folder, model) / "checkpoint" / checkpoint.WEIGHTS)


def test_one_run_compares_an_ensemble_with_its_members_and_with_heads(finished: Path) -> None:
    rows = json.loads((finished / "report" / "agreement.json").read_text())["rows"]
    assert [row["evaluator"] for row in rows] == 3 * ["ensemble", "ridge", "pairwise", "constant"]
    assert ["coverage" not in row for row in rows] == 3 * [False, False, True, True]
    notes = checkpoint.load(fold(finished) / "checkpoint").config.training
    assert notes["calibrated_on"] == 20
    assert "best_epochs" not in notes  # the validation part chose none
    assert set(checkpoint.load(fold(finished, "pairwise") / "checkpoint").config.training) >= {
        "best_epochs"
    }
    alone, beside = weights(finished, "ridge"), weights(finished)
    for axis in AXES:
        name = f"fitted.ridge.{axis}.weight"
        assert torch.equal(alone[name], beside[name])
    assert not any(name.startswith("heads") for name in alone)


def test_members_that_are_fitted_side_by_side_are_those_fitted_one_by_one(
    finished: Path, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        ensemble, "Parallel", lambda **_: lambda jobs: [f(*x, **named) for f, x, named in jobs]
    )
    train(configured(table, tmp_path))
    config = "checkpoint", checkpoint.CONFIG
    assert fold(tmp_path).joinpath(*config).read_bytes() == (
        fold(finished).joinpath(*config).read_bytes()
    )
    alone, beside = weights(tmp_path), weights(finished)
    assert alone.keys() == beside.keys()
    assert all(torch.equal(alone[name], beside[name]) for name in alone)


def test_edits_of_four_clips_are_too_few_for_nine_of_ten(
    finished: Path, table: Path, tmp_path: Path
) -> None:
    """However many they are: those of one clip may all be hard."""
    assert weights(finished)["quantile"].isfinite().all()
    train(configured(table, tmp_path, "model.level=0.9", "model.kinds=[ridge]"))
    assert weights(tmp_path)["quantile"].isinf().all()
    rows = json.loads((tmp_path / "report" / "agreement.json").read_text())["rows"]
    assert not any("coverage" in row for row in rows)


def test_the_checkpoint_of_a_run_gives_its_predictions(
    finished: Path, pairs: list[EditPair]
) -> None:
    predicted = json.loads((fold(finished) / "predictions.json").read_text())
    tested = [pair for pair in pairs if pair.split == "test"]
    assert list(predicted) == [pair.id for pair in tested]
    evaluator = scoring.load(fold(finished) / "checkpoint", "cpu", workers=0)
    intervals = json.loads((fold(finished) / "intervals.json").read_text())
    for row in evaluator.score(tested):
        for axis in AXES:
            assert getattr(row, axis) == pytest.approx(predicted[row.id][axis], abs=2e-6)
            assert row.interval(axis) == pytest.approx(intervals[row.id][axis], abs=2e-6)


def test_the_validation_part_does_nothing_but_calibrate(
    finished: Path, pairs: list[EditPair], tmp_path: Path
) -> None:
    turned = [
        pair.model_copy(update={"ratings": {axis: 6 - r for axis, r in pair.ratings.items()}})
        if pair.split == "validation"
        else pair
        for pair in pairs
    ]
    manifest.write(turned, tmp_path / "pairs.jsonl")
    train(configured(tmp_path / "pairs.jsonl", tmp_path / "run"))
    before, after = weights(finished), weights(tmp_path / "run")
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed == {"quantile"}


def test_pairs_that_rate_relevance_alone_change_nothing_else(
    table: Path, pairs: list[EditPair], tmp_path: Path
) -> None:
    trained = [pair for pair in pairs if pair.split == "train"]
    for pair in trained[::2]:  # three times, as no clip of another pair
        told = {"id": f"{pair.id}-more", "edited": trained[-1].edited, "raters": {}}
        trained += 3 * [pair.model_copy(update=told | {"ratings": {"relevance": 4.5}})]
    named = [pair.model_copy(update={"id": f"{n}-{pair.id}"}) for n, pair in enumerate(trained)]
    rest = [pair for pair in pairs if pair.split != "train"]
    manifest.write([*named, *rest], tmp_path / "more.jsonl")
    made = []
    for of in (table, tmp_path / "more.jsonl"):
        train(configured(of, tmp_path / of.stem))
        made.append(weights(tmp_path / of.stem))
    fewer, more = made
    sound = [AXES.index("quality"), AXES.index("faithfulness")]
    for name in fewer:
        if name in ("quantile", "spread_floor", "target_mean", "target_spread", "trained"):
            assert torch.equal(fewer[name][sound], more[name][sound]), name
        elif ".relevance." not in name:
            assert torch.equal(fewer[name], more[name]), name
    name = "fitted.ridge.relevance.weight"
    assert not torch.equal(fewer[name], more[name])


def test_a_resumed_run_ends_as_an_uninterrupted_one(
    finished: Path, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SaveLast, "SHARE", float("inf"))
    folder = tmp_path / "resumed"
    stop = "+callbacks.recorder={_target_: test_train.Recorder, stop: 2}"
    with pytest.raises(InterruptedError):
        train(configured(table, folder, stop))
    assert (fold(folder) / "last.ckpt").exists()
    train(configured(table, folder, "+callbacks.recorder={_target_: test_train.Recorder}"))
    for name in ("predictions.json", f"checkpoint/{checkpoint.WEIGHTS}"):
        assert (fold(folder) / name).read_bytes() == (fold(finished) / name).read_bytes()


def test_it_learns_thirty_pairs_by_heart(pairs: list[EditPair], tmp_path: Path) -> None:
    few = [pair for pair in pairs if pair.split == "train"]
    part = [pair.model_copy(update={"id": f"{pair.id}-again", "split": "test"}) for pair in few]
    manifest.write([*few, *part], tmp_path / "pairs.jsonl")
    made = train(
        configured(
            *(tmp_path / "pairs.jsonl", tmp_path / "run", "model.hidden=[64]"),
            "data.split.validation_share=0.0",
            *("model.dropout=0.0", "optimizer.lr=0.01", "scheduler.patience=99"),
            "fit.epochs={quality: 60, relevance: 60, faithfulness: 60}",
            "fit.estimators.ridge.alpha=0.01",
            "fit.estimators.extra_trees.min_samples_leaf=1",
            "fit.estimators.boosting.n_estimators=200",
        )
    )
    errors = {
        (row.axis, row.evaluator): row.agreement["utterance"]["MSE"].value
        for row in made.report.rows
    }
    for axis in AXES:
        assert errors[axis, "ensemble"] < 0.02
        assert errors[axis, "constant"] > 0.3


@pytest.mark.parametrize(("sources", "groups"), [(9, 9), (8, 27), (3, 27)])
def test_intervals_are_calibrated_by_source_or_where_these_are_too_few_by_original(
    sources: int, groups: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Nine times in ten takes nine: the 20 pools of the evaluator that ships leave it three."""
    pairs = [
        EditPair(
            id=f"{row}",
            original=Path(f"{row // 2}.wav"),
            edited=Path(f"e{row}.wav"),
            original_caption="a",
            target_caption="b",
            source=f"s{row // 2 % sources}",
        )
        for row in range(54)
    ]
    with caplog.at_level("INFO"):
        found = ensemble.independent(pairs, {}, 0.9)
    assert len(found) == len(pairs)
    assert len(set(found)) == groups
    assert found[0] == found[1]
    assert ("too few" in caplog.text) == (groups > sources)

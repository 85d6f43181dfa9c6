"""logger=wandb without a network: what its files on disk hold, decoded."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import pytest
import yaml
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig

pytest.importorskip("wandb", reason="pip install -c constraints.txt '.[wandb]'")
from wandb_files import WandbRun, read_runs

from auditeval import manifest
from auditeval.training.callbacks import SaveLast
from auditeval.training.run import train
from auditeval.training.wandb_logger import ID, WandbLogger
from auditeval.types import AXES, EditPair, UserError

ROOT = Path(__file__).parents[2]
EPOCHS = {"quality": 4, "relevance": 2, "faithfulness": 3}
LEARNING_RATE = 0.01
SETTINGS = [
    *("data=manifest", "features=spectrum", "resamples=10", "workers=0", "logger=wandb"),
    *("model.rank=0", "model.hidden=[8]", "compare.concat.hidden=[8]", "fit.batch_size=16"),
    *(f"fit.epochs={EPOCHS}".replace("'", ""), f"optimizer.lr={LEARNING_RATE}", "scheduler=cosine"),
    *("~callbacks.progress", "+trainer.enable_progress_bar=false", "trainer.accelerator=cpu"),
    *("data.split.by=talker", "data.split.validation_share=0.4", "~data.split.test_share"),
    "data.split._target_=auditeval.data.splits.leave_one_out",
]
MODELS, FOLDS = ("pairwise", "concat"), ("a", "b", "c")
RUNS = [f"{model}/{fold}" for model in MODELS for fold in FOLDS]


@pytest.fixture(scope="module")
def table(partly_rated: list[EditPair], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three talkers of four scenes each."""
    path = tmp_path_factory.mktemp("wandb") / "pairs.jsonl"
    scenes = [int(str(pair.source).removeprefix("scene")) for pair in partly_rated]
    talkers = [{"talker": FOLDS[scene % 3]} for scene in scenes]
    pairs = zip(partly_rated, talkers, strict=True)
    manifest.write([pair.model_copy(update=talker) for pair, talker in pairs], path)
    return path


def configured(table: Path, folder: Path, *overrides: str) -> DictConfig:
    offline = [] if "logger=csv" in overrides else ["logger.offline=true"]
    given = [*SETTINGS, f"data.path={table}", f"run_dir={folder}", *offline, *overrides]
    with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
        return compose("train", given)


@pytest.fixture(scope="module")
def finished(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "study"
    train(configured(table, folder))
    return folder


@pytest.fixture(scope="module")
def runs(finished: Path) -> dict[str, WandbRun]:
    found = read_runs(finished)
    assert len(found) == len(RUNS) + 1
    return {run.name: run for run in found}


def test_each_model_and_fold_is_a_run_of_one_group_and_has_ended(
    runs: dict[str, WandbRun], finished: Path
) -> None:
    assert set(runs) == {*RUNS, "report"}
    for name, run in runs.items():
        assert (run.group, run.project, run.exit_code) == ("study", "auditeval", 0)
        assert run.job_type == ("report" if name == "report" else "training")
        assert run.id == (finished / name.removeprefix("report") / ID).read_text()
    assert len({run.id for run in runs.values()}) == len(runs)


def test_each_run_has_the_resolved_configuration(
    runs: dict[str, WandbRun], finished: Path, table: Path
) -> None:
    text = (finished / "config.yaml").read_text()
    assert "${" not in text
    config = yaml.safe_load(text)
    assert config["data"]["path"] == str(table)
    for run in runs.values():
        assert {key: value for key, value in run.config.items() if key != "_wandb"} == config


def test_the_learning_rate_of_every_epoch_is_in_the_run_of_its_fold(
    runs: dict[str, WandbRun],
) -> None:
    for name in RUNS:
        for axis, epochs in EPOCHS.items():
            expected = [
                (epoch, pytest.approx(LEARNING_RATE * (1 + math.cos(math.pi * epoch / epochs)) / 2))
                for epoch in range(epochs)
            ]
            assert runs[name].curve(f"train/lr/{axis}") == expected


def test_the_curves_are_those_of_metrics_csv(
    runs: dict[str, WandbRun], finished: Path, table: Path, tmp_path: Path
) -> None:
    train(configured(table, tmp_path / "csv", "logger=csv"))
    names = {f"{kind}/{axis}" for kind in ("train/lr", "train/mse", "val/mse") for axis in AXES}
    for run in RUNS:
        with (tmp_path / "csv" / run / "metrics.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        columns = set(rows[0]) - {"epoch", "step"}
        assert names <= columns
        logged = {name for row in runs[run].history for name in row if "/" in name}
        assert logged - {"trainer/global_step"} == columns
        for name in columns:
            values = [(int(row["epoch"]), float(row[name])) for row in rows if row[name]]
            assert values == [(e, pytest.approx(x)) for e, x in runs[run].curve(name)]
            of_training = name.startswith("train/")
            assert len(values) == (EPOCHS[name.split("/")[-1]] if of_training else 4)
    for name in ("predictions.json", "checkpoint/model.safetensors"):
        for run in RUNS:
            both = [(folder / run / name).read_bytes() for folder in (finished, tmp_path / "csv")]
            assert both[0] == both[1]  # to be logged changes no model


def test_the_table_and_the_plot_of_the_report_are_in_a_run_of_their_own(
    runs: dict[str, WandbRun], finished: Path
) -> None:
    said = table_of(runs["report"])
    report = json.loads((finished / "report" / "agreement.json").read_text())
    expected = [
        {
            **{name: row[name] for name in ("axis", "evaluator", "rated", "missing")},
            **{"level": level, "statistic": statistic, "value": cell["value"]},
            **dict(zip(("low", "high"), cell["interval"] or (None, None), strict=True)),
            **{"items": cell["items"], "undefined": cell.get("undefined")},
        }
        for row in report["rows"]
        for level in ("system", "utterance")
        for statistic, cell in row[level].items()
    ]
    assert said == expected
    assert {(row["evaluator"], row["axis"]) for row in said} == {
        (name, axis) for name in (*MODELS, "constant") for axis in AXES
    }
    assert any(row["value"] is not None and row["low"] is not None for row in said)

    (logged,) = runs["report"].history
    assert logged["plot/agreement/_type"] == "image-file"
    image = (runs["report"].files / logged["plot/agreement/path"]).read_bytes()
    assert image == (finished / "report" / "agreement.png").read_bytes()
    assert image.startswith(b"\x89PNG")


def test_an_interrupted_run_has_ended_too_and_goes_on_under_its_id(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import wandb

    monkeypatch.setattr(SaveLast, "SHARE", float("inf"))  # after every epoch

    folder = tmp_path / "run"
    stop = "+callbacks.recorder={_target_: test_train.Recorder, stop: 2}"
    one = ["~compare.concat", "data.split._target_=auditeval.data.splits.holdout"]
    with pytest.raises(InterruptedError):
        train(configured(table, folder, *one, stop))
    assert wandb.run is None
    (broken,) = read_runs(folder)
    assert broken.exit_code == 1
    assert [epoch for epoch, _ in broken.curve("val/mse/quality")] == [0, 1]

    train(configured(table, folder, *one))
    again, report = read_runs(folder)[1:]
    assert (again.id, again.name, again.exit_code) == (broken.id, "pairwise/holdout", 0)
    assert [epoch for epoch, _ in again.curve("val/mse/quality")] == [2, 3]
    (why,) = {
        (row["value"], row["undefined"])
        for row in table_of(report)
        if (row["evaluator"], row["statistic"]) == ("constant", "SRCC")
    }
    assert why == (None, "all predictions are equal")


def table_of(run: WandbRun) -> list[dict[str, Any]]:
    (logged,) = run.history
    assert logged["table/agreement/_type"] == "table-file"
    kept = json.loads((run.files / logged["table/agreement/path"]).read_text())
    return [dict(zip(kept["columns"], row, strict=True)) for row in kept["data"]]


def test_what_wandb_takes_reaches_it_and_nothing_else_does(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("seed: 1\n")
    logger = WandbLogger(str(tmp_path / "m" / "f"), str(tmp_path), offline=True, job_type="study")
    assert wandb_files_of(logger, tmp_path).job_type == "study"
    with pytest.raises(TypeError, match="colour"):
        WandbLogger(str(tmp_path / "m" / "f"), str(tmp_path), offline=True, colour="red")
    with pytest.raises(UserError, match=r"^logger=wandb: 'int' object is not iterable"):
        assert WandbLogger(str(tmp_path / "m"), str(tmp_path), offline=True, tags=3).experiment


def wandb_files_of(logger: WandbLogger, folder: Path) -> WandbRun:
    assert logger.experiment is not None
    logger.finalize("success")
    (run,) = read_runs(folder)
    return run

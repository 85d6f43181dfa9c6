"""Values by epoch: the last, the best, why there is none; written, and gone on with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import pytorch_lightning as lightning
import torch
from readme_figures import rows as cells
from torch.utils.data import DataLoader

from auditeval.data_quality.catalogue import METRICS
from auditeval.report import evaluation
from auditeval.training.evaluation.callback import EpochMetric, EvaluationCallback
from auditeval.training.evaluation.data_quality import DataQuality, KeptShare
from auditeval.types import Undefined, UserError


class Module(lightning.LightningModule):
    """Something to train."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))

    def training_step(self, batch: Any, batch_index: int) -> torch.Tensor:
        return self.weight.square().sum()

    def validation_step(self, batch: Any, batch_index: int) -> None:
        """Metrics have items of their own."""

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def train_dataloader(self) -> Any:
        return DataLoader(torch.zeros(2))

    val_dataloader = train_dataloader


class Waning(EpochMetric):
    """0.3, 0.9, nothing at all, 0.9; an error that is the rest, and what is a NaN."""

    lower_is_better = frozenset({"error"})

    def epoch(self, trainer: Any, module: Any) -> dict[str, Any]:
        return {"epoch": trainer.current_epoch}

    def values(self, rows: dict[str, Any]) -> Any:
        value = (0.3, 0.9, None, 0.9)[rows["epoch"]]
        if value is None:
            return Undefined("the judge is away")
        return {"rate": value, "left/error": 1 - value, "odd": float("nan")}


def fit(*callbacks: EvaluationCallback, epochs: int, last: Path | None = None) -> lightning.Trainer:
    trainer = lightning.Trainer(
        accelerator="cpu",
        callbacks=list(callbacks),
        max_epochs=epochs,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Module(), ckpt_path=last, weights_only=True)
    return trainer


def test_the_last_and_the_best_epoch_of_each_value_are_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    trainer = fit(EvaluationCallback({"own": Waning()}, folder=str(tmp_path)), epochs=4)
    logged = {name: float(value) for name, value in trainer.callback_metrics.items()}
    assert logged == pytest.approx({"val/own/rate": 0.9, "val/own/left/error": 0.1})

    courses = json.loads((tmp_path / "evaluation.json").read_text())[""]
    away = {"epoch": 2, "value": None, "undefined": "the judge is away"}
    assert courses["val/own/rate"]["epochs"][2] == away
    assert [one["value"] for one in courses["val/own/rate"]["epochs"]] == [0.3, 0.9, None, 0.9]
    assert courses["val/own/odd"]["epochs"][0]["undefined"] == "it is nan"

    table = (tmp_path / "evaluation.md").read_text()
    shown = {
        row["value"]: [row[column] for column in ("last", "best", "best epoch", "defined")]
        for row in cells(table)
    }
    assert shown["val/own/rate"] == ["0.9", "0.9", "1", "3/4"]
    assert shown["val/own/left/error"] == ["0.1", "0.1", "1", "3/4"]
    assert shown["val/own/odd"] == ["–", "–", "", "0/4"]
    assert "it is nan (" in table

    told = [record.message for record in caplog.records if "undefined" in record.message]
    assert told == [
        "val/own/odd is undefined: it is nan",
        "val/own is undefined: the judge is away",
    ]


def test_a_distance_below_0_is_noise() -> None:
    """No better than 0, nor than another one below it; what is a loss may well go on falling."""

    class Falling(EpochMetric):
        lower_is_better = frozenset({"distance", "loss"})
        distances = frozenset({"distance"})

        def epoch(self, trainer: Any, module: Any) -> dict[str, Any]:
            return {"epoch": trainer.current_epoch}

        def values(self, rows: dict[str, Any]) -> Any:
            return dict.fromkeys(("distance", "loss"), (0.4, -0.1, -0.3, 0.0)[rows["epoch"]])

    callback = EvaluationCallback({"own": Falling()})
    fit(callback, epochs=4)
    for courses in (callback.courses, evaluation.courses(evaluation.plain(callback.courses))):
        best = {name: course.best for name, course in courses.items()}
        assert (best["val/own/distance"].epoch, best["val/own/loss"].epoch) == (1, 2)  # type: ignore[union-attr]
    assert KeptShare.distances == DataQuality.distances
    assert {name for name in METRICS if name.startswith("fad_inf_")} <= KeptShare.distances


def test_a_fit_that_goes_on_has_the_epochs_of_before(tmp_path: Path) -> None:
    """Of two such callbacks each its own, also where nothing was defined yet."""

    def two() -> list[EvaluationCallback]:
        return [EvaluationCallback({name: Waning()}) for name in ("first", "second")]

    whole, begun, gone_on = two(), two(), two()
    fit(*whole, epochs=4)
    fit(*begun, epochs=3).save_checkpoint(tmp_path / "last.ckpt")
    fit(*gone_on, epochs=4, last=tmp_path / "last.ckpt")
    assert [one.courses for one in gone_on] == [one.courses for one in whole]
    assert len(gone_on[1].courses["val/second/rate"].epochs) == 4


def test_a_file_that_holds_no_values_by_epoch_is_said(tmp_path: Path) -> None:
    path = tmp_path / "evaluation.json"
    for other in ("[]", '{"val/x": {"better": "higher", "epochs": [{"epoch": 0, "value": "a"}]}}'):
        path.write_text(other)
        with pytest.raises(UserError, match=r"evaluation\.json: holds no values by epoch"):
            evaluation.read(path)

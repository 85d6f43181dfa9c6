"""What is trained on a GPU rates the same on the CPU; see conftest.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from hydra import compose, initialize_config_dir

import auditeval
from auditeval import manifest
from auditeval.training.run import train
from auditeval.types import AXES, EditPair

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("blank_plots")]

CONFIGS = Path(__file__).parents[2] / "configs"
FLOAT32 = 1e-4
"""Points of a rating."""


@pytest.fixture(scope="module")
def table(partly_rated: list[EditPair], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gpu") / "pairs.jsonl"
    manifest.write(partly_rated[:40], path)
    return path


def trained(folder: Path, device: str, table: Path, *given: str) -> Path:
    """The fold of a run on this device."""
    accelerator = {"cuda": "gpu"}.get(torch.device(device).type, "cpu")
    common = [
        *("data=manifest", f"data.path={table}", f"run_dir={folder / 'run'}", "compare=none"),
        *(
            "resamples=10",
            "data.split.test_share=0.3",
            f"device={device}",
            f"trainer.accelerator={accelerator}",
        ),
        *("~callbacks.progress", "+trainer.enable_progress_bar=false", f"cache_dir={folder / 'c'}"),
    ]
    with initialize_config_dir(str(CONFIGS), version_base="1.3"):
        train(compose("train", [*given, *common]))
    (found,) = (folder / "run").glob("*/holdout")
    return found


def check(fold: Path, table: Path, device: str) -> None:
    """Its checkpoint rates on the CPU, and on the device, as it was tested."""
    predicted = json.loads((fold / "predictions.json").read_text())
    pairs = [pair for pair in manifest.read(table) if pair.id in predicted]
    assert len(pairs) >= 8
    for place in ("cpu", device):
        evaluator = auditeval.load(fold / "checkpoint", place, cache_dir=fold / place)
        scores = evaluator.score(pairs)
        assert {score.status for score in scores} == {"ok"}
        for score in scores:
            for axis in AXES:
                expected = predicted[score.id][axis]
                assert getattr(score, axis) == pytest.approx(expected, abs=FLOAT32)


def test_heads(tiny_clap: Path, table: Path, device: str, tmp_path: Path) -> None:
    fold = trained(
        *(tmp_path, device, table),
        *("features=clap", f"features.clap.model={tiny_clap}", "name=concat", "model=concat"),
        *("model.hidden=[16]", "fit.epochs={quality: 1, relevance: 1, faithfulness: 1}"),
    )
    check(fold, table, device)


def test_lora(tiny_omni: Path, table: Path, device: str, tmp_path: Path) -> None:
    fold = trained(
        *(tmp_path, device, table),
        *("experiment=auditeval_llm_tiny", "~base.make", f"base.model={tiny_omni}"),
        *("data.split.validation_share=0.0", "fit.epochs=1", "fit.accumulate=2"),
        *("fit.gradient_checkpointing=true", "model.dropout=0.1"),
    )
    check(fold, table, device)

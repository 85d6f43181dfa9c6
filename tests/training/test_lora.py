"""fit=lora through `train`: what is left behind, resuming within an epoch, two devices, errors."""

from __future__ import annotations

import csv
import json
import math
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytorch_lightning as lightning
import torch
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig
from safetensors.torch import load_file, save_file
from two_devices import needs_fork, on_two_devices

import auditeval
from auditeval import manifest
from auditeval.models.omni.regressor import OmniRegressor
from auditeval.training import callbacks
from auditeval.training.lora import rated_mse
from auditeval.training.run import train
from auditeval.types import AXES, EditPair, UserError

ROOT = Path(__file__).parents[2]
SMALL = [
    "experiment=auditeval_llm_tiny",
    "data=manifest",
    "resamples=10",
    "workers=0",
    "~callbacks.progress",
    "+trainer.enable_progress_bar=false",
    "trainer.accelerator=cpu",
    "data.split.test_share=0.3",
    "data.split.validation_share=0.0",
    "fit.epochs=2",
    "fit.batch_size=4",
    "fit.accumulate=2",
    "model.dropout=0.1",
]


def test_what_nobody_rated_has_no_loss() -> None:
    nan = float("nan")
    predicted = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 1.0]], requires_grad=True)
    loss = rated_mse(predicted, torch.tensor([[3.0, nan, 3.0], [nan, nan, 4.0]]))
    assert loss.item() == pytest.approx((4 + 0 + 9) / 3)
    loss.backward()
    expected = torch.tensor([[2 * -2 / 3, 0.0, 0.0], [0.0, 0.0, 2 * -3 / 3]])
    torch.testing.assert_close(predicted.grad, expected)
    assert rated_mse(predicted, torch.full((2, 3), nan)).item() == 0


@pytest.fixture(scope="module")
def table(partly_rated: list[EditPair], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lora") / "pairs.jsonl"
    manifest.write(partly_rated[:40], path)
    return path


def configured(base: Path, table: Path, folder: Path, *more: str) -> DictConfig:
    paths = ["~base.make", f"base.model={base}", f"data.path={table}", f"run_dir={folder}"]
    with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
        return compose("train", [*SMALL, *paths, *more])


def fold(folder: Path) -> Path:
    return folder / "auditeval_llm_tiny" / "holdout"


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(fold(folder) / "checkpoint" / "model.safetensors")


def losses(folder: Path) -> list[float]:
    """Mean training error of the axes, epoch by epoch."""
    with (fold(folder) / "metrics.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["train/mse/quality"]]
    return [float(np.mean([float(row[f"train/mse/{axis}"]) for axis in AXES])) for row in rows]


@pytest.fixture(scope="module")
def finished(tiny_omni: Path, table: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lora-runs") / "finished"
    train(configured(tiny_omni, table, folder))
    return folder


def test_the_learning_rate_of_each_step_is_logged(finished: Path) -> None:
    """A twentieth of the steps upwards, a cosine down to 0."""
    with (fold(finished) / "metrics.csv").open(newline="") as file:
        logged = [float(row["train/lr"]) for row in csv.DictReader(file) if row["train/lr"]]
    (split,) = json.loads((finished / "splits.json").read_text())
    batches = math.ceil(len(split["train"]) / 4)
    steps = 2 * math.ceil(batches / 2)
    rising = math.ceil(0.05 * steps)
    falling = [math.pi * step / (steps - rising) for step in range(steps - rising)]
    shape = [step / rising for step in range(rising)] + [(1 + math.cos(x)) / 2 for x in falling]
    assert len(logged) == steps > 6
    assert logged == pytest.approx([5e-4 * share for share in shape])


def test_a_checkpoint_is_adapter_and_heads_and_scores_as_it_was_tested(
    finished: Path, tiny_omni: Path, table: Path
) -> None:
    kept = weights(finished)
    assert {key for key in kept if ".lora_" not in key and not key.startswith("heads.")} == {
        "trained"
    }
    assert len([key for key in kept if ".lora_" in key]) == 2 * 7 * 2
    config = json.loads((fold(finished) / "checkpoint" / "config.json").read_text())
    assert config["model"]["arguments"]["base"] == str(tiny_omni)
    assert len(config["model"]["arguments"]["fingerprint"]) == 16
    assert "peft" in config["software"]

    predicted = json.loads((fold(finished) / "predictions.json").read_text())
    pairs = [pair for pair in manifest.read(table) if pair.id in predicted]
    assert len(pairs) > 5
    evaluator = auditeval.load(fold(finished) / "checkpoint", "cpu")
    for row in evaluator.score(pairs):
        for axis in AXES:
            assert getattr(row, axis) == pytest.approx(predicted[row.id][axis], abs=1e-5)
    merged = auditeval.load(fold(finished) / "checkpoint", "cpu", merge=True)
    for plain, other in zip(evaluator.score(pairs), merged.score(pairs), strict=True):
        for axis in AXES:
            assert getattr(other, axis) == pytest.approx(getattr(plain, axis), abs=1e-5)


def test_the_report_has_it_beside_the_constant(finished: Path) -> None:
    rows = json.loads((finished / "report" / "agreement.json").read_text())["rows"]
    assert {row["evaluator"] for row in rows} == {"auditeval_llm_tiny", "constant"}


class StopAt(lightning.Callback):
    """An interruption after so many batches in all."""

    def __init__(self, batches: int) -> None:
        self._left = batches

    def on_train_batch_start(self, *_: Any) -> None:
        if self._left == 0:
            raise InterruptedError("as if killed")
        self._left -= 1


# 28 pairs are 7 batches an epoch, steps behind the second, fourth, sixth and the last one: stopped
# between two steps, at the end of an epoch, and behind a step of the next.
@pytest.mark.parametrize("batches", [5, 7, 11])
def test_a_run_that_was_stopped_ends_as_an_uninterrupted_one(
    batches: int,
    finished: Path,
    tiny_omni: Path,
    table: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(callbacks.SaveLast, "SHARE", float("inf"))  # at every chance
    stop = f"+callbacks.stop={{_target_: {__name__}.StopAt, batches: {batches}}}"
    with pytest.raises(InterruptedError):
        train(configured(tiny_omni, table, tmp_path / "run", stop))
    assert not (fold(tmp_path / "run") / "checkpoint").exists()
    assert (fold(tmp_path / "run") / "last.ckpt").exists() == (batches >= 2)
    train(configured(tiny_omni, table, tmp_path / "run"))
    resumed, whole = weights(tmp_path / "run"), weights(finished)
    assert resumed.keys() == whole.keys()
    for key, tensor in whole.items():
        assert torch.equal(resumed[key], tensor), key


def test_a_run_is_not_continued_on_another_base(
    tiny_omni: Path, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(callbacks.SaveLast, "SHARE", float("inf"))
    base = shutil.copytree(tiny_omni, tmp_path / "base")
    stop = f"+callbacks.stop={{_target_: {__name__}.StopAt, batches: 5}}"
    with pytest.raises(InterruptedError):
        train(configured(base, table, tmp_path / "run", stop))
    kept = load_file(base / "model.safetensors")
    kept["thinker.model.layers.0.mlp.up_proj.weight"] += 0.01
    save_file(kept, base / "model.safetensors", {"format": "pt"})
    with pytest.raises(UserError, match="is not the base that this run began with"):
        train(configured(base, table, tmp_path / "run"))


def test_a_training_that_diverges_stops_and_keeps_what_it_had(
    tiny_omni: Path, table: Path, tmp_path: Path
) -> None:
    wild = ["optimizer.lr=1e30", "trainer.gradient_clip_val=0"]
    with pytest.raises(UserError, match=r"epoch \d, batch \d: the scores are not finite"):
        train(configured(tiny_omni, table, tmp_path / "run", *wild))
    assert not (fold(tmp_path / "run") / "checkpoint").exists()


def test_a_step_that_no_memory_holds_is_a_sentence(
    tiny_omni: Path, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(OmniRegressor, "forward", full)
    with pytest.raises(UserError, match=r"^a step does not fit into the memory of cpu; a smaller"):
        train(configured(tiny_omni, table, tmp_path / "run"))


def test_a_saved_state_holds_no_frozen_weight(finished: Path, tiny_omni: Path) -> None:
    state = torch.load(fold(finished) / "last.ckpt", weights_only=True)["state_dict"]
    assert {key for key in state if ".lora_" not in key and ".heads." not in key} == {
        "model.trained"
    }


def test_what_does_not_fit_in_memory_is_read_from_the_cache(
    finished: Path, tiny_omni: Path, table: Path, tmp_path: Path
) -> None:
    train(configured(tiny_omni, table, tmp_path / "run", "fit.memory_gib=0"))
    for key, tensor in weights(finished).items():
        assert torch.equal(weights(tmp_path / "run")[key], tensor), key


def test_auditscore_in_the_precision_of_the_paper(
    auditscore: Path, tiny_omni: Path, tmp_path: Path
) -> None:
    """The recipe itself on a folder of AuditScore's shape: bfloat16, checkpointing, 8 x 8 pairs."""
    given = [
        *("experiment=auditeval_llm", f"base.model={tiny_omni}", f"data.root={auditscore}"),
        *(f"run_dir={tmp_path / 'run'}", "fit.epochs=2", "resamples=10", "device=cpu"),
        "model.head=mlp",  # starts at the mean, or scores would still be below 1
        *("~callbacks.progress", "+trainer.enable_progress_bar=false", "trainer.accelerator=cpu"),
    ]
    with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
        train(compose("train", given))
    (place,) = (p for p in (tmp_path / "run" / "auditeval_llm").iterdir() if p.is_dir())
    kept = load_file(place / "checkpoint" / "model.safetensors")
    assert {tensor.dtype for key, tensor in kept.items() if key != "trained"} == {torch.float32}
    assert any(tensor.any() for key, tensor in kept.items() if ".lora_B." in key)
    rows = json.loads((tmp_path / "run" / "report" / "agreement.json").read_text())["rows"]
    assert {row["evaluator"] for row in rows} == {"auditeval_llm", "constant"}
    assert {row["rated"] for row in rows} == {36}
    predicted = json.loads((place / "predictions.json").read_text())
    config = json.loads((place / "checkpoint" / "config.json").read_text())
    assert config["model"]["arguments"]["dtype"] == "bfloat16"
    assert config["features"]["qwen_omni"]["arguments"]["dtype"] == "bfloat16"
    # Scores are of float32, not of bfloat16's few steps between 1 and 5.
    assert len({round(row["quality"], 5) for row in predicted.values()}) > 20


@needs_fork
def test_two_devices_train_as_one_that_accumulates(
    tiny_omni: Path, table: Path, tmp_path: Path
) -> None:
    """Their gradients are averaged, as those of two batches in a row are."""
    plain = ["model.dropout=0.0", "data.split.test_share=0.2"]  # 32 pairs: 8 batches
    one, two = tmp_path / "one", tmp_path / "two"
    train(configured(tiny_omni, table, one, *plain, "fit.accumulate=2"))
    plain += ["fit.accumulate=1", "trainer.devices=2", "fit.gradient_checkpointing=true"]
    on_two_devices(partial(train, configured(tiny_omni, table, two, *plain)), tmp_path / "said")
    for key, tensor in weights(one).items():
        assert (weights(two)[key].float() - tensor.float()).abs().max() < 1e-5, key


def test_it_learns_eight_pairs_by_heart(tiny_omni: Path, table: Path, tmp_path: Path) -> None:
    pairs = [pair for pair in manifest.read(table) if len(pair.ratings) == 3][:12]
    manifest.write(pairs, tmp_path / "few.jsonl")
    train(
        configured(
            tiny_omni,
            tmp_path / "few.jsonl",
            tmp_path / "run",
            *("data.split.test_share=0.3", "fit.epochs=80", "fit.batch_size=8"),
            *("optimizer.lr=6e-3", "fit.accumulate=1", "model.dropout=0.0"),
        )
    )
    train_part = json.loads((tmp_path / "run" / "splits.json").read_text())[0]["train"]
    assert len(train_part) == 8
    assert losses(tmp_path / "run")[-1] < 0.02


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["features=spectrum"], "extractor 'qwen_omni' cannot be made with its arguments"),
        (["fit=heads"], ": expected settings by name, {name: value}; see configs/"),
        (["model.max_tokens=300"], "300 are allowed"),
        (["fit.batch_size=0"], "fit.batch_size 0: expected a whole number above 0"),
        (["fit.accumulate=x"], "fit.accumulate 'x': expected a whole number"),
        (["fit.epochs=0"], "fit.epochs 0: expected a whole number above 0"),
        (["fit.memory_gib=-1"], "fit.memory_gib -1: expected a number"),
        (["scheduler.shape=zigzag"], "the scheduler cannot be made"),
        (["scheduler.share=2"], "share 2: expected 0 to 1"),
        (["base.model=/no/such"], "/no/such: no such folder"),
    ],
)
def test_settings_that_do_not_go_together(
    tiny_omni: Path, table: Path, tmp_path: Path, more: list[str], sentence: str
) -> None:
    with pytest.raises(UserError) as caught:
        train(configured(tiny_omni, table, tmp_path / "run", *more))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_tower_of_another_base(tiny_omni: Path, table: Path, tmp_path: Path) -> None:
    other = shutil.copytree(tiny_omni, tmp_path / "other")
    with pytest.raises(UserError, match="understands its own audio tower only"):
        train(configured(tiny_omni, table, tmp_path / "run", f"model.base={other}"))


def test_a_pair_that_is_too_long_stops_the_run_before_it_trains(
    tiny_omni: Path, table: Path, tmp_path: Path
) -> None:
    pairs = manifest.read(table)
    pairs[7] = pairs[7].model_copy(update={"target_caption": "dog " * 4000})
    manifest.write(pairs, tmp_path / "pairs.jsonl")
    with pytest.raises(UserError, match=rf"1 of 40 pairs cannot be used \({pairs[7].id}: the pair"):
        train(configured(tiny_omni, tmp_path / "pairs.jsonl", tmp_path / "run"))
    assert not (fold(tmp_path / "run") / "metrics.csv").exists()


def test_the_recipe_is_appendix_e() -> None:
    with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
        config = compose("train", ["experiment=auditeval_llm", "run_dir=/tmp/run"])
    assert config.base.model == config.model.base == config.features.qwen_omni.model
    assert config.base.model == "Qwen/Qwen2.5-Omni-7B"
    assert (config.model.rank, config.model.alpha, config.model.head) == (8, 32, "linear")
    assert (config.model.max_tokens, config.model.dtype) == (4096, "bfloat16")
    assert (config.fit.epochs, config.fit.batch_size, config.fit.accumulate) == (6, 8, 8)
    assert config.fit.validation_batch_size == 2
    assert config.fit.gradient_checkpointing
    assert config.optimizer._target_ == "torch.optim.Adam"
    assert config.optimizer.lr == 1e-4
    assert (config.scheduler.shape, config.scheduler.share) == ("cosine", 0.05)
    assert config.seed == 1984
    assert config.data.split.test_share == 0.1

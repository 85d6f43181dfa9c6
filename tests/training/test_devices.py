"""Heads on two devices, joined by gloo, as `train.py` is started on them: one run, not two.

And on another number of threads, which changes nothing.
"""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from hydra import compose, initialize_config_dir
from safetensors.torch import load_file

from auditeval import manifest
from auditeval.training.run import train
from auditeval.types import EditPair

ROOT = Path(__file__).parents[2]
SMALL = [
    *("data=manifest", "features=spectrum", "name=concat", "model=concat", "compare=none"),
    *("resamples=10", "workers=0", "device=cpu", "trainer.accelerator=cpu"),
    *("model.hidden=[8]", "model.dropout=0.0", "scheduler.patience=0"),
    "fit.epochs={quality: 4, relevance: 2, faithfulness: 3}",
    *("~callbacks.progress", "+trainer.enable_progress_bar=false"),
]


@pytest.fixture(scope="module")
def table(partly_rated: list[EditPair], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("devices") / "pairs.jsonl"
    manifest.write(partly_rated, path)
    return path


@pytest.fixture(scope="module")
def one(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on one device, its batches as large as those of two together."""
    folder = tmp_path_factory.mktemp("one") / "run"
    given = [*SMALL, "fit.batch_size=8", f"data.path={table}", f"run_dir={folder}"]
    with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
        train(compose("train", given))
    return folder


def test_two_devices_train_as_one_with_batches_twice_as_large(
    one: Path, table: Path, tmp_path: Path
) -> None:
    """Also where an axis is rated on one of them alone, and where one head rests."""
    given = [*SMALL, "fit.batch_size=4", f"data.path={table}", "trainer.devices=2"]
    cache = tmp_path / "cache"
    ended = subprocess.run(
        [sys.executable, str(ROOT / "train.py"), *given, f"cache_dir={cache}"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=240,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("run folder:") == 1
    encoded = [int(count) for count in re.findall(r"(\d+) encoded", ended.stderr)]
    entries = len(list(cache.glob("spectrum@*/**/*.entry")))  # those of pairs lie beside
    assert sorted(encoded) == [0, entries], ended.stderr  # once, not once a process
    assert entries > 0

    (two,) = (tmp_path / "runs").iterdir()
    of_one, of_two = (folder / "concat" / "holdout" for folder in (one, two))
    trained = json.loads((two / "splits.json").read_text())[0]["train"]
    assert len(trained) % 2 == 0  # of an odd number one pair is seen twice an epoch
    weights = load_file(of_two / "checkpoint" / "model.safetensors")
    for key, tensor in load_file(of_one / "checkpoint" / "model.safetensors").items():
        torch.testing.assert_close(weights[key], tensor, rtol=0, atol=1e-5)
    told, said = (
        json.loads((folder / "predictions.json").read_text()) for folder in (of_two, of_one)
    )
    assert told.keys() == said.keys()
    for id, ratings in said.items():
        assert told[id] == pytest.approx(ratings, abs=1e-4), id
    for mine, its in zip(logged(of_two), logged(of_one), strict=True):
        assert mine == pytest.approx(its, abs=1e-4)


def logged(folder: Path) -> list[dict[str, float]]:
    """What a run logged by epoch: errors, correlations, learning rates."""
    with (folder / "metrics.csv").open() as file:
        rows = list(csv.DictReader(file))
    return [{key: float(x) for key, x in row.items() if x and key != "step"} for row in rows]


def test_what_is_learnt_does_not_depend_on_the_number_of_threads(
    table: Path, tmp_path: Path
) -> None:
    large = ["model.hidden=[2048]", "fit.batch_size=64", f"data.path={table}"]
    before = torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            given = [*SMALL, *large, f"run_dir={tmp_path / str(threads)}"]
            with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
                train(compose("train", given))
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    weights = [
        tmp_path / n / "concat" / "holdout" / "checkpoint" / "model.safetensors" for n in "12"
    ]
    assert weights[0].read_bytes() == weights[1].read_bytes()

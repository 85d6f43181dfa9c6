"""`auditeval score` and `auditeval convert` with evaluators on Qwen2.5-Omni."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import torch
from commands import row_of, write_rows
from safetensors.torch import load_file, save_file
from torch import nn

from auditeval import checkpoint, scores_table
from auditeval.features.encoder import Encoder
from auditeval.features.extractors.qwen_omni import OmniExtractor
from auditeval.models.omni.regressor import OmniRegressor
from auditeval.types import AXES, EditPair

SWIFT = Path(__file__).parents[1] / "models" / "omni" / "references" / "ms-swift-4"


@pytest.fixture(scope="module")
def adapter(tiny_omni: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint whose LoRA and heads are random, with scores about 3."""
    torch.manual_seed(9)
    model = OmniRegressor(str(tiny_omni), dtype="float32", head="mlp", hidden=[8])
    model.prepare(torch.tensor([[2.0, 3.0, 4.0], [4.0, 3.0, 2.0]]))
    for name, parameter in model.named_parameters():
        if ".lora_B." in name:
            nn.init.normal_(parameter, std=0.1)
    folder = tmp_path_factory.mktemp("checkpoints") / "omni"
    encoder = Encoder([OmniExtractor(str(tiny_omni))])
    checkpoint.save(folder, model, encoder, {"note": "not trained"})
    return folder


@pytest.fixture
def table(simulated: list[EditPair], tmp_path: Path) -> Path:
    return write_rows(tmp_path / "pairs.jsonl", [row_of(pair) for pair in simulated[:5]])


def scored(path: Path) -> np.ndarray:
    return np.array([[getattr(row, axis) for axis in AXES] for row in scores_table.read(path)])


def test_every_way_to_load_it_gives_the_same_scores(
    cli: Any, adapter: Path, tiny_omni: Path, table: Path, tmp_path: Path
) -> None:
    moved = shutil.copytree(tiny_omni, tmp_path / "moved")
    ways: dict[str, list[str]] = {
        "plain": [],
        "merged": ["--merge"],
        "small": ["--batch-size", "2"],
        "moved": ["--base", str(moved)],
        "rough": ["--dtype", "bfloat16"],
    }
    made = {}
    for name, options in ways.items():
        output = tmp_path / f"{name}.csv"
        ended = cli("score", table, "-c", adapter, "-o", output, "--device", "cpu", *options)
        assert ended.status == 0, ended.err
        made[name] = scored(output)
    assert np.ptp(made["plain"], axis=0).min() > 1e-3
    for name in ("merged", "small", "moved"):
        assert np.abs(made[name] - made["plain"]).max() <= 1e-5
    # Rougher, but no steps of 1/64: the heads compute in float32.
    assert 0 < np.abs(made["rough"] - made["plain"]).max() < 0.1
    assert np.abs(made["rough"] * 64 - np.round(made["rough"] * 64)).max() > 0.01


def test_a_table_is_of_one_precision(cli: Any, adapter: Path, table: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.csv"
    options = ["score", table, "-c", adapter, "-o", output, "--device", "cpu"]
    assert cli(*options).status == 0
    assert json.loads(output.with_name("out.csv.json").read_text())["dtype"] == "float32"
    for other in (["--dtype", "bfloat16"], ["--merge"]):
        ended = cli(*options, *other)
        assert ended.status == 2
        assert "exists already and was not made by this checkpoint" in ended.sentence


def test_an_error_row_costs_the_others_nothing(
    cli: Any, adapter: Path, simulated: list[EditPair], tmp_path: Path
) -> None:
    short = tmp_path / "short.wav"
    soundfile.write(short, np.full(400, 0.1), 16000)
    rows = [row_of(pair) for pair in simulated[:3]]
    rows[1] |= {"edited": str(short)}
    rows.append({**rows[2], "id": "long", "target_caption": "dog " * 4000})
    table = write_rows(tmp_path / "pairs.jsonl", rows)
    ended = cli("score", table, "-c", adapter, "-o", tmp_path / "out.csv", "--device", "cpu")
    assert ended.status == 1
    made = list(scores_table.read(tmp_path / "out.csv"))
    assert [row.status for row in made] == ["ok", "error", "ok", "error"]
    assert "short.wav" in made[1].reason
    assert "4096 are allowed" in made[3].reason


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--base", "/no/such/base"], "/no/such/base: no such folder"),
        (["--dtype", "int8"], "dtype 'int8' is none of"),
    ],
)
def test_wrong_options(
    cli: Any, adapter: Path, table: Path, tmp_path: Path, options: list[str], words: str
) -> None:
    ended = cli("score", table, "-c", adapter, "-o", tmp_path / "out.csv", *options)
    assert ended.status == 2
    assert words in ended.sentence


def test_options_of_another_kind_of_evaluator(
    cli: Any, spectrum_checkpoint: Path, table: Path, tmp_path: Path
) -> None:
    for options in (["--base", "x"], ["--dtype", "float32"], ["--merge"]):
        ended = cli("score", table, "-c", spectrum_checkpoint, "-o", tmp_path / "o.csv", *options)
        assert ended.status == 2
        assert "is no evaluator on Qwen2.5-Omni" in ended.sentence or "no LoRA" in ended.sentence


def change_base(folder: Path, key: str) -> None:
    weights = load_file(folder / "model.safetensors")
    weights[key] *= 1.01
    save_file(weights, folder / "model.safetensors", {"format": "pt"})


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("thinker.model.norm.weight", "it is another base"),
        ("thinker.audio_tower.proj.weight", "was trained on extractor qwen_omni revision"),
    ],
)
def test_a_base_that_was_trained_further(
    cli: Any, adapter: Path, tiny_omni: Path, table: Path, tmp_path: Path, key: str, words: str
) -> None:
    other = shutil.copytree(tiny_omni, tmp_path / "other")
    change_base(other, key)
    ended = cli("score", table, "-c", adapter, "-o", tmp_path / "out.csv", "--base", other)
    assert ended.status == 2
    assert words in ended.sentence


def without(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).unlink()


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_a_missing_file(cli: Any, adapter: Path, table: Path, tmp_path: Path, name: str) -> None:
    folder = shutil.copytree(adapter, tmp_path / "adapter")
    without(name)(folder)
    ended = cli("score", table, "-c", folder, "-o", tmp_path / "out.csv")
    assert ended.status == 2
    assert f"it has no {name}" in ended.sentence


def test_lora_of_another_size_does_not_fit(
    cli: Any, adapter: Path, table: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(adapter, tmp_path / "adapter")
    config = json.loads((folder / "config.json").read_text())
    config["model"]["arguments"]["rank"] = 4
    (folder / "config.json").write_text(json.dumps(config))
    ended = cli("score", table, "-c", folder, "-o", tmp_path / "out.csv")
    assert ended.status == 2
    assert "cannot be loaded as weights" in ended.sentence


def test_ms_swift_becomes_ours_and_ours_becomes_peft(
    cli: Any, tiny_omni: Path, table: Path, tmp_path: Path
) -> None:
    ours, exported = tmp_path / "ours", tmp_path / "exported"
    ended = cli("convert", SWIFT, "-o", ours, "--base", tiny_omni)
    assert ended.status == 0, ended.err
    assert sorted(path.name for path in ours.iterdir()) == ["config.json", "model.safetensors"]
    for name, options in (("theirs", [SWIFT, "--base", tiny_omni]), ("ours", [ours])):
        output = tmp_path / f"{name}.csv"
        assert cli("score", table, "-c", *options, "-o", output, "--device", "cpu").status == 0
    assert np.array_equal(scored(tmp_path / "theirs.csv"), scored(tmp_path / "ours.csv"))
    ended = cli("convert", ours, "-o", exported)
    assert ended.status == 0, ended.err
    assert "PeftModel.from_pretrained" in ended.out
    assert {path.name for path in exported.iterdir()} == {
        "adapter_config.json",
        "adapter_model.safetensors",
        "heads.safetensors",
        "heads.json",
    }


def test_an_output_that_cannot_be_made(
    cli: Any, adapter: Path, table: Path, tmp_path: Path
) -> None:
    ended = cli("convert", adapter, "-o", table / "out")
    assert ended.status == 2
    assert str(table) in ended.sentence
    assert "cannot be written" in ended.sentence


def test_an_evaluator_on_features_needs_no_conversion(
    cli: Any, spectrum_checkpoint: Path, tmp_path: Path
) -> None:
    ended = cli("convert", spectrum_checkpoint, "-o", tmp_path / "out")
    assert ended.status == 2
    assert "is an evaluator on frozen features" in ended.sentence


def test_explain_says_that_it_hears_a_pair_whole(
    cli: Any, adapter: Path, table: Path, simulated: list[EditPair], tmp_path: Path
) -> None:
    ended = cli("explain", table, "--id", simulated[0].id, "-c", adapter, "-o", tmp_path / "why")
    assert ended.status == 2
    assert "hears a pair as a whole" in ended.sentence
    assert not (tmp_path / "why").exists()

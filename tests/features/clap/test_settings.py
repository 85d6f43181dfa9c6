"""What a CLAP folder says beside its weights: it counts, or it is refused in one sentence."""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from auditeval.features import make_extractor
from auditeval.features.clap.load import load_clap
from auditeval.features.extractors.clap import ClapExtractor
from auditeval.types import UserError


@pytest.fixture
def folder(tiny_clap: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_clap, tmp_path / "clap"))


def edit(path: Path, *keys: str, to: Any) -> None:
    whole = json.loads(path.read_text())
    part = whole
    for key in keys[:-1]:
        part = part[key]
    part[keys[-1]] = to
    path.write_text(json.dumps(whole))


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("text_config", "layer_norm_eps"), 1e-3),
        (("text_config", "hidden_act"), "relu"),
        (("text_config", "num_attention_heads"), 2),
        (("audio_config", "hidden_act"), "relu"),
    ],
)
def test_another_use_of_the_same_weights_is_another_revision(
    folder: Path, tiny_clap: Path, keys: tuple[str, ...], value: Any
) -> None:
    edit(folder / "config.json", *keys, to=value)
    assert ClapExtractor(str(folder)).revision != ClapExtractor(str(tiny_clap)).revision


def test_weights_in_half_precision_are_used_in_full(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    half = {k: v.bfloat16() if v.is_floating_point() else v for k, v in weights.items()}
    save_file(half, folder / "model.safetensors", {"format": "pt"})
    edit(folder / "config.json", "dtype", to="bfloat16")
    made = ClapExtractor(str(folder)).encode_text(["rain"])
    assert made.dtype == np.float32
    widened = {k: v.float() if v.dtype == torch.bfloat16 else v for k, v in half.items()}
    save_file(widened, folder / "model.safetensors", {"format": "pt"})
    edit(folder / "config.json", "dtype", to="float32")
    # To rounding: where weights lie in memory may change the order of sums. bfloat16 has 8 bits.
    np.testing.assert_allclose(ClapExtractor(str(folder)).encode_text(["rain"]), made, atol=1e-6)


@pytest.mark.parametrize(
    ("file", "keys", "value"),
    [
        ("preprocessor_config.json", ("truncation",), "fusion"),
        ("preprocessor_config.json", ("feature_size",), 80),
        ("config.json", ("audio_config", "depths"), "x"),
        ("config.json", ("text_config", "num_attention_heads"), 0),
    ],
)
def test_an_unfit_folder_is_one_sentence(
    folder: Path, file: str, keys: tuple[str, ...], value: Any
) -> None:
    edit(folder / file, *keys, to=value)
    with pytest.raises(UserError, match="clap: ") as caught:
        ClapExtractor(str(folder))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "arguments",
    [
        {"batch_size": -1},
        {"batch_size": 0},
        {"batch_size": 2.5},
        {"upstream_compat": "no"},
        {"tokenizer": 5},
        {"model": None},
        {"colour": "red"},
    ],
)
def test_an_unfit_option_is_one_sentence(tiny_clap: Path, arguments: dict[str, Any]) -> None:
    with pytest.raises(UserError) as caught:
        make_extractor("clap", **{"model": str(tiny_clap), **arguments})
    assert "\n" not in str(caught.value)


def test_captions_are_the_same_bytes_in_any_company(tiny_clap: Path) -> None:
    captions = [f"a {name} rings" for name in ("bell", "door", "bird", "note", "horn")]
    encoder = ClapExtractor(str(tiny_clap))
    together = encoder.encode_text(captions)
    for caption, row in zip(captions, together, strict=True):
        assert np.array_equal(encoder.encode_text([caption])[0], row)


def test_transformers_says_nothing_beside_our_sentence(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    del weights["logit_scale_a"]
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    said: list[str] = []
    listener = logging.Handler()
    listener.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("transformers")
    logger.addHandler(listener)
    try:
        with pytest.raises(UserError, match="missing keys, logit_scale_a among them"):
            load_clap(str(folder))
    finally:
        logger.removeHandler(listener)
    assert said == []

"""Models rate on a GPU as they rate on the CPU; see conftest.py."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import auditeval
from auditeval import checkpoint_files
from auditeval.features.pair import Inputs, PairFeatures
from auditeval.models.omni.inputs import Order, PairRow
from auditeval.models.omni.regressor import OmniRegressor
from auditeval.models.three_head import PairwiseRegressor
from auditeval.types import AXES, EditPair, UserError

pytestmark = pytest.mark.gpu

FLOAT32 = 1e-4
"""Points of a rating."""
BFLOAT16 = 0.05
"""Of the spread of ratings."""


def test_heads(device: str) -> None:
    torch.manual_seed(5)
    inputs = Inputs(
        audio=40, text=24, joint=(16,), alignment=("a.one", "a.two"), evidence=("b.three",)
    )
    seen, rated = PairFeatures.random(inputs, 64), 1 + 4 * torch.rand(64, len(AXES))
    model = PairwiseRegressor(inputs, rank=4, hidden=(32,)).eval()
    model.fit_scales(seen, rated)
    rows = [PairFeatures(*(part[row] for part in seen)) for row in range(64)]
    expected = model.predict(rows)
    made = model.to(device).predict(rows)
    assert made.device.type == "cpu"
    assert (made - expected).abs().max() <= FLOAT32
    assert expected.std() > 100 * FLOAT32


@pytest.mark.parametrize("name", [None, "auditeval-offline-thorough"])
def test_shipped_evaluators(
    name: str | None, device: str, simulated: list[EditPair], tmp_path: Path
) -> None:
    place = checkpoint_files.find(None)
    folder = place.parent / name if name else place
    try:
        scored = [
            auditeval.load(folder, at, cache_dir=tmp_path / at).score(simulated[:12])
            for at in ("cpu", device)
        ]
    except UserError as error:
        pytest.skip(str(error))
    for mine, its in zip(*scored, strict=True):
        assert mine.status == its.status == "ok"
        for axis in AXES:
            assert getattr(its, axis) == pytest.approx(getattr(mine, axis), abs=FLOAT32)


def regressor(base: Path, order: Order = "audio_first", dtype: str = "float32") -> OmniRegressor:
    """With LoRA that does something: as it starts, B is 0."""
    torch.manual_seed(3)
    model = OmniRegressor(str(base), order=order, dtype=dtype)
    for name, parameter in model.named_parameters():
        if ".lora_B." in name:
            nn.init.normal_(parameter, std=0.1)
    return model.eval()


def pair_rows(model: OmniRegressor) -> list[PairRow]:
    """Pairs of noise, no two of one length."""
    rng = np.random.default_rng(0)
    pair = EditPair(id="1", original="a.wav", edited="b.wav", original_caption="Rain.",
                    target_caption="Rain and a dog.")  # fmt: skip
    sides = [[rng.standard_normal((n, 32)).astype(np.float32) for n in (n, n + 3)]
             for n in (9, 30, 4, 22, 17, 41)]  # fmt: skip
    return [model.inputs.row(pair, *clips) for clips in sides]


@pytest.mark.parametrize("order", ["audio_first", "text_first"])
def test_omni(tiny_omni: Path, device: str, order: Order) -> None:
    """In a batch and alone; with the prefix of the text-first order read once."""
    model = regressor(tiny_omni, order)
    rows = pair_rows(model)
    expected = model.predict(rows)
    model.to(device)
    assert (model.predict(rows) - expected).abs().max() <= FLOAT32
    alone = torch.cat([model.predict([row]) for row in rows])
    assert (alone - expected).abs().max() <= FLOAT32
    assert expected.std(dim=0).min() > 10 * FLOAT32


def test_omni_in_bfloat16(tiny_omni: Path, device: str) -> None:
    exact = regressor(tiny_omni)
    rows = pair_rows(exact)
    expected = exact.predict(rows)
    made = regressor(tiny_omni, dtype="bfloat16").to(device).predict(rows)
    spread = expected.max() - expected.min()
    assert FLOAT32 < (made - expected).abs().max() <= BFLOAT16 * spread

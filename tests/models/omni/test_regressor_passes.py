"""Passes of the regressor, as large as the memory of its device takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from auditeval.models.omni.inputs import Batch, PairRow
from auditeval.models.omni.regressor import OmniRegressor
from auditeval.types import EditPair, UserError


@pytest.fixture
def model(tiny_omni: Path) -> OmniRegressor:
    torch.manual_seed(3)
    return OmniRegressor(str(tiny_omni), dtype="float32").eval()


@pytest.fixture
def rows(model: OmniRegressor) -> list[PairRow]:
    """Six pairs of noise, no two of one length."""
    rng = np.random.default_rng(0)
    captions = {"original_caption": "Rain.", "target_caption": "Rain and a dog."}
    pair = EditPair(id="1", original="a.wav", edited="b.wav", **captions)
    sides = [[rng.standard_normal((n, 32)).astype(np.float32)] * 2 for n in (9, 30, 4, 22, 17, 41)]
    return [model.inputs.row(pair, *clips) for clips in sides]


def test_passes_are_as_large_as_memory_takes(
    model: OmniRegressor, rows: list[PairRow], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, whole, sizes = model.predict(rows), model._state, []
    most = 4

    def state(batch: Batch, prefix: Any) -> torch.Tensor:
        sizes.append(len(batch.ids))
        if len(batch.ids) > most:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return whole(batch, prefix)

    monkeypatch.setattr(model, "_state", state)
    assert (model.predict(rows) - expected).abs().max() <= 1e-5
    assert sizes[0] == len(rows) == 6
    assert max(sizes[1:]) == 3
    most = 0
    with pytest.raises(UserError, match=r"^a pair does not fit into the memory of cpu; a smaller"):
        model.predict(rows)

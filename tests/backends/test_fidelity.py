"""SQUIM: each number under its name, weighted by windows, one sentence without torchaudio."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from auditeval.audio import AudioError, Waveform
from auditeval.backends import fidelity
from auditeval.backends.fidelity import SQUIM
from auditeval.types import UserError


class Model(nn.Module):
    """STOI .9, the peak of the window as PESQ, SI-SDR -3."""

    def forward(self, window: Tensor) -> list[Tensor]:
        return [torch.tensor([x]) for x in (0.9, window.abs().max().item(), -3.0)]


@pytest.fixture
def squim(monkeypatch: pytest.MonkeyPatch) -> SQUIM:
    bundle = SimpleNamespace(get_model=Model)
    monkeypatch.setattr(fidelity, "imported", lambda *_: SimpleNamespace(SQUIM_OBJECTIVE=bundle))
    monkeypatch.setattr(fidelity, "version", lambda _: "2.8")
    return SQUIM()


def test_each_number_has_its_name(squim: SQUIM) -> None:
    made = squim(Waveform(np.full(8000, 0.5, np.float32), 16000))
    assert made.values == pytest.approx({"PESQ": 0.5, "STOI": 0.9, "SI-SDR": -3.0})


def test_windows_count_by_their_length_and_silent_ones_not_at_all(squim: SQUIM) -> None:
    window = squim.WINDOW_SECONDS * 16000
    parts = np.repeat([0.2, 0.0, 0.8], [window, window, window // 2]).astype(np.float32)
    assert squim(Waveform(parts, 16000)).values["PESQ"] == pytest.approx((0.2 + 0.8 / 2) / 1.5)
    with pytest.raises(AudioError, match="digital silence"):
        squim(Waveform(np.zeros(9000, np.float32), 16000))


def test_without_torchaudio_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchaudio", None)
    with pytest.raises(UserError, match=r"torchaudio cannot be imported.*\.\[squim\]"):
        SQUIM()

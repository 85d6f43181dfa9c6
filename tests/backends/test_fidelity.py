"""SQUIM: each number under its name, and one sentence where torchaudio is not there."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
import pytest

from auditeval.audio import Waveform
from auditeval.backends.fidelity import SQUIM
from auditeval.features.encoder import AudioFeatures
from auditeval.features.packages import Squim
from auditeval.types import UserError


def test_each_number_has_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    class Encoder:
        rate_hz, revision = 16000, "1-abc"

        def __init__(self, weights: str | None) -> None:
            self.values = {"stoi": 0.9, "pesq": 2.5, "si_sdr": -3.0}

        def to(self, device: str) -> None: ...

        def encode_audio(self, clips: Sequence[np.ndarray]) -> list[AudioFeatures]:
            row = np.array([self.values[name] for name in Squim.MEASURES])
            return [AudioFeatures(row, {}) for _ in clips]

    monkeypatch.setattr("auditeval.features.packages.Squim", Encoder)
    made = SQUIM()(Waveform(np.ones(8000, np.float32), 8000))
    assert made.values == {"PESQ": 2.5, "STOI": 0.9, "SI-SDR": -3.0}


def test_without_torchaudio_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchaudio", None)
    with pytest.raises(UserError, match=r"torchaudio cannot be imported.*auditeval\[squim\]"):
        SQUIM()

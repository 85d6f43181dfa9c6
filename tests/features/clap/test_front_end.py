"""On accelerators: the log-mel frames are those of transformers, passes fit into the memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import ClapFeatureExtractor

from auditeval.features.clap.front_end import log_mel
from auditeval.features.extractors.clap import ClapExtractor

RATE_HZ = 48000


def windows() -> list[np.ndarray]:
    """Loud and quiet noise, a tone beside silence, a click; of many lengths."""
    rng = np.random.default_rng(2)
    tone = np.sin(np.arange(3 * RATE_HZ) / 20) * (np.arange(3 * RATE_HZ) > RATE_HZ)
    click = np.zeros(7 * RATE_HZ + 13)
    click[5000] = 1
    made = [rng.standard_normal(10 * RATE_HZ), 1e-4 * rng.standard_normal(999), tone, click]
    return [window.astype(np.float32) for window in (*made, np.zeros(RATE_HZ))]


@pytest.mark.parametrize("truncation", ["rand_trunc", "fusion"])
@pytest.mark.parametrize("padding", ["repeatpad", "repeat", "pad"])
def test_they_are_those_of_the_extractor(truncation: str, padding: str) -> None:
    options = {"frequency_min": 50, "truncation": truncation, "padding": padding}
    front_end = ClapFeatureExtractor(**options)
    fused = truncation == "fusion"
    bank = front_end.mel_filters if fused else front_end.mel_filters_slaney
    made = log_mel(front_end, torch.from_numpy(bank), windows())
    expected = torch.stack(
        [
            front_end(window, sampling_rate=RATE_HZ, return_tensors="pt")["input_features"][0]
            for window in windows()
        ]
    )
    assert made.shape == expected.shape == (5, 4 if fused else 1, 1001, 64)
    assert made.dtype == torch.float32
    assert (made - expected).abs().max() < 1e-4  # dB


def test_no_tensor_stays_on_the_processor(tiny_clap: Path) -> None:
    """The meta device computes nothing, and refuses what lies elsewhere."""
    clap, meta = ClapExtractor(str(tiny_clap))._clap.to("meta"), torch.device("meta")
    mel = log_mel(clap.front_end, torch.from_numpy(clap.mel_bank()).to(meta), windows())
    with torch.inference_mode():
        made = clap.embed_audio(mel)
    assert (made.device, made.shape) == (meta, (5, clap.dim))
    with pytest.raises(RuntimeError, match="meta"), torch.inference_mode():
        clap.embed_audio(torch.zeros(mel.shape))


def test_passes_are_as_large_as_memory_takes(
    tiny_clap: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone, small = ClapExtractor(str(tiny_clap)), ClapExtractor(str(tiny_clap), batch_size=8)
    sizes: list[int] = []
    whole = small._clap.embed_audio

    def embed_audio(mel: torch.Tensor) -> torch.Tensor:
        sizes.append(len(mel))
        if len(mel) > 3:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return whole(mel)

    monkeypatch.setattr(small._clap, "embed_audio", embed_audio)
    long = np.concatenate([windows()[0], 0.1 * windows()[0], windows()[2]])
    clips = [long, windows()[3], long[: 14 * RATE_HZ], windows()[1]]
    for made, expected in zip(small.encode_audio(clips), alone.encode_audio(clips), strict=True):
        assert np.abs(made.embedding - expected.embedding).max() < 1e-6
    assert sizes == [7, 3, 3, 1]

"""CNN14 and VGGish without their weights: seeded numbers, and what the originals made of them.

Like `weights`, whose draws it uses: the same numbers in every environment.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from second_environment import weights

REFERENCES = Path(__file__).resolve().parents[1] / "features" / "references"
RATES_HZ = {"cnn14-32k": 32000, "cnn14-16k": 16000, "vggish": 16000}
REAL_CLIPS = weights.REAL_CLIPS[0], weights.REAL_CLIPS[3], weights.REAL_CLIPS[5]
_PREFIX = "audio."
"""Under which the draws know a first normalisation as that of log-mel power."""


_VGGISH = (f"{_PREFIX}features.", f"{_PREFIX}embeddings.")
"""Nothing brings its activations back to one: without a gain the biases drown the sound."""


class Reference(NamedTuple):
    """What an original made, and what its file is rebuilt from.

    `made` :: "clip/array" -> numbers; `layout` is upstream key -> shape; `mel_bank` is CNN14's.
    """

    made: dict[str, np.ndarray]
    layout: dict[str, tuple[int, ...]]
    mel_bank: np.ndarray | None

    def save(self, path: Path) -> None:
        """The same bytes for the same numbers."""
        layout = np.frombuffer(json.dumps(self.layout, separators=(",", ":")).encode(), np.uint8)
        bank = {} if self.mel_bank is None else {"mel_bank": self.mel_bank}
        np.savez_compressed(path, layout=layout, **bank, **self.made)

    @classmethod
    def load(cls, name: str) -> Reference:
        with np.load(REFERENCES / f"{name}.npz", allow_pickle=False) as held:
            arrays = dict(held)
        layout = json.loads(arrays.pop("layout").tobytes())
        bank = arrays.pop("mel_bank", None)
        return cls(arrays, {key: tuple(shape) for key, shape in layout.items()}, bank)

    def state(self) -> dict[str, torch.Tensor]:
        """The upstream state dict; kernels of the original's Fourier transform are zeros."""
        return state(self.layout, {} if self.mel_bank is None else {MEL_BANK: self.mel_bank})


MEL_BANK = "logmel_extractor.melW"


def state(
    layout: Mapping[str, tuple[int, ...]], fixed: Mapping[str, np.ndarray]
) -> dict[str, torch.Tensor]:
    """Upstream key -> tensor: `fixed` where given, else seeded."""
    prefixed = {_PREFIX + key: shape for key, shape in layout.items()}
    given = {_PREFIX + key: value for key, value in fixed.items()}
    made = weights.state(prefixed, weights.SEED, given)
    for key, value in made.items():
        if key.startswith(_VGGISH) and value.ndim > 1:
            value *= 2
    return {key.removeprefix(_PREFIX): value for key, value in made.items()}


def zeros(layout: Mapping[str, tuple[int, ...]]) -> dict[str, torch.Tensor]:
    """The keys and shapes of a whole model, which take no room: for what ends before it hears."""
    return {key: torch.zeros(()).expand(shape) for key, shape in layout.items()}


def clips(rate_hz: int, recordings: Path | None = None) -> dict[str, np.ndarray]:
    """Name -> mono float32: noise bursts of 2.3 s and 4.7 s, and three recordings of a folder."""
    made = dict(zip(("short", "long"), weights.synthetic_clips(rate_hz), strict=True))
    if recordings is not None:
        from auditeval import audio

        for name in REAL_CLIPS:
            wave = audio.decode(recordings / name)
            made[Path(name).stem] = audio.resample(wave, rate_hz)
    return made


def patch_clips(rate_hz: int) -> dict[str, np.ndarray]:
    """One patch of VGGish each: noise, and tones that fill no band alike :: float32 (15600,)."""
    seconds = np.arange(15600) / rate_hz
    noise = 0.1 * weights._uniform(weights._steps("patch", len(seconds)))
    tones = sum(0.2 * np.sin(2 * np.pi * hz * seconds) for hz in (130.0, 997.0, 5120.0))
    return {"noise": noise, "tones": np.asarray(tones, np.float32)}


def write(path: Path, name: str, tensors: Mapping[str, torch.Tensor]) -> None:
    """A file in the format in which the authors publish theirs."""
    if name == "vggish":
        torch.save(dict(tensors), path)
        return
    sampler = {"indexes": np.arange(7), "pointer": 3}  # PANNs' files hold arrays beside the model
    torch.save({"iteration": 600000, "model": dict(tensors), "sampler": sampler}, path)

"""`vggish`: VGGish (Hershey et al. 2017) as harritaylor/torchvggish publishes it, for FAD."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from auditeval.features.extractor import AudioFeatures, PatchExtractor
from auditeval.pretrained.threads import one_thread
from auditeval.pretrained.torch_files import read
from auditeval.pretrained.weights import Undrawn, digest, fill

PATCH_FRAMES = 96

_CODE = "1"
"""Part of the revision: counts the changes here that change a number."""

_SUPPORTED = "supported is VGGish of torchvggish (vggish-10086976.pth)"
_WINDOW, _HOP, _N_FFT, _MELS = 400, 160, 512, 64
_BLOCK_PATCHES = 32
"""Patches at a time: an hour takes the memory of half a minute."""


class VggishExtractor(PatchExtractor):
    """Raw VGGish: without PCA and quantisation, and without the ReLU behind the last layer.

    The published graph ends in a ReLU. The tools that compute the Fréchet audio distance
    (frechet-audio-distance, audioldm_eval) take it off unless told otherwise, and so it is here.

    Frames :: `patch` (P, 128), one each 0.96 s without overlap; what is left over at the end is
    dropped, as in the original. Embedding :: (128,), their mean. A clip shorter than a patch
    (0.975 s with its last window), of which the original makes nothing, ends in zeros.
    """

    name = "vggish"
    rate_hz = 16000
    dim = 128

    def __init__(self, checkpoint: str) -> None:
        path = Path(checkpoint).expanduser().resolve()
        self.arguments = {"checkpoint": str(path)}
        with Undrawn():
            self._model = _Vggish()
        fill(path, self._model, read(path, _SUPPORTED), "torchvggish's VGGish")
        self._model.eval().requires_grad_(False)
        self.modules = (self._model,)
        self.revision = f"{_CODE}-{digest(self._model)}"

    def encode_clip(self, samples: np.ndarray) -> AudioFeatures:
        """Mono float32 (N,) at 16 kHz; see the class for what comes out."""
        mel = torch.from_numpy(log_mel(samples))
        patches = mel[: len(mel) // PATCH_FRAMES * PATCH_FRAMES].view(-1, 1, PATCH_FRAMES, _MELS)
        with torch.inference_mode(), one_thread():
            blocks = [self._model(b.to(self.device)).cpu() for b in patches.split(_BLOCK_PATCHES)]
        made = torch.cat(blocks).numpy()
        return AudioFeatures(made.mean(axis=0), {"patch": made})


class _Vggish(nn.Module):
    """Log-mel patches :: (P, 1, 96, 64) -> (P, 128). Parameter names are the published ones."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        width = 1
        for stage in ((64,), (128,), (256, 256), (512, 512)):
            for wider in stage:
                layers += [nn.Conv2d(width, wider, 3, padding=1), nn.ReLU()]
                width = wider
            layers.append(nn.MaxPool2d(2))
        self.features = nn.Sequential(*layers)
        self.embeddings = nn.Sequential(
            nn.Linear(512 * 4 * 6, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(),
            nn.Linear(4096, VggishExtractor.dim),
        )  # fmt: skip

    def forward(self, patches: Tensor) -> Tensor:
        # Channels last, as in TensorFlow, where the weights come from.
        return self.embeddings(self.features(patches).permute(0, 2, 3, 1).flatten(1))


def log_mel(samples: np.ndarray) -> np.ndarray:
    """Mono (N,) at 16 kHz to log(mel magnitude + 0.01) :: float32 (T, 64), at least one patch."""
    least = _WINDOW + (PATCH_FRAMES - 1) * _HOP
    samples = np.pad(samples, (0, max(least - len(samples), 0)))
    frames = np.lib.stride_tricks.sliding_window_view(samples, _WINDOW)[::_HOP]
    window = 0.5 - 0.5 * np.cos(2 * np.pi / _WINDOW * np.arange(_WINDOW))
    step = PATCH_FRAMES * _BLOCK_PATCHES
    blocks = [
        np.abs(np.fft.rfft(frames[start : start + step] * window, _N_FFT)) @ mel_bank()
        for start in range(0, len(frames), step)
    ]
    return np.log(np.concatenate(blocks) + 0.01).astype(np.float32)


@cache
def mel_bank() -> np.ndarray:
    """Filters of 125 Hz to 7500 Hz, triangles on HTK's mel scale itself :: (257, 64)."""
    from transformers.audio_utils import mel_filter_bank

    return mel_filter_bank(
        num_frequency_bins=_N_FFT // 2 + 1,
        num_mel_filters=_MELS,
        min_frequency=125.0,
        max_frequency=7500.0,
        sampling_rate=VggishExtractor.rate_hz,
        norm=None,
        mel_scale="kaldi",  # HTK's with VGGish's constant 1127
        triangularize_in_mel_space=True,
    )

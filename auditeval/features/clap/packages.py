"""What the original packages share as extractors: laion_clap and msclap.

For those who want a CLAP exactly as its authors run it. `clap` loads the same checkpoint files
without these packages, and to the same numbers (tests/second_environment).

laion_clap and msclap fetch tokenizers and text models from a model hub when they are imported or
built; their checkpoints are read here, as data, and never by the packages.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from auditeval import audio
from auditeval.features.clap.windows import WindowExtractor, unit
from auditeval.features.extractor import AudioFeatures
from auditeval.pretrained.threads import one_thread

CODE = "2"
"""Part of every revision: counts the changes here that change a number."""

COMPUTED = re.compile(
    r"spectrogram_extractor\.|logmel_extractor\.|\.attn\.(bias|masked_bias)$|"
    r"(attn_mask|relative_position_index|position_ids|token_type_ids|num_batches_tracked)$"
)
"""Buffers of the originals that follow from their settings."""


class PackageExtractor(WindowExtractor, ABC):
    """Clips cut into fixed windows, each encoded by itself, from the clip's start without overlap.

    No window is longer than the package's own, so none of its random crops is ever reached.
    """

    _window: int  # samples

    def encode_audio(self, clips: Sequence[np.ndarray]) -> list[AudioFeatures]:
        """Mono float32 (N,) clips at `rate_hz` to unit embeddings (dim,) and their windows'."""
        with torch.inference_mode():
            return super().encode_audio(clips)

    def encode_clip(self, samples: np.ndarray) -> AudioFeatures:
        spans = audio.adjoining_windows(len(samples), self._window, self.rate_hz)
        rows = [self._encode_window(samples[span.start : span.stop]) for span in spans]
        return self.of_windows(spans, np.stack(rows))

    def encode_text(self, captions: Sequence[str]) -> np.ndarray:
        """Captions to unit embeddings, float32 (len(captions), dim); one at a time."""
        with torch.inference_mode(), one_thread():
            return np.stack([unit(self._encode_caption(caption)) for caption in captions])

    @abstractmethod
    def _encode_window(self, window: np.ndarray) -> np.ndarray:
        """Samples of at most one window :: (n,) -> (dim,), at unit norm."""

    @abstractmethod
    def _encode_caption(self, caption: str) -> np.ndarray:
        """One caption to (dim,)."""


def row(embeddings: Tensor) -> np.ndarray:
    """The only row of a batch, at unit norm :: (1, D) -> (D,)."""
    return unit(embeddings[0].float().cpu().numpy())

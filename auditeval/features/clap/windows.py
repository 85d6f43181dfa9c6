"""What all CLAPs share: a clip is the mean of its windows, each in the space of the captions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from auditeval import audio
from auditeval.features.alignment import Alignment
from auditeval.features.comparison import Frames
from auditeval.features.evidence import (
    CAPTION_NAMES,
    SIMILARITY_NAMES,
    weigh_captions,
    weigh_similarity,
)
from auditeval.features.extractor import AudioFeatures, PatchExtractor, Texts
from auditeval.features.extractors.spectrum import Spectrum


class WindowExtractor(PatchExtractor):
    """Unit embeddings of sound and words in one space.

    Audio :: the mean of the windows' embeddings, weighted by their length, at unit norm. Frames ::
    `joint` float32 (P, dim), the windows, and `span` (P, 2).
    """

    patches = "joint"
    evidence = (*SIMILARITY_NAMES, *CAPTION_NAMES)

    def of_windows(self, windows: Sequence[audio.Window], embeddings: np.ndarray) -> AudioFeatures:
        """The features of a clip, of those of its windows :: float32 (P, dim)."""
        weights = np.array([window.weight for window in windows])[:, None]
        frames = 1 / Spectrum.HOP_SECONDS / self.rate_hz
        edges = [(window.start * frames, window.stop * frames) for window in windows]
        spans = np.rint(edges).astype(np.int32)
        embedding = unit((embeddings.astype(np.float64) * weights).sum(axis=0))
        return AudioFeatures(embedding, {"joint": embeddings, "span": spans})

    def weigh(
        self, original: Frames, edited: Frames, alignment: Alignment | None, texts: Texts
    ) -> np.ndarray:
        """How alike windows and words are, and the captions."""
        similar = weigh_similarity(original, edited, alignment, texts)
        return np.concatenate([similar, weigh_captions(texts)])


def unit(rows: np.ndarray) -> np.ndarray:
    """At unit norm :: (..., dim) -> float32 (..., dim)."""
    norms = np.linalg.norm(rows.astype(np.float64), axis=-1, keepdims=True)
    return (rows / np.maximum(norms, 1e-12)).astype(np.float32)

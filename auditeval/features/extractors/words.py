"""`words`: sentence embeddings of the captions. No sound."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from auditeval.features.alignment import Alignment
from auditeval.features.comparison import Frames
from auditeval.features.evidence import CAPTION_NAMES, weigh_captions
from auditeval.features.extractor import Extractor, Texts
from auditeval.features.minilm import DIM, shared


class Words(Extractor):
    """MiniLM :: (384,), unit norm. `minilm` is a folder that stands in for the package's."""

    name = "words"
    text_dim = DIM
    evidence = CAPTION_NAMES

    def __init__(self, minilm: str | None = None) -> None:
        self.arguments = {"minilm": minilm}
        self._minilm = shared(minilm)
        self.revision = self._minilm.revision

    def encode_text(self, captions: Sequence[str]) -> np.ndarray:
        """Captions to float32 (N, 384)."""
        return np.stack([self._minilm.sentence(caption) for caption in captions])

    def weigh(
        self, original: Frames, edited: Frames, alignment: Alignment | None, texts: Texts
    ) -> np.ndarray:
        """How alike the captions are."""
        return weigh_captions(texts)

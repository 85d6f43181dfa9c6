"""Whether two clips are of one speaker."""

from __future__ import annotations

import numpy as np

from auditeval.backends.backend import SpeakerEmbedding


def speaker_similarity(a: SpeakerEmbedding, b: SpeakerEmbedding) -> float:
    """Cosine of two embeddings of one model, -1 to 1.

    What counts as the same speaker is the model's own `same_speaker_cosine`.

    >>> speaker_similarity(SpeakerEmbedding((1.0, 0.0)), SpeakerEmbedding((0.6, 0.8)))
    0.6
    """
    return float(np.dot(a.values, b.values))

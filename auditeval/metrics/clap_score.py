"""CLAP scores: cosines in a joint space of sound and words."""

from __future__ import annotations

import numpy as np


def clap_score(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Cosine of each row of x with that row of y :: (N, D), (N, D) -> float64 (N,), -1 to 1.

    Text with audio it is the CLAP score, audio with audio the CLAP similarity [arXiv:2508.11966,
    Table 2]; papers print it times 100. Raises ValueError where the embeddings do not share a
    space or one of them is zero.

    >>> clap_score(np.array([[3.0, 4.0]]), np.array([[4.0, 3.0]]))
    array([0.96])
    """
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if x.shape != y.shape or x.ndim != 2:
        raise ValueError(f"embeddings of {x.shape} and {y.shape} are not rows of one space")
    norms = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    if not (norms > 0).all():
        raise ValueError(f"embedding {int(np.argmin(norms))} is zero, and has no direction")
    return np.clip((x * y).sum(axis=1) / norms, -1, 1)  # rounding may pass either end

"""Measures of a set of clips by the classes that a tagger hears in them."""

from __future__ import annotations

import numpy as np
from scipy.special import log_softmax

from auditeval.types import Undefined

_MIN_ITEMS = 10


def inception_score(logits: np.ndarray, splits: int = 10, seed: int = 1984) -> float | Undefined:
    """Inception score of N clips, 1 to C, higher is better :: (N, C) logits -> mean over splits.

    exp of the mean KL divergence of each clip's softmax from the split's mean softmax (Salimans et
    al. 2016), over equal parts of a seeded shuffle. Undefined below 10 clips, or for fewer clips
    than splits. It depends on N: compare sets of one size.

    >>> round(inception_score(1e3 * np.eye(10), splits=1), 6)
    10.0
    """
    if len(logits) < max(_MIN_ITEMS, splits):
        return Undefined(f"{len(logits)} clips are too few, {max(_MIN_ITEMS, splits)} are needed")
    order = np.random.default_rng(seed).permutation(len(logits))
    scores = []
    for part in np.array_split(np.asarray(logits, np.float64)[order], splits):
        log_p = log_softmax(part, axis=1)
        p = np.exp(log_p)
        mean = p.mean(axis=0)
        log_mean = np.log(np.where(mean > 0, mean, 1.0))
        scores.append(np.exp((p * (log_p - log_mean)).sum(axis=1).mean()))
    return float(np.mean(scores))

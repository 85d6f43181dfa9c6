"""Measures of a set of clips by the classes that a tagger hears in them."""

from __future__ import annotations

import numpy as np
from scipy.special import log_softmax, softmax, xlogy

from auditeval.seed import SEED
from auditeval.text import counted
from auditeval.types import Undefined

_MIN_ITEMS, MIN_A_SPLIT = 10, 2
"""One clip alone scores 1, whatever is heard in it."""
_KL_FLOOR = 1e-6


def inception_score(logits: np.ndarray, splits: int = 10, seed: int = SEED) -> float | Undefined:
    """Inception score of N clips, 1 to C, higher is better :: (N, C) logits -> mean over splits.

    exp of the mean KL divergence of each clip's softmax from the split's mean softmax (Salimans et
    al. 2016), over equal parts of a seeded shuffle. Undefined below 10 clips, and below 2 a split.
    It depends on N: compare sets of one size.

    >>> round(inception_score(1e3 * np.eye(10), splits=1), 6)
    10.0
    """
    if len(logits) < (least := max(_MIN_ITEMS, MIN_A_SPLIT * splits)):
        clips = counted(len(logits), "clip is", "clips are")
        return Undefined(f"{clips} too few, {least} are needed")
    order = np.random.default_rng(seed).permutation(len(logits))
    scores = []
    for part in np.array_split(np.asarray(logits, np.float64)[order], splits):
        log_p = log_softmax(part, axis=1)
        p = np.exp(log_p)
        mean = p.mean(axis=0)
        log_mean = np.log(np.where(mean > 0, mean, 1.0))
        scores.append(np.exp((p * (log_p - log_mean)).sum(axis=1).mean()))
    return float(np.mean(scores))


class ClassStatistics:
    """Sums over the logits (N, C) of clips, from which their inception score follows.

    They stream: memory is that of C numbers, and parts merge.
    """

    def __init__(self) -> None:
        self.count = 0
        self._probabilities: np.ndarray | float = 0.0
        self._negative_entropy = 0.0

    def update(self, logits: np.ndarray) -> None:
        """Take in (N, C)."""
        log_p = log_softmax(np.asarray(logits, np.float64), axis=1)
        p = np.exp(log_p)
        self.count += len(p)
        self._probabilities = self._probabilities + p.sum(axis=0)
        self._negative_entropy += float((p * log_p).sum())

    def merge(self, other: ClassStatistics) -> ClassStatistics:
        """The sums of both; neither is changed."""
        made = ClassStatistics()
        made.count = self.count + other.count
        made._probabilities = self._probabilities + other._probabilities
        made._negative_entropy = self._negative_entropy + other._negative_entropy
        return made

    def inception_score(self) -> float | Undefined:
        """As the function of this name has it, of one split."""
        if not self.count:
            return Undefined("no clip; an inception score needs one in each split")
        mean = self._probabilities / self.count
        return float(np.exp(self._negative_entropy / self.count - xlogy(mean, mean).sum()))


def kl_divergence(reference_logits: np.ndarray, generated_logits: np.ndarray) -> np.ndarray:
    """KL(reference || generated) of each pair, in nats :: (N, C), (N, C) logits -> float64 (N,).

    Of the softmax on either side, with 1e-6 added to the generated probabilities and not divided
    out, as AudioLDM's evaluation computes it: of equal logits it is down to `lowest_kl` in place of
    0. Raises ValueError where the shapes differ.

    >>> kl_divergence(np.log([[0.5, 0.5]]), np.log([[0.25, 0.75]])).round(3)
    array([0.144])
    """
    x, y = (np.asarray(z, np.float64) for z in (reference_logits, generated_logits))
    if x.shape != y.shape or x.ndim != 2:
        raise ValueError(f"logits of {x.shape} and {y.shape} are not of the same clips and classes")
    p = softmax(x, axis=1)
    return (xlogy(p, p) - p * np.log(softmax(y, axis=1) + _KL_FLOOR)).sum(axis=1)


def lowest_kl(classes: int) -> float:
    """The least that `kl_divergence` can be: -log(1 + 1e-6 C), of equal and flat logits.

    >>> round(lowest_kl(527), 5)
    -0.00053
    """
    return float(-np.log1p(_KL_FLOOR * classes))

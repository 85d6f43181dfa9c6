"""The label bridge: words as a distribution over YAMNet's labels, a space shared with its sound."""

from __future__ import annotations

from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np
from scipy import special

from auditeval.features.extractors.yamnet import labels
from auditeval.features.minilm import DIM, MiniLM
from auditeval.pretrained.threads import one_thread

_TEMPERATURE = 0.02
_FLOOR = 1e-4
_LABELS = 32  # encoded at a time
_embedded: WeakKeyDictionary[MiniLM, np.ndarray] = WeakKeyDictionary()
_embedding = Lock()


def of_words(minilm: MiniLM, caption: str) -> np.ndarray:
    """A distribution over the labels :: float32 (1, 521), by likeness of meaning."""
    sentence = minilm.sentence(caption)[None]
    logits = sentence @ label_embeddings(minilm).T / _TEMPERATURE
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights.astype(np.float32)


def alike(minilm: MiniLM, first: str, second: str) -> float:
    """How surely two names are of one sound, up to 1.

    The mean of the cosine of their meanings and of the Bhattacharyya coefficient of their labels:
    "a phone rings" and "a doorbell rings" are alike in the first alone, "footsteps" and "someone
    walks on gravel" in the second alone.
    """
    meanings = minilm.sentence(first) @ minilm.sentence(second)
    labels_of = [of_words(minilm, x)[0] for x in (first, second)]
    return float(meanings + np.sqrt(labels_of[0] * labels_of[1]).sum()) / 2


def of_sound(logits: np.ndarray) -> np.ndarray:
    """log(p) above its floor: never negative, 0 for a label that is nowhere in the clip."""
    return np.log(special.expit(logits) / _FLOOR + 1)


def label_embeddings(minilm: MiniLM) -> np.ndarray:
    """The labels :: (521, 384), embedded at the first caption that is not in the cache."""
    with _embedding:
        if minilm not in _embedded:
            _embedded[minilm] = _embed_labels(minilm)
        return _embedded[minilm]


def _embed_labels(minilm: MiniLM) -> np.ndarray:
    """Those of like length together, to pad the least :: (521, 384)."""
    names = labels()
    order = sorted(range(len(names)), key=lambda row: len(names[row]))
    made = np.empty((len(names), DIM), np.float32)
    with one_thread():
        for start in range(0, len(order), _LABELS):
            rows = order[start : start + _LABELS]
            made[rows] = minilm([names[row] for row in rows])
    return made

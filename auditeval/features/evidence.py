"""How well what changed in the sound fits what changed in the words, in numbers free of classes.

From the patches of two clips in the space that an encoder shares with words (`joint` frames). A
model that has learnt what to make of these numbers can use them for sounds it was never taught.
"""

from __future__ import annotations

import numpy as np

EVIDENCE_NAMES: tuple[str, ...] = (
    "added_rise",  # what rose, along the words added and along those removed
    "removed_rise",
    "added_fall",  # what fell, along the same
    "removed_fall",
    "rise",  # all that rose and all that fell, whatever the words
    "fall",
)


def weigh(
    original: dict[str, np.ndarray],
    edited: dict[str, np.ndarray],
    added_text: np.ndarray,
    removed_text: np.ndarray,
    original_text: np.ndarray,
    target_text: np.ndarray,
) -> np.ndarray:
    """Frames of two clips and text embeddings to one vector :: float32 (len(names(...)),).

    The texts are those of the words added and removed between the captions (0 where there are
    none) and of the captions. Empty where the encoder keeps no `joint` frames.
    """
    if "joint" not in original:
        return np.zeros(0, np.float32)
    before, after = original["joint"].astype(np.float32), edited["joint"].astype(np.float32)
    added, removed = (text[-before.shape[1] :] for text in (added_text, removed_text))
    rise, fall = risen(before, after), risen(after, before)
    values = [rise @ added, rise @ removed, fall @ added, fall @ removed, rise.mean(), fall.mean()]
    return np.array(values, np.float32)


def names(frames: set[str]) -> tuple[str, ...]:
    """What the numbers of `weigh` are called, for an encoder with these frames."""
    return EVIDENCE_NAMES if "joint" in frames else ()


def risen(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """The greatest rise of each dimension over time :: (P1, J), (P2, J) -> (J,), never negative.

    A patch of `after` is held against the highest of the three of `before` at its time, so that a
    small shift is no rise; beyond the end of `before` against its last.
    """
    last = len(before) - 1
    near = [before[np.clip(np.arange(len(after)) + step, 0, last)] for step in (-1, 0, 1)]
    return np.maximum(after - np.max(near, axis=0), 0).max(axis=0)

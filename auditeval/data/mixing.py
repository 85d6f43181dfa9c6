"""Mixing an event into a background, and wording it [arXiv:2508.11966, Appendix B, Table 4]."""

from __future__ import annotations

import re

import numpy as np

STRIDE_SECONDS = 0.1

POSITIONS = ("before", "during", "after")
BEFORE, DURING, AFTER = range(len(POSITIONS))
_SPLITS = (0.3, 0.7)  # 3 s and 7 s of the paper's clips of 10 s

_BEFORE = (
    (0.30, "{b}, {a}."),
    (0.20, "{b}, followed by {a}."),
    (0.20, "{b}, then {a}."),
    (0.10, "with {b}, {a}."),
    (0.10, "{b}, and {a}."),
    (0.05, "after {b}, {a}."),
    (0.05, "{b} before {a}."),
)
_AFTER = (
    (0.30, "{a}, {b}."),
    (0.20, "{a}, followed by {b}."),
    (0.20, "{a}, then {b}."),
    (0.10, "{a}, with {b}."),
    (0.10, "{a}, and {b}."),
    (0.05, "after {a}, {b}."),
    (0.05, "{a} before {b}."),
)
_DURING = (
    (0.30, "{a}, with {b}."),
    (0.30, "{a}, while {b}."),
    (0.20, "{a}, {b}."),
    (0.20, "{a}, and {b}."),
)


def window_energies(energy: np.ndarray, window: int) -> np.ndarray:
    """Energy of each window of `window` of them :: (N,) -> (N - window + 1,), by prefix sums."""
    if not 0 < window <= len(energy):
        raise ValueError(f"a window of {window} does not fit into {len(energy)}")
    sums = np.concatenate([[0.0], np.cumsum(energy, dtype=np.float64)])
    return sums[window:] - sums[:-window]


def quietest_start(background: np.ndarray, length: int, rate_hz: int) -> int:
    """Sample at which the window of `length` with the lowest energy starts, 0.1 s stride.

    Prefix sums: one pass over (N,) samples. The first of equal windows wins.
    """
    stride = round(STRIDE_SECONDS * rate_hz)
    energies = window_energies(np.square(background, dtype=np.float64), length)[::stride]
    return stride * int(np.argmin(energies))


def place(event: np.ndarray, start: int, length: int) -> np.ndarray:
    """The event alone in a silent clip of `length` samples."""
    clip = np.zeros(length, np.float32)
    clip[start : start + len(event)] = event
    return clip


def position(centre: np.ndarray | float, clip: np.ndarray | float) -> np.ndarray:
    """Where in a clip the centre of an event lies, both in one unit :: index into POSITIONS.

    The paper's split points, 3 s and 7 s of a 10 s clip, are taken as shares of the clip.
    """
    # Rounded: 3 s of 10 s is the split point itself, whatever the units made of it.
    share = np.round(np.asarray(centre) / np.asarray(clip), 9)
    return np.where(share < _SPLITS[0], BEFORE, np.where(share > _SPLITS[1], AFTER, DURING))


def mix_caption(
    caption_a: str,
    caption_b: str,
    centre_seconds: float,
    clip_seconds: float,
    rng: np.random.Generator,
) -> str:
    """Words for A with B inserted around `centre_seconds`, drawn from Table 4's templates."""
    table = (_BEFORE, _DURING, _AFTER)[int(position(centre_seconds, clip_seconds))]
    probabilities, templates = zip(*table, strict=True)
    template = str(rng.choice(templates, p=probabilities))
    return sentence(template.format(a=within(caption_a), b=within(caption_b)))


def within(caption: str) -> str:
    """A caption as part of a sentence: no stop, and a small first letter ("I", "TV" stay)."""
    words = _bare(caption)
    ordinary = re.match(r"[A-Z](?=[a-z])|A\b", words)
    return words[0].lower() + words[1:] if ordinary else words


def sentence(words: str) -> str:
    """First letter large, one full stop at the end, single spaces."""
    words = _bare(words)
    return f"{words[0].upper()}{words[1:]}."


def _bare(words: str) -> str:
    return " ".join(words.split()).rstrip(".!?")

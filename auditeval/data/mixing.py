"""Mixing an event into a background, and wording the mix [auditeval.txt Appendix B, Table 4]."""

from __future__ import annotations

import numpy as np

STRIDE_SECONDS = 0.1

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


def quietest_start(background: np.ndarray, length: int, rate_hz: int) -> int:
    """Sample at which the window of `length` with the lowest energy starts, 0.1 s stride.

    Prefix sums: one pass over (N,) samples. The first of equal windows wins.
    """
    if length > len(background):
        raise ValueError(f"an event of {length} samples does not fit into {len(background)}")
    energy = np.concatenate([[0.0], np.cumsum(np.square(background, dtype=np.float64))])
    starts = np.arange(0, len(background) - length + 1, round(STRIDE_SECONDS * rate_hz))
    return int(starts[np.argmin(energy[starts + length] - energy[starts])])


def match_peak(event: np.ndarray, background: np.ndarray) -> np.ndarray:
    """The event scaled so that its largest amplitude is the background's."""
    return event * (np.abs(background).max() / max(float(np.abs(event).max()), 1e-12))


def place(event: np.ndarray, start: int, length: int) -> np.ndarray:
    """The event alone in a silent clip of `length` samples."""
    clip = np.zeros(length, np.float32)
    clip[start : start + len(event)] = event
    return clip


def mix_caption(
    caption_a: str,
    caption_b: str,
    centre_seconds: float,
    clip_seconds: float,
    rng: np.random.Generator,
) -> str:
    """Words for A with B inserted around `centre_seconds`, drawn from Table 4's templates.

    The paper's split points, 3 s and 7 s of a 10 s clip, are taken as shares of the clip.
    """
    position = 10 * centre_seconds / clip_seconds
    table = _BEFORE if position < 3 else _AFTER if position > 7 else _DURING
    probabilities, templates = zip(*table, strict=True)
    return sentence(str(rng.choice(templates, p=probabilities)).format(a=caption_a, b=caption_b))


def sentence(words: str) -> str:
    """First letter large, one full stop at the end."""
    return words[0].upper() + words[1:].rstrip(".") + "."

"""The record that describes one class of synthetic sound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np


@dataclass(frozen=True)
class SoundEvent:
    """One sound class of the bank.

    ``role`` is "background" for a texture that lasts the whole clip and "event" for a salient
    foreground sound.  ``category`` is one of the eight categories of the AuditEval paper.
    ``captions`` are lower-case phrases without a final period, fit for "{A}, followed by {B}.".
    ``render(generator, seconds, rate_hz)`` returns the raw mono signal, at no particular level;
    ``synthesize`` brings it to length and level.
    """

    name: str
    category: str
    role: Literal["background", "event"]
    captions: tuple[str, ...]
    render: Callable[[np.random.Generator, float, int], np.ndarray]

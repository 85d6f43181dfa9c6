"""The record that describes one class of synthetic sound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

Render = Callable[[np.random.Generator, float, int], np.ndarray]
Role = Literal["background", "event"]


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
    role: Role
    captions: tuple[str, ...]
    render: Render


def sound_class(category: str, role: Role, *captions: str) -> Callable[[Render], SoundEvent]:
    """Decorates what renders a class; the function's name is that of the class."""
    return lambda render: SoundEvent(render.__name__, category, role, captions, render)

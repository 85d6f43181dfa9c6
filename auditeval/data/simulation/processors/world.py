"""WORLD, a vocoder [Morise et al. 2016, 10.1587/transinf.2015EDP7457]: pitch, envelope, noise."""

from __future__ import annotations

import numpy as np

from auditeval.pretrained.packages import imported

_RATE_HZ = 16000


class World:
    """Speech taken apart and made again from its parameters, as they are or changed."""

    def __init__(self) -> None:
        self._world = imported("pyworld", "processors")

    def __call__(
        self, x: np.ndarray, semitones: float = 0.0, formants: float = 1.0, duration: float = 1.0
    ) -> np.ndarray:
        """With another pitch, formants that many times higher, and that much longer.

        As many samples come out as went in: what is longer is cut off, what is shorter ends in
        silence.
        """
        world, given = self._world, x.astype(np.float64)
        pitch, times = world.dio(given, _RATE_HZ)
        pitch = world.stonemask(given, pitch, times, _RATE_HZ)
        envelope = world.cheaptrick(given, pitch, times, _RATE_HZ)
        noise = world.d4c(given, pitch, times, _RATE_HZ)
        if formants != 1.0:
            bins = np.arange(envelope.shape[1])
            envelope = np.exp(_stretched(np.log(envelope), bins / formants))
            noise = _stretched(noise, bins / formants)
        pitch = pitch * 2 ** (semitones / 12)
        if duration != 1.0:
            at = np.arange(round(len(pitch) * duration)) / duration
            nearest = np.clip(np.round(at).astype(int), 0, len(pitch) - 1)
            pitch, envelope, noise = pitch[nearest], envelope[nearest], noise[nearest]
        parts = (np.ascontiguousarray(part) for part in (pitch, envelope, noise))
        made = world.synthesize(*parts, _RATE_HZ).astype(np.float32)
        return np.pad(made, (0, max(0, len(x) - len(made))))[: len(x)]


def _stretched(rows: np.ndarray, bins: np.ndarray) -> np.ndarray:
    """Each row read at other bins :: (T, F), (F,) -> (T, F)."""
    low = np.clip(np.floor(bins).astype(int), 0, rows.shape[1] - 2)
    share = np.clip(bins - low, 0, 1)
    return (1 - share) * rows[:, low] + share * rows[:, low + 1]


def read() -> World:
    """From the package pyworld."""
    return World()

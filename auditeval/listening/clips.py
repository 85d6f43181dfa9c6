"""What raters hear: clips decoded, and written anew without name, tags or any other trace.

A clip is mono, as evaluators hear it, 16 bits at its own rate (or the next that every browser
plays), as FLAC. Both clips of a pair are turned down alike where one of them exceeds full scale;
nothing else is done to their level.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

import numpy as np

from auditeval.audio import files
from auditeval.audio.waveform import quantised
from auditeval.player.clips import played
from auditeval.types import EditPair

KIND = "audio/flac"
_KEPT_BYTES = 256 << 20


class Clips:
    """The clips of a test's pairs, each made once while memory lasts."""

    def __init__(self, pairs: dict[int, EditPair], seed: int) -> None:
        self._pairs, self._seed = pairs, seed
        self._kept: OrderedDict[tuple[int, str, str], tuple[bytes, float]] = OrderedDict()
        self._lock = threading.Lock()

    def clip(self, number: int, form: str, side: str) -> tuple[bytes, float]:
        """The file of one side of a pair in a form (see `design.FORMS`), and its seconds.

        Raises AudioError where a clip cannot be decoded.
        """
        key = number, form if side == "edited" else "pair", side
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = self._made(number, form, side)
        with self._lock:
            self._kept[key] = made
            while sum(len(data) for data, _ in self._kept.values()) > _KEPT_BYTES:
                self._kept.popitem(last=False)
        return made

    def _made(self, number: int, form: str, side: str) -> tuple[bytes, float]:
        pair = self._pairs[number]
        original, edited = played(pair.original, pair.edited)
        clip = edited if side == "edited" and form in ("pair", "wrong") else original
        samples = clip.samples
        if side == "edited" and form == "noise":
            samples = _noise_like(samples, np.random.default_rng([self._seed, number]))
        return files.encoded(quantised(samples), clip.rate_hz, "FLAC"), clip.seconds


def _noise_like(samples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """White noise of the same length and level, at -20 dB of full scale or above."""
    level = max(0.1, float(np.sqrt(np.mean(np.square(samples)))))
    return np.clip(rng.normal(0.0, level, len(samples)), -1.0, 1.0).astype(np.float32)

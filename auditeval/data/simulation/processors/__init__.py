"""Real processors whose faults no formula imitates: a neural codec, enhancers, a vocoder.

Their weights are files that a user fetches (docs/weights.md); a set is simulated with those that
are named, and with none by default.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from auditeval.audio import Waveform, resample
from auditeval.data.simulation.processors import dtln, gtcrn, lyra, world
from auditeval.data.simulation.processors.files import find
from auditeval.data.simulation.signals import RATE_HZ
from auditeval.digests import sha256
from auditeval.types import UserError

SPEECH_HZ = 16000
"""The rate that all of them are made for."""

Process = Callable[..., np.ndarray]
"""Mono float32 (N,) at 16 kHz to as many samples; further arguments are the processor's own."""

_READERS: dict[str, tuple[tuple[str, ...], Callable[[Path], Process]]] = {
    "lyra": (lyra.FILES, lyra.read),
    "dtln": (dtln.FILES, dtln.read),
    "gtcrn": (gtcrn.FILES, gtcrn.read),
}
_PACKAGED: dict[str, Callable[[], Process]] = {"world": world.read}
ENHANCERS = ("dtln", "gtcrn")
NAMES = (*_READERS, *_PACKAGED)


class Processors:
    """Those named: {name: the folder of its files}, or {name: true} for what a package holds.

    Raises UserError for an unknown name, a missing file or package.
    """

    def __init__(self, given: Mapping[str, str | Path | bool | None] | None) -> None:
        self.given = {name: where for name, where in (given or {}).items() if where}
        self._processes: dict[str, Process] = {}
        self._known_by: list[str] = []
        for name, where in self.given.items():
            if name in _READERS:
                files, read = _READERS[name]
                found = [find(Path(str(where)), file) for file in files]
                self._known_by += [f"{name} {sha256(path)}" for path in found]
                self._processes[name] = read(Path(str(where)))
            elif name in _PACKAGED:
                self._known_by.append(name)
                self._processes[name] = _PACKAGED[name]()
            else:
                raise UserError(f"processors: {name!r} is none of {', '.join(NAMES)}")

    def __contains__(self, name: str) -> bool:
        return name in self._processes

    def any_of(self, names: tuple[str, ...]) -> list[str]:
        """Those of `names` that are there."""
        return [name for name in names if name in self]

    def identity(self) -> str:
        """SHA-256 of names and weights, in hex; nothing of none."""
        if not self._known_by:
            return ""
        return hashlib.sha256("\n".join(sorted(self._known_by)).encode()).hexdigest()

    def run(
        self, name: str, x: np.ndarray, *arguments: float, rate_hz: int = SPEECH_HZ
    ) -> np.ndarray:
        """A clip :: float (N,) at RATE_HZ through a processor; what lies above its band is kept.

        At another `rate_hz` it takes the samples as if they were at its own: a deeper voice to it,
        and to us a processor of that band.
        """
        x = np.asarray(x, np.float32)
        low = resample(Waveform(x, RATE_HZ), rate_hz)
        kept = x - _fitted(resample(Waveform(low, rate_hz), RATE_HZ), len(x))
        made = self._processes[name](low, *arguments)
        return kept + _fitted(resample(Waveform(made, rate_hz), RATE_HZ), len(x))


def _fitted(x: np.ndarray, length: int) -> np.ndarray:
    return np.pad(x, (0, max(0, length - len(x))))[:length]

"""Taking a sound out of a mixture as separators do, and what is wrong with what they leave.

An estimate of the kept sound is taken apart by the two sounds that were mixed, as BSS Eval and
PEASS do [Vincent et al. 2006, 10.1109/TSA.2005.858005; Emiya et al. 2011,
10.1109/TASL.2011.2109381]: the kept sound as it came out, the other sound that is left, and
artefacts, which are neither. All clips are float (N,) at RATE_HZ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.random import Generator
from scipy.ndimage import median_filter, uniform_filter, uniform_filter1d

from auditeval.data.simulation.signals import (
    RATE_HZ,
    WINDOW,
    resynthesized,
    spectrum,
    times_conjugate,
)

_BANDS = 24
_FRAMES = 25  # of 8 ms, over which the parts are fitted: 200 ms
_FLOOR = 1e-10
_COMPONENTS, _ROUNDS = 16, 15

Mask = Callable[[np.ndarray, np.ndarray, Generator], np.ndarray]
"""Spectra of the kept and of the other sound :: complex (T, F) each, to a gain for the mixture."""


@dataclass(frozen=True)
class Parts:
    """An estimate as the sum of three :: float32 (N,) each, when asked for; see the module."""

    spectra: tuple[np.ndarray, np.ndarray, np.ndarray]
    length: int

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter((self.kept, self.left, self.artefacts))

    @cached_property
    def kept(self) -> np.ndarray:
        return resynthesized(self.spectra[0], self.length)

    @cached_property
    def left(self) -> np.ndarray:
        return resynthesized(self.spectra[1], self.length)

    @cached_property
    def artefacts(self) -> np.ndarray:
        return resynthesized(self.spectra[2], self.length)


def separate(
    kept: np.ndarray,
    other: np.ndarray,
    method: str,
    rng: Generator,
    enhance: Callable[[np.ndarray], np.ndarray] | None = None,
) -> Parts:
    """What `method`, one of MASKS, makes of the mixture of two clips, or `enhance`, in parts."""
    if enhance is not None:
        return parts(enhance(kept + other), kept, other)
    first, second = spectrum(kept), spectrum(other)
    gain = MASKS[method](first, second, rng)
    return parts(resynthesized((first + second) * gain, len(kept)), kept, other)


def parts(estimate: np.ndarray, kept: np.ndarray, other: np.ndarray) -> Parts:
    """By least squares on both sounds, in each band of 24 and each 200 ms."""
    made, first, second = spectrum(estimate), spectrum(kept), spectrum(other)
    edges = _edges(made.shape[1])

    def mean(x: np.ndarray) -> np.ndarray:
        return uniform_filter1d(np.add.reduceat(x, edges[:-1], axis=1), _FRAMES, axis=0)

    def product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        both = times_conjugate(x, y)
        return mean(both.real) + 1j * mean(both.imag)

    power, power_2 = (mean(np.abs(x) ** 2) for x in (first, second))
    least = 1e-4 * (power + power_2) + _FLOOR
    power, power_2 = power + least, power_2 + least
    cross = product(second, first)
    with_first, with_second = product(made, first), product(made, second)
    determinant = power * power_2 - np.abs(cross) ** 2
    a = (with_first * power_2 - with_second * cross) / determinant
    b = (with_second * power - with_first * np.conj(cross)) / determinant
    widths = np.diff(edges)
    a, b = (np.repeat(x, widths, axis=1) for x in (a, b))
    as_kept, as_left = a * first, b * second
    return Parts((as_kept, as_left, made - as_kept - as_left), len(estimate))


def _edges(bins: int) -> np.ndarray:
    top = 2595 * np.log10(1 + RATE_HZ / 2 / 700)
    hz = 700 * (10 ** (np.linspace(0, top, _BANDS + 1) / 2595) - 1)
    edges = np.unique(np.round(hz * WINDOW / RATE_HZ).astype(int))
    edges[-1] = bins
    return edges


def _ideal_ratio(kept: np.ndarray, other: np.ndarray, rng: Generator) -> np.ndarray:
    """Of magnitudes to a power of 1 to 2 [Wang and Chen 2018, arXiv:1708.07524]."""
    power = rng.uniform(1.0, 2.0)
    first, second = (np.abs(x) ** power for x in (kept, other))
    return first / (first + second + _FLOOR)


def _ideal_binary(kept: np.ndarray, other: np.ndarray, rng: Generator) -> np.ndarray:
    """1 where the kept sound is louder by a threshold, else a floor [Wang 2005]."""
    louder = np.abs(kept) > 10 ** (rng.uniform(-6, 6) / 20) * np.abs(other)
    return np.where(louder, 1.0, 10 ** (rng.uniform(-60, -20) / 20))


def _misjudged(kept: np.ndarray, other: np.ndarray, rng: Generator) -> np.ndarray:
    """A Wiener gain whose powers are wrong by some dB from cell to cell, as an estimate's are."""
    wrong_db = rng.uniform(3, 12)
    smear = int(rng.choice([1, 3, 5]))
    errors = uniform_filter(rng.standard_normal(kept.shape), smear) * smear * wrong_db
    ratio = np.abs(kept) ** 2 / (np.abs(other) ** 2 + _FLOOR) * 10 ** (errors / 10)
    return np.sqrt(ratio / (1 + ratio)) if rng.random() < 0.5 else ratio / (1 + ratio)


def _subtraction(kept: np.ndarray, other: np.ndarray, rng: Generator) -> np.ndarray:
    """The other's mean spectrum, over up to a second, taken away once to thrice [Boll 1979]."""
    mixture, times = np.abs(kept + other), int(rng.integers(1, 126))
    mean = uniform_filter1d(np.abs(other), times, axis=0)
    gain = 1 - rng.uniform(1, 3) * mean / np.maximum(mixture, _FLOOR)
    return np.maximum(gain, 10 ** (rng.uniform(-40, -15) / 20))


def _gated(kept: np.ndarray, other: np.ndarray, rng: Generator) -> np.ndarray:
    """One gain for each of a few wide bands, opening and closing with the kept sound."""
    bands = int(rng.choice([1, 4, 12]))
    edges = np.linspace(0, kept.shape[1], bands + 1).astype(int)
    level, noise = (
        uniform_filter1d(np.add.reduceat(np.abs(x) ** 2, edges[:-1], axis=1), 5, axis=0)
        for x in (kept, other)
    )
    opened = level > 10 ** (rng.uniform(-6, 6) / 10) * noise
    gain = np.where(opened, 1.0, 10 ** (rng.uniform(-40, -12) / 20))
    return np.repeat(uniform_filter1d(gain, 5, axis=0), np.diff(edges), axis=1)


def _harmonic(kept: np.ndarray, other: np.ndarray, rng: Generator) -> np.ndarray:
    """The steadier half of the mixture, or the more sudden one [Fitzgerald 2010], as suits it."""
    size = np.abs(kept + other)
    length = int(rng.choice([17, 31]))
    steady, sudden = median_filter(size, (length, 1)), median_filter(size, (1, length))
    power = rng.uniform(1, 2)
    gain = steady**power / (steady**power + sudden**power + _FLOOR)
    first, second = np.abs(kept) ** 2, np.abs(other) ** 2
    fits = (gain * first).sum() * second.sum() > (gain * second).sum() * first.sum()
    return gain if fits else 1 - gain


def _factorised(kept: np.ndarray, other: np.ndarray, rng: Generator) -> np.ndarray:
    """NMF of the mixture's magnitudes [Lee and Seung 1999], components dealt by what they hold."""
    size = np.abs(kept + other).astype(np.float32) + 1e-6
    times = rng.random((len(size), _COMPONENTS), dtype=np.float32) + 0.1
    bases = rng.random((_COMPONENTS, size.shape[1]), dtype=np.float32) + 0.1
    for _ in range(_ROUNDS):
        bases *= (times.T @ (size / (times @ bases))) / times.sum(axis=0)[:, None]
        times *= ((size / (times @ bases)) @ bases.T) / bases.sum(axis=1)
    own = np.abs(kept) - np.abs(other)
    belongs = np.array([(times[:, k] @ own) @ bases[k] for k in range(_COMPONENTS)])
    chosen = belongs >= min(0.0, belongs.max())
    return (times[:, chosen] @ bases[chosen]) / (times @ bases)


MASKS: dict[str, Mask] = {
    "ideal_ratio": _ideal_ratio,
    "ideal_binary": _ideal_binary,
    "misjudged": _misjudged,
    "subtraction": _subtraction,
    "gated": _gated,
    "harmonic": _harmonic,
    "factorised": _factorised,
}
HEARD = tuple(name for name in MASKS if name not in ("harmonic", "factorised"))
"""Those that simulated edits are made with; the others are kept for tests."""

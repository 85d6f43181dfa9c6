"""Samples in memory: what a clip is, its hash, other rates, windows. The only user of soxr."""

from __future__ import annotations

import hashlib
import math
from typing import NamedTuple

import numpy as np
import soxr

from auditeval.text import counted

MIN_SECONDS = 0.05
"""Shorter clips hold no frame that a listener could rate; they are an error."""

MAX_SECONDS = 3600.0
"""Longer clips are an error unless they are asked for: memory grows with them."""

SILENCE_PEAK = 1e-6
"""Peak (full scale 1.0) below which a clip counts as digital silence: under one 20-bit step."""

MAX_PEAK = 1000.0
"""Float samples far beyond a full scale of 1 are damage, or integers that nobody divided: a tagger
hears other things in them."""

_SILENCE, _MOST_SILENCE_SECONDS = 1e-4, 0.5  # -80 dB of full scale

FULL_SCALE = 32768
"""The whole numbers of 16-bit samples stand for shares of it."""


class AudioError(ValueError):
    """A file that cannot be used as audio; the sentence names the file and what was found."""


class Waveform(NamedTuple):
    """Mono samples :: float32 (N,), nominal range -1 to 1, at `rate_hz`."""

    samples: np.ndarray
    rate_hz: int

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.rate_hz


class Window(NamedTuple):
    """Samples [start, stop) of a clip; `weight` is its share of the clip's mean."""

    start: int
    stop: int
    weight: float


def fault(waveform: Waveform) -> str | None:
    """Why a clip could not be rated, as a clause ("is digital silence, ..."); None for a sound one.

    It is one that is shorter than `MIN_SECONDS`, silent throughout, or holds samples that are NaN,
    infinite or above `MAX_PEAK`.
    """
    samples, rate_hz = waveform
    if len(samples) < MIN_SECONDS * rate_hz:
        there = counted(len(samples), "sample", "samples")
        least, milliseconds = 1000 * MIN_SECONDS, 1000 * len(samples) / rate_hz
        return f"holds {there} ({milliseconds:.1f} ms), at least {least:.0f} ms are needed"
    peak = max(-float(samples.min()), float(samples.max()))  # NaN if one of them is
    if not math.isfinite(peak):
        return "holds NaN or infinite samples"
    if peak > MAX_PEAK:
        return f"holds samples of {peak:.3g}, where full scale is 1"
    if peak < SILENCE_PEAK:
        return "is digital silence, so there is nothing to rate"
    return None


def content_hash(waveform: Waveform) -> str:
    """SHA-256 of the decoded samples and their rate, in hex: one changed sample changes it."""
    digest = hashlib.sha256(f"mono float32 {waveform.rate_hz} Hz\n".encode())
    digest.update(np.ascontiguousarray(waveform.samples, dtype="<f4").data)
    return digest.hexdigest()


def resample(waveform: Waveform, rate_hz: int) -> np.ndarray:
    """The clip at another rate :: (N,) -> (round(N * rate_hz / rate),), soxr's HQ quality."""
    if waveform.rate_hz == rate_hz:
        return waveform.samples
    return soxr.resample(waveform.samples, waveform.rate_hz, rate_hz, quality="HQ")


def heard(waveform: Waveform) -> slice:
    """All samples but the silence at the ends, of which half a second at the most is taken off.

    What a network says of a clip depends on where its windows begin: from the first sound on, a
    delay and silence around a clip change nothing.
    """
    samples, rate_hz = waveform
    most = round(_MOST_SILENCE_SECONDS * rate_hz)
    rest = max(len(samples) - most, 0)
    head, tail = (
        np.flatnonzero(np.abs(end) > _SILENCE) for end in (samples[:most], samples[rest:])
    )
    if not len(head) and not len(tail) and max(samples.max(), -samples.min()) <= _SILENCE:
        return slice(0, len(samples))
    first = int(head[0]) if len(head) else most
    return slice(first, rest + int(tail[-1]) + 1 if len(tail) else rest)


def quantised(samples: np.ndarray) -> np.ndarray:
    """Samples of full scale 1 to 16 bits, rounded and clipped :: (N,) -> int16 (N,)."""
    scaled = np.rint(samples * np.float32(FULL_SCALE))
    return np.clip(scaled, -FULL_SCALE, FULL_SCALE - 1, out=scaled).astype(np.int16)


def windows(length: int, window: int, hop: int) -> list[Window]:
    """Cover `length` samples or frames by fixed windows that overlap when hop < window.

    Always the same windows for the same length (never a random crop). The last may be short; its
    weight is its share of the summed window lengths, so padding counts for nothing and the weights
    sum to 1.

    >>> windows(10, window=4, hop=3)[-1]
    Window(start=6, stop=10, weight=0.3333333333333333)
    """
    if length < 1 or window < 1 or not 1 <= hop <= window:
        raise ValueError(f"no windows of {window} with hop {hop} over {length}")
    count = 1 + math.ceil(max(length - window, 0) / hop)
    spans = [(i * hop, min(i * hop + window, length)) for i in range(count)]
    total = sum(stop - start for start, stop in spans)
    return [Window(start, stop, (stop - start) / total) for start, stop in spans]


def adjoining_windows(length: int, window: int, rate_hz: int) -> list[Window]:
    """Windows without overlap, for encoders that were trained on windows of this many samples.

    What is too short to be rated (MIN_SECONDS) is too short for a window of its own: containers
    often run over a round length by some milliseconds.
    """
    rest = length % window
    if length > window and rest < MIN_SECONDS * rate_hz:
        length -= rest
    return windows(length, window, window)

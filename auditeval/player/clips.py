"""Both clips of a pair as browsers play them: mono, 16 bits, at a rate that all of them know."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from auditeval import audio
from auditeval.audio.waveform import Waveform

_PLAYED_HZ = (8_000, 48_000)


def played(original: Path, edited: Path) -> tuple[Waveform, Waveform]:
    """The two clips as evaluators hear them, each at its own rate or the next that is played.

    Both are turned down alike where one of them exceeds full scale; nothing else is done to their
    level. Raises AudioError where one cannot be decoded.
    """
    clips = _at_a_known_rate(original), _at_a_known_rate(edited)
    peak = max(1.0, *(float(np.abs(clip.samples).max()) for clip in clips))
    first, second = (Waveform(x.samples / np.float32(peak), x.rate_hz) for x in clips)
    return first, second


def _at_a_known_rate(path: Path) -> Waveform:
    clip = audio.decode(path)
    low, high = _PLAYED_HZ
    if low <= clip.rate_hz <= high:
        return clip
    rate_hz = low if clip.rate_hz < low else high
    return Waveform(audio.resample(clip, rate_hz), rate_hz)

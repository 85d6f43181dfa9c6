"""Speed, pitch and stress of edited speech against its source (SpeechEditBench, Table 12)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from auditeval.audio import Waveform
from auditeval.backends.backend import PitchTrack, Word
from auditeval.types import Undefined

SpeedDirection = Literal["faster", "slower"]
PitchDirection = Literal["higher", "lower"]

FASTER_RATIO, SLOWER_RATIO = 0.95, 1.05
SHIFT_SEMITONES = 0.3
TOLERANCE = 1e-6
"""A shift of exactly 0.3 semitones comes out as 0.29999..."""

_RMS_WEIGHT, _F0_WEIGHT, _DURATION_WEIGHT = 0.5, 0.3, 0.2


def duration_ratio(source: Waveform, output: Waveform) -> float:
    """Length of the output over that of the source; below 1 is faster.

    >>> duration_ratio(Waveform(np.zeros(100), 10), Waveform(np.zeros(90), 10))
    0.9
    """
    return output.seconds / source.seconds


def speed_succeeds(ratio: float, direction: SpeedDirection) -> bool:
    """Whether the length shrank, or grew, by at least 5 %.

    >>> speed_succeeds(0.95, "faster"), speed_succeeds(1.04, "slower")
    (True, False)
    """
    if direction == "faster":
        return ratio <= FASTER_RATIO + TOLERANCE
    return ratio >= SLOWER_RATIO - TOLERANCE


def f0_shift_semitones(source: PitchTrack, output: PitchTrack) -> float | Undefined:
    """12 log2 of the ratio of median voiced f0, output to source; above 0 is higher.

    Undefined where either has no voiced frame.

    >>> low, high = PitchTrack(0.01, (100.0, None)), PitchTrack(0.01, (200.0, 200.0))
    >>> f0_shift_semitones(low, high)
    12.0
    """
    medians = [_median_f0(track.f0_hz) for track in (source, output)]
    for median, which in zip(medians, ("source", "output"), strict=True):
        if isinstance(median, Undefined):
            return Undefined(f"the {which} has no voiced frame")
    return 12 * math.log2(medians[1] / medians[0])  # type: ignore[operator]


def pitch_succeeds(shift: float | Undefined, direction: PitchDirection) -> bool:
    """Whether the pitch moved by at least 0.3 semitones that way; an undefined shift did not.

    >>> pitch_succeeds(0.3, "higher"), pitch_succeeds(0.3, "lower")
    (True, False)
    """
    if isinstance(shift, Undefined):
        return False
    return (shift if direction == "higher" else -shift) >= SHIFT_SEMITONES - TOLERANCE


def prominences(
    clip: Waveform, words: Sequence[Word], pitch: PitchTrack
) -> list[float | Undefined]:
    """How much each word stands out of its utterance, 0 for one like the others.

    0.5 ln(rms / rms of all) + 0.3 log2(f0 / f0 of all) + 0.2 ln(duration / duration of all), where
    rms is that of the word's samples, f0 the median of its voiced frames, and "of all" the mean
    over the words of the utterance; silence between them counts for nothing. (The weights are those
    of SpeechEditBench's code, release v1.1, which divides by the whole clip instead.) Undefined for
    a word that has no samples, is silent, or has no voiced frame.

    >>> clip = Waveform(np.repeat([0.1, 0.3], 10), 10)
    >>> words = [Word("not", 0.0, 1.0), Word("now", 1.0, 2.0)]
    >>> [round(p, 2) for p in prominences(clip, words, PitchTrack(0.1, (100.0,) * 20))]
    [-0.35, 0.2]
    """
    measures = [_measure(clip, word, pitch) for word in words]
    known = [measure for measure in measures if not isinstance(measure, Undefined)]
    if not known:
        return [m if isinstance(m, Undefined) else Undefined("no words") for m in measures]
    rms, f0, duration = np.mean(known, axis=0)
    return [
        measure
        if isinstance(measure, Undefined)
        else _RMS_WEIGHT * math.log(measure[0] / rms)
        + _F0_WEIGHT * math.log2(measure[1] / f0)
        + _DURATION_WEIGHT * math.log(measure[2] / duration)
        for measure in measures
    ]


def prominence_gain(
    source: Sequence[float | Undefined], output: Sequence[float | Undefined]
) -> float | Undefined:
    """Mean prominence of a target's words in the output, less that in the source.

    A target is one word, or several (a phrase, the characters of a Chinese word). Undefined where
    one of them is, or was not found at all.

    >>> round(prominence_gain([0.1, 0.3], [0.5]), 6)
    0.3
    """
    means = []
    for words, which in ((source, "source"), (output, "output")):
        if not words:
            return Undefined(f"the word is not heard in the {which}")
        known = [word for word in words if not isinstance(word, Undefined)]
        if len(known) < len(words):
            reason = next(word.reason for word in words if isinstance(word, Undefined))
            return Undefined(f"{which}: {reason}")
        means.append(sum(known) / len(known))
    return means[1] - means[0]


def stress_succeeds(gains: Sequence[float | Undefined]) -> bool:
    """Whether every target stands out more than in the source; an undefined gain is none.

    >>> stress_succeeds([0.2, 0.1]), stress_succeeds([0.2, -0.1]), stress_succeeds([])
    (True, False, False)
    """
    return bool(gains) and all(
        not isinstance(gain, Undefined) and gain > TOLERANCE for gain in gains
    )


def _median_f0(f0_hz: Sequence[float | None]) -> float | Undefined:
    voiced = [value for value in f0_hz if value is not None]
    return float(np.median(voiced)) if voiced else Undefined("no voiced frame")


def _measure(
    clip: Waveform, word: Word, pitch: PitchTrack
) -> tuple[float, float, float] | Undefined:
    """RMS, median f0 in Hz and length in seconds of one word."""
    start, end = max(word.start, 0.0), min(word.end, clip.seconds)
    samples = clip.samples[round(start * clip.rate_hz) : round(max(end, 0) * clip.rate_hz)]
    if not len(samples):
        return Undefined(f"{word.text!r} has no length")
    rms = math.sqrt(np.mean(np.square(samples, dtype=np.float64)))
    if not rms:
        return Undefined(f"{word.text!r} is silent")
    first = math.ceil(start / pitch.hop_seconds)
    f0 = _median_f0(pitch.f0_hz[first : math.floor(end / pitch.hop_seconds) + 1])
    if isinstance(f0, Undefined):
        return Undefined(f"{word.text!r} has no voiced frame")
    return rms, f0, end - start

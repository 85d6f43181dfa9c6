"""Reverberation time as the released code estimates it (eval/metrics/acoustic_accuracy.py).

Its regularisation is a thousandth of the largest power of the source's spectrum, which lies above
most of what speech has, so the response is mostly the source's own, and the estimate is often at
its upper bound of 4 s. What `auditeval.metrics.reverberation` does otherwise is written there.
"""

from __future__ import annotations

import numpy as np

from auditeval.audio import Waveform, resample
from auditeval.types import Undefined

RATE_HZ = 16000
LEAST_SECONDS, MOST_SECONDS = 0.03, 4.0

_RESPONSE_SECONDS = 1.6
_LEAST_TAIL_SECONDS = 0.05
_REGULARISATION = 1e-3
_SAME = 1e-8  # mean square of the difference of what counts as the source again
_FIT_DB, _LEAST_FIT_SECONDS = (-5.0, -25.0), 0.025
_SECOND_FIT_DB, _LEAST_SECOND_FIT_SECONDS = (-3.0, -15.0), 0.015
_FLATTEST_DB_PER_SECOND = -3.0


def rt60(source: Waveform, output: Waveform) -> float | Undefined:
    """Seconds, 0.03 to 4: by the decay of what turns the source into the output.

    Both cut to the shorter, from their beginning. The source again has 0.03 s, and so has a
    response whose decay is too short for a line, or does not fall. Undefined where there is no
    response, or its peak lies in its last 0.05 s.

    >>> clip = Waveform(np.random.default_rng(0).standard_normal(RATE_HZ).astype("f4"), RATE_HZ)
    >>> rt60(clip, clip)
    0.03
    """
    x, y = (_within_full_scale(resample(clip, RATE_HZ)) for clip in (source, output))
    length = min(len(x), len(y))
    x, y = x[:length], y[:length]
    if np.mean((x - y) ** 2) <= _SAME:
        return LEAST_SECONDS
    kept = int(_RESPONSE_SECONDS * RATE_HZ)
    size = 1 << (length + kept - 2).bit_length()
    spectrum = np.fft.rfft(x, size)
    power = np.abs(spectrum) ** 2
    floor = max(float(power.max()) * _REGULARISATION, _SAME)
    response = np.fft.irfft(np.fft.rfft(y, size) * np.conj(spectrum) / (power + floor), size)
    response = response[:kept]
    peak = int(np.argmax(np.abs(response)))
    if abs(response[peak]) <= _SAME:
        return Undefined("nothing turns the source into the output")
    tail = np.asarray(response[peak:] / abs(response[peak]), np.float32)
    if len(tail) < int(_LEAST_TAIL_SECONDS * RATE_HZ):
        return Undefined("the response is too short")
    return _decay(tail)


def _decay(tail: np.ndarray) -> float:
    energy = np.cumsum(tail[::-1] ** 2)[::-1]
    level_db = 10 * np.log10(np.maximum(energy, 1e-12) / energy.max())
    seconds = np.arange(len(tail), dtype=np.float32) / RATE_HZ
    fitted = (level_db <= _FIT_DB[0]) & (level_db >= _FIT_DB[1])
    if np.count_nonzero(fitted) < int(_LEAST_FIT_SECONDS * RATE_HZ):
        fitted = (level_db <= _SECOND_FIT_DB[0]) & (level_db >= _SECOND_FIT_DB[1])
    if np.count_nonzero(fitted) < int(_LEAST_SECOND_FIT_SECONDS * RATE_HZ):
        return LEAST_SECONDS
    slope = np.polyfit(seconds[fitted], level_db[fitted], 1)[0]
    if slope >= _FLATTEST_DB_PER_SECOND:
        return LEAST_SECONDS
    return float(np.clip(-60.0 / slope, LEAST_SECONDS, MOST_SECONDS))


def _within_full_scale(samples: np.ndarray) -> np.ndarray:
    return samples / np.float32(max(1.0, float(np.abs(samples).max(initial=0.0))))

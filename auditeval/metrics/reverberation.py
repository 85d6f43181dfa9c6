"""Reverberation time, from what turned a source into its output or from speech alone."""

from __future__ import annotations

import numpy as np
from scipy import fft

from auditeval.audio import Waveform, resample
from auditeval.types import Undefined

RATE_HZ = 16000
RESPONSE_SECONDS = 1.6
"""How much of a response is looked at, as in SpeechEditBench."""

_REGULARISATION = 1e-6
_FIT_DB = (-5.0, -25.0)


def impulse_response(source: Waveform, output: Waveform) -> Waveform:
    """What turns source into output, by regularised deconvolution :: 1.6 s at 16 kHz.

    Y conj(X) / (|X|^2 + e), e a millionth of the mean of |X|^2. The response begins at its peak,
    the direct sound, wherever that lies: a delay or an advance of the output does not count, and
    neither does its gain.
    """
    x, y = (resample(clip, RATE_HZ).astype(np.float64) for clip in (source, output))
    length = fft.next_fast_len(len(x) + len(y) + round(RESPONSE_SECONDS * RATE_HZ), real=True)
    spectrum = fft.rfft(x, length)
    power = np.square(np.abs(spectrum))
    transfer = fft.rfft(y, length) * np.conj(spectrum) / (power + _REGULARISATION * power.mean())
    response = fft.irfft(transfer, length)
    response = np.roll(response, -int(np.argmax(np.abs(response))))
    return Waveform(response[: round(RESPONSE_SECONDS * RATE_HZ)], RATE_HZ)


def rt60(response: Waveform) -> float | Undefined:
    """Seconds in which a response decays by 60 dB.

    Schroeder's backward integration, a line through its decay from -5 to -25 dB, extrapolated.
    Undefined for a response that is silent or does not decay so far.
    """
    energy = np.cumsum(np.square(response.samples[::-1], dtype=np.float64))[::-1]
    if not len(energy) or not energy[0] > 0:
        return Undefined("a silent response has no decay")
    decay_db = 10 * np.log10(np.maximum(energy / energy[0], 1e-30))
    fitted = np.flatnonzero((decay_db <= _FIT_DB[0]) & (decay_db >= _FIT_DB[1]))
    if len(fitted) < 2 or decay_db[-1] > _FIT_DB[1]:
        return Undefined("the response has no decay from -5 to -25 dB")
    slope = np.polyfit(fitted / response.rate_hz, decay_db[fitted], 1)[0]
    return float(-60 / slope)


def rt60_succeeds(measured: float | Undefined, low: float, high: float) -> bool:
    """Whether a reverberation time is within 20 % of a target range in seconds (Table 12)."""
    if isinstance(measured, Undefined):
        return False
    return 0.8 * low <= measured <= 1.2 * high

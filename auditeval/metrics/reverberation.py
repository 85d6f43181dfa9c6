"""Reverberation time, from what turned a source into its output or from speech alone."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy import fft, ndimage, signal

from auditeval.audio import Waveform, resample
from auditeval.types import Undefined

RATE_HZ = 16000
RESPONSE_SECONDS = 1.6
"""How much of a response is looked at, as in SpeechEditBench."""

_REGULARISATION = 0.001
_BAND_HZ = (250.0, 3500.0)
_FIT_DB = (-5.0, -25.0)
_BEFORE_SECONDS = 0.2
"""So long before the direct sound its own slopes are over."""
_ROUNDS = 6  # after which the time that is looked for stays

_FRAME, _HOP, _DECAY_FRAMES = 1024, 200, 16  # of a blind estimate: 64 ms, 12.5 ms, 0.2 s


def impulse_response(source: Waveform, output: Waveform) -> Waveform:
    """What turns source into output, by regularised deconvolution :: 3.2 s at 16 kHz.

    Y conj(X) / (|X|^2 + e), e a thousandth of the mean of |X|^2, in the band that speech fills, 250
    to 3500 Hz. The direct sound, its peak, lies in the middle: a delay or an advance of the output
    does not count, and neither does its gain. The first half is what noise, and whatever no filter
    can have made, leaves in a response.

    >>> clip = Waveform(np.random.default_rng(0).standard_normal(RATE_HZ), RATE_HZ)
    >>> response = impulse_response(clip, clip)
    >>> len(response.samples), int(np.argmax(np.abs(response.samples)))
    (51200, 25600)
    """
    x, y = (resample(clip, RATE_HZ).astype(np.float64) for clip in (source, output))
    half = round(RESPONSE_SECONDS * RATE_HZ)
    length = fft.next_fast_len(max(len(x) + len(y), half) + half, real=True)
    spectrum = fft.rfft(x, length)
    power = np.square(np.abs(spectrum))
    floor = max(_REGULARISATION * power.mean(), np.finfo(float).tiny)
    response = fft.irfft(fft.rfft(y, length) * np.conj(spectrum) / (power + floor), length)
    band = signal.butter(4, _BAND_HZ, "bandpass", fs=RATE_HZ, output="sos")
    response = signal.sosfiltfilt(band, response)
    response = np.roll(response, half - int(np.argmax(np.abs(response))))
    return Waveform(response[: 2 * half], RATE_HZ)


def rt60(response: Waveform) -> float | Undefined:
    """Seconds in which a response decays by 60 dB, from its peak on; good to about 3 s.

    Schroeder's backward integration up to where the decay, smoothed over 10 ms, is as loud as the
    noise, and less that noise; what the decay has beyond is added, by the time that is looked for
    [Lundeby et al. 1995; ISO 3382-1]. A line through the decay from -5 to -25 dB, extrapolated. The
    noise's power is that of the response until 0.2 s before its peak. Undefined for a response that
    is silent, hardly stands out of its noise, or does not decay so far.

    >>> decay = 10 ** (-3 * np.arange(RATE_HZ) / RATE_HZ)  # 60 dB in a second
    >>> round(rt60(Waveform(decay, RATE_HZ)), 2)
    1.0
    """
    power = np.square(response.samples, dtype=np.float64)
    peak = int(np.argmax(power)) if len(power) else 0
    before = power[: max(0, peak - round(_BEFORE_SECONDS * response.rate_hz))]
    noise = float(before.mean()) if len(before) else 0.0
    decay, beyond = power[peak:], 0.0
    loud = ndimage.uniform_filter1d(decay, max(1, response.rate_hz // 100), mode="constant")
    under = np.flatnonzero(loud < 2 * noise)  # of noise and of as much decay
    decay = decay[: under[0]] if len(under) else decay
    energy = np.cumsum((decay - noise)[::-1])[::-1]
    if not len(energy) or not energy[0] > 0:
        return Undefined("no response stands out of the noise: no room made this of the source")
    for _ in range(_ROUNDS):
        decay_db = 10 * np.log10(np.maximum((energy + beyond) / (energy[0] + beyond), 1e-30))
        first, last = (int(np.argmax(decay_db <= level)) for level in _FIT_DB)
        if decay_db[last] > _FIT_DB[1] or last - first < 2:
            return Undefined("the response has no decay from -5 to -25 dB that is above its noise")
        slope = np.polyfit(np.arange(first, last) / response.rate_hz, decay_db[first:last], 1)[0]
        if not slope < 0:  # what is left of the noise can bend the decay upwards
            return Undefined("the response does not fall from -5 to -25 dB along a line")
        if not len(under):
            break
        beyond = noise * response.rate_hz * 10 / (np.log(10) * -slope)
    return float(-60 / slope)


def rt60_blind(clip: Waveform) -> float | Undefined:
    """Reverberation time in seconds from reverberant speech alone, by its free decays.

    In five bands from 250 to 4000 Hz, wherever the level falls along a line for 0.2 s (r^2 of at
    least 0.95), the slope is a candidate; a room lets nothing decay faster, so the answer is their
    lower quartile. The idea is that of Prego et al. (2012). Of ten sentences of LibriSpeech (3 to 5
    s) in simulated rooms of 0.29, 0.64 and 1.17 s it says 0.36, 0.63 and 1.02 s in the median; a
    single sentence is off by up to 54, 13 and 24 %. Dry ones have 0.26 s, so no shorter time can be
    told from speech's own decays, and none above 2 s. Undefined for fewer than five such decays.

    >>> rt60_blind(Waveform(np.zeros(RATE_HZ), RATE_HZ))
    Undefined(reason='0 free decays, at least 5 are needed')
    """
    samples = resample(clip, RATE_HZ).astype(np.float64)
    if len(samples) < _FRAME:
        return Undefined("too short for a decay")
    window = signal.get_window("hann", _FRAME)
    frames = np.lib.stride_tricks.sliding_window_view(samples, _FRAME)[::_HOP]
    power = np.square(np.abs(fft.rfft(frames * window, axis=1)))
    edges = np.round(np.geomspace(250, 4000, 6) * _FRAME / RATE_HZ).astype(int)
    slopes = [_decays(power[:, low:high].sum(axis=1)) for low, high in pairwise(edges)]
    found = np.concatenate(slopes)
    if len(found) < 5:
        return Undefined(f"{len(found)} free decays, at least 5 are needed")
    return float(np.percentile(-60 / found, 25))


def rt60_succeeds(measured: float | Undefined, low: float, high: float) -> bool:
    """Whether a reverberation time is within 20 % of a target range in seconds (Table 12).

    >>> rt60_succeeds(0.5, low=0.6, high=0.8), rt60_succeeds(0.47, low=0.6, high=0.8)
    (True, False)
    """
    if isinstance(measured, Undefined):
        return False
    return 0.8 * low <= measured <= 1.2 * high


def _decays(power: np.ndarray) -> np.ndarray:
    """Slopes in dB a second wherever a band's power falls along a line :: (T,) -> (D,)."""
    if len(power) < _DECAY_FRAMES or not power.max() > 0:
        return np.zeros(0)
    level_db = 10 * np.log10(np.maximum(power, 1e-12 * power.max()))
    lines = np.lib.stride_tricks.sliding_window_view(level_db, _DECAY_FRAMES)
    times = (np.arange(_DECAY_FRAMES) - (_DECAY_FRAMES - 1) / 2) * _HOP / RATE_HZ
    around = lines - lines.mean(axis=1, keepdims=True)
    slopes = around @ times / np.square(times).sum()
    explained = np.square(slopes) * np.square(times).sum()
    straight = explained >= 0.95 * np.square(around).sum(axis=1)
    falls = (slopes < 0) & (lines[:, 0] - lines[:, -1] >= 6)
    above_noise = lines[:, -1] >= np.percentile(level_db, 5) + 3
    return slopes[straight & falls & above_noise]

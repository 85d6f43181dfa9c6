"""Speech made noisy or reverberant, and clips spliced: all float32 or float64 (N,) at one rate."""

from __future__ import annotations

import numpy as np
from scipy import signal

from auditeval.data.mixing import window_energies

CEILING = 0.99
"""The highest peak, of full scale 1, that anything is written with."""

FADE_SECONDS = 0.01
"""Over which a splice passes from one clip to the other: no click of its own."""

_QUIET_SECONDS = 0.02
_FAINT = 1e-3


def rms(clip: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(clip, dtype=np.float64))))


def audible(noise: np.ndarray) -> np.ndarray:
    """Without the silence (60 dB below the peak) at its ends, which padded clips have."""
    loud = np.flatnonzero(np.abs(noise) >= _FAINT * np.abs(noise).max())
    return noise[loud[0] : loud[-1] + 1]


def noise_at(snr_db: float, speech: np.ndarray, noise: np.ndarray, length: int) -> np.ndarray:
    """The first `length` samples of the noise, looped if it is shorter, `snr_db` below the speech.

    Powers are means over all of the speech and over these samples.
    """
    part = np.resize(audible(noise), length).astype(np.float64)
    return part * (rms(speech) / rms(part) * 10 ** (-snr_db / 20))


def reverberant(speech: np.ndarray, response: np.ndarray, wet: float = 1.0) -> np.ndarray:
    """The speech in a room, as long and as loud as before; `wet` is the share of the convolved.

    The response counts from its peak, the direct sound, which is brought to 1.
    """
    direct = int(np.argmax(np.abs(response)))
    unit = response[direct:] / response[direct]
    heard = signal.fftconvolve(speech.astype(np.float64), unit)[: len(speech)]
    mixed = wet * heard + (1 - wet) * speech
    return mixed * (rms(speech) / rms(mixed))


def spliced(
    first: np.ndarray, second: np.ndarray, at: int, onward: int, rate_hz: int
) -> np.ndarray:
    """`first` up to sample `at`, exactly; from there it fades into `second` from `onward` on."""
    length = min(round(FADE_SECONDS * rate_hz), len(first) - at, len(second) - onward)
    weight = np.linspace(0, 1, length, endpoint=False)
    fade = (1 - weight) * first[at : at + length] + weight * second[onward : onward + length]
    return np.concatenate([first[:at], fade, second[onward + length :]])


def quietest_point(clip: np.ndarray, ratio: float, reach: float, rate_hz: int) -> int:
    """The centre of the quietest 20 ms within `reach` of `ratio`, both shares of the clip."""
    window = round(_QUIET_SECONDS * rate_hz)
    energies = window_energies(np.square(clip, dtype=np.float64), window)
    low = max(0, int((ratio - reach) * len(clip)) - window // 2)
    high = max(low + 1, int((ratio + reach) * len(clip)) - window // 2)
    return low + int(np.argmin(energies[low:high])) + window // 2


def below_ceiling(clips: list[np.ndarray]) -> tuple[list[np.ndarray], float]:
    """All clips by the one gain, 1 or less, that keeps the loudest below `CEILING`; the gain."""
    gain = min(1.0, CEILING / max(float(np.abs(clip).max()) for clip in clips))
    return [gain * clip for clip in clips], gain

"""Damage to a whole clip: pure functions of float32 (N,), the fault's parameter and a generator.

Each is measured in the unit that `listeners.FAULTS` gives it, and keeps the length. `DAMAGE` has
them in the order in which a chain of devices would do them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.fft

from auditeval.audio import Waveform, files, resample
from auditeval.data.degrading import reverberant
from auditeval.data.simulation.signals import (
    RATE_HZ,
    WINDOW,
    above,
    active_rms,
    bandwidth_hz,
    below,
    coloured,
    decibels,
    resynthesized,
    spectrum,
)

Damage = Callable[[np.ndarray, float, np.random.Generator], np.ndarray]

# Of one channel, from the most compression to none, at these rates.
OPUS_HZ, _OPUS_KBITS = 48000, (6.0, 256.0)
MP3_HZ, _MP3_KBITS, _MP3_MOST = 16000, (8.0, 168.0), 0.99
_FLOOR = 0.03  # of the spectrum, that subtraction leaves


def noise(slope: float) -> Damage:
    """Noise of that slope in dB an octave; as wide as the clip, or as the rate allows."""

    def add(x: np.ndarray, snr_db: float, rng: np.random.Generator) -> np.ndarray:
        top_hz = bandwidth_hz(x) if rng.random() < 0.5 else RATE_HZ / 2
        return x + coloured(slope, len(x), rng, top_hz) * active_rms(x) * decibels(-snr_db)

    return add


def hum(x: np.ndarray, snr_db: float, rng: np.random.Generator) -> np.ndarray:
    """The mains: 50 or 60 Hz with harmonics."""
    time = np.arange(len(x)) / RATE_HZ
    base_hz = float(rng.choice([50, 60]))
    tone = sum(
        rng.uniform(0.2, 1) / k**0.5 * np.sin(2 * np.pi * (k * base_hz * time + rng.random()))
        for k in range(1, 9)
    )
    return x + tone * (active_rms(x) * decibels(-snr_db) / np.sqrt(np.mean(np.square(tone))))


def mnru(x: np.ndarray, q_db: float, rng: np.random.Generator) -> np.ndarray:
    """Modulated noise reference unit: x (1 + 10^(-Q/20) n), in the clip's band [ITU-T P.810]."""
    top_hz = bandwidth_hz(x)
    modulated = x * coloured(0.0, len(x), rng, top_hz)
    return x + decibels(-q_db) * below(modulated, top_hz)


def opus(x: np.ndarray, kbits: float, rng: np.random.Generator) -> np.ndarray:
    """Through Opus at that rate and back."""
    level = (_OPUS_KBITS[1] - kbits) / (_OPUS_KBITS[1] - _OPUS_KBITS[0])
    sent = resample(Waveform(np.asarray(x, np.float32), RATE_HZ), OPUS_HZ)
    heard = files.recoded(sent, OPUS_HZ, "OGG", "OPUS", level)
    return _fit(resample(Waveform(heard, OPUS_HZ), RATE_HZ), len(x))


def mp3(x: np.ndarray, kbits: float, rng: np.random.Generator) -> np.ndarray:
    """Through MP3 at 16 kHz, in the standard's steps of bit rate, and back."""
    level = min((_MP3_KBITS[1] - kbits) / (_MP3_KBITS[1] - _MP3_KBITS[0]), _MP3_MOST)
    sent = resample(Waveform(np.asarray(x, np.float32), RATE_HZ), MP3_HZ)
    heard = files.recoded(sent, MP3_HZ, "MP3", "MPEG_LAYER_III", level)
    return _fit(resample(Waveform(heard, MP3_HZ), RATE_HZ), len(x))


def vocoder(x: np.ndarray, bands: float, rng: np.random.Generator) -> np.ndarray:
    """Magnitudes averaged over bands of equal width in mel, phases by Griffin-Lim (8 rounds)."""
    spectra = spectrum(x)
    power = np.square(np.abs(spectra))
    top = 2595 * np.log10(1 + RATE_HZ / 2 / 700)
    edges_hz = 700 * (10 ** (np.linspace(0, top, round(bands) + 1) / 2595) - 1)
    edges = np.unique(np.round(edges_hz * WINDOW / RATE_HZ).astype(int))[:-1]
    widths = np.diff([*edges, power.shape[1]])
    smooth = np.repeat(np.add.reduceat(power, edges, axis=1) / widths, widths, axis=1)
    return _phased(np.sqrt(smooth), 8, len(x), rng)


def phase(x: np.ndarray, iterations: float, rng: np.random.Generator) -> np.ndarray:
    """The clip's own magnitudes under phases by Griffin-Lim from random ones."""
    return _phased(np.abs(spectrum(x)), round(iterations), len(x), rng)


def _phased(
    sizes: np.ndarray, iterations: int, length: int, rng: np.random.Generator
) -> np.ndarray:
    """[Griffin and Lim 1984]"""
    turns = np.exp(2j * np.pi * rng.random(sizes.shape)).astype(np.complex64)
    made = resynthesized(sizes * turns, length)
    for _ in range(iterations):
        spectra = spectrum(made)
        made = resynthesized(sizes * spectra / np.maximum(np.abs(spectra), 1e-9), length)
    return made


def musical_noise(x: np.ndarray, snr_db: float, rng: np.random.Generator) -> np.ndarray:
    """Noise of that ratio added, and its mean spectrum subtracted twice [Boll 1979]."""
    added = coloured(-1.5, len(x), rng, RATE_HZ / 2) * active_rms(x) * decibels(-snr_db)
    noisy, mean = spectrum(x + added), np.abs(spectrum(added)).mean(axis=0)
    sizes = np.abs(noisy)
    gains = np.maximum(1 - 2 * mean / np.maximum(sizes, 1e-12), _FLOOR)
    return resynthesized(noisy * gains, len(x))


def clipping(x: np.ndarray, above_db: float, rng: np.random.Generator) -> np.ndarray:
    """Cut off at that many dB above the active level, which half of the lost level is given back.

    An overdriven stage with its volume turned down.
    """
    peak = float(np.abs(x).max())
    threshold = min(peak, active_rms(x) * decibels(above_db))
    return np.clip(x, -threshold, threshold) * np.sqrt(peak / threshold)


def quantisation(x: np.ndarray, bits: float, rng: np.random.Generator) -> np.ndarray:
    """Steps of 2 / 2^bits of the clip's peak, without dither."""
    step = float(np.abs(x).max()) * 2.0 ** (1 - bits)
    return step * (np.floor(x / step) + 0.5)


def low_pass(x: np.ndarray, cutoff_hz: float, rng: np.random.Generator) -> np.ndarray:
    return below(x, cutoff_hz)


def high_pass(x: np.ndarray, cutoff_hz: float, rng: np.random.Generator) -> np.ndarray:
    return above(x, cutoff_hz)


def equalisation(x: np.ndarray, most_db: float, rng: np.random.Generator) -> np.ndarray:
    """Gains drawn for each octave, straight between on a scale of octaves, of the clip's power."""
    size = scipy.fft.next_fast_len(len(x), real=True)
    gains = rng.standard_normal(9)
    gains -= gains.mean()
    octaves = np.log2(np.maximum(np.fft.rfftfreq(size, 1 / RATE_HZ), 62.5) / 62.5)
    response = 10 ** (np.interp(octaves, range(9), gains * (most_db / np.abs(gains).max())) / 20)
    made = scipy.fft.irfft(scipy.fft.rfft(x, size) * response, size)[: len(x)]
    return made * (active_rms(x) / max(active_rms(made), 1e-9))


def dropouts(x: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Frames of 20 to 60 ms silenced, flanks of 2 ms, until the share of the clip is lost."""
    size, flank = round(rng.uniform(0.02, 0.06) * RATE_HZ), round(0.002 * RATE_HZ)
    size = min(size, max(2 * flank, round(share * len(x))))
    frames = len(x) // size
    gain = np.ones(len(x))
    shape = np.ones(size)
    shape[:flank], shape[-flank:] = np.linspace(0, 1, flank), np.linspace(1, 0, flank)
    for frame in rng.choice(frames, min(frames, max(1, round(share * frames))), replace=False):
        gain[frame * size : (frame + 1) * size] = 1 - shape
    return x * gain


def reverberation(x: np.ndarray, direct_db: float, rng: np.random.Generator) -> np.ndarray:
    """A room of 0.3 to 1.5 s as decaying noise; direct sound `direct_db` above the reverberant."""
    time = np.arange(round(1.5 * RATE_HZ)) / RATE_HZ
    tail = rng.standard_normal(len(time)) * 10 ** (-3 * time / rng.uniform(0.3, 1.5))
    tail = below(tail, rng.uniform(3000, 9000))
    tail[: round(0.003 * RATE_HZ)] = 0
    response = tail * (decibels(-direct_db) / np.sqrt(np.sum(tail**2)))
    response[0] = 1.0
    response = np.clip(response, -1, 1)  # the direct sound is the peak
    return reverberant(x, response)


def _fit(x: np.ndarray, length: int) -> np.ndarray:
    return np.pad(x, (0, max(0, length - len(x))))[:length]


DAMAGE: dict[str, Damage] = {
    "reverberation": reverberation,
    "noise_white": noise(0.0),
    "noise_pink": noise(-3.01),
    "noise_brown": noise(-6.02),
    "hum": hum,
    "clipping": clipping,
    "high_pass": high_pass,
    "low_pass": low_pass,
    "equalisation": equalisation,
    "mnru": mnru,
    "quantisation": quantisation,
    "musical_noise": musical_noise,
    "phase": phase,
    "vocoder": vocoder,
    "opus": opus,
    "mp3": mp3,
    "dropouts": dropouts,
}

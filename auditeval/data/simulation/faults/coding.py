"""What converters, enhancers, vocoders, codecs and lost packets leave of a clip :: float (N,)."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from auditeval.audio import Waveform, files, resample
from auditeval.data.simulation.faults.fault import Damage, Scale
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

# Of one channel, from the most compression to none, at these rates.
_OPUS_HZ, _OPUS_KBITS = 48000, (6.0, 256.0)
_MP3_HZ, _MP3_KBITS, _MP3_MOST = 16000, (8.0, 168.0), 0.99
_FLOOR = 0.03  # of the spectrum, that subtraction leaves


# MNRU is the anchor of speech coder tests: its ratings against Q are S-shaped between about 5 and
# 35 dB [ITU-T P.810, P.830].
@Damage(
    Scale("dB Q", ((0, 45), (1, 0))),
    quality=(
        *((0, 4.0), (5, 3.9), (10, 3.1), (15, 2.5), (20, 1.9), (25, 1.4)),
        *((30, 1.0), (35, 0.6), (40, 0.3), (45, 0.0)),
    ),
    relevance=((0, 1.4), (5, 1.0), (15, 0.4), (25, 0.0)),
    faithfulness=(
        *((0, 4.0), (5, 4.0), (8, 3.3), (16, 2.0), (24, 1.2), (32, 0.6), (40, 0.2), (45, 0.0)),
    ),
)
def mnru(x: np.ndarray, q_db: float, rng: Generator) -> np.ndarray:
    """Modulated noise reference unit: x (1 + 10^(-Q/20) n), in the clip's band [ITU-T P.810]."""
    top_hz = bandwidth_hz(x)
    modulated = x * coloured(0.0, len(x), rng, top_hz)
    return x + decibels(-q_db) * below(modulated, top_hz)


# Each bit is 6 dB of noise that comes and goes with the signal: between noise and MNRU.
@Damage(
    Scale("bits", ((0, 11), (1, 2))),
    quality=((2, 3.7), (3, 3.2), (4, 2.6), (6, 1.6), (8, 0.7), (11, 0.0)),
    relevance=((2, 0.8), (4, 0.2), (6, 0.0)),
    faithfulness=((2, 2.8), (3, 2.2), (4, 1.6), (6, 0.7), (8, 0.2), (11, 0.0)),
)
def quantisation(x: np.ndarray, bits: float, rng: Generator) -> np.ndarray:
    """Steps of 2 / 2^bits of the clip's peak, without dither."""
    step = float(np.abs(x).max()) * 2.0 ** (1 - bits)
    return step * (np.floor(x / step) + 0.5)


# What spectral subtraction leaves of noise of this ratio: warbling tones and a dented signal.
@Damage(
    Scale("dB SNR before", ((0, 30), (1, -3))),
    quality=((-3, 3.4), (5, 2.5), (10, 1.9), (20, 0.9), (30, 0.2)),
    relevance=((-3, 0.8), (10, 0.1), (20, 0.0)),
    faithfulness=((-3, 2.9), (5, 2.0), (10, 1.4), (20, 0.6), (30, 0.1)),
)
def musical_noise(x: np.ndarray, snr_db: float, rng: Generator) -> np.ndarray:
    """Noise of that ratio added, and its mean spectrum subtracted twice [Boll 1979]."""
    added = coloured(-1.5, len(x), rng, RATE_HZ / 2) * active_rms(x) * decibels(-snr_db)
    noisy, mean = spectrum(x + added), np.abs(spectrum(added)).mean(axis=0)
    sizes = np.abs(noisy)
    gains = np.maximum(1 - 2 * mean / np.maximum(sizes, 1e-12), _FLOOR)
    return resynthesized(noisy * gains, len(x))


def _phased(sizes: np.ndarray, iterations: int, length: int, rng: Generator) -> np.ndarray:
    """[Griffin and Lim 1984]"""
    turns = np.exp(2j * np.pi * rng.random(sizes.shape)).astype(np.complex64)
    made = resynthesized(sizes * turns, length)
    for _ in range(iterations):
        spectra = spectrum(made)
        made = resynthesized(sizes * spectra / np.maximum(np.abs(spectra), 1e-9), length)
    return made


# Right magnitudes under wrong phases: from metallic and blurred to nearly transparent.
@Damage(
    Scale("iterations", ((0, 32), (0.5, 6), (1, 0))),
    quality=((0, 2.8), (1, 2.2), (6, 1.4), (32, 0.6)),
    relevance=((0, 0.3), (6, 0.0)),
    faithfulness=((0, 2.2), (1, 1.7), (6, 1.0), (32, 0.4)),
)
def phase(x: np.ndarray, iterations: float, rng: Generator) -> np.ndarray:
    """The clip's own magnitudes under phases by Griffin-Lim from random ones."""
    return _phased(np.abs(spectrum(x)), round(iterations), len(x), rng)


# Magnitudes smoothed over bands, phases by Griffin-Lim: "robotic tone" (3), 20 bands a whisper.
@Damage(
    Scale("bands", ((0, 160), (0.5, 64), (1, 16))),
    quality=((16, 3.2), (32, 2.5), (64, 1.8), (160, 1.0)),
    relevance=((16, 1.0), (32, 0.5), (64, 0.2), (160, 0.0)),
    faithfulness=((16, 2.8), (32, 2.1), (64, 1.5), (160, 0.9)),
)
def vocoder(x: np.ndarray, bands: float, rng: Generator) -> np.ndarray:
    """Magnitudes averaged over bands of equal width in mel, phases by Griffin-Lim (8 rounds)."""
    spectra = spectrum(x)
    power = np.square(np.abs(spectra))
    top = 2595 * np.log10(1 + RATE_HZ / 2 / 700)
    edges_hz = 700 * (10 ** (np.linspace(0, top, round(bands) + 1) / 2595) - 1)
    edges = np.unique(np.round(edges_hz * WINDOW / RATE_HZ).astype(int))[:-1]
    widths = np.diff([*edges, power.shape[1]])
    smooth = np.repeat(np.add.reduceat(power, edges, axis=1) / widths, widths, axis=1)
    return _phased(np.sqrt(smooth), 8, len(x), rng)


def _recoded(x: np.ndarray, rate_hz: int, kind: str, codec: str, level: float) -> np.ndarray:
    sent = resample(Waveform(np.asarray(x, np.float32), RATE_HZ), rate_hz)
    heard = resample(Waveform(files.recoded(sent, rate_hz, kind, codec, level), rate_hz), RATE_HZ)
    return np.pad(heard, (0, max(0, len(x) - len(heard))))[: len(x)]


# Opus: 6 kbit/s is narrowband and buzzing, 12 fair, 24 good, 48 hardly told from the original.
@Damage(
    Scale("kbit/s", ((0, 48), (0.5, 16), (1, 6))),
    quality=((6, 2.8), (8, 2.3), (12, 1.6), (16, 1.1), (24, 0.6), (32, 0.3), (48, 0.0)),
    relevance=((6, 0.6), (12, 0.2), (24, 0.0)),
    faithfulness=((6, 2.3), (8, 1.8), (12, 1.2), (16, 0.8), (24, 0.4), (32, 0.2), (48, 0.0)),
)
def opus(x: np.ndarray, kbits: float, rng: Generator) -> np.ndarray:
    """Through Opus at that rate and back."""
    level = (_OPUS_KBITS[1] - kbits) / (_OPUS_KBITS[1] - _OPUS_KBITS[0])
    return _recoded(x, _OPUS_HZ, "OGG", "OPUS", level)


# At 16 kHz sampling: 8 kbit/s is hardly understood, 24 fair, from 48 on only the band is lost.
@Damage(
    Scale("kbit/s", ((0, 56), (1, 8))),
    quality=((8, 3.2), (16, 2.2), (24, 1.5), (32, 1.0), (56, 0.5)),
    relevance=((8, 0.7), (16, 0.2), (24, 0.0)),
    faithfulness=((8, 2.6), (16, 1.7), (24, 1.1), (32, 0.7), (56, 0.3)),
)
def mp3(x: np.ndarray, kbits: float, rng: Generator) -> np.ndarray:
    """Through MP3 at 16 kHz, in the standard's steps of bit rate, and back."""
    level = min((_MP3_KBITS[1] - kbits) / (_MP3_KBITS[1] - _MP3_KBITS[0]), _MP3_MOST)
    return _recoded(x, _MP3_HZ, "MP3", "MPEG_LAYER_III", level)


# Frames lost without concealment: 1 % is heard, 5 % annoys, 20 % is hardly followed [G.113].
@Damage(
    Scale("share lost", ((0, 0.01), (0.5, 0.08), (1, 0.4))),
    quality=((0.01, 0.8), (0.03, 1.5), (0.08, 2.3), (0.2, 3.1), (0.4, 3.7)),
    relevance=((0.01, 0.0), (0.2, 0.4), (0.4, 1.0)),
    faithfulness=((0.01, 0.4), (0.03, 0.8), (0.08, 1.4), (0.2, 2.2), (0.4, 3.0)),
)
def dropouts(x: np.ndarray, share: float, rng: Generator) -> np.ndarray:
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


# Upper bands made anew from those below them, as spectral band replication does: brighter than
# their loss, which costs `low_pass`, and by a third of that not what they were.
@Damage(
    Scale("Hz", ((0, 10000), (1, 3500))),
    quality=((3500, 0.8), (5000, 0.5), (7000, 0.2), (10000, 0.0)),
    faithfulness=((3500, 0.9), (5000, 0.6), (7000, 0.3), (10000, 0.1)),
    of_band=0.7,
    since=13,
)
def band_extension(x: np.ndarray, from_hz: float, rng: Generator) -> np.ndarray:
    """Above that frequency the octave below it again, as loud in the mean as what it replaces."""
    low, time = below(x, from_hz), np.arange(len(x)) / RATE_HZ
    lost = x - low
    made = np.zeros(len(x))
    source = above(low, from_hz / 2)
    for step in range(1, int(np.ceil((RATE_HZ / 2 - from_hz) / (from_hz / 2))) + 1):
        shift_hz = step * from_hz / 2
        moved = 2 * source * np.cos(2 * np.pi * shift_hz * time)
        made += decibels(-6 * (step - 1)) * above(
            moved, min(from_hz + (step - 1) * from_hz / 2, 15000)
        )
    return low + made * (active_rms(lost) / max(active_rms(made), 1e-9))

"""What a place, a microphone and an amplifier do to a clip :: float (N,)."""

from __future__ import annotations

from functools import partial

import numpy as np
import scipy.fft
from numpy.random import Generator

from auditeval.audio import Waveform, resample
from auditeval.data.degrading import reverberant
from auditeval.data.simulation.faults.fault import Curve, Damage, Scale
from auditeval.data.simulation.signals import (
    RATE_HZ,
    above,
    active_rms,
    bandwidth_hz,
    below,
    coloured,
    decibels,
)

_SNR = Scale("dB SNR", ((0.0, 50.0), (1.0, -5.0)))
# Degradation category ratings of additive noise: "audible but not annoying" (4) at about 30 dB,
# "annoying" (2) at about 5 to 10 dB; Appendix A has "overwhelming noise" at 1.
_QUALITY = ((-5, 3.8), (0, 3.5), (10, 2.7), (20, 1.8), (30, 1.0), (40, 0.4), (50, 0.0))
# P.835 asks for the signal apart from the background, and noise lowers that far less: the sound
# under it is untouched, though in part masked.
_KEPT = ((-5, 1.8), (0, 1.3), (10, 0.5), (17, 0.2), (25, 0.0))
_RELEVANCE = ((-5, 1.2), (0, 0.7), (10, 0.2), (20, 0.0))


def _softer(curve: Curve, by_db: float) -> Curve:
    """What cost that much at an SNR costs it at `by_db` less."""
    return tuple((x - by_db, y) for x, y in curve)


def _noise(octave_db: float, x: np.ndarray, snr_db: float, rng: Generator) -> np.ndarray:
    """Of that slope in dB an octave; as wide as the clip, or as the rate allows."""
    top_hz = bandwidth_hz(x) if rng.random() < 0.5 else RATE_HZ / 2
    return x + coloured(octave_db, len(x), rng, top_hz) * active_rms(x) * decibels(-snr_db)


# Editors, synthesisers and lines work at 24, 16 or 8 kHz, most at 16. The wide band is .3 of a
# point below the full one in opinion of lines [ITU-T G.107.2], and half a point beside an original
# in full band, by ear: who never hears that does not miss it. All else is done at that rate too.
@Damage(
    Scale("Hz", ((0, 24000), (0.3, 17000), (0.7, 15000), (1, 8000))),
    quality=((8000, 1.4), (16000, 0.5), (24000, 0.0)),
    faithfulness=((8000, 1.5), (16000, 0.6), (24000, 0.0)),
    local=False,
    of_band=1.4,  # of the sampling rate: so that it always cuts something off
    since=14,
)
def sampling_rate(x: np.ndarray, rate_hz: float, rng: Generator) -> np.ndarray:
    """At another sampling rate, and back at its own."""
    low = resample(Waveform(np.asarray(x, np.float32), RATE_HZ), round(rate_hz))
    again = resample(Waveform(low, round(rate_hz)), RATE_HZ)
    return np.pad(again, (0, max(0, len(x) - len(again))))[: len(x)]


# What a telephone or a headset sends, its lost lows, lifted upper middle and band edge together, is
# rated 3.25 in the narrow band and 4.2 in the wide one, of 4.5 in full: opinion of a line as it is,
# and not of its parts [ITU-T G.107.2; send filters of P.830 and P.341].
@Damage(
    Scale("Hz", ((0, 14000), (0.25, 7500), (0.8, 6500), (1, 3400))),
    quality=((3400, 1.25), (7000, 0.4), (14000, 0.0)),
    faithfulness=((3400, 1.3), (7000, 0.5), (14000, 0.0)),
    local=False,
    of_band=0.9,  # so that it always cuts something off
    since=14,
)
def handset(x: np.ndarray, top_hz: float, rng: Generator) -> np.ndarray:
    """A send filter up to there: falling lows, up to 8 dB more of the upper middle, as loud."""
    low_hz, knee_hz = rng.uniform(100, 350), top_hz * rng.uniform(0.5, 0.9)
    points = (
        *((low_hz / 4, -rng.uniform(20, 45)), (low_hz, rng.uniform(-6, 0)), (500, 0.0)),
        *(
            (1 + knee_hz / 2, rng.uniform(0, 8)),
            (knee_hz, 0.0),
            (top_hz, -20.0),
            (1.1 * top_hz, -90.0),
        ),
    )
    edges, gains_db = zip(*sorted(points), strict=True)
    size = scipy.fft.next_fast_len(len(x), real=True)
    hz = np.maximum(np.fft.rfftfreq(size, 1 / RATE_HZ), 1.0)
    response = 10 ** (np.interp(np.log(hz), np.log(edges), gains_db) / 20)
    made = scipy.fft.irfft(scipy.fft.rfft(x, size) * response, size)[: len(x)]
    return made * (active_rms(x) / max(active_rms(made), 1e-9))


# A real background varies and draws the ear: as bad as white noise although duller.
@Damage(_SNR, _QUALITY, _RELEVANCE, _KEPT, needs="noise")
def noise_real(x: np.ndarray, snr_db: float, rng: Generator, noise: np.ndarray) -> np.ndarray:
    level = active_rms(x) / max(active_rms(noise), 1e-9)
    return x + noise * level * decibels(-snr_db)


# Direct against reverberant sound: a room (10 dB) is no damage, a cathedral (-6 dB) smears.
@Damage(
    Scale("dB direct to reverberant", ((0, 22), (1, -8))),
    quality=((-8, 2.3), (-3, 1.7), (3, 1.1), (10, 0.5), (22, 0.0)),
    relevance=((-8, 0.4), (3, 0.0)),
    faithfulness=((-8, 2.4), (-3, 1.9), (3, 1.3), (10, 0.6), (22, 0.0)),
    local=False,
)
def reverberation(x: np.ndarray, direct_db: float, rng: Generator) -> np.ndarray:
    """A room of 0.3 to 1.5 s as decaying noise; direct sound `direct_db` above the reverberant."""
    time = np.arange(round(1.5 * RATE_HZ)) / RATE_HZ
    tail = rng.standard_normal(len(time)) * 10 ** (-3 * time / rng.uniform(0.3, 1.5))
    tail = below(tail, rng.uniform(3000, 9000))
    tail[: round(0.003 * RATE_HZ)] = 0
    response = tail * (decibels(-direct_db) / np.sqrt(np.sum(tail**2)))
    response[0] = 1.0
    response = np.clip(response, -1, 1)  # the direct sound is the peak
    return reverberant(x, response)


noise_white = Damage(_SNR, _QUALITY, _RELEVANCE, _KEPT, "noise_white", partial(_noise, 0.0))
# A-weighted, pink noise is some 3 dB and brown noise some 12 dB below white of equal power.
noise_pink = Damage(
    _SNR, _softer(_QUALITY, 3), _RELEVANCE, _softer(_KEPT, 3), "noise_pink", partial(_noise, -3.01)
)
noise_brown = Damage(
    _SNR,
    _softer(_QUALITY, 12),
    _softer(_RELEVANCE, 12),
    _softer(_KEPT, 12),
    "noise_brown",
    partial(_noise, -6.02),
)


# Tones stand out of what they lie under, but mask little: a "minor increase in noise".
@Damage(
    Scale("dB SNR", ((0, 45), (1, 0))),
    quality=((0, 2.6), (10, 1.8), (20, 1.1), (30, 0.6), (45, 0.0)),
    relevance=((0, 0.3), (20, 0.0)),
    faithfulness=((0, 0.7), (10, 0.3), (25, 0.0)),
)
def hum(x: np.ndarray, snr_db: float, rng: Generator) -> np.ndarray:
    """The mains: 50 or 60 Hz with harmonics."""
    time = np.arange(len(x)) / RATE_HZ
    base_hz = float(rng.choice([50, 60]))
    tone = sum(
        rng.uniform(0.2, 1) / k**0.5 * np.sin(2 * np.pi * (k * base_hz * time + rng.random()))
        for k in range(1, 9)
    )
    return x + tone * (active_rms(x) * decibels(-snr_db) / np.sqrt(np.mean(np.square(tone))))


# Threshold against the active level. Peaks of speech reach 12 dB above it: there nothing is
# cut; 10 dB below it is a square wave, "harsh distortions".
@Damage(
    Scale("dB above the active level", ((0, 9), (1, -15))),
    quality=((-15, 3.4), (-9, 2.9), (-3, 2.1), (3, 1.1), (9, 0.2)),
    relevance=((-15, 0.4), (-3, 0.1), (3, 0.0)),
    faithfulness=((-15, 2.6), (-9, 2.0), (-3, 1.3), (3, 0.6), (9, 0.1)),
)
def clipping(x: np.ndarray, above_db: float, rng: Generator) -> np.ndarray:
    """Cut off at that many dB above the active level, which half of the lost level is given back.

    An overdriven stage with its volume turned down.
    """
    peak = float(np.abs(x).max())
    threshold = min(peak, active_rms(x) * decibels(above_db))
    return np.clip(x, -threshold, threshold) * np.sqrt(peak / threshold)


# Thin: the loss of the lowest octaves is a matter of timbre until the first formant goes.
@Damage(
    Scale("Hz", ((0, 80), (0.5, 400), (1, 2000))),
    quality=((80, 0.0), (200, 0.2), (400, 0.5), (1000, 1.4), (2000, 2.3)),
    relevance=((80, 0.0), (400, 0.0), (2000, 0.6)),
    faithfulness=((80, 0.0), (200, 0.3), (400, 0.6), (1000, 1.3), (2000, 2.0)),
)
def high_pass(x: np.ndarray, cutoff_hz: float, rng: Generator) -> np.ndarray:
    return above(x, cutoff_hz)


# Speech of full bandwidth is rated 4.5, wideband (7 kHz) 4.2, the telephone's band 3.25 by the
# E-model [ITU-T G.107.2, R of 148, 129 and 93 on one scale]. That band has no lows either:
# 3.4 kHz here and 300 Hz below make it 3.25 together. Below, "muffled".
@Damage(
    Scale("Hz", ((0, 12000), (0.5, 3500), (1, 700))),
    quality=((700, 3.1), (1500, 2.2), (3500, 0.95), (7000, 0.3), (12000, 0.0)),
    relevance=((700, 0.8), (1500, 0.3), (3500, 0.0)),
    faithfulness=((700, 2.3), (1500, 1.6), (3500, 0.9), (7000, 0.3), (12000, 0.0)),
    of_band=0.7,  # so that it always cuts something off
)
def low_pass(x: np.ndarray, cutoff_hz: float, rng: Generator) -> np.ndarray:
    return below(x, cutoff_hz)


# Colouration by a smooth curve: 3 dB are hardly noticed, 6 dB are another tone control, 12 dB
# a tin can. Naturalness falls slowly with it [Moore and Tan 2003].
@Damage(
    Scale("dB at the most", ((0, 1), (1, 12))),
    quality=((1, 0.0), (3, 0.1), (6, 0.3), (12, 0.8)),
    faithfulness=((1, 0.0), (3, 0.2), (6, 0.5), (12, 1.1)),
)
def equalisation(x: np.ndarray, most_db: float, rng: Generator) -> np.ndarray:
    """Gains drawn for each octave, straight between on a scale of octaves, of the clip's power."""
    size = scipy.fft.next_fast_len(len(x), real=True)
    gains = rng.standard_normal(9)
    gains -= gains.mean()
    octaves = np.log2(np.maximum(np.fft.rfftfreq(size, 1 / RATE_HZ), 62.5) / 62.5)
    response = 10 ** (np.interp(octaves, range(9), gains * (most_db / np.abs(gains).max())) / 20)
    made = scipy.fft.irfft(scipy.fft.rfft(x, size) * response, size)[: len(x)]
    return made * (active_rms(x) / max(active_rms(made), 1e-9))

"""`texture`: how even the power of bands is from 2 ms to 2 ms; no weights."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
from scipy import fft
from scipy.ndimage import maximum_filter1d, uniform_filter1d

from auditeval.features.alignment import EDGE_FRAMES, Alignment, percentiles
from auditeval.features.comparison import Frames
from auditeval.features.extractor import AudioFeatures, Extractor
from auditeval.features.extractors.spectrum import Spectrum
from auditeval.features.mel import hann
from auditeval.features.turning import at_pace

_CODE = "1"
"""Part of the revision: counts the changes here that change a number."""

_N_FFT, _HOP = 160, 64  # samples at 32 kHz: 5 ms, 2 ms; bins 200 Hz apart
_BANDS = (1, 2, 4, 8, 16, 32, 64)  # bins: octaves from 0.2 to 12.8 kHz
REGIONS = {"low": slice(0, 2), "mid": slice(2, 4), "high": slice(4, 6)}  # from 0.8 and 3.2 kHz
MEASURES = ("peaks", "gaps")  # log of the maximum and of 1 / the geometric mean, over the mean
_AROUND = 25  # 50 ms
_EACH = round(Spectrum.HOP_SECONDS * Spectrum.rate_hz) // _HOP
_LEAST = 1e-4  # of the mean around: 40 dB below it there is nothing, at any level
_AUDIBLE_DB = 50.0  # below the loud level of its clip a band is not heard
_TOLERANCE = 0.02  # what another rate or delay changes
_ENOUGH = 100  # a second: means of less are worth less
_BLOCK = 4096


class Texture(Extractor):
    """Fine structure in time, which frames of 10 ms do not show: dropped frames, buzz, scrambled
    phases, smeared attacks.

    After the statistics of subband envelopes by which McDermott and Simoncelli tell sounds apart
    [2011, 10.1016/j.neuron.2011.06.032]: the mean of `MEASURES` of the edit less that of the
    original, where both have the same, or, if that is less than a second, all over. Noise has much
    of both, tones have none; a clip whose phases nobody misses keeps them. Frames of 10 ms ::
    `texture` float16 (T, 18), peaks, gaps and level in dB of six bands. Without `spectrum`, which
    aligns the clips, all numbers are 0.
    """

    name = "texture"
    revision = _CODE
    rate_hz = Spectrum.rate_hz
    dim = 2 * (len(_BANDS) - 1)
    steps = MappingProxyType({"texture": Spectrum.HOP_SECONDS})
    alignment = (
        *(
            f"{name}_{region}_{way}"
            for name in MEASURES
            for region in REGIONS
            for way in ("up", "down")
        ),
        "gaps_worst",  # in the twentieth of the frames where most came
    )

    def encode_clip(self, samples: np.ndarray) -> AudioFeatures:
        """Mono float32 (N,) at 32 kHz; the embedding is the mean over frames."""
        power = _band_power(samples)
        mean = uniform_filter1d(power, _AROUND, axis=0, mode="nearest")
        relative = np.maximum(power, _LEAST * mean)
        logs = uniform_filter1d(np.log(relative), _AROUND, axis=0, mode="nearest")[::_EACH]
        most = maximum_filter1d(power, _AROUND, axis=0, mode="nearest")[::_EACH]
        level = np.log(mean[::_EACH])
        rows = np.hstack([np.log(most) - level, level - logs, 10 / np.log(10) * level])
        count = -(-len(samples) // (_EACH * _HOP))
        rows = np.maximum(rows[:count], [[0.0] * self.dim + [-120.0] * (len(_BANDS) - 1)])
        embedding = rows[:, : self.dim].mean(axis=0)
        return AudioFeatures(embedding.astype(np.float32), {"texture": rows.astype(np.float16)})

    def compare(self, original: Frames, edited: Frames, alignment: Alignment | None) -> np.ndarray:
        """Of the bands that are heard in both clips; 0 where these are too few."""
        if alignment is None:
            return np.zeros(len(self.alignment), np.float32)
        places, was = alignment.places(), original["texture"].astype(np.float32)
        if alignment.turn.octaves:
            was = at_pace(was, alignment.turn.octaves)
        before, after = (
            x[at].reshape(-1, 3, len(_BANDS) - 1)
            for x, at in zip((was, edited["texture"].astype(np.float32)), places, strict=True)
        )
        heard = _heard(before) & _heard(after)
        both = alignment.shared()[:, None] & heard
        if np.count_nonzero(both.any(axis=1)) < _ENOUGH:  # all is unlike, in this perhaps
            both = heard
        if len(both) > 5 * EDGE_FRAMES:
            both[:EDGE_FRAMES] = both[-EDGE_FRAMES:] = False
        change = (after - before)[:, :2] * both[:, None]
        values: list[float] = []
        for measure in range(len(MEASURES)):
            for bands in REGIONS.values():
                count = int(both[:, bands].sum())
                mean = float(change[:, measure, bands].sum()) / max(count, _ENOUGH)
                values += [max(mean - _TOLERANCE, 0.0), max(-mean - _TOLERANCE, 0.0)]
        there = both.any(axis=1)
        gaps = change[there, 1].sum(axis=1) / both[there].sum(axis=1)
        worst = percentiles(gaps, 95)[0] if len(gaps) else 0.0
        return np.array([*values, max(float(worst), 0.0)], np.float32)


def _band_power(samples: np.ndarray) -> np.ndarray:
    """Every 2 ms, centred there, the signal zero outside the clip :: (ceil(N / 64), 6)."""
    window = hann(_N_FFT)
    padded = np.pad(samples.astype(np.float32), _N_FFT // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, _N_FFT)[: len(samples) : _HOP]
    power = np.empty((len(frames), len(_BANDS) - 1))
    for start in range(0, len(frames), _BLOCK):
        spectra = fft.rfft(frames[start : start + _BLOCK] * window, axis=1)
        bins = np.square(np.abs(spectra))[:, : _BANDS[-1]]
        power[start : start + _BLOCK] = np.add.reduceat(bins, _BANDS[:-1], axis=1)
    return power / np.square(window.sum()) + 1e-12


def _heard(clip: np.ndarray) -> np.ndarray:
    """Which bands of which frames :: (T, 3, 6) -> bool (T, 6)."""
    level = clip[:, 2]
    loud = percentiles(level.max(axis=1), 95)[0] if len(level) else 0.0
    return level > loud - _AUDIBLE_DB

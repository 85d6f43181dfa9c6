"""`parts`: a change taken apart into artefacts, holes and leakage, by the samples of both clips."""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.ndimage import uniform_filter, uniform_filter1d

from auditeval.features.alignment import Alignment
from auditeval.features.comparison import Frames
from auditeval.features.extractor import AudioFeatures, Extractor
from auditeval.features.mel import centres, hann

_CODE = "3"
"""Part of the revision: counts the changes here that change a number."""

RATE_HZ = 16000
_N_FFT, _HOP, _BANDS = 512, 128, 24
HOP_SECONDS = _HOP / RATE_HZ
_AROUND = 15  # frames of 8 ms, over which two clips are said to go together
_RANGE_DB, _GAIN_DB = 50.0, (-40.0, 20.0)
_REGIONS = {"low": slice(0, 9), "mid": slice(9, 16), "high": slice(16, _BANDS)}
"""Of bands: up to about 0.7, 2.1 and 8 kHz."""
_LOUDNESS = 0.3  # exponent of power that weighs what is heard


class Parts(NamedTuple):
    """What an edit has that its original does not explain, lacks, and has left :: (T, 24) each.

    By frame of HOP_SECONDS of what both clips share, which begins at `start_seconds` of the edit,
    and by band: shares of the edit's power that no gain makes of the original (0..1), dB that cells
    fall below their surroundings' gain, and dB that is left, within 40 of the original, where more
    than 6 were taken away.
    """

    artefacts: np.ndarray
    holes: np.ndarray
    leakage: np.ndarray
    start_seconds: float


class ChangeParts(Extractor):
    """Artefacts, holes and leakage, after PEASS [Emiya et al. 2011, 10.1109/TASL.2011.2109381].

    PEASS knows the sounds that were mixed; here there are the clip before and after. What was taken
    away, their difference, says how: of another sound it does not go with what is left; of a mask
    that is unsure it does. Frames :: `wave` float16 (N, 1), the samples; the embedding (24,) is the
    mean level of the bands, dB / 10. An editor that makes the sound anew keeps no wave form: then
    all of it is artefact, and nothing is said here of how it sounds.
    """

    name = "parts"
    revision = _CODE
    rate_hz = RATE_HZ
    dim = _BANDS
    steps = MappingProxyType({"wave": 1 / RATE_HZ})
    alignment = (
        *(f"artefacts_{region}" for region in _REGIONS),
        "artefacts_worst",  # in the tenth of the frames where most is
        *(f"holes_{region}" for region in _REGIONS),
        "leakage",  # dB / 10 that was taken away where more than 6 were: what is left is the less
        "depth",  # dB / 10 of those, as loud as they were: without the cells that kept their level
        "deepest",  # and in the tenth of them where most was taken: there nothing else is heard
        "removed",  # dB / 10 that the whole became softer by
        "mask",  # how far what is left and what was taken go together, as of an unsure mask,
        "against",  # and how far they exclude each other, as of a hard one
        "mask_beside",  # log of shares, beside a residue: what goes with what was taken away,
        "artefacts_beside",  # and what is against it, as what the mixture never had is
        "ragged_time",  # change of the gain from frame to frame and from bin to bin, dB
        "ragged_bins",
        "sparser",  # log ratio of how a cell stands out of those around it, and the other way
        "denser",
    )

    def encode_clip(self, samples: np.ndarray) -> AudioFeatures:
        """Mono float32 (N,) at 16 kHz, within `audio.MAX_PEAK`, which float16 holds."""
        power = _banded(np.abs(_spectra(samples)) ** 2)
        levels = np.log10(power.mean(axis=0) + 1e-10).astype(np.float32)
        return AudioFeatures(levels, {"wave": samples.astype(np.float16)[:, None]})

    def compare(self, original: Frames, edited: Frames, alignment: Alignment | None) -> np.ndarray:
        """Both clips where they overlap, aligned to a sample; 0 where another pitch or pace was
        asked for and is there: no wave form is left of the original."""
        if alignment is not None and any(alignment.turn):
            return np.zeros(len(self.alignment), np.float32)
        values, _ = take_apart(original["wave"][:, 0], edited["wave"][:, 0], alignment)
        return np.array([values[name] for name in self.alignment], np.float32)


def take_apart(
    original: np.ndarray, edited: np.ndarray, alignment: Alignment | None
) -> tuple[dict[str, float], Parts]:
    """Samples :: (N1,), (N2,) to the numbers of `ChangeParts` and to what they are means of."""
    before, after, start = _together(original, edited, alignment)
    o, e = _spectra(before), _spectra(after)
    power_o, power_e = np.abs(o) ** 2, np.abs(e) ** 2
    least = 10 ** (-_RANGE_DB / 10) * max(float(power_o.max()), 1e-12)
    band_o, band_e = _power(_banded(power_o)), _power(_banded(power_e))
    loud = band_e**_LOUDNESS * (band_e > 1e-5 * max(float(band_e.max()), 1e-12))
    weight = loud / max(float(loud.sum()), 1e-12)

    explained = np.abs(_product(e, o)) ** 2 / (band_o * band_e + least**2)
    artefacts = np.clip(1 - explained, 0, 1)
    taken = o - e
    power_t = np.abs(taken) ** 2
    band_t = _power(_banded(power_t))
    together = _product(e, taken).real / np.sqrt(band_e * band_t + least**2)
    # Little was taken: its phase is that of rounding.
    together *= band_t / (band_t + 1e-3 * band_o + least)

    gain_db = 10 * np.log10((power_e + least / 30) / (power_o + least / 30))
    gain_db = np.clip(gain_db, *_GAIN_DB)
    audible = power_e**_LOUDNESS * (power_o > 1e-5 * power_o.max())
    smooth_db = uniform_filter(gain_db, (25, 9))
    dent_db = _banded_mean(np.maximum(smooth_db - gain_db - 3, 0) * (power_o > least))
    softer_db = np.clip(10 * np.log10((band_o + least) / (band_e + least)), 0, 40)
    left_db = np.where(softer_db > 6, 40 - softer_db, 0)
    gone = (softer_db > 6) & (band_o > 1e-5 * max(float(band_o.max()), 1e-12))
    found = Parts(artefacts, dent_db, left_db, start / RATE_HZ)

    by_time = (artefacts * weight).sum(axis=1) / np.maximum(weight.sum(axis=1), 1e-12)
    heard = weight.sum(axis=1) > 0.2 / len(weight)
    stands_out = [_contrast(power, least) for power in (power_o, power_e)]
    sparser = _weighted(stands_out[1] - stands_out[0], power_e**_LOUDNESS)
    values = {
        **{
            f"artefacts_{name}": -np.log10(1 - _share(artefacts, weight, part) + 1e-3)
            for name, part in _REGIONS.items()
        },
        "artefacts_worst": float(np.percentile(by_time[heard], 90)) if heard.any() else 0.0,
        **{f"holes_{name}": float(dent_db[:, part].mean()) for name, part in _REGIONS.items()},
        "leakage": float(np.where(softer_db > 6, softer_db, 0).mean()) / 10,
        "depth": _weighted(softer_db, gone * band_o**_LOUDNESS) / 10,
        "deepest": float(np.percentile(softer_db[gone], 90)) / 10 if gone.any() else 0.0,
        "removed": max(10 * float(np.log10((band_o.sum() + least) / (band_e.sum() + least))), 0)
        / 10,
        "mask": float((np.maximum(together, 0) * weight).sum()),
        "against": float((np.maximum(-together, 0) * weight).sum()),
        **_beside_residue(o, e, band_o),
        "ragged_time": _weighted(np.abs(np.diff(gain_db, axis=0)), audible[1:]) / 10,
        "ragged_bins": _weighted(np.abs(np.diff(gain_db, axis=1)), audible[:, 1:]) / 10,
        "sparser": max(sparser, 0.0),
        "denser": max(-sparser, 0.0),
    }
    return values, found


def _beside_residue(o: np.ndarray, e: np.ndarray, band_o: np.ndarray) -> dict[str, float]:
    """A mixture and what was left of it, as a kept sound, a steady residue of the other, and more.

    With k + s before and k + g s after, what was taken away is (1 - g) s, and what is left without
    the residue, (e - g o) / (1 - g), is k: they have nothing to do with each other. A mask leaves
    of both what goes with both; an artefact a adds -|a|^2 to their product. g is the least gain
    of a band, where nothing else is heard. Shares shrink as far as chance may have made them.
    """
    gains = _product(e, o).real / (band_o + 1e-12)
    gains = np.where(band_o > 1e-4 * band_o.max(), gains, np.nan)
    heard = np.isfinite(gains).any(axis=0)
    least = np.zeros(_BANDS)
    least[heard] = np.clip(np.nanpercentile(gains[:, heard], 10, axis=0), 0.0, 0.9)
    widths = np.diff(np.append(_edges(), o.shape[1]))
    wide = np.repeat(least, widths).astype(np.float32)
    kept, taken = (e - wide * o) / (1 - wide), o - e
    product = _banded((kept * np.conj(taken)).real).sum(axis=0)
    power, power_t, power_e = (_banded(np.abs(x) ** 2).sum(axis=0) for x in (kept, taken, e))
    power_o = band_o.sum(axis=0)
    alike = product**2 / (power * power_t + 1e-12)
    by_chance = 4 * _N_FFT / _HOP / (len(o) * widths)  # frames overlap
    share = product / (power + 1e-12) * alike / (alike + by_chance)
    share *= power_t / (power_t + 1e-3 * power_o + 1e-12)  # little was taken: that is rounding
    loud = power_e**_LOUDNESS
    return {
        "mask_beside": _weighted(np.log10(np.maximum(share, 0) + 1e-3) + 3, loud),
        "artefacts_beside": _weighted(np.log10(np.maximum(-share, 0) + 1e-3) + 3, loud),
    }


def _together(
    x: np.ndarray, y: np.ndarray, alignment: Alignment | None
) -> tuple[np.ndarray, np.ndarray, int]:
    """What both have of the same time, in level and polarity alike :: 2 x float32 (N,).

    And the sample of the edit at which that begins.
    """
    hop = round(0.01 * RATE_HZ)
    lag, gain_db = (0, 0.0) if alignment is None else (alignment.lag * hop, alignment.gain)
    x, y = x.astype(np.float32), y.astype(np.float32) * np.float32(10 ** (-gain_db / 20))
    size = next_fast_len(len(x) + len(y), real=True)
    correlation = irfft(np.conj(rfft(x, size)) * rfft(y, size), size)
    near = np.arange(max(lag - 2 * hop, 1 - len(x)), min(lag + 2 * hop + 1, len(y)))
    found = correlation[near]
    best = int(np.argmax(np.abs(found)))
    lag, sign = int(near[best]), np.sign(found[best]) or 1.0
    begin, end = max(0, -lag), min(len(x), len(y) - lag)
    if end - begin < _N_FFT:
        shorter = min(len(x), len(y))
        begin, end, lag = 0, shorter, 0
    return x[begin:end], np.float32(sign) * y[begin + lag : end + lag], begin + lag


def _spectra(samples: np.ndarray) -> np.ndarray:
    """Short-time spectra :: (T, 257) complex64; edges are silence."""
    padded = np.pad(samples.astype(np.float32), _N_FFT)
    frames = np.lib.stride_tricks.sliding_window_view(padded, _N_FFT)[::_HOP]
    return rfft(frames * hann(_N_FFT), axis=1)


@cache
def _edges() -> np.ndarray:
    """First bins of the bands, even on the mel scale :: (24,)."""
    tips = centres(_BANDS + 1, 0.0, RATE_HZ / 2)
    return np.unique(np.append(0, np.round(tips[1:] * _N_FFT / RATE_HZ).astype(int)))[:_BANDS]


def _banded(power: np.ndarray) -> np.ndarray:
    return np.add.reduceat(power, _edges(), axis=1)


def _banded_mean(cells: np.ndarray) -> np.ndarray:
    return _banded(cells) / np.diff(np.append(_edges(), cells.shape[1]))


def _mean(bands: np.ndarray) -> np.ndarray:
    return uniform_filter1d(bands.astype(np.float64), _AROUND, axis=0)


def _power(bands: np.ndarray) -> np.ndarray:
    """A running sum of what is positive can end a little below 0."""
    return np.maximum(_mean(bands), 0)


def _product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    both = np.conj(y) * x  # not x * conj(y): numpy may swap these, and the last bit with them
    return _mean(_banded(both.real)) + 1j * _mean(_banded(both.imag))


def _contrast(power: np.ndarray, least: float) -> np.ndarray:
    """How far cells stand out of those around them, log :: (T, F) -> (T, F)."""
    mean = uniform_filter(np.sqrt(power), (7, 7))
    around = uniform_filter(power, (7, 7)) + least / 100
    # As in _power; where the original is next to silent, a running sum ends below its floor.
    around[around <= 0] = least / 100
    return np.log(around / (mean**2 + least / 100))


def _weighted(cells: np.ndarray, weights: np.ndarray) -> float:
    return float((cells * weights).sum() / max(float(weights.sum()), 1e-12))


def _share(cells: np.ndarray, weight: np.ndarray, part: slice) -> float:
    return float((cells[:, part] * weight[:, part]).sum() / max(weight[:, part].sum(), 1e-12))

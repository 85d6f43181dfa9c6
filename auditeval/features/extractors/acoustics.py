"""`acoustics`: reverberation, dynamics, tilt, bandwidth and modulation of a clip; no weights."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.ndimage import maximum_filter1d, uniform_filter1d

from auditeval.features.alignment import EDGE_FRAMES, RANGE_DB, Alignment, percentiles
from auditeval.features.comparison import Frames
from auditeval.features.extractor import Extractor
from auditeval.features.extractors.spectrum import Spectrum
from auditeval.features.mel import SILENCE_DB, centres, from_db, to_db

MEASURES = (
    "decay",  # seconds in which bands fall by 60 dB where they fall, log: of reverberation
    "dynamics",  # from the 10th to the 95th percentile of the level, dB / 10
    "crest",  # of 10 ms against a second, dB / 10: of compression
    "tilt",  # slope of the mean spectrum, dB an octave
    "bandwidth",  # up to where the mean spectrum is 50 dB below its highest, octaves
    "roughness",  # deviation of the mean spectrum from a smooth one, dB: of combs and resonances
    "slow",  # modulation of bands at 0.5 to 2, 2 to 8 and 8 to 25 Hz, log of dB
    "middle",
    "fast",
)
# Less of each is no change that anyone hears: decays differ audibly by some 5 % [ISO 3382-1].
TOLERANCE = np.array([0.05, 0.05, 0.05, 0.1, 0.1, 0.1, 0.02, 0.02, 0.02], np.float32)
_SILENT_DB = 20.0  # so much less in all bands is no effect: what was there was taken away
_AROUND_FRAMES = 21
_FALL_FRAMES = 10
_ENOUGH_FRAMES = 100  # a second: measures of less are worth less
_CLEAR_DB = SILENCE_DB + 6  # below it a mean spectrum is that of nothing
_PERIODS = (4, 12, 50, 200)  # frames of 10 ms: half of 25, 8, 2 and 0.5 Hz


class Acoustics(Extractor):
    """What effects change: how much more or less of each of `MEASURES` the edit has.

    From the log-mel frames that `spectrum` aligned; without it all are 0. It encodes nothing of a
    clip by itself.
    """

    name = "acoustics"
    revision = "3"
    rate_hz = Spectrum.rate_hz
    alignment = tuple(f"{name}_{way}" for name in MEASURES for way in ("up", "down"))

    def compare(self, original: Frames, edited: Frames, alignment: Alignment | None) -> np.ndarray:
        """Of the frames that both clips have, but for the ends; 0 where these are too few."""
        if alignment is None:
            return np.zeros(len(self.alignment), np.float32)
        before, after = alignment.overlap()
        both = alignment.shared() & _heard_on(before, after)
        if len(both) > 5 * EDGE_FRAMES:
            both[:EDGE_FRAMES] = both[-EDGE_FRAMES:] = False
        frames = int(np.count_nonzero(both))
        if frames == 0:
            return np.zeros(len(self.alignment), np.float32)
        change = measure(after[both]) - measure(before[both])
        change = np.sign(change) * np.maximum(np.abs(change) - TOLERANCE, 0)
        change *= min(frames / _ENOUGH_FRAMES, 1.0)
        return np.stack([np.maximum(change, 0), np.maximum(-change, 0)], axis=1).ravel()


def _heard_on(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Frames but those that fell silent, with what is around them :: 2 x (T, 64) -> bool (T,)."""
    was, is_now = (to_db(from_db(x).sum(axis=1)) for x in (before, after))
    least = was.max() - RANGE_DB
    fell = np.maximum(was, least) - np.maximum(is_now, least)
    return ~maximum_filter1d(uniform_filter1d(fell, 5, mode="nearest") > _SILENT_DB, _AROUND_FRAMES)


def measure(mel: np.ndarray) -> np.ndarray:
    """dB frames of 10 ms :: (T, 64) to the values of MEASURES :: float32 (9,)."""
    bands = np.ascontiguousarray(mel.T, np.float32)
    power = from_db(bands)
    powers = power.sum(axis=0)
    level = to_db(powers)
    loud = level.max()
    full = to_db(power.mean(axis=1))
    heard = np.maximum(bands, max(loud - RANGE_DB, SILENCE_DB))
    mean = to_db(from_db(heard).mean(axis=1))
    second = to_db(uniform_filter1d(powers, 100, mode="nearest"))
    active = level > loud - 30
    high, low = percentiles(np.maximum(level, loud - RANGE_DB), 95, 10)
    values = [
        _decay(heard),
        (high - low) / 10,
        percentiles((level - second)[active], 95)[0] / 10,
        _slope(mean),
        float(_octaves()[full >= min(max(full.max() - 50, _CLEAR_DB), full.max())][-1]),
        float(np.std(mean - uniform_filter1d(mean, 9, mode="nearest"))),
    ]
    smooth = [uniform_filter1d(heard, size, mode="nearest") for size in _PERIODS]
    modulation = [np.mean(np.std(smooth[i] - smooth[i + 1], axis=1)) for i in (2, 1, 0)]
    return np.array([*values, *np.log1p(modulation)], np.float32)


@cache
def _octaves() -> np.ndarray:
    """Where the bands are :: (64,)."""
    return np.log2(centres(Spectrum.BANDS, *Spectrum.RANGE_HZ))


def _slope(mean: np.ndarray) -> float:
    """Of the line through what is audible of a mean spectrum :: dB (64,) -> dB an octave."""
    audible = mean > mean.max() - 50
    if audible.sum() <= 2:
        return 0.0
    at = _octaves()[audible] - _octaves()[audible].mean()
    return float(at @ mean[audible] / (at @ at))


def _decay(heard: np.ndarray) -> float:
    """Log of the seconds for 60 dB of the median fall of loud bands within 0.1 s :: (64, T)."""
    if heard.shape[1] <= _FALL_FRAMES:
        return 0.0
    smooth = uniform_filter1d(heard, 3, mode="nearest")
    fall = smooth[:, :-_FALL_FRAMES] - smooth[:, _FALL_FRAMES:]
    # The steepest falls of each band, after its loudest moments: a room lets none be steeper.
    at = 0.75 * (smooth.shape[1] - 1)
    ranked = np.sort(smooth, axis=1)[:, [int(at), int(np.ceil(at))]]
    often = ranked[:, :1] + (ranked[:, 1:] - ranked[:, :1]) * np.float32(at % 1)
    falls = fall[(smooth[:, :-_FALL_FRAMES] > often) & (fall > 0)]
    if falls.size < 20:
        return 0.0
    steep = percentiles(falls, 75)[0]
    return float(np.log(60 * _FALL_FRAMES * 0.01 / max(steep, 1.0)))

"""`acoustics`: reverberation, dynamics, tilt, bandwidth and modulation of a clip; no weights."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import maximum_filter1d, uniform_filter1d

from auditeval.features.alignment import EDGE_FRAMES, RANGE_DB, Alignment
from auditeval.features.comparison import Frames
from auditeval.features.extractor import Extractor
from auditeval.features.extractors.spectrum import FLOOR_DB, Spectrum
from auditeval.features.mel import centres

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
_CLEAR_DB = FLOOR_DB + 6  # below it a mean spectrum is that of nothing
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

    def __init__(self) -> None:
        self.arguments = {}

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
    was, is_now = (10 * np.log10(np.sum(10 ** (x / 10), axis=1)) for x in (before, after))
    least = was.max() - RANGE_DB
    fell = np.maximum(was, least) - np.maximum(is_now, least)
    return ~maximum_filter1d(uniform_filter1d(fell, 5, mode="nearest") > _SILENT_DB, _AROUND_FRAMES)


def measure(mel: np.ndarray) -> np.ndarray:
    """dB frames of 10 ms :: (T, 64) to the values of MEASURES :: float32 (9,)."""
    mel = mel.astype(np.float32)
    level = 10 * np.log10(np.sum(10 ** (mel / 10), axis=1))
    loud = level.max()
    full = 10 * np.log10(np.mean(10 ** (mel / 10), axis=0))
    heard = np.maximum(mel, max(loud - RANGE_DB, FLOOR_DB))
    mean = 10 * np.log10(np.mean(10 ** (heard / 10), axis=0))
    octaves = np.log2(centres(Spectrum.BANDS, *Spectrum.RANGE_HZ))
    audible = mean > mean.max() - 50
    second = uniform_filter1d(10 ** (level / 10), 100, mode="nearest")
    active = level > loud - 30
    values = [
        _decay(heard),
        float(np.subtract(*np.percentile(np.maximum(level, loud - RANGE_DB), (95, 10)))) / 10,
        float(np.percentile((level - 10 * np.log10(second))[active], 95)) / 10,
        float(np.polyfit(octaves[audible], mean[audible], 1)[0]) if audible.sum() > 2 else 0.0,
        float(octaves[full >= min(max(full.max() - 50, _CLEAR_DB), full.max())][-1]),
        float(np.std(mean - uniform_filter1d(mean, 9, mode="nearest"))),
    ]
    smooth = [uniform_filter1d(heard, size, axis=0, mode="nearest") for size in _PERIODS]
    bands = [np.mean(np.std(smooth[i] - smooth[i + 1], axis=0)) for i in (2, 1, 0)]
    return np.array([*values, *np.log1p(bands)], np.float32)


def _decay(heard: np.ndarray) -> float:
    """Log of the seconds for 60 dB of the median fall of loud bands within 0.1 s."""
    if len(heard) <= _FALL_FRAMES:
        return 0.0
    smooth = uniform_filter1d(heard, 3, axis=0, mode="nearest")
    fall = smooth[:-_FALL_FRAMES] - smooth[_FALL_FRAMES:]
    # The steepest falls of each band, after its loudest moments: a room lets none be steeper.
    loud = smooth[:-_FALL_FRAMES] > np.percentile(smooth, 75, axis=0)
    falls = fall[loud & (fall > 0)]
    if falls.size < 20:
        return 0.0
    steep = np.percentile(falls, 75)
    return float(np.log(60 * _FALL_FRAMES * 0.01 / max(steep, 1.0)))

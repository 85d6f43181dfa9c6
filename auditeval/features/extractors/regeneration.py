"""`regeneration`: whether a clip was made anew, and how it then sounds; no weights."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import uniform_filter1d

from auditeval.features.alignment import RANGE_DB, REGIONS, Alignment
from auditeval.features.comparison import Frames
from auditeval.features.extractor import Extractor
from auditeval.features.extractors.acoustics import MEASURES, TOLERANCE, measure
from auditeval.features.extractors.spectrum import Spectrum
from auditeval.features.mel import SILENCE_DB, from_db, to_db

_AROUND = 31  # frames of 10 ms
_ANEW, _SAME = 0.2, 0.35  # correlation of it: another take has less, what was damaged has more
_EVEN = 0.5  # dB^2 a cell: what fluctuates less in both tells nothing
_SILENT_DB = SILENCE_DB + 10 * np.log10(Spectrum.BANDS) + 3  # of all bands
_BED, _LOUD = 0.1, 0.95  # of the frames
_WIDEST = 8.0  # octaves, of the bands


class Regeneration(Extractor):
    """An editor that makes a clip anew leaves nothing to hold frame against frame.

    How much of what bands do within a third of a second both clips share tells
    (`regenerated`, 0 to 1): noise, filters and coding leave most of it in some bands, another take
    has none. As far as it is so, the other numbers say how the edit sounds beside its original, and
    alone, whatever stands where. From the log-mel frames that `spectrum` aligned; without it all
    are 0. It encodes nothing of a clip by itself.
    """

    name = "regeneration"
    revision = "2"
    rate_hz = Spectrum.rate_hz
    alignment = (
        "regenerated",
        *(f"{name}_{way}" for name in MEASURES for way in ("up", "down")),  # as in `acoustics`
        *(f"bed_{region}_{way}" for region in REGIONS for way in ("up", "down")),  # dB / 10
        *(f"bed_{region}" for region in REGIONS),  # of the edit alone
        "bandwidth",
    )

    def compare(self, original: Frames, edited: Frames, alignment: Alignment | None) -> np.ndarray:
        """Of all frames of both clips, at one level."""
        if alignment is None:
            return np.zeros(len(self.alignment), np.float32)
        anew = np.interp(shared_fluctuation(*alignment.overlap()), (_ANEW, _SAME), (1.0, 0.0))
        if anew == 0:
            return np.zeros(len(self.alignment), np.float32)
        first, second = _heard(alignment.original), _heard(alignment.edited)
        before, after = measure(first), measure(second)
        change = after - before
        change = np.sign(change) * np.maximum(np.abs(change) - TOLERANCE, 0)
        bed, bed_after = _bed(first), _bed(second)
        risen = (bed_after - bed) / 10
        both = np.concatenate([change, risen])
        ways = np.stack([np.maximum(both, 0), np.maximum(-both, 0)], axis=1).ravel()
        alone = [*(bed_after / 10), after[MEASURES.index("bandwidth")] - _WIDEST]
        return (anew * np.array([1.0, *ways, *alone])).astype(np.float32)


def shared_fluctuation(before: np.ndarray, after: np.ndarray) -> float:
    """Correlation of what bands do within `_AROUND` frames and their region does not.

    Where both are heard, since a sound that was lost was not made anew, and of the region where it
    is highest; any two barks begin as loud. 2 x dB (T, 64) -> 0..1; 1 where there is nothing to
    tell it by.
    """
    levels = [_level(x) for x in (before, after)]
    heard = np.logical_and(*(level > max(level.max() - RANGE_DB, _SILENT_DB) for level in levels))
    if not heard.any():
        return 1.0
    found = []
    own = [_own(x, level.max()) for x, level in zip((before, after), levels, strict=True)]
    for bands in REGIONS.values():
        x, y = (_beside(of[:, bands])[heard] for of in own)
        most, least = sorted((np.square(x).mean(), np.square(y).mean()), reverse=True)
        if most > _EVEN:
            found.append((x * y).mean() / np.sqrt(most * max(least, 1e-6)))
    return float(np.clip(max(found, default=1.0), 0, 1))


def _own(x: np.ndarray, loud: np.float32) -> np.ndarray:
    """What each band does beside what it did for `_AROUND` frames :: dB (T, 64) -> (T, 64)."""
    heard = np.maximum(x, max(loud - RANGE_DB, SILENCE_DB))
    return heard - uniform_filter1d(heard, _AROUND, axis=0, mode="nearest")


def _beside(own: np.ndarray) -> np.ndarray:
    """And beside what all bands of its region do."""
    return own - own.mean(axis=1, keepdims=True)


def _heard(x: np.ndarray) -> np.ndarray:
    """Without silence at its ends, its loudest frame at 0 dB :: dB (T, 64)."""
    level = _level(x)
    loud = level.max()
    there = np.flatnonzero(level >= loud - RANGE_DB)
    return np.maximum(x[there[0] : there[-1] + 1] - loud, -100.0)


def _bed(x: np.ndarray) -> np.ndarray:
    """How far the quiet frames of a region lie below its loud ones :: dB (T, 64) -> dB (4,)."""
    levels = [to_db(from_db(x[:, bands]).sum(axis=1)) for bands in REGIONS.values()]
    quiet, loud = np.quantile(np.maximum(levels, -RANGE_DB - 20), (_BED, _LOUD), axis=1)
    return quiet - loud


def _level(x: np.ndarray) -> np.ndarray:
    return to_db(from_db(x).sum(axis=1))

"""How far each change that words can ask for was made in the sound of a pair, in audible steps."""

from __future__ import annotations

import numpy as np
from scipy import fft
from scipy.ndimage import uniform_filter1d

from auditeval.features.alignment import ALIGNMENT_NAMES, FRAME_SECONDS, Alignment, percentiles
from auditeval.features.changes.pace_and_pitch import Turned
from auditeval.features.extractors.acoustics import MEASURES, measure
from auditeval.features.extractors.spectrum import Spectrum
from auditeval.features.mel import centres

# What of each measure is a clear change: about three times what is just noticed. Level 1 dB and
# pitch some 30 cents in running sound; pace 5 % [Quene 2007, 10.1016/j.wocn.2006.09.001];
# reverberation 5 % in laboratories and 20 % in running sound [ISO 3382-1; Meng et al. 2006].
_SEMITONES, _OCTAVES_OF_PACE, LEVEL_DB = 1.0, 0.15, 3.0
_DECAY, _TILT, _BANDWIDTH, _LOWS_DB, _BED_DB, _FILL_DB = 0.3, 0.8, 0.4, 6.0, 4.0, 1.0
_TAIL, _REPEAT, _SLOPE, _SWING_DB = 0.25, 0.15, 0.15, 1.0
_LOW_HZ, _ACTIVE_DB, _LOUD_DB, _SWING_HZ = 200.0, 25.0, 15.0, (3.0, 10.0)
_SAME_OCTAVES = 0.03  # of pace: only then does one frame answer to another
_FEWEST_FRAMES = 50
_DIRECT_SECONDS, _RESPONSE_SECONDS = 0.05, 0.7

HEARD: tuple[str, ...] = (
    *("pitch_up", "pitch_down", "faster", "slower", "louder", "softer"),
    *("more_reverb", "less_reverb", "brighter", "duller", "narrow", "echo"),
    *("distorted", "noisier", "cleaner", "tremolo", "compressed"),
)
"""Names of `vocabulary.CHANGES` that can be told from the frames of two clips alone."""


def made(turned: Turned, alignment: Alignment) -> np.ndarray:
    """Clear steps in the direction of each of HEARD, below 0 the other way :: float32 (17,)."""
    before, after = (_Measured(x) for x in (alignment.original, alignment.edited))
    change = {name: after.values[name] - before.values[name] for name in MEASURES}
    pitch = turned.semitones * turned.semitones_sure / _SEMITONES
    pace = float(np.log2(turned.pace)) * turned.pace_sure / _OCTAVES_OF_PACE
    level = (after.level - before.level) / LEVEL_DB
    band = change["bandwidth"] / _BANDWIDTH
    narrow = min(-band, (before.lows - after.lows) / _LOWS_DB)
    bright = change["tilt"] / _TILT + min(band, 0) + 2 * max(narrow, 0)
    bed = (after.bed - before.bed) / _BED_DB
    same = _SameTime(turned, alignment)
    decay = change["decay"] / _DECAY + same.tail / _TAIL
    echo = same.repeat / _REPEAT
    distorted = same.filled / _FILL_DB
    values = {
        **{"pitch_up": pitch, "pitch_down": -pitch, "faster": pace, "slower": -pace},
        **{"louder": level, "softer": -level},
        **{"more_reverb": decay - max(echo, 0), "less_reverb": -decay},
        **{"brighter": bright, "duller": -bright, "narrow": narrow, "echo": echo},
        "distorted": distorted,
        **{"noisier": bed - max(distorted, 0), "cleaner": -bed},
        "tremolo": same.swing / _SWING_DB,
        "compressed": -same.slope / _SLOPE,
    }
    return np.array([values[name] for name in HEARD], np.float32)


class _Measured:
    """A clip without silence at its ends, from its dB frames :: (T, 64)."""

    def __init__(self, mel: np.ndarray) -> None:
        power = np.exp(mel.astype(np.float32) * np.float32(np.log(10) / 10))
        levels = 10 * np.log10(power.sum(axis=1))
        loud = percentiles(levels, 95)[0]
        there = np.flatnonzero(levels > loud - 50)
        heard = slice(there[0], there[-1] + 1) if len(there) else slice(0, len(mel))
        power, levels = power[heard], levels[heard]
        hz = centres(Spectrum.BANDS, *Spectrum.RANGE_HZ)
        mean = power[levels >= loud - _ACTIVE_DB].mean(axis=0)
        self.values = dict(zip(MEASURES, measure(mel[heard]).tolist(), strict=True))
        self.level = float(10 * np.log10(mean.sum()))
        self.lows = float(10 * np.log10(mean[hz < _LOW_HZ].sum() / mean.sum() + 1e-6))
        quiet = np.sort(levels)[: max(len(levels) // 10, 1)]
        self.bed = max(float(quiet.mean()) - self.level, -60.0)


class _SameTime:
    """What only frames of one time tell, where the pace is the same: else all are 0.

    `tail` and `repeat` :: power that comes 0.05 to 0.7 s after that of the other clip, as a share
    of what comes at once: spread out, and at one time; of the edit less that of the original.
    `slope` :: dB of gain for a dB of level where it is loud, `swing` :: dB by which the gain swings
    at one speed, 3 to 10 times a second, `filled` :: dB that weak cells rose by above the bed.
    """

    def __init__(self, turned: Turned, alignment: Alignment) -> None:
        self.tail = self.repeat = self.slope = self.swing = 0.0
        fills = [
            value
            for name, value in zip(ALIGNMENT_NAMES, alignment.values.tolist(), strict=True)
            if name.startswith("excess_")
        ]
        self.filled = float(np.expm1(max(fills)))
        before, after = (np.exp(x * np.float32(np.log(10) / 10)) for x in alignment.overlap())
        if abs(np.log2(turned.pace)) > _SAME_OCTAVES or len(before) < _FEWEST_FRAMES:
            return
        x, y = before.sum(axis=1), after.sum(axis=1)
        there, back = _response(x, y), _response(y, x)
        self.tail, self.repeat = there[0] - back[0], there[1] - back[1]
        dry, wet = 10 * np.log10(x), 10 * np.log10(y)
        below, gain = percentiles(dry, 95)[0] - dry, wet - dry
        self.swing = _swing(np.where(below < _ACTIVE_DB, gain, np.median(gain[below < _ACTIVE_DB])))
        loud = below < _LOUD_DB
        if np.std(dry[loud]) > 1:
            self.slope = float(np.polyfit(dry[loud], gain[loud], 1)[0])


def _swing(gain: np.ndarray) -> float:
    """Amplitude of the greatest swing of a gain in dB, above those of speeds around it."""
    slow = uniform_filter1d(gain, 35, mode="nearest")
    window = np.hanning(len(gain))
    size = np.abs(fft.rfft((gain - slow) * window)) * 2 / window.sum()
    hz = np.arange(len(size)) / (len(gain) * FRAME_SECONDS)
    inside = size[(hz >= _SWING_HZ[0]) & (hz <= _SWING_HZ[1])]
    return max(float(inside.max() - 3 * np.median(inside)), 0.0) if len(inside) else 0.0


def _response(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Of powers by frame :: (T,), (T,); y as x filtered, by regularised deconvolution."""
    first, last = (round(s / FRAME_SECONDS) for s in (_DIRECT_SECONDS, _RESPONSE_SECONDS))
    size = fft.next_fast_len(len(x) + last + 1, real=True)
    of_x, of_y = fft.rfft(x, size), fft.rfft(y, size)
    power = np.square(np.abs(of_x))
    found = fft.irfft(of_y * np.conj(of_x) / (power + 0.01 * power.mean()), size)
    direct = max(float(found[:first].sum() + found[-2:].sum()), 1e-9)
    late = np.maximum(uniform_filter1d(found[first:last], 3), 0) / direct
    spread = float(np.median(np.sort(late)[len(late) // 2 :]))
    place = int(np.argmax(late))
    peak = float(late[max(place - 1, 0) : place + 2].sum()) - 3 * spread
    return spread * len(late), max(peak, 0.0)

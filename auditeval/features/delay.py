"""How much later and louder an edit is than its original, from log-mel frames: see alignment."""

from __future__ import annotations

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.ndimage import gaussian_filter1d, uniform_filter1d

from auditeval.features.mel import SILENCE_DB

MAX_GAIN_DB = 20.0  # a larger change of level stays in the differences
STEP = 2  # of smoothed frames every second says it all
CLEARLY = 0.75  # what the difference of two clips at another lag must be of that at the likeliest
FAR = 12  # frames: a lag further than this from equal starts and ends gives way to these
HARDLY = 1.1  # where their difference is less than so many times its own
ALIKE_DB = 3.0  # a cell of eight bands that differs by this is half unlike
DELAYS = 5  # candidate lags for material that was moved


def find_delays(original: np.ndarray, edited: np.ndarray, separation: int = 25) -> list[int]:
    """Lags of the edit in frames, likeliest first :: (T1, 64), (T2, 64) -> lags.

    DELAYS peaks of the cross-correlation of eight band envelopes (over energies of the overlap and
    of the whole, geometric mean; short lags win ties), then equal starts, equal ends, and equal
    first frames that are heard. First of all comes the lag near these at which most of the
    envelopes is alike.
    """
    a, b = (x.reshape(len(x), 8, -1) @ np.full(8, 1 / 8, x.dtype) for x in (original, edited))
    a, b = a - a.mean(axis=0), b - b.mean(axis=0)
    size = next_fast_len(len(a) + len(b), real=True)
    spectrum = (np.conj(rfft(a, size, axis=0)) * rfft(b, size, axis=0)).sum(axis=1)
    lags = np.arange(1 - len(a), len(b))
    begin, end = np.maximum(0, -lags), np.minimum(len(a), len(b) - lags)
    sum_a, sum_b = (np.append(0, np.cumsum((x * x).sum(axis=1), dtype=float)) for x in (a, b))
    energy = (sum_a[end] - sum_a[begin]) * (sum_b[end + lags] - sum_b[begin + lags])
    energy = np.sqrt(np.maximum(energy, 0) * sum_a[-1] * sum_b[-1]) ** 0.5
    score = irfft(spectrum, size)[lags] / (energy + 1e-2 * energy.max() + 1e-6)
    score -= 0.15 * np.abs(lags) / (np.abs(lags) + 50.0)  # an unrelated clip stays at lag 0
    found: list[int] = []
    while len(found) < DELAYS:
        best = int(np.argmax(score))
        if found and not score[best] > 0:
            break
        found.append(int(lags[best]))
        score[max(0, best - separation) : best + separation + 1] = -np.inf
    starts = [int(np.argmax((x > x.min(axis=0) + 1).any(axis=1))) for x in (a, b)]
    found += [0, len(b) - len(a), starts[1] - starts[0]]  # the last: silence was put before it
    return list(dict.fromkeys([_nearest(a, b, found), *found]))


def _nearest(a: np.ndarray, b: np.ndarray, found: list[int]) -> int:
    """The lag near one of those found under which most of two clips is alike.

    A steady sound correlates with itself at any lag, but only at the right one is the difference
    small. What an edit added or took away is unlike at any lag and must not draw it: a cell costs
    at most 1 (Geman-McClure), and half where it is heard in one clip and meets silence or nothing.
    Under noise nearly all is unlike at any lag, and the likeliest of `found` stays; unless it is
    far from where both clips begin or end together, as edits do, and hardly any likelier.
    """
    heard = [(x > x.min(axis=0) + 1).any(axis=1) for x in (a, b)]
    before = [np.append(0, np.cumsum(x)) for x in heard]
    a, b = (uniform_filter1d(x, 3, axis=0, mode="nearest") for x in (a, b))
    spared = abs(before[0][-1] - before[1][-1])  # no lag brings back what was lost
    costs = {}
    for lag in sorted({near for x in found for near in range(x - 3, x + 4)}, key=abs):
        begin, end = max(0, -lag), min(len(a), len(b) - lag)
        if end > begin:
            here, there = slice(begin, end, STEP), slice(begin + lag, end + lag, STEP)
            both = heard[0][here] & heard[1][there]
            unlike = (b[there] - a[here])[both]
            if len(some := unlike[::STEP]):  # enough to tell a gain, and an EQ
                unlike -= np.partition(some, len(some) // 2, axis=0)[len(some) // 2]
            unlike *= unlike
            unlike /= unlike + ALIKE_DB**2
            silent = np.count_nonzero(heard[0][here] != heard[1][there])
            met = before[0][end] - before[0][begin] + before[1][end + lag] - before[1][begin + lag]
            alone = before[0][-1] + before[1][-1] - met
            costs[lag] = STEP * (float(unlike.sum()) / unlike.shape[1] + silent / 2)
            costs[lag] += (alone - spared) / 2
    if not costs:
        return found[0]
    best = min(costs, key=lambda lag: costs[lag])
    if costs[best] >= CLEARLY * costs[found[0]]:
        best = found[0]
    together = {lag: costs[lag] for lag in (0, len(b) - len(a)) if lag in costs}
    if all(abs(best - lag) > FAR for lag in together):
        likeliest = min(together, key=lambda lag: together[lag], default=best)
        if costs[likeliest] < HARDLY * costs[best]:
            return likeliest
    return best


def find_fraction(original: np.ndarray, edited: np.ndarray) -> float:
    """What the edit is later by after whole frames :: (T, 64), (T, 64) -> frames, in eighths.

    The vertex of the parabola through the squared distances one frame earlier, here and one frame
    later. Within half a frame, and 0 for equal clips.
    """
    if len(original) < 4:
        return 0.0
    # Variances: a gain is no distance.
    earlier = _variance(original[1:] - edited[:-1])
    later = _variance(original[:-1] - edited[1:])
    here = _variance(original[1:-1] - edited[1:-1])
    curvature = earlier + later - 2 * here
    if curvature <= 0:
        return 0.0
    return round(8 * float(np.clip((earlier - later) / (2 * curvature), -0.5, 0.5))) / 8


def find_gain(original: np.ndarray, edited: np.ndarray) -> float:
    """Gain of the edit in dB on which most cells agree, within MAX_GAIN_DB.

    Louder cells weigh more. A mode, not a mean: an added or deleted event must not move the rest.
    """
    weight = original - max(float(original.max()) - 50.0, SILENCE_DB)
    weight = np.maximum(weight, 0.0)
    difference = edited - original
    last = round(2 * MAX_GAIN_DB)  # a histogram in steps of half a dB, and what lies beyond
    steps = np.clip(np.rint(2 * difference), -last - 1, last + 1).astype(np.intp)
    counts = np.bincount((steps + last + 1).ravel(), weight.ravel(), 2 * last + 3)[1:-1]
    density = gaussian_filter1d(counts, 3.0, mode="constant")
    centres = np.arange(-last, last + 1) / 2
    mode = float(centres[int(np.argmax(density * np.exp(-np.abs(centres) / 40.0)))])
    near = difference[(np.abs(difference - mode) <= 3.0) & (weight > 0)]
    return float(np.clip(np.median(near), -MAX_GAIN_DB, MAX_GAIN_DB)) if near.size else 0.0


def _variance(x: np.ndarray) -> float:
    cells = x.ravel()
    return float(cells @ cells) / cells.size - (float(cells.sum()) / cells.size) ** 2

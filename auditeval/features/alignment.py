"""Frame-aligned differences between an original clip and its edit, from log-mel frames alone.

Input: dB frames of the `spectrum` front end (32 kHz, 10 ms hop, 64 HTK mel bands, 50 Hz to 14 kHz).
One lag is found by cross-correlation, to an eighth of a frame, and a bounded gain is taken out;
then the overlap is compared cell by cell (a cell is one band in one frame, its power smoothed over
three frames), and the rest is sought elsewhere. Silence at either end is nothing.

Every feature is 0 when nothing differs, and log1p of the quantity named below, so that a linear
head bears severities it was not trained on. Levels have an audibility floor.
Noise is told apart by where it sits: an additive bed also fills quiet frames (`floor_rise_*`,
`up_quiet_*`); noise tied to the signal (MNRU, clipping, coding) fills the weak cells of active
frames above that bed (`excess_*`, `fill_*`).

Cost: linear in frames but for the FFT of the lag search: 5 ms for 5 s; 6 s, 0.8 GB for an hour.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.ndimage import maximum_filter1d, uniform_filter1d

from auditeval.features.delay import MAX_GAIN_DB, STEP, find_delays, find_fraction, find_gain
from auditeval.features.mel import SILENCE_DB, from_db, to_db
from auditeval.features.turning import NO_TURN, Turn

BANDS = 64
FRAME_SECONDS = 0.01
RANGE_DB = 60.0  # what lies further below the loud level of the original is not compared
ACTIVE_DB = 25.0  # frames of the original within this of its loud level (95th percentile)
WEAK_DB = 20.0  # cells of active frames this far below the level of their frame
QUIET_SHARE = 0.2  # the quietest frames of the original show the stationary bed
FREE_SECONDS = 0.5  # a later or earlier start that nobody minds
TOLERANCE_DB = 1.0  # what cells may differ by, as after a delay by a part of a frame
EDGE_FRAMES = 2
CLEAR_SECONDS = 0.1  # what is unlike is sought 150 ms at a time
# Upper edges 1.2, 3.3, 6.9 and 14 kHz.
REGIONS = {"low": slice(0, 20), "mid": slice(20, 36), "high": slice(36, 50), "top": slice(50, 64)}
REGION_NAMES = (
    "up_active", "down_active",  # energy added and removed in active frames of the original, dB
    "up_quiet", "down_quiet",  # the same in its other frames
    "floor_rise",  # stationary bed: rise of the mean level of the quietest frames, dB
    "contrast_loss",  # how far the active level came nearer to the bed, dB; free of gain and EQ
    "excess",  # weak cells of active frames: dB above both the original and the bed
    "fill",  # the same as power relative to the frame, log scale
)  # fmt: skip
GLOBAL_NAMES = (
    "band_loss",  # share of bands that lost 10 to 30 dB in active frames (low-pass, deletion)
    "eq",  # rms over bands of the change of the loudest cells after the gain, dB
    "floor_drop",  # fall of the bed in the bands that are left (denoising), dB
    "ripple_up", "ripple_down",  # contrast of neighbouring bands in active frames, log ratio
    "shape_best", "shape_median", "shape_worst",  # 10, 50, 90 % of unlikeness, active frames
    "shape_best_eq", "shape_median_eq", "shape_worst_eq",  # after taking out EQ and lost bands
    "unlike_half", "unlike_most",  # share of audible frames with likeness below 0.5, 0.8
    "unlike_run",  # longest audible stretch below 0.5, log scale
    "lsd", "lsd_active",  # log-spectral distance, dB
    "level_unlike",  # 1 - correlation of frame levels
    "up_frames", "down_frames",  # share of frames with over 6 dB a cell added, removed
    "new_share",  # audible share of the edit that matches nothing in the original at any delay
    "lost_share",  # audible share of the original that is nowhere in the edit
    "lag",  # |lag| beyond half a second, log scale
    "length",  # |log ratio| of what is left of both clips without silence at their ends
    "outside",  # share of that outside the overlap
    "louder", "quieter",  # gain beyond 6 dB, in units of 6 dB
)  # fmt: skip
_DETAIL = np.eye(BANDS, dtype=np.float32)
_DETAIL -= uniform_filter1d(_DETAIL, 9, mode="nearest")

ALIGNMENT_NAMES: tuple[str, ...] = (
    tuple(f"{name}_{region}" for region in REGIONS for name in REGION_NAMES) + GLOBAL_NAMES
)


class Alignment(NamedTuple):
    """How the log-mel frames of two clips belong together.

    `values` :: float32 (K,), all 0 for equal clips; the edit is `lag` frames later and `gain` dB
    louder where both are the same; `change` :: float32 (T2,), what its cells changed by, rms over
    bands in dB, RANGE_DB where it is heard and the original has ended or not begun. `original` and
    `edited` :: float32 (T1, 64), (T2, 64), the frames, dB; `lost`, `new` :: bool (T1,), (T2,),
    which are heard and nowhere in the other clip. Where words ask for another pitch or pace, and
    it is there, `original` is the clip after that `turn`.
    """

    values: np.ndarray
    lag: int
    gain: float
    change: np.ndarray
    original: np.ndarray
    edited: np.ndarray
    lost: np.ndarray
    new: np.ndarray
    turn: Turn = NO_TURN

    def moved(self, frames: np.ndarray) -> np.ndarray:
        """The rows of `original` that frames of the clip, by number, became."""
        return np.round(frames / 2**self.turn.octaves).astype(frames.dtype)

    def overlap(self) -> tuple[np.ndarray, np.ndarray]:
        """The frames of both clips where both are, the edit's at the original's level."""
        here, there = self.places()
        silence = _silence(self.gain)
        before, after = self.original[here], self.edited[there] - self.gain
        return np.maximum(before, silence), np.maximum(after, silence)

    def shared(self) -> np.ndarray:
        """Which frames of `overlap` are of what both clips have, CLEAR_SECONDS from all else."""
        here, there = self.places()
        other = self.lost[here] | self.new[there]
        return ~maximum_filter1d(other, 2 * round(CLEAR_SECONDS / FRAME_SECONDS) + 1)

    def places(self) -> tuple[slice, slice]:
        """The rows of `original` and of `edited` that are of one time."""
        begin = max(0, -self.lag)
        end = min(len(self.original), len(self.edited) - self.lag)
        if end <= begin:  # never of what `align` found
            begin, end = 0, min(len(self.original), len(self.edited))
        lag = self.lag if end + self.lag <= len(self.edited) and begin + self.lag >= 0 else 0
        return slice(begin, end), slice(begin + lag, end + lag)


def align(original: np.ndarray, edited: np.ndarray) -> Alignment:
    """Two clips of dB frames :: (T1, 64), (T2, 64), any T >= 1, to the values of ALIGNMENT_NAMES.

    Raises ValueError on another shape.
    """
    given = original.astype(np.float32), edited.astype(np.float32)
    original, edited = map(_frames, given)
    levels, edited_levels = _level(original), _level(edited)
    (loud,), (edited_loud,) = percentiles(levels, 95), percentiles(edited_levels, 95)
    ranged = np.maximum(original, loud - RANGE_DB), np.maximum(edited, edited_loud - RANGE_DB)
    delays = find_delays(*ranged)
    lag = delays[0]
    begin, end = max(0, -lag), min(len(original), len(edited) - lag)
    fraction = find_fraction(ranged[0][begin:end], ranged[1][begin + lag : end + lag])
    del ranged  # of long clips a good part of the memory
    original, edited = _smooth(original, -fraction / 2), _smooth(edited, fraction / 2)
    spans = _span(levels, loud), _span(edited_levels, edited_loud)
    inside = sum(np.count_nonzero((begin <= x) & (x < end)) for x in (spans[0], spans[1] - lag))
    if end - begin > 5 * EDGE_FRAMES:  # a clip's end has half a window of sound, or silence, beyond
        begin, end = begin + EDGE_FRAMES, end - EDGE_FRAMES
    gain = find_gain(original[begin:end:STEP], edited[begin + lag : end + lag : STEP])
    floor = max(max(loud, edited_loud - MAX_GAIN_DB) - RANGE_DB, _silence(gain))
    original, edited = np.maximum(original, floor), np.maximum(edited - gain, floor)
    values, inside_change = compare(original[begin:end], edited[begin + lag : end + lag], floor)
    audible = max(loud - ACTIVE_DB, SILENCE_DB + 10 * np.log10(BANDS) + 3)
    heard_o, heard_e = _level(original) >= audible, _level(edited) >= audible
    change = np.where(heard_e, np.float32(RANGE_DB), np.float32(0))
    first, stop = max(0, lag), min(len(edited), len(original) + lag)
    change[first:stop] = 0
    change[begin + lag : end + lag] = np.repeat(inside_change, STEP)[: end - begin]
    typical = original[levels >= loud - ACTIVE_DB].mean(axis=0)
    original, edited = original - typical, edited - typical
    lost, new = _unmatched(original, edited, delays)
    values["new_share"], values["lost_share"] = _mean(new[heard_e]), _mean(lost[heard_o])
    lost, new = lost & heard_o, new & heard_e
    values["length"] = abs(np.log(max(len(spans[1]), 1) / max(len(spans[0]), 1)))
    values["outside"] = 1 - (inside + 1) / (len(spans[0]) + len(spans[1]) + 1)
    values["lag"] = np.log1p(max(abs(lag) * FRAME_SECONDS - FREE_SECONDS, 0) / 0.1)
    values["louder"], values["quieter"] = max(gain / 6 - 1, 0.0), max(-gain / 6 - 1, 0.0)
    row = np.array([values[name] for name in ALIGNMENT_NAMES], np.float32)
    return Alignment(np.log1p(np.maximum(row, 0)), lag, gain, change, *given, lost, new)


def _silence(gain: float) -> float:
    """Up to where an edit at its original's level is silence, dB: digital silence has no level that
    a gain could be taken out of, and would be a bed that rose."""
    return SILENCE_DB + max(-gain, 0.0)


def compare(o: np.ndarray, e: np.ndarray, floor: float) -> tuple[dict[str, float], np.ndarray]:
    """Differences of two floored clips of one length :: (T, 64), (T, 64) -> by name.

    And what each STEP-th frame changed by, rms over bands in dB :: (ceil(T / STEP),).
    """
    # One frame of tolerance on both sides: a residual delay is no difference.
    highest, lowest = (of_neighbours(pick, o)[::STEP].copy() for pick in (np.maximum, np.minimum))
    o, e = o[::STEP], e[::STEP]
    power, power_e = from_db(o), from_db(e)
    level, level_e = to_db(power.sum(axis=1)), to_db(power_e.sum(axis=1))
    least = percentiles(level, 95)[0] - ACTIVE_DB
    active = level >= least
    order = np.argsort(uniform_filter1d(level, 3, mode="nearest"), kind="stable")
    bed = np.zeros(len(o), bool)
    bed[order[: max(1, int(QUIET_SHARE * len(o)))]] = True
    times = np.stack([bed, active, ~active]).astype(np.float32)
    times /= np.maximum(times.sum(axis=1, keepdims=True), 1)  # products with these are means
    (bed_o, active_o), (bed_e, active_e) = (to_db(times[:2] @ x) for x in (power, power_e))
    left = active_e > active_o - ACTIVE_DB  # bands that the edit still has

    up = np.maximum(e - highest - TOLERANCE_DB, 0)
    down = np.maximum(lowest - e - TOLERANCE_DB, 0)

    # EQ: change of the loudest cells of each band, where the edit is clear of its bed.
    peak = o.max(axis=0)
    loudest = o >= peak - 10
    eq = np.clip(_median(e - o, loudest), -12, 12)
    clear = (_median(e, loudest) > bed_e + 10) & (peak > floor + 10)
    eq = np.where(clear, eq, np.float32(0))
    flat, flat_bed = np.maximum(e - eq, floor), np.maximum(bed_e - eq, floor)
    weak = (active[:, None] & (o < level[:, None] - WEAK_DB)) & left
    excess = np.maximum(flat - np.maximum(highest, flat_bed + 3), 0)
    tolerance = np.float32(10 ** (TOLERANCE_DB / 10))
    added = np.maximum(from_db(flat) - tolerance * from_db(highest) - from_db(flat_bed), 0)
    added /= power.sum(axis=1, keepdims=True)

    gap = (active_o - bed_o) - (active_e - bed_e)
    (up_active, up_quiet), (down_active, down_quiet) = (times[1:] @ x for x in (up, down))
    changes = (up_active, down_active, up_quiet, down_quiet)
    bands_mean = np.stack([*changes, np.maximum(bed_e - bed_o, 0), np.maximum(gap, 0)])
    there = weak.astype(np.float32)
    cells, sums = there.sum(axis=0), [np.einsum("tf,tf->f", x, there) for x in (excess, added)]
    values: dict[str, float] = {}
    for region, bands in REGIONS.items():
        over, fill = (float(x[bands].sum()) / max(int(cells[bands].sum()), 1) for x in sums)
        row = (*bands_mean[:, bands].mean(axis=1, dtype=float), over, 10 * np.log10(1 + 1e5 * fill))
        values |= {f"{n}_{region}": v for n, v in zip(REGION_NAMES, row, strict=True)}
    values["band_loss"] = _mean(np.clip((active_o - active_e - 10) / 20, 0, 1))
    values["eq"] = float(np.sqrt(np.mean(eq**2)))
    values["floor_drop"] = _mean(np.maximum(bed_o - bed_e, 0)[left])
    ripple = np.log((_mean(_ripple(e)[active]) + 1) / (_mean(_ripple(o)[active]) + 1))
    values["ripple_up"], values["ripple_down"] = max(ripple, 0.0), max(-ripple, 0.0)

    shape = _free_of_level(o)
    similar = _likeness(shape, _free_of_level(e))
    if not left.all():
        shape, flat = _free_of_level(np.where(left, o, floor)), np.where(left, flat, floor)
    no_eq = _likeness(shape, _free_of_level(flat))
    for suffix, x in (("", similar[active]), ("_eq", no_eq[active])):
        ranks = zip(("best", "median", "worst"), percentiles(x, 90, 50, 10), strict=True)
        values |= {f"shape_{name}{suffix}": 1 - value for name, value in ranks}
    audible = np.maximum(level, level_e) >= least
    values["unlike_half"] = _mean(similar[audible] < 0.5)
    values["unlike_most"] = _mean(similar[audible] < 0.8)
    run = _longest_run((uniform_filter1d(similar, 3, mode="nearest") < 0.5) & audible)
    values["unlike_run"] = np.log1p(run * STEP * FRAME_SECONDS / 0.1)
    distance = np.sqrt(np.mean(np.maximum(np.abs(e - o) - TOLERANCE_DB, 0) ** 2, axis=1))
    values["lsd"], values["lsd_active"] = _mean(distance), _mean(distance[active])
    x, y = level - level.mean(), level_e - level_e.mean()
    values["level_unlike"] = 1 - (_mean(x * y) + 1) / ((_mean(x * x) * _mean(y * y)) ** 0.5 + 1)
    values["up_frames"] = _mean(up.mean(axis=1) > 6)
    values["down_frames"] = _mean(down.mean(axis=1) > 6)
    change = up + down  # one of them is 0
    return values, np.sqrt(np.einsum("tf,tf->t", change, change) / BANDS)


def _frames(x: np.ndarray) -> np.ndarray:
    if x.ndim != 2 or x.shape[1] != BANDS or len(x) == 0:
        raise ValueError(f"expected (T >= 1, {BANDS}) dB frames, got {x.shape}")
    frames = np.fmax(x, SILENCE_DB)  # NaN as silence
    return np.minimum(frames, 100.0, out=frames)


def _smooth(x: np.ndarray, ahead: float) -> np.ndarray:
    """Power over three frames (1/4, 1/2, 1/4), read a part of a frame ahead (or behind), in dB.

    Between frames of one window the power of weak cells is anyone's guess; between smoothed ones
    straight lines are close enough for a delay by parts of a frame to disappear.
    """
    behind = max(-ahead, 0.0)
    ahead = max(ahead, 0.0)
    taps = np.convolve([0.25, 0.5, 0.25], [ahead, 1 - ahead - behind, behind])[::-1]
    power = np.full((len(x) + 4, x.shape[1]), from_db(np.float32(SILENCE_DB)), np.float32)
    power[2:-2] = from_db(x)
    mixed = np.zeros_like(x)
    for at, tap in enumerate(taps):
        if tap:
            mixed += np.float32(tap) * power[at : at + len(x)]
    del power
    return to_db(mixed)


def _span(levels: np.ndarray, loud: float) -> np.ndarray:
    """Frames from the first to the last that is not silence; none of a silent clip."""
    least = max(loud - RANGE_DB, SILENCE_DB + 10 * np.log10(BANDS) + 3)
    heard = np.flatnonzero(levels >= least)
    return np.arange(heard[0], heard[-1] + 1) if len(heard) else heard


def _level(x: np.ndarray) -> np.ndarray:  # sum over bands, in dB :: (T, F) -> (T,)
    return to_db(from_db(x).sum(axis=1))


def percentiles(x: np.ndarray, *ranks: float) -> list[float]:
    """Of (N,), as np.percentile has them, which takes ten times as long for some seconds."""
    places = np.array(ranks) / 100 * (len(x) - 1)
    return np.interp(places, np.arange(len(x)), np.sort(x)).tolist()


def of_neighbours(pick: np.ufunc, x: np.ndarray) -> np.ndarray:
    """Of each cell and the same band one frame earlier and later :: (T, F) -> (T, F)."""
    picked = x.copy()
    pick(picked[1:], x[:-1], out=picked[1:])
    pick(picked[:-1], x[1:], out=picked[:-1])
    return picked


def _mean(x: np.ndarray) -> float:
    return float(x.mean(dtype=float)) if x.size else 0.0


def _ripple(x: np.ndarray) -> np.ndarray:
    """Rms deviation in dB from the spectrum smoothed over nine bands :: (T, F) -> (T,)."""
    detail = x @ _DETAIL
    return np.sqrt(np.einsum("tf,tf->t", detail, detail) / BANDS)


class _Shape(NamedTuple):
    cells: np.ndarray
    energy: np.ndarray

    def part(self, begin: int, end: int) -> _Shape:
        return _Shape(self.cells[begin:end], self.energy[begin:end])


def _free_of_level(x: np.ndarray) -> _Shape:
    cells = x - x.mean(axis=1, keepdims=True)
    return _Shape(cells, np.einsum("tf,tf->t", cells, cells))


def _likeness(a: _Shape, b: _Shape) -> np.ndarray:
    """Likeness of spectral shape, 1 if equal but for level :: (T, F), (T, F) -> (T,) in [-1, 1].

    1 - |a - b|^2 / (|a|^2 + |b|^2) of level-free dB spectra; a contrast of 2 dB rms counts as none.
    """
    least = 2 * 4.0 * a.cells.shape[1]
    shared = 2 * np.einsum("tf,tf->t", a.cells, b.cells)
    return (shared + least) / (a.energy + b.energy + least)


def _longest_run(mask: np.ndarray) -> int:
    edges = np.flatnonzero(np.diff(np.pad(mask.astype(np.int8), 1)))
    return int((edges[1::2] - edges[::2]).max(initial=0))


def _unmatched(x: np.ndarray, y: np.ndarray, delays: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Which frames of x and of y are unlike the other's at every delay, 150 ms at a time."""
    shape_x, shape_y = _free_of_level(x), _free_of_level(y)
    like_x, like_y = (np.full((len(delays), len(z)), -1.0, np.float32) for z in (x, y))
    for row, delay in enumerate(delays):
        begin, end = max(0, -delay), min(len(x), len(y) - delay)
        there = begin + delay, end + delay
        like = _likeness(shape_x.part(begin, end), shape_y.part(*there))
        like_x[row, begin:end] = like_y[row, slice(*there)] = like
    best_x, best_y = (uniform_filter1d(z, 15, mode="nearest").max(axis=0) for z in (like_x, like_y))
    return best_x < 0.5, best_y < 0.5


def _median(x: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Of the chosen cells of each band, at least one :: (T, F), (T, F) -> (F,)."""
    ranked = np.sort(np.where(chosen, x, np.float32(np.inf)).T.copy(), axis=1)
    bands, last = np.arange(len(ranked)), chosen.sum(axis=0) - 1
    return (ranked[bands, last // 2] + ranked[bands, (last + 1) // 2]) / 2

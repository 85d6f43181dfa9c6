"""A *simulated* panel of five listeners. Its ratings follow from known faults; no person rated.

Everything made with it says "simulated": agreement with this panel is not agreement with people.

`FAULTS` is the one table of what can go wrong: what a severity of 0 to 1 is in physical units, and
how many of the 4 points between the best and the worst rating (Appendix A) that costs on each axis.
All curves are broken lines through the points given. Losses combine as shares of the distance to 1,
so that two faults hurt more than one and nothing falls below 1. None of them was fitted to ratings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from auditeval.types import AXES, Axis

Curve = tuple[tuple[float, float], ...]
"""Points (x, y), x rising; straight between them and level beyond."""


class Fault(NamedTuple):
    """`span` :: severity -> parameter; the others :: parameter -> points lost (none: costless)."""

    parameter: str
    span: Curve
    quality: Curve = ()
    relevance: Curve = ()
    faithfulness: Curve = ()


def _right(curve: Curve, by: float) -> Curve:
    """The curve moved: what cost that much at x costs it at x + by."""
    return tuple((x + by, y) for x, y in curve)


_SNR = ((0.0, 50.0), (1.0, -5.0))
# Degradation category ratings of additive noise: "audible but not annoying" (4) at about 30 dB,
# "annoying" (2) at about 5 to 10 dB; Appendix A has "overwhelming noise" at 1.
_NOISE_QUALITY = ((-5, 3.8), (0, 3.5), (10, 2.7), (20, 1.8), (30, 1.0), (40, 0.4), (50, 0.0))
# P.835 asks for the signal apart from the background, and noise lowers that far less: the sound
# under it is untouched, though in part masked.
_NOISE_KEPT = ((-5, 1.8), (0, 1.3), (10, 0.5), (17, 0.2), (25, 0.0))
_NOISE_RELEVANCE = ((-5, 1.2), (0, 0.7), (10, 0.2), (20, 0.0))
_SHARE = ((0.0, 0.05), (1.0, 1.0))

FAULTS: dict[str, Fault] = {
    # --- the edit itself. Relevance 1 is "missing, incorrect, or misleading modifications".
    # The clip is intact, and nothing that was asked for is there.
    "edit_absent": Fault("of 1", ((0, 0), (1, 1)), relevance=((0, 0), (1, 4.0))),
    # The wanted event below its place; 5 to 14 dB above the background it is heard down to -15.
    "edit_faint": Fault(
        "dB down", ((0, 0), (1, 30)), relevance=((0, 0), (6, 0.4), (12, 1.2), (20, 2.6), (30, 3.7))
    ),
    # What is left of an event that should be gone: "faint remnants after deletion" are a 4.
    "edit_residue": Fault(
        "dB down",
        ((0, 36), (1, 2)),
        relevance=((2, 3.6), (6, 2.9), (12, 2.0), (20, 1.1), (30, 0.3), (36, 0.0)),
    ),
    # A modification, but "semantically incorrect": between poor match (2) and mismatch (1).
    "edit_wrong": Fault("of 1", ((0, 0), (1, 1)), relevance=((0, 0), (1, 3.6))),
    # A hiss of the event's length and loudness: no such event, and noise where it should be.
    "edit_hiss": Fault(
        "of 1", ((0, 0), (1, 1)), quality=((0, 0), (1, 1.2)), relevance=((0, 0), (1, 3.8))
    ),
    # Removed where it should be added, or added once more where it should be removed.
    "edit_opposite": Fault(
        "of 1", ((0, 0), (1, 1)), relevance=((0, 0), (1, 4.0)), faithfulness=((0, 0), (1, 1.0))
    ),
    # The old event gone and no new one there, or both: "partial match" (3) at best.
    "edit_halfway": Fault("of 1", ((0, 0), (1, 1)), relevance=((0, 0), (1, 2.4))),
    # The same sound, but the words ask for another event.
    "edit_otherwise": Fault("of 1", ((0, 0), (1, 1)), relevance=((0, 0), (1, 3.6))),
    # "Somewhat misaligned with the description" (3) where words tell the place; else hardly.
    "edit_misplaced": Fault(
        "of 1, 1 where the caption tells the place", ((0, 0), (1, 1)), relevance=((0, 0), (1, 1.6))
    ),
    # Too loud: "unnatural execution", and it masks what should be kept.
    "edit_loud": Fault(
        "dB up",
        ((0, 3), (1, 18)),
        quality=((3, 0), (9, 0.5), (18, 1.4)),
        relevance=((3, 0), (9, 0.5), (18, 1.4)),
        faithfulness=((3, 0), (9, 0.2), (18, 0.7)),
    ),
    # "Slightly abrupt additions" are a 4 of relevance; cuts are a discontinuity (quality 3).
    "edit_abrupt": Fault(
        "cuts", ((0, 1), (1, 5)), quality=((1, 0.5), (5, 1.6)), relevance=((1, 0.5), (5, 1.4))
    ),
    # --- noise, by its ratio to the active level of the clip.
    "noise_white": Fault("dB SNR", _SNR, _NOISE_QUALITY, _NOISE_RELEVANCE, _NOISE_KEPT),
    # A-weighted, pink noise is some 3 dB and brown noise some 12 dB below white of equal power.
    "noise_pink": Fault(
        "dB SNR", _SNR, _right(_NOISE_QUALITY, -3), _NOISE_RELEVANCE, _right(_NOISE_KEPT, -3)
    ),
    "noise_brown": Fault(
        "dB SNR",
        _SNR,
        _right(_NOISE_QUALITY, -12),
        _right(_NOISE_RELEVANCE, -12),
        _right(_NOISE_KEPT, -12),
    ),
    # A real background varies and draws the ear: as bad as white noise although duller.
    "noise_real": Fault("dB SNR", _SNR, _NOISE_QUALITY, _NOISE_RELEVANCE, _NOISE_KEPT),
    # Tones stand out of what they lie under, but mask little: a "minor increase in noise".
    "hum": Fault(
        "dB SNR",
        ((0, 45), (1, 0)),
        ((0, 2.6), (10, 1.8), (20, 1.1), (30, 0.6), (45, 0.0)),
        ((0, 0.3), (20, 0.0)),
        ((0, 0.7), (10, 0.3), (25, 0.0)),
    ),
    # --- distortion of the signal. MNRU is the anchor of speech coder tests: its ratings against
    # Q are S-shaped between about 5 and 35 dB [ITU-T P.810, P.830].
    "mnru": Fault(
        "dB Q",
        ((0, 45), (1, 0)),
        (
            *((0, 4.0), (5, 3.9), (10, 3.1), (15, 2.5), (20, 1.9), (25, 1.4)),
            *((30, 1.0), (35, 0.6), (40, 0.3), (45, 0.0)),
        ),
        ((0, 1.4), (5, 1.0), (15, 0.4), (25, 0.0)),
        ((0, 4.0), (5, 4.0), (8, 3.3), (16, 2.0), (24, 1.2), (32, 0.6), (40, 0.2), (45, 0.0)),
    ),
    # Opus: 6 kbit/s is narrowband and buzzing, 12 fair, 24 good, 48 hardly told from the original.
    "opus": Fault(
        "kbit/s",
        ((0, 48), (0.5, 16), (1, 6)),
        ((6, 2.8), (8, 2.3), (12, 1.6), (16, 1.1), (24, 0.6), (32, 0.3), (48, 0.0)),
        ((6, 0.6), (12, 0.2), (24, 0.0)),
        ((6, 2.3), (8, 1.8), (12, 1.2), (16, 0.8), (24, 0.4), (32, 0.2), (48, 0.0)),
    ),
    # At 16 kHz sampling: 8 kbit/s is hardly understood, 24 fair, from 48 on only the band is lost.
    "mp3": Fault(
        "kbit/s",
        ((0, 56), (1, 8)),
        ((8, 3.2), (16, 2.2), (24, 1.5), (32, 1.0), (56, 0.5)),
        ((8, 0.7), (16, 0.2), (24, 0.0)),
        ((8, 2.6), (16, 1.7), (24, 1.1), (32, 0.7), (56, 0.3)),
    ),
    # Magnitudes smoothed over bands, phases by Griffin-Lim: "robotic tone" (3), 20 bands a whisper.
    "vocoder": Fault(
        "bands",
        ((0, 160), (0.5, 64), (1, 16)),
        ((16, 3.2), (32, 2.5), (64, 1.8), (160, 1.0)),
        ((16, 1.0), (32, 0.5), (64, 0.2), (160, 0.0)),
        ((16, 2.8), (32, 2.1), (64, 1.5), (160, 0.9)),
    ),
    # Right magnitudes under wrong phases: from metallic and blurred to nearly transparent.
    "phase": Fault(
        "iterations",
        ((0, 32), (0.5, 6), (1, 0)),
        ((0, 2.8), (1, 2.2), (6, 1.4), (32, 0.6)),
        ((0, 0.3), (6, 0.0)),
        ((0, 2.2), (1, 1.7), (6, 1.0), (32, 0.4)),
    ),
    # What spectral subtraction leaves of noise of this ratio: warbling tones and a dented signal.
    "musical_noise": Fault(
        "dB SNR before",
        ((0, 30), (1, -3)),
        ((-3, 3.4), (5, 2.5), (10, 1.9), (20, 0.9), (30, 0.2)),
        ((-3, 0.8), (10, 0.1), (20, 0.0)),
        ((-3, 2.9), (5, 2.0), (10, 1.4), (20, 0.6), (30, 0.1)),
    ),
    # Threshold against the active level. Peaks of speech reach 12 dB above it: there nothing is
    # cut; 10 dB below it is a square wave, "harsh distortions".
    "clipping": Fault(
        "dB above the active level",
        ((0, 9), (1, -15)),
        ((-15, 3.4), (-9, 2.9), (-3, 2.1), (3, 1.1), (9, 0.2)),
        ((-15, 0.4), (-3, 0.1), (3, 0.0)),
        ((-15, 2.6), (-9, 2.0), (-3, 1.3), (3, 0.6), (9, 0.1)),
    ),
    # Each bit is 6 dB of noise that comes and goes with the signal: between noise and MNRU.
    "quantisation": Fault(
        "bits",
        ((0, 11), (1, 2)),
        ((2, 3.7), (3, 3.2), (4, 2.6), (6, 1.6), (8, 0.7), (11, 0.0)),
        ((2, 0.8), (4, 0.2), (6, 0.0)),
        ((2, 2.8), (3, 2.2), (4, 1.6), (6, 0.7), (8, 0.2), (11, 0.0)),
    ),
    # Speech of full bandwidth is rated 4.5, wideband (7 kHz) 4.2, the telephone's band 3.25 by the
    # E-model [ITU-T G.107.2, R of 148, 129 and 93 on one scale]. That band has no lows either:
    # 3.4 kHz here and 300 Hz below make it 3.25 together. Below, "muffled".
    "low_pass": Fault(
        "Hz",
        ((0, 12000), (0.5, 3500), (1, 700)),
        ((700, 3.1), (1500, 2.2), (3500, 0.95), (7000, 0.3), (12000, 0.0)),
        ((700, 0.8), (1500, 0.3), (3500, 0.0)),
        ((700, 2.3), (1500, 1.6), (3500, 0.9), (7000, 0.3), (12000, 0.0)),
    ),
    # Colouration by a smooth curve: 3 dB are hardly noticed, 6 dB are another tone control, 12 dB
    # a tin can. Naturalness falls slowly with it [Moore and Tan 2003].
    "equalisation": Fault(
        "dB at the most",
        ((0, 1), (1, 12)),
        ((1, 0.0), (3, 0.1), (6, 0.3), (12, 0.8)),
        (),
        ((1, 0.0), (3, 0.2), (6, 0.5), (12, 1.1)),
    ),
    # Thin: the loss of the lowest octaves is a matter of timbre until the first formant goes.
    "high_pass": Fault(
        "Hz",
        ((0, 80), (0.5, 400), (1, 2000)),
        ((80, 0.0), (200, 0.2), (400, 0.5), (1000, 1.4), (2000, 2.3)),
        ((80, 0.0), (400, 0.0), (2000, 0.6)),
        ((80, 0.0), (200, 0.3), (400, 0.6), (1000, 1.3), (2000, 2.0)),
    ),
    # Frames lost without concealment: 1 % is heard, 5 % annoys, 20 % is hardly followed [G.113].
    "dropouts": Fault(
        "share lost",
        ((0, 0.01), (0.5, 0.08), (1, 0.4)),
        ((0.01, 0.8), (0.03, 1.5), (0.08, 2.3), (0.2, 3.1), (0.4, 3.7)),
        ((0.01, 0.0), (0.2, 0.4), (0.4, 1.0)),
        ((0.01, 0.4), (0.03, 0.8), (0.08, 1.4), (0.2, 2.2), (0.4, 3.0)),
    ),
    # Direct against reverberant sound: a room (10 dB) is no damage, a cathedral (-6 dB) smears.
    "reverberation": Fault(
        "dB direct to reverberant",
        ((0, 22), (1, -8)),
        ((-8, 2.3), (-3, 1.7), (3, 1.1), (10, 0.5), (22, 0.0)),
        ((-8, 0.4), (3, 0.0)),
        ((-8, 2.4), (-3, 1.9), (3, 1.3), (10, 0.6), (22, 0.0)),
    ),
    # --- the kept content. "Missing altogether" is faithfulness 1; a short gap is noticed at once.
    "background_lost": Fault(
        "share",
        _SHARE,
        ((0.05, 0.2), (0.3, 0.6), (1, 0.6)),
        ((0.05, 0.0), (1, 0.4)),
        ((0, 0.0), (0.1, 1.3), (0.3, 2.3), (0.6, 3.2), (1, 4.0)),
    ),
    # Another sound in its place: what was there bears no resemblance.
    "background_replaced": Fault(
        "share",
        _SHARE,
        ((0.05, 0.1), (1, 0.3)),
        ((0.05, 0.1), (0.5, 0.7), (1, 1.5)),
        ((0, 0.0), (0.1, 1.2), (0.3, 2.1), (0.6, 3.0), (1, 3.8)),
    ),
    # Another take of the same kind of sound: style remains, the content does not.
    "background_regenerated": Fault(
        "share", _SHARE, faithfulness=((0, 0.0), (0.1, 0.6), (0.3, 1.2), (0.6, 1.9), (1, 2.5))
    ),
    # "Noticeable changes in rhythm or sequence" are a 3, "major changes in ordering" a 2.
    "background_reordered": Fault(
        "share",
        ((0, 0.15), (1, 1)),
        ((0.15, 0.3), (1, 0.8)),
        faithfulness=((0, 0.5), (0.15, 1.0), (0.5, 2.2), (1, 3.0)),
    ),
    # Moved in time: from 0.1 s on against the edit and the original it can be told.
    "background_shifted": Fault(
        "s",
        ((0, 0.1), (1, 1.5)),
        ((0.1, 0.0), (1.5, 0.2)),
        faithfulness=((0.1, 0.3), (0.5, 1.2), (1.5, 2.0)),
    ),
    # Tempo: 2 % passes, 10 % is noticeable, half as long again is another rhythm (2).
    "background_stretched": Fault(
        "% longer or shorter",
        ((0, 3), (1, 40)),
        ((3, 0.2), (10, 0.5), (40, 1.2)),
        faithfulness=((3, 0.4), (10, 1.2), (40, 2.4)),
    ),
    # Pitch: a quarter tone passes, a whole tone is another voice, five are another being.
    "background_pitched": Fault(
        "semitones",
        ((0, 0.3), (1, 6)),
        ((0.3, 0.2), (2, 0.6), (6, 1.3)),
        faithfulness=((0.3, 0.4), (1, 1.0), (2, 1.6), (6, 2.6)),
    ),
    # "Slight variation in loudness" is a 4; more than a mix would ever have, a 3.
    "background_level": Fault(
        "dB up or down",
        ((0, 2), (1, 18)),
        ((2, 0.0), (8, 0.2), (18, 0.6)),
        faithfulness=((2, 0.2), (4, 0.8), (8, 1.4), (18, 2.3)),
    ),
    # The whole clip taken anew: only its kind is left, the edit is there.
    "clip_regenerated": Fault("of 1", ((0, 0), (1, 1)), ((0, 0), (1, 0.2)), (), ((0, 0), (1, 2.7))),
    # Another clip altogether: "bears little or no resemblance", and nothing that was asked for.
    "clip_unrelated": Fault(
        "of 1", ((0, 0), (1, 1)), ((0, 0), (1, 0.4)), ((0, 0), (1, 3.8)), ((0, 0), (1, 4.0))
    ),
}

LISTENERS = 5
_BIAS_SD, _VOTE_SD = 0.15, 0.2
VOTE_STEP = 0.5
"""Listeners vote in half points: five whole votes would hide most differences below 0.3."""


def parameter(fault: str, severity: float) -> float:
    """What a severity is in the fault's physical unit; ValueError for one outside 0 to 1."""
    if not 0.0 <= severity <= 1.0:
        raise ValueError(f"severity of {fault} is {severity}, expected 0 to 1")
    return _at(FAULTS[fault].span, severity)


def lost(fault: str, severity: float, share: float = 1.0) -> np.ndarray:
    """Points lost :: (3,) in AXES order, where the fault fills that share of the clip.

    By the square root of the share: an eighth of the clip damaged already costs a third of what
    the whole costs, since listeners go by the worst they heard [ITU-T P.862's averaging over time
    weights bad frames by high powers for the same reason].
    """
    at = parameter(fault, severity)
    losses = [_at(curve, at) if curve else 0.0 for curve in FAULTS[fault][2:]]
    return np.sqrt(share) * np.array(losses)


def expected(
    faults: Mapping[str, float], shares: Mapping[str, float] | None = None
) -> dict[Axis, float]:
    """The ratings a listener without bias or spread would give :: fault -> severity in 0..1.

    `shares` :: fault -> share of the clip that it fills, where it is not all of it.

    >>> expected({})["quality"], expected({"edit_absent": 1.0})["relevance"]
    (5.0, 1.0)
    """
    kept = np.ones(len(AXES))
    for name, severity in faults.items():
        kept *= 1.0 - lost(name, severity, (shares or {}).get(name, 1.0)) / 4.0
    return dict(zip(AXES, (1.0 + 4.0 * kept).tolist(), strict=True))


def rate(
    faults: Mapping[str, float],
    panel: np.random.Generator,
    vote: np.random.Generator,
    shares: Mapping[str, float] | None = None,
    axes: Sequence[Axis] = AXES,
) -> dict[Axis, list[float]]:
    """Votes of the panel, half points 1 to 5, for each of `axes`.

    `panel` must be a generator in the same state at every call: it draws who the listeners are.
    Their biases sum to nothing, so the mean vote is the expected rating within 0.02 between 1.4 and
    4.6, and at the ends of the scale within 0.1. `vote` draws this pair's spread.
    """
    bias = panel.normal(0.0, _BIAS_SD, (LISTENERS, len(AXES)))
    bias -= bias.mean(axis=0)
    means = np.array([list(expected(faults, shares).values())])
    votes = means + bias + vote.normal(0.0, _VOTE_SD, bias.shape)
    votes = np.clip(VOTE_STEP * np.round(votes / VOTE_STEP), 1.0, 5.0)
    found = dict(zip(AXES, votes.T.tolist(), strict=True))
    return {axis: found[axis] for axis in axes}


def _at(curve: Curve, x: float) -> float:
    xs, ys = zip(*curve, strict=True)
    return float(np.interp(x, xs, ys))

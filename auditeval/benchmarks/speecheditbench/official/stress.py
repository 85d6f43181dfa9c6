"""Prominence of words as the released code measures it (eval/metrics/prosody_accuracy.py)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from auditeval.audio import Waveform, resample
from auditeval.backends.backend import PitchTrack, Word
from auditeval.metrics.transcript import Language

RATE_HZ, FRAME, HOP = 16000, 1024, 256
LEAST_SECONDS = 0.02
"""Of a window, also of one that lies behind the end of the clip."""

_TINY = 1e-8
_MILLISECONDS_ABOVE = 100.0
_WEIGHTS = (0.5, 0.3, 0.2)  # of energy, pitch, duration


class Window(NamedTuple):
    """Seconds in which the words are said, as the recogniser has it."""

    start: float
    end: float


def window(words: Sequence[Word], wanted: str, language: Language) -> Window | None:
    """Where the words, or the Chinese characters, of `wanted` first stand in a row.

    An English word is found by its letters, digits and straight apostrophes; a hyphen parts those
    of `wanted`, and those that were heard it joins. A word without length is passed over.

    >>> window([Word("Not", 0.0, 0.2), Word("now!", 0.2, 0.5)], "now", "en")
    Window(start=0.2, end=0.5)
    """
    heard = [
        _Heard(spelt, *times)
        for word in words
        for spelt, times in [(_spelt(word.text, language), _times(word, language))]
        if spelt and times[0] < times[1]
    ]
    if language == "zh":
        heard = [_Heard(character, *rest) for text, *rest in heard for character in text]
        span = list(_spelt(wanted, language))
    else:
        span = re.sub(r"[^a-z0-9'\s]+", " ", wanted.lower()).split()
    texts = [word.text for word in heard]
    places = [i for i in range(len(texts)) if span and texts[i : i + len(span)] == span]
    if not places:
        return None
    found = heard[places[0] : places[0] + len(span)]
    return Window(
        min(round(word.start, 4) for word in found), max(round(word.end, 4) for word in found)
    )


class _Heard(NamedTuple):
    text: str
    start: float
    end: float


def prominence(clip: Waveform, pitch: PitchTrack, window: Window) -> float:
    """0.5 ln(rms / rms of the clip) + 0.3 log2(f0 / f0 of the clip) + 0.2 ln(share of its length).

    rms is the mean over frames of 1024 samples that are not silent, every 256 at 16 kHz, whose
    middle lies in the window; f0 the median of the voiced frames there. Without a voiced frame in
    the window, or in the clip, the second term is 0. The window is cut to the clip, and is never
    shorter than 0.02 s.

    >>> tone = Waveform(np.ones(RATE_HZ, "f4"), RATE_HZ)
    >>> round(prominence(tone, PitchTrack(0.016, (100.0,) * 63), Window(0.25, 0.75)), 3)
    -0.133
    """
    start = max(0.0, min(window.start, clip.seconds))
    end = max(start + LEAST_SECONDS, min(window.end, clip.seconds))
    rms = _rms(resample(clip, RATE_HZ))
    f0 = np.array([np.nan if value is None else value for value in pitch.f0_hz], float)
    inside = [
        track[(times >= start) & (times <= end)]
        for track, times in (
            (rms, np.arange(len(rms)) * HOP / RATE_HZ),
            (f0, np.arange(len(f0)) * pitch.hop_seconds),
        )
    ]
    loud, louder = (_positive(np.mean, frames) or _TINY for frames in (rms, inside[0]))
    high, higher = (_positive(np.median, frames) for frames in (f0, inside[1]))
    energy = math.log(louder / (loud + _TINY) + _TINY)
    tone = math.log2((higher + _TINY) / (high + _TINY)) if high and higher else 0.0
    duration = math.log((end - start) / max(clip.seconds, _TINY) + _TINY)
    return sum(
        weight * part for weight, part in zip(_WEIGHTS, (energy, tone, duration), strict=True)
    )


def _rms(samples: np.ndarray) -> np.ndarray:
    """Of frames whose middles are every HOP samples, zeros beyond the ends :: (N,) -> (T,)."""
    padded = np.pad(samples.astype(np.float64), FRAME // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, FRAME)[::HOP]
    return np.sqrt(np.mean(np.square(frames), axis=1))


def _positive(measure: Callable[[np.ndarray], np.floating], values: np.ndarray) -> float | None:
    kept = values[values > 0]  # NaN is not
    return float(measure(kept)) if len(kept) else None


def _spelt(text: str, language: Language) -> str:
    if language == "zh":
        return re.sub("[^\u4e00-\u9fff0-9a-zA-Z]", "", text)
    return re.sub("[^a-z0-9']+", "", text.lower())


def _times(word: Word, language: Language) -> tuple[float, float]:
    """In seconds; any number above 100 is taken for milliseconds. Whisper gives seconds, Paraformer
    milliseconds: a Chinese word that begins within the first 0.1 s begins at so many seconds, and
    with its end before its start has no length."""
    unit = 1000.0 if language == "zh" else 1.0
    start, end = (round(time * unit, 6) for time in (word.start, word.end))
    return tuple(t / 1000 if t > _MILLISECONDS_ABOVE else t for t in (start, end))  # type: ignore

"""`spectrum`: multi-resolution log-mel statistics. No weights, no text."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import MappingProxyType

import numpy as np
from scipy import fft

from auditeval.features.alignment import ALIGNMENT_NAMES, Alignment, align
from auditeval.features.comparison import Frames
from auditeval.features.extractor import AudioFeatures, Extractor
from auditeval.features.mel import SILENCE_DB, centres, hann, htk_filters
from auditeval.features.turning import NO_TURN, Turn, apply_turn, find_turn

_BLOCK_FRAMES = 4096
"""Frames transformed at a time: an hour takes the memory of a minute."""


class Spectrum(Extractor):
    """Mean, spread, percentiles and flux of log-mel bands at two time resolutions.

    The finer resolution's frames are kept as `frames["mel"]` :: float16 (T, bands) in dB, one each
    `HOP_SECONDS`. By them the clips of a pair are aligned, for itself and for other extractors.

    >>> Spectrum().encode_clip(np.zeros(32000, np.float32)).frames["mel"].shape
    (100, 64)
    """

    name = "spectrum"
    revision = "1"
    rate_hz = 32000
    alignment = ALIGNMENT_NAMES

    HOP_SECONDS = 0.01
    BANDS = 64
    RANGE_HZ = (50.0, 14000.0)
    steps = MappingProxyType({"mel": HOP_SECONDS})
    RESOLUTIONS = ((1024, 320), (4096, 1280))  # (n_fft, hop) in samples: 32 and 128 ms windows
    STATISTICS = 5
    dim = len(RESOLUTIONS) * BANDS * STATISTICS

    def encode_clip(self, samples: np.ndarray) -> AudioFeatures:
        """Mono float32 (N,) at 32 kHz to 640 statistics and the log-mel frames."""
        fine, coarse = (log_mel(samples, n_fft, hop) for n_fft, hop in self.RESOLUTIONS)
        embedding = np.concatenate([_statistics(fine), _statistics(coarse)])
        return AudioFeatures(embedding, {"mel": fine.astype(np.float16)})

    def align(self, original: Frames, edited: Frames, way: Turn = NO_TURN) -> Alignment:
        """See `alignment.align`; of an edit turned as it should be, to the original turned."""
        before, after = original["mel"], edited["mel"]
        turn = self.found_turn(before, after, way)
        return align(self.turned(before, turn), after)._replace(turn=turn)

    @classmethod
    def found_turn(cls, original: np.ndarray, edited: np.ndarray, way: Turn) -> Turn:
        """By how much the log-mel frames of an edit are those of the original, turned that way."""
        hz = centres(cls.BANDS, *cls.RANGE_HZ)
        return find_turn(original, edited, hz, way) if any(way) else NO_TURN

    @classmethod
    def turned(cls, mel: np.ndarray, turn: Turn) -> np.ndarray:
        """Log-mel frames as that pitch and pace would make them."""
        return apply_turn(mel, centres(cls.BANDS, *cls.RANGE_HZ), turn)

    def compare(self, original: Frames, edited: Frames, alignment: Alignment | None) -> np.ndarray:
        """What aligning the clips said of them."""
        return (alignment or self.align(original, edited)).values


def log_mel(samples: np.ndarray, n_fft: int, hop: int) -> np.ndarray:
    """Mono float32 (N,) at 32 kHz to band power in dB :: float32 (ceil(N / hop), 64).

    HTK mel bands from 50 Hz to 14 kHz, periodic Hann; frame t is centred on sample t * hop. The
    signal is taken as zero outside the clip.
    """
    filters, window = mel_filters(n_fft), hann(n_fft)
    scale = 1.0 / np.square(window.sum())
    made = np.empty((-(-len(samples) // hop), Spectrum.BANDS), np.float32)
    for start, frames in _frames(samples, n_fft, hop):
        power = np.square(np.abs(fft.rfft(frames * window, axis=1))) @ filters * scale
        decibels = np.maximum(10 * np.log10(power + 1e-12), SILENCE_DB)
        made[start : start + len(frames)] = decibels
    return made


def _frames(samples: np.ndarray, n_fft: int, hop: int) -> Iterator[tuple[int, np.ndarray]]:
    """Blocks of frames :: (<= _BLOCK_FRAMES, n_fft), each with the number of its first."""
    count = -(-len(samples) // hop)
    for start in range(0, count, _BLOCK_FRAMES):
        begin = start * hop - n_fft // 2
        end = (min(start + _BLOCK_FRAMES, count) - 1) * hop + n_fft // 2
        within = samples[max(begin, 0) : end]
        padded = np.pad(within, (max(-begin, 0), max(end - len(samples), 0)))
        yield start, np.lib.stride_tricks.sliding_window_view(padded, n_fft)[::hop]


def _statistics(frames: np.ndarray) -> np.ndarray:
    flux = np.diff(frames, axis=0) if len(frames) > 1 else np.zeros_like(frames)
    change = np.abs(flux, out=flux).mean(axis=0)
    del flux  # of a long clip as large as all that is kept
    low, high = np.percentile(frames, (10, 90), axis=0)
    parts = [frames.mean(axis=0), frames.std(axis=0), low, high, change]
    return np.concatenate(parts).astype(np.float32)


@cache
def mel_filters(n_fft: int) -> np.ndarray:
    """Triangles of the bands :: float32 (n_fft / 2 + 1, 64)."""
    filters = htk_filters(n_fft, Spectrum.BANDS, *Spectrum.RANGE_HZ, Spectrum.rate_hz)
    return filters.astype(np.float32)

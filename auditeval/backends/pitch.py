"""Pitch trackers: pYIN, which SpeechEditBench uses, and SwiftF0, which is quicker."""

from __future__ import annotations

import os
import tempfile
from contextlib import nullcontext
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from filelock import FileLock

from auditeval import audio
from auditeval.backends.backend import PitchTrack
from auditeval.pretrained.packages import imported

RATE_HZ, FRAME, HOP = 16000, 2048, 256
"""Value k of a track is that at k * HOP samples, the middle of its frame."""


class Pyin:
    """librosa's pYIN (Mauch and Dixon 2014) at 16 kHz, frames of 2048 samples, hop 256.

    In steps of 0.1 semitone. It finds some voice in noise, near the lowest pitch it may find.
    """

    name = "pyin"
    compiled = False  # by some instance of this process

    def __init__(self, low_hz: float = 50, high_hz: float = 500) -> None:
        self._librosa = imported("librosa", "bench")
        self._low_hz, self._high_hz = low_hz, high_hz
        self.revision = f"1-{version('librosa')}-{low_hz:g}-{high_hz:g}"
        self.fingerprint = (
            f"{low_hz:g} to {high_hz:g} Hz, frames of {FRAME}, hop {HOP} at {RATE_HZ} Hz"
        )

    def __call__(self, clip: audio.Waveform) -> PitchTrack:
        with nullcontext() if Pyin.compiled else compiling(self._librosa):
            f0, _, _ = self._librosa.pyin(
                audio.resample(clip, RATE_HZ),
                fmin=self._low_hz,
                fmax=self._high_hz,
                sr=RATE_HZ,
                frame_length=FRAME,
                hop_length=HOP,
            )
        Pyin.compiled = True
        return PitchTrack(HOP / RATE_HZ, tuple(None if np.isnan(v) else float(v) for v in f0))


def compiling(librosa: Any) -> FileLock:
    """One process of this machine and user at a time.

    What numba compiled of librosa it keeps for all processes, in two files each. Two that compile
    at once may leave one file each, and whoever opens those crashes (numba/numba#10128).
    """
    user = getattr(os, "getuid", int)()  # on Windows each user has a folder of this kind
    name = f"auditeval-{user}-{xxhash.xxh3_64_hexdigest(librosa.__file__.encode())}.lock"
    return FileLock(Path(tempfile.gettempdir()) / name)


class SwiftF0:
    """SwiftF0 (Nieradzik 2025) from the package swift-f0, which carries its weights (MIT)."""

    name = "swift-f0"

    def __init__(self, low_hz: float = 50, high_hz: float = 500) -> None:
        self._low_hz, self._high_hz = low_hz, high_hz
        self._detector = imported("swift_f0", "bench").SwiftF0(threads=1)
        self.revision = f"1-{version('swift-f0')}-{low_hz:g}-{high_hz:g}"

    def __call__(self, clip: audio.Waveform) -> PitchTrack:
        made = self._detector.detect(
            audio.resample(clip, RATE_HZ), RATE_HZ, self._low_hz, self._high_hz
        )
        voiced = made.confidence >= 0.5
        f0 = (float(f) if v else None for f, v in zip(made.pitch_hz, voiced, strict=True))
        return PitchTrack(HOP / RATE_HZ, tuple(f0))

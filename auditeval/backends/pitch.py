"""Pitch trackers: pYIN, which SpeechEditBench uses, and SwiftF0, which is quicker."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np

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

    def __init__(self, low_hz: float = 50, high_hz: float = 500) -> None:
        self._librosa = imported("librosa", "bench")
        self._low_hz, self._high_hz = low_hz, high_hz
        self.revision = f"1-{version('librosa')}-{low_hz:g}-{high_hz:g}"
        self.fingerprint = (
            f"{low_hz:g} to {high_hz:g} Hz, frames of {FRAME}, hop {HOP} at {RATE_HZ} Hz"
        )

    def __call__(self, clip: audio.Waveform) -> PitchTrack:
        f0, _, _ = self._librosa.pyin(
            audio.resample(clip, RATE_HZ),
            fmin=self._low_hz,
            fmax=self._high_hz,
            sr=RATE_HZ,
            frame_length=FRAME,
            hop_length=HOP,
        )
        return PitchTrack(HOP / RATE_HZ, tuple(None if np.isnan(v) else float(v) for v in f0))


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

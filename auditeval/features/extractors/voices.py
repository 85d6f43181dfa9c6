"""`voices`: what is said in a clip, by whom, and how, for pairs whose words ask for that."""

from __future__ import annotations

import threading
from functools import cached_property
from importlib.metadata import version
from typing import Any

import numpy as np

from auditeval.features.changes.voiced import MANNER
from auditeval.features.extractor import AudioFeatures, Extractor
from auditeval.pretrained.packages import imported, package_file
from auditeval.pretrained.resemblyzer import VoiceEncoder, revision
from auditeval.pretrained.whisper import RATE_HZ, Whisper

_CODE = "1"
"""Part of the revision: counts the changes here that change a number."""

_LOW_HZ, _HIGH_HZ, _VOICED = 60.0, 500.0, 0.5
_LEAST_SECONDS = 0.4
_PAUSE_MS, _PAD_MS = 300, 100
_SPLIT_HZ = 1000.0


class Voices(Extractor):
    """Whisper, Resemblyzer and SwiftF0, where Silero VAD hears somebody speak.

    Frames, none where nobody speaks for 0.4 s :: `said` uint8 (N, 1), the transcript in UTF-8;
    `talker` float32 (1, 256), the d-vector; `manner` float32 (1, 6), of MANNER. `whisper` is
    another model than the tiny.en of the package (see `pretrained.whisper.Whisper`), `language` the
    one that it is to expect. It is `on_demand`: `changes` says which pairs ask for it.
    """

    name = "voices"
    rate_hz = RATE_HZ
    on_demand = True

    def __init__(self, whisper: str | None = None, language: str = "en") -> None:
        self.arguments = {"whisper": whisper, "language": language}
        self._whisper = Whisper(whisper, language, beam_size=1)
        self._lock = threading.Lock()
        package_file("swift_f0", "__init__.py")
        self.revision = f"{_CODE}-{self._whisper.revision}-{revision()}-{version('swift-f0')}"

    @cached_property
    def _talkers(self) -> VoiceEncoder:
        return VoiceEncoder()

    @cached_property
    def _pitch(self) -> Any:
        return imported("swift_f0", "bench").SwiftF0(threads=1)

    def encode_clip(self, samples: np.ndarray) -> AudioFeatures:
        """Mono float32 (N,) at 16 kHz."""
        nothing = np.zeros(0, np.float32)
        find_spans = imported("faster_whisper.vad", "bench").get_speech_timestamps
        spans = find_spans(samples, min_silence_duration_ms=_PAUSE_MS, speech_pad_ms=_PAD_MS)
        if not spans:
            return AudioFeatures(nothing, {})
        speech = np.concatenate([samples[span["start"] : span["end"]] for span in spans])
        if len(speech) < _LEAST_SECONDS * RATE_HZ or not speech.any():
            return AudioFeatures(nothing, {})
        with self._lock:  # the models are read once
            talkers, _ = self._talkers, self._pitch
        heard = self._whisper.hear(samples)
        frames: dict[str, np.ndarray] = {
            "said": np.frombuffer(heard.text.encode(), np.uint8)[:, None],
            "talker": talkers.embed(speech).astype(np.float32)[None],
            "manner": self._manner(speech, len(heard.text.split()))[None],
        }
        return AudioFeatures(nothing, frames)

    def _manner(self, speech: np.ndarray, words: int) -> np.ndarray:
        """See MANNER."""
        found = self._pitch.detect(speech, RATE_HZ, _LOW_HZ, _HIGH_HZ)
        voiced = found.pitch_hz[found.confidence >= _VOICED]
        octaves = np.log2(voiced) if len(voiced) else np.zeros(1)
        low, middle, high = np.percentile(octaves, [10, 50, 90])
        seconds = len(speech) / RATE_HZ
        power = np.square(np.abs(np.fft.rfft(speech)))
        above = np.fft.rfftfreq(len(speech), 1 / RATE_HZ) >= _SPLIT_HZ
        tilt = 10 * np.log10(power[above].sum() / max(float(power[~above].sum()), 1e-9) + 1e-9)
        share = len(voiced) / max(len(found.pitch_hz), 1)
        level = 10 * np.log10(float(np.mean(np.square(speech))) + 1e-12)
        values = {
            **{"pitch": middle, "range": high - low, "voiced": share, "rate": words / seconds},
            **{"tilt": tilt, "level": level},
        }
        return np.array([values[name] for name in MANNER], np.float32)

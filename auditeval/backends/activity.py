"""Voice activity: where somebody speaks."""

from __future__ import annotations

import threading
from importlib.metadata import version

from auditeval import audio
from auditeval.backends.backend import SpeechSpans
from auditeval.pretrained.packages import imported

RATE_HZ = 16000


class SileroVAD:
    """Silero VAD from the package silero-vad, which carries its ONNX model (MIT).

    With the package's own settings: speech from a probability of 0.5, spans of at least 0.25 s.
    """

    name = "silero-vad"

    def __init__(self) -> None:
        from auditeval.pretrained.threads import threads_kept

        with threads_kept():
            self._package = imported("silero_vad", "bench")
        self._model = self._package.load_silero_vad(onnx=True)
        self._lock = threading.Lock()  # the model keeps its state from one frame to the next
        self.revision = f"1-{version('silero-vad')}"

    def __call__(self, clip: audio.Waveform) -> SpeechSpans:
        import torch

        samples = torch.from_numpy(audio.resample(clip, RATE_HZ).copy())
        with self._lock:
            found = self._package.get_speech_timestamps(samples, self._model, sampling_rate=RATE_HZ)
        return SpeechSpans(
            tuple(
                (span["start"] / RATE_HZ, min(span["end"] / RATE_HZ, clip.seconds))
                for span in found
            )
        )

"""Lyra V2, a neural codec: SoundStream [arXiv:2107.03312] as google/lyra publishes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from auditeval.data.simulation.processors.files import find
from auditeval.pretrained.packages import imported

FILES = ("soundstream_encoder.tflite", "quantizer.tflite", "lyragan.tflite")

_FRAME = 320
_QUANTISERS = 46
_KBITS_EACH = 0.2  # 4 bits in each of 50 frames a second


class Lyra:
    """Its encoder, residual quantiser and decoder, frame by frame; no delay."""

    def __init__(self, folder: Path) -> None:
        self._models = [find(folder, name).read_bytes() for name in FILES]
        self._litert = imported("ai_edge_litert.interpreter", "processors")

    def __call__(self, x: np.ndarray, kbits: float = np.inf) -> np.ndarray:
        """At that rate, 0.2 to 9.2 kbit/s; infinite: the decoder straight after the encoder."""
        # Made anew: they carry the state of a clip, and threads share none.
        encoder, quantiser, decoder = map(self._interpreter, self._models)
        frames = np.pad(x, (0, -len(x) % _FRAME)).reshape(-1, 1, _FRAME).astype(np.float32)
        coded = np.stack([_through(encoder, frame) for frame in frames])
        if np.isfinite(kbits):
            levels = np.int32(np.clip(round(kbits / _KBITS_EACH), 1, _QUANTISERS))
            encode, decode = map(quantiser.get_signature_runner, ("encode", "decode"))
            for place, frame in enumerate(coded):
                made = encode(input_frames=frame, num_quantizers=levels).values()
                indices = next(part for part in made if part.shape[0] == _QUANTISERS)
                (coded[place],) = decode(encoding_indices=indices).values()
        return np.concatenate([_through(decoder, frame)[0] for frame in coded])[: len(x)]

    def _interpreter(self, model: bytes) -> Any:
        made = self._litert.Interpreter(model_content=model, num_threads=1)
        made.allocate_tensors()
        return made


def _through(interpreter: Any, frame: np.ndarray) -> np.ndarray:
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], frame)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def read(folder: Path) -> Lyra:
    """From a folder that holds FILES, or a checkout of google/lyra."""
    return Lyra(folder)

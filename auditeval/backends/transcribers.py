"""Speech recognisers: Whisper through faster-whisper, Paraformer through FunASR."""

from __future__ import annotations

import contextlib
import sys
import threading
from pathlib import Path
from typing import Any

from auditeval.audio import Waveform, resample
from auditeval.backends.backend import Transcript, Word
from auditeval.pretrained.packages import first_line, revision
from auditeval.pretrained.whisper import RATE_HZ, Whisper
from auditeval.types import UserError

_CODE = "1"
"""Part of every revision: counts the changes here that change a result."""

_STDOUT = threading.Lock()
"""Of its redirection, which is the whole process's."""


class FasterWhisper(Whisper):
    """`pretrained.whisper.Whisper`, read at once: what cannot be loaded is told before any clip."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.load()

    def __call__(self, clip: Waveform) -> Transcript:
        heard = self.hear(resample(clip, RATE_HZ))
        return Transcript(heard.text, tuple(Word(*word) for word in heard.words))


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
        self.name, self.device = Path(model).name, device
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

"""How a question speaks of audio: `<audio input1>`, `<audio output[-2.5s:]>`."""

from __future__ import annotations

import re
from typing import NamedTuple

from auditeval.audio import MIN_SECONDS, Waveform
from auditeval.types import Undefined

_ANY = re.compile(r"<audio\b[^<>]*>", re.IGNORECASE)
_SECONDS = r"\s*(-?\d{1,9}(?:\.\d{1,9})?)?\s*s?\s*"
_WHOLE = re.compile(
    rf"<audio\s+(?:(output)|input\s*(\d{{0,9}}))\s*(?:\[{_SECONDS}:{_SECONDS}\])?\s*>",
    re.IGNORECASE,
)


class Reference(NamedTuple):
    """A clip, or a part of it as Python slices: seconds, negative ones from the end.

    `name` is what the text calls it ("output[0.0s:3s]"); `input_number` counts from 1, 0 is the
    output.
    """

    name: str
    input_number: int
    start: float | None = None
    stop: float | None = None

    @property
    def clip_name(self) -> str:
        """That of the clip as a whole."""
        return f"input{self.input_number}" if self.input_number else "output"

    def of(self, clip: Waveform) -> Waveform | Undefined:
        """The part of the clip; undefined where less than `audio.MIN_SECONDS` is there.

        Bounds beyond the clip are its ends.
        """
        count = len(clip.samples)
        bounds = [
            None if seconds is None else round(seconds * clip.rate_hz)
            for seconds in (self.start, self.stop)
        ]
        first, last, _ = slice(*bounds).indices(count)
        if last - first < MIN_SECONDS * clip.rate_hz:
            return Undefined(
                f"<audio {self.name}> holds no audio: <audio {self.clip_name}> lasts "
                f"{clip.seconds:.3f} s."
            )
        return Waveform(clip.samples[first:last], clip.rate_hz)


def references(text: str) -> list[Reference]:
    """What a text refers to, each once, in the order of first mention.

    Raises ValueError for what begins like a reference and is none.
    """
    found: dict[str, Reference] = {}
    for mention in _ANY.finditer(text):
        parts = _WHOLE.fullmatch(mention[0])
        if parts is None or (parts[2] and int(parts[2]) == 0):
            raise ValueError(
                f"{mention[0]!r} is no reference to audio; expected one like <audio input1> or "
                "<audio output[0.5s:3s]>"
            )
        start, stop = (None if part is None else float(part) for part in parts.groups()[2:])
        number = 0 if parts[1] else int(parts[2] or 1)
        name = mention[0].strip("<>").strip()[len("audio") :].strip()
        found.setdefault(name, Reference(name, number, start, stop))
    return list(found.values())

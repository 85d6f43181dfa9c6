"""What a backend is: a pretrained model that says one kind of thing of one clip.

Benchmarks know roles, not models: `ROLES` says what each of them returns. A result is plain data,
so that it can be kept by content and shown in a record. A clip of which a backend can say nothing
(no speech, no voiced frame) has a result that says so (an empty text, no f0), or, where there is
no such result, raises `audio.AudioError` with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from auditeval.audio import Waveform


class Word(NamedTuple):
    """A recognised word and where it stands in the clip, in seconds."""

    text: str
    start: float
    end: float


class Transcript(NamedTuple):
    """What was said, as the recogniser writes it, and its words with times."""

    text: str
    words: tuple[Word, ...]


class PitchTrack(NamedTuple):
    """Fundamental frequency in Hz, one value each `hop_seconds`; None where unvoiced."""

    hop_seconds: float
    f0_hz: tuple[float | None, ...]


class SpeakerEmbedding(NamedTuple):
    """Of unit length, so that a dot product is a cosine."""

    values: tuple[float, ...]


class SpeechSpans(NamedTuple):
    """Where somebody speaks: (start, end) in seconds, in order, disjoint."""

    spans: tuple[tuple[float, float], ...]


class Ratings(NamedTuple):
    """Predicted opinions or qualities by name, as their model prints them ("OVRL", "PESQ")."""

    values: dict[str, float]


class Tags(NamedTuple):
    """Probability of each class of sound in the clip, by AudioSet display name."""

    probabilities: dict[str, float]


ROLES: Mapping[str, type[Any]] = {
    "transcriber_en": Transcript,
    "transcriber_zh": Transcript,
    "speaker": SpeakerEmbedding,
    "pitch": PitchTrack,
    "speech_quality": Ratings,  # DNSMOS P.835: SIG, BAK, OVRL
    "fidelity": Ratings,  # SQUIM: PESQ, STOI, SI-SDR
    "activity": SpeechSpans,
    "tagger": Tags,
}

JUDGES = ("judge", "prosody_judge", "expressiveness_judge")
"""Roles of judges (auditeval.judges), which stand in the same configuration."""


class Backend(Protocol):
    """One model in one role.

    `name` is printed beside every result that it had a part in: the model and its size, as the
    field calls it ("whisper-tiny.en"). `revision` changes whenever the same samples would give
    another result: it covers weights, code and settings, and is part of every cache key. `Backends`
    calls it with one thread for torch, BLAS and OpenMP; other pools a model keeps to one itself.
    One whose weights, or settings, a paper publishes has a `fingerprint` too: SHA-256 of the file
    of weights, or the settings of a method without weights, with which a table is told from the
    paper's.
    """

    name: str
    revision: str

    def __call__(self, clip: Waveform) -> Any:
        """A mono clip of any rate and length to the result of the role, a function of it alone."""
        ...

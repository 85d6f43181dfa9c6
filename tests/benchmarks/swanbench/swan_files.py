"""A small SwanBench on disk, backends that say what they are told, and judges that do."""

from __future__ import annotations

import hashlib
import json
import threading
from pathlib import Path
from typing import Any

import numpy as np

from auditeval.audio import AudioError, Waveform
from auditeval.backends.backend import Ratings, SpeakerEmbedding, SpeechSpans, Transcript, Word
from auditeval.backends.load import Backends
from auditeval.judges.judge import Answer, Question

RATE_HZ = 16000
A, B = "it was a bright cold day in april", "and the clocks were striking thirteen"


def row(content: list[tuple[str, str]], **changes: Any) -> dict[str, Any]:
    return {
        "content": [{"speaker": speaker, "text": text} for speaker, text in content],
        "theme": "time",
        "scene": "audiobook",
        "language": "english",
        "source": "web",
        "num_speakers": len({speaker for speaker, _ in content}),
        **changes,
    }


ROWS = [
    row([("Speaker1", f"{A.capitalize()}, {B}.")]),
    row([("Speaker1", f"{A}!"), ("Speaker2", f"{B}?")], scene="chat"),
]


def write(path: Path, rows: list[Any] = ROWS) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return path


def speech(seconds: float, seed: int = 0) -> Waveform:
    """Noise with the pulse of syllables: what SRMR has a value for."""
    count = int(seconds * RATE_HZ)
    noise = np.random.default_rng(seed).normal(0, 0.1, count)
    pulse = 1 + np.sin(2 * np.pi * 4 * np.arange(count) / RATE_HZ)
    return Waveform((noise * pulse).astype(np.float32), RATE_HZ)


def words(text: str, seconds: float) -> tuple[Word, ...]:
    """The words of a text, spread evenly."""
    said = text.split()
    step = seconds / len(said)
    return tuple(Word(word, n * step, (n + 1) * step) for n, word in enumerate(said))


def later(said: tuple[Word, ...], seconds: float) -> tuple[Word, ...]:
    return tuple(w._replace(start=w.start + seconds, end=w.end + seconds) for w in said)


class Told:
    """A backend that says the same of every clip, or asks a function."""

    revision = "1"
    same_speaker_cosine = 0.5  # of `voice`

    def __init__(self, name: str, say: Any) -> None:
        self.name, self._say = name, say

    def __call__(self, clip: Waveform) -> Any:
        return self._say(clip) if callable(self._say) else self._say


def voice(clip: Waveform) -> SpeakerEmbedding:
    """By the loudness of a clip: one direction below 0.2, the other above."""
    level = float(np.abs(clip.samples).max())
    if level < 1e-6:
        raise AudioError("is silent")
    return SpeakerEmbedding((1.0, 0.0) if level < 0.2 else (0.0, 1.0))


class Judging:
    """Gives a question the score that `score` has for it, None for no answer."""

    revision = "1"

    def __init__(self, name: str, score: Any) -> None:
        self.name, self._score = name, score
        self.asked: list[Question[Any]] = []
        self._lock = threading.Lock()

    def ask(self, question: Question[Any]) -> Answer[Any]:
        with self._lock:
            self.asked.append(question)
        score = self._score(question)
        if score is None:
            return Answer(None, "the judge wrote nothing")
        return Answer(question.reply.model_validate_json(reply(question, score)))


def reply(question: Question[Any], score: float) -> str:
    """A reply with words from the question's content, in the paper's layout."""
    word = hashlib.sha256(question.key.encode()).hexdigest()[:6]
    filled: dict[str, Any] = {}
    for name, field in question.reply.model_fields.items():
        if name.endswith("Score"):
            filled[name] = score
        elif field.annotation is str:
            filled[name] = word
        else:
            filled[name] = dict.fromkeys(field.annotation.model_fields, word)
    return json.dumps(filled)


def backends(**changes: Any) -> Backends:
    nodes = {
        "speaker": Told("told-voices", voice),
        "activity": Told("silero-vad", lambda clip: SpeechSpans(((0.0, clip.seconds),))),
        "fidelity": Told("squim-objective", Ratings({"PESQ": 3.25, "STOI": 0.9})),
        "transcriber_en": Told(
            "told-words", lambda clip: Transcript(f"{A} {B}", words(f"{A} {B}", clip.seconds))
        ),
        "prosody_judge": Judging("told-prosody", lambda question: 1 + question.run % 5),
        "expressiveness_judge": Judging("told-expression", lambda _: 2.5),
        **changes,
    }
    return Backends(nodes)

"""Rows of SpeechEditBench's samples.jsonl and backends that say what a test tells them to."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from auditeval.audio import Waveform, files
from auditeval.judges.judge import Answer, Question

ANCHORS: dict[str, dict[str, Any]] = {
    "content": {
        "type": "content",
        "edit_type": "replace",
        "transcript_target": "the red lamps",
        "edit_original": "yellow",
        "edit_target": "red",
    },
    "speaker": {"type": "speaker", "target_speaker": "p318", "reference_wav": "data/ref.wav"},
    "emotion": {"type": "emotion", "source_emotion": "sad", "target_emotion": "fear"},
    "style": {"type": "style", "source_style": "dramatic", "target_style": "intimate"},
    "prosody": {"type": "prosody", "prosody_type": "speed", "direction": "faster"},
    "paralinguistic": {"type": "paralinguistic", "operation": "add", "event": "laugh"},
    "acoustic": {
        "type": "acoustic",
        "subtask": "env_transfer",
        "env_type": "noise",
        "env_subtype": "music",
        "rt60_target_range": [0.3, 1],
    },
}


def row(task: str, anchor: Any = None, **more: Any) -> dict[str, Any]:
    """A line as the public files have it, with keys that evaluation does not need."""
    made = {
        "sample_id": f"s__{task}",
        "task": f"{task}_editing",
        "audio_path": f"data/{task}_editing/audio/s.wav",
        "instruction": "Edit.",
        "transcript": "the yellow lamps",
        "duration_tag": "short",
        "source_duration_sec": 3,
        "language": "en",
        "source_dataset": "libritts",
        "benchmark_version": "v1.1",
        "derived_from_sample_id": None,
    }
    if task == "compositional":
        parts = anchor or [ANCHORS["content"], ANCHORS["speaker"]]
        made["components"] = [{"component_type": part["type"], "anchor": part} for part in parts]
    else:
        made["anchor"] = anchor or ANCHORS[task]
    return {**made, **more}


def lay_out(root: Path, *rows: dict[str, Any], folder: str = "") -> Path:
    """A folder with these rows, each in that of its task or in `folder`; every clip is a tone."""
    lines: dict[str, list[str]] = {}
    write_tone(root / "data" / "ref.wav", 330)
    for made in rows:
        home = folder or made["task"]
        write_tone(root / "data" / home / "audio" / "s.wav", 220)
        lines.setdefault(home, []).append(json.dumps(made))
    for home, written in lines.items():
        (root / "data" / home / "samples.jsonl").write_text("\n".join(written) + "\n\n")
    return root


def tone(hz: float, seconds: float = 1.0) -> Waveform:
    time = np.arange(round(16000 * seconds)) / 16000
    return Waveform((0.3 * np.sin(2 * np.pi * hz * time)).astype(np.float32), 16000)


def write_tone(path: Path, hz: float) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write(path, (32767 * tone(hz).samples).astype(np.int16), 16000)


class Says:
    """A backend that gives what a function makes of a clip."""

    same_speaker_cosine = 0.5

    def __init__(self, said: Callable[[Waveform], Any], name: str = "says") -> None:
        self._said, self.name, self.revision = said, name, "1"

    def __call__(self, clip: Waveform) -> Any:
        return self._said(clip)


class Judges:
    """A judge whose answer to every question is this JSON, or none."""

    name, revision = "judges", "1"

    def __init__(self, value: dict[str, Any] | None) -> None:
        self._value = value

    def ask(self, question: Question[Any]) -> Answer[Any]:
        if self._value is None:
            return Answer(None, "the judge wrote nothing")
        return Answer(question.reply.model_validate(self._value), "")


def of_hz(clip: Waveform) -> int:
    """Which tone a clip is."""
    spectrum = np.abs(np.fft.rfft(clip.samples))
    return round(float(np.argmax(spectrum)) / clip.seconds)

"""Small benchmarks on disk, whole, and what a hostile one is made of."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from commands import Ended
from outcomes import WrongResult, refused

from auditeval.audio import files
from auditeval.audio.waveform import quantised


def clip(path: Path, seed: int = 0, seconds: float = 1.0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    samples = np.random.default_rng(seed).normal(0, 0.1, round(8000 * seconds))
    files.write(path, quantised(samples), 8000)
    return path


def secret(room: Path) -> Path:
    """A clip that is in no folder of a benchmark, and so in no answer of a judge."""
    return clip(room / "private" / "secret.wav", 99)


def link(path: Path, target: Path | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)
    return path


def fifo(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)
    return path


def rubric(**changes: Any) -> dict[str, Any]:
    return {
        "category": "IF",
        "question": "Is the dog gone?",
        "right_choice": "yes",
        "wrong_choices": ["no"],
        **changes,
    }


def entry(url: str = "wav/a.wav", **changes: Any) -> dict[str, Any]:
    part = {"type": "audio", "audio_url": url}
    return {
        "id": "a",
        "complexity": "single",
        "modality": "sound",
        "granularity": ["local"],
        "operations": [{"granularity": "local", "operation": "remove"}],
        "messages": [{"role": "user", "content": [part]}],
        "rubrics": [rubric()],
        **changes,
    }


def mmae(room: Path, made: Any = None) -> Path:
    clip(room / "mmae" / "wav" / "a.wav")
    path = room / "mmae" / "meta.json"
    path.write_text(json.dumps([made or entry()]))
    clip(room / "outputs" / "a.wav", 1)
    return path


def script(**changes: Any) -> dict[str, Any]:
    return {
        "id": "1",
        "content": [{"speaker": "A", "text": "One."}, {"speaker": "B", "text": "Two."}],
        "language": "en",
        "scene": "talk",
        **changes,
    }


def salmon(room: Path) -> Path:
    for index in range(2):
        clip(room / "salmon" / "speaker_consistency" / f"sample_0_{index}.wav", index)
    return room / "salmon"


def ended_well(ended: Ended) -> None:
    """With a result, an unscored one among them, or in one sentence."""
    if ended.status == 2:
        refused(ended, "")
    elif "Traceback" in ended.err or ended.status not in (0, 1):
        raise WrongResult(str(ended))

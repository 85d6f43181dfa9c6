"""A benchmark small enough to know its results by heart: is the output louder than its source?"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from auditeval import audio
from auditeval.audio import Waveform, files
from auditeval.audio.waveform import quantised
from auditeval.benchmarks.benchmark import BenchmarkTable, Missing, Output, Record, Value
from auditeval.table import Column
from auditeval.types import Undefined

RATE_HZ = 8000


class Clip(NamedTuple):
    id: str
    path: Path


class Louder:
    """Success: the output's RMS is above that of its source."""

    name = "louder"

    def __init__(self, folder: Path) -> None:
        self._samples = [Clip(path.stem, path) for path in sorted(folder.glob("*.wav"))]

    @property
    def settings(self) -> dict[str, Any]:
        names = " ".join(clip.id for clip in self._samples)
        return {"samples_sha256": hashlib.sha256(names.encode()).hexdigest()}

    @property
    def samples(self) -> Sequence[Clip]:
        return self._samples

    def source(self, sample: Clip) -> Waveform | Undefined:
        return audio.decode(sample.path)

    def evaluate(self, sample: Clip, output: Output) -> Record:
        if isinstance(output, Missing):
            return {"status": "failed", "reason": output.reason, "success": False, "gain": None}
        gain = round(rms(output) / rms(audio.decode(sample.path)), 6)
        return {"status": "ok", "reason": "", "success": gain > 1, "gain": gain}

    def values(self, records: Sequence[Record]) -> dict[str, Value]:
        if not records:
            return {"success": Undefined("no sample")}
        gains = [record["gain"] for record in records if record["gain"] is not None]
        gain = sum(gains) / len(gains) if gains else Undefined("no output")
        return {"success": sum(r["success"] for r in records) / len(records), "gain": gain}

    def tables(self, systems: Mapping[str, Sequence[Record]]) -> list[BenchmarkTable]:
        columns = (Column("success", "higher", "%"), Column("gain"), Column("gap", "lower"))
        rows = {name: {**self.values(found), "gap": 0.5} for name, found in systems.items()}
        return [BenchmarkTable.of("main", "Louder", columns, rows, radar=("success", "gain"))]


def rms(clip: Waveform) -> float:
    return float(np.sqrt(np.mean(np.square(clip.samples, dtype=np.float64))))


def write_clips(folder: Path, count: int, level: float = 0.1, every: int = 1) -> Path:
    """`count` clips of noise of this level, of which every so many is there."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(0, count, every):
        noise = np.random.default_rng(number).standard_normal(RATE_HZ // 4 + number)
        samples = quantised((level * noise).astype(np.float32))
        files.write(folder / f"clip{number:02d}.wav", samples, RATE_HZ)
    return folder

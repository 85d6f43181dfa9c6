"""What a Ray cluster costs beside this process, and what the process that writes holds in memory.

    python tests/performance/ray_scale.py overhead MANIFEST [--checkpoint FOLDER] [--cache-dir DIR]
    python tests/performance/ray_scale.py memory [--rows 20000 1000000]
    python tests/performance/ray_scale.py cost MANIFEST

`overhead` scores a manifest with both engines, by turns and in processes of their own, the clips
known to the cache before: seconds, Ray's start included. The tables must be the same to the byte.
`memory` has rows scored by workers that answer at once, so that what is left is the command's own:
reading and checking rows, handing out blocks, writing and merging parts; peak memory of its
process, and seconds.

`cost` scores a manifest of files with an empty cache, in one thread, and multiplies: hours of a
core, bytes of clips that are read, of the cache that is filled, of the table.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from results import keep

from auditeval import manifest
from auditeval.manifest_scoring import score_manifest
from auditeval.ray_engine import Ray
from auditeval.scoring_blocks import ScoringWorker
from auditeval.types import EditPair, Scores

COMMAND = [sys.executable, "-c", "from auditeval.cli import main; main()"]
BATCH = 32


def processor_seconds() -> float:
    """Of all children that ended, and theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def overhead(chosen: argparse.Namespace) -> None:
    rows = []
    with tempfile.TemporaryDirectory() as name:
        made = {}
        for repeat in range(chosen.repeats):
            for engine in ("local", "ray"):
                output = Path(name) / f"{engine}{repeat}.csv"
                command = [*COMMAND, "score", str(chosen.manifest), "-o", str(output)]
                command += ["--engine", engine]
                command += ["-c", chosen.checkpoint] if chosen.checkpoint else []
                command += ["--cache-dir", str(chosen.cache_dir)] if chosen.cache_dir else []
                began = time.perf_counter()
                subprocess.run(command, check=True)
                seconds = time.perf_counter() - began
                made[engine] = output.read_bytes()
                rows.append(
                    {
                        "engine": engine,
                        "run": repeat + 1,
                        "pairs": made[engine].count(b"\n") - 1,
                        "seconds": f"{seconds:.0f}",
                        "load of the machine": f"{os.getloadavg()[0]:.1f}",
                    }
                )
                print(rows[-1], flush=True)
        assert made["local"] == made["ray"]
    keep("ray_overhead", "Scoring by this process and by Ray's, on the same cores", rows)


def answer(pairs: Sequence[EditPair]) -> list[Scores]:
    return [Scores(pair.id, 3.0, 3.0, 3.0) for pair in pairs]


def memory_of(rows: int) -> None:
    """In a process of its own."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "pairs.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for number in range(rows):
                captions = {"original_caption": "Rain.", "target_caption": "Rain, with a dog."}
                sides = {"original": f"{number}_a.wav", "edited": f"{number}_b.wav"}
                file.write(json.dumps({"id": f"{number:09d}", **sides, **captions}) + "\n")
        start = partial(ScoringWorker, answer, path, BATCH)
        record = {"evaluator": "none", "checkpoint": None, "checkpoint_sha256": ""}
        began = time.perf_counter()
        with Ray(workers=2) as cluster:
            output = Path(name) / "scores.parquet"
            *_, last = score_manifest(start, cluster, record, path, output, BATCH)
        assert (last.done, last.errors) == (rows, 0)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"peak": peak, "seconds": time.perf_counter() - began}))


def memory(chosen: argparse.Namespace) -> None:
    table: list[dict[str, Any]] = []
    for rows in chosen.rows:
        command = [sys.executable, __file__, "memory", "--of", str(rows)]
        made = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        found = json.loads(made.stdout.splitlines()[-1])
        table.append(
            {
                "rows": rows,
                "peak of the command, MiB": f"{found['peak']:.0f}",
                "seconds": f"{found['seconds']:.0f}",
            }
        )
        print(table[-1], flush=True)
    keep("ray_memory", "Memory of `auditeval score --engine ray`, by rows", table)


def cost(chosen: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as name:
        cache, output = Path(name) / "cache", Path(name) / "scores.parquet"
        command = [*COMMAND, "score", str(chosen.manifest), "-o", str(output), "--workers", "0"]
        before = processor_seconds()
        subprocess.run([*command, "--cache-dir", str(cache)], check=True)
        spent = processor_seconds() - before
        pairs = manifest.read(chosen.manifest)
        clips = {path for pair in pairs for path in (pair.original, pair.edited)}
        sizes = {
            "clips read, GiB": sum(path.stat().st_size for path in clips),
            "cache, GiB": sum(path.stat().st_size for path in cache.rglob("*.entry")),
            "table, GiB": output.stat().st_size,
        }
    print(f"{len(pairs)} pairs of {len(clips)} clips: {spent:.1f} s of the processor")
    rows = [
        {
            "pairs": f"{times:,}",
            "hours of a core": f"{spent / len(pairs) * times / 3600:,.0f}",
            "hours of 1,000 cores": f"{spent / len(pairs) * times / 3.6e6:.2g}",
            **{what: f"{size / len(pairs) * times / 2**30:,.1f}" for what, size in sizes.items()},
        }
        for times in (1_000_000, 100_000_000)
    ]
    keep("ray_cost", "Scoring many pairs of 5 s of a built set, from an empty cache", rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="what", required=True)
    of_overhead = commands.add_parser("overhead")
    of_overhead.add_argument("manifest", type=Path)
    of_overhead.add_argument("--checkpoint", "-c")
    of_overhead.add_argument("--cache-dir", type=Path)
    of_overhead.add_argument("--repeats", type=int, default=2)
    of_memory = commands.add_parser("memory")
    of_memory.add_argument("--rows", type=int, nargs="+", default=[20_000, 1_000_000])
    of_memory.add_argument("--of", type=int)
    of_cost = commands.add_parser("cost")
    of_cost.add_argument("manifest", type=Path)
    chosen = parser.parse_args()
    if chosen.what == "overhead":
        overhead(chosen)
    elif chosen.what == "cost":
        cost(chosen)
    elif chosen.of:
        memory_of(chosen.of)
    else:
        memory(chosen)


if __name__ == "__main__":
    main()

"""Encoder time of a first and a second training run on the same data, one after the other.

Run by hand: python tests/performance/warm_cache.py [overrides of train.py]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        runs = []
        for name in ("first", "second"):
            run_dir = Path(folder) / name
            started = time.perf_counter()
            subprocess.run(
                [
                    sys.executable,
                    "train.py",
                    f"run_dir={run_dir}",
                    f"cache_dir={folder}/cache",
                    f"data.simulation.folder={folder}/data",
                    *sys.argv[1:],
                ],
                cwd=REPOSITORY,
                check=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            seconds = time.perf_counter() - started
            runs.append(
                {"total_seconds": seconds, **json.loads((run_dir / "timing.json").read_text())}
            )
    for key in runs[0]:
        first, second = (run[key] for run in runs)
        ratio = f"{second / first:8.4f}" if first else "       -"
        print(f"{key:18} first {first:9.2f}  second {second:9.2f}  ratio {ratio}")


if __name__ == "__main__":
    main()

"""Scores a manifest through an S3 server whose connection is cut again and again.

    python tests/performance/storage_cuts.py MANIFEST --work FOLDER [--runs 5] [--engine ray]

Needs moto's server: pip install --no-deps -r tests/storage/requirements.txt. The manifest and its
clips (which lie below its folder) are put into a bucket; `auditeval score` reads, caches and writes
there through a proxy. In each run it is cut at a random moment: for a second, which the command
bridges, or until it has ended with a sentence, after which it is given again. The table must have
the bytes of one that was scored from the folder.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import Request, urlopen

sys.path.insert(0, str(Path(__file__).parent.parent))
from tcp_proxy import Proxy

SCORE = [sys.executable, "-c", "from auditeval.cli import main; main()", "score"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("manifest", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--engine", default="local")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)

    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    proxy = Proxy(server.get_host_and_port()[1])
    os.environ |= {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{proxy.port}",
        "AWS_ACCESS_KEY_ID": "any",
        "AWS_SECRET_ACCESS_KEY": "any",
        "AUDITEVAL_CACHE": str(args.work / "cache"),
        "AUDITEVAL_STORAGE_SECONDS": "5",
    }
    urlopen(Request(f"{os.environ['AWS_ENDPOINT_URL']}/bucket", method="PUT"))

    from auditeval.storage import objects

    folder = args.manifest.parent
    for path in folder.rglob("*"):
        if path.is_file():
            objects.put(path, f"s3://bucket/set/{path.relative_to(folder).as_posix()}")
    here = args.work / "here.parquet"
    begun = time.monotonic()
    subprocess.run([*SCORE, args.manifest, "-o", here, "--fresh"], check=True)
    seconds = time.monotonic() - begun
    draw, outcomes = random.Random(1), []
    for run in range(args.runs):
        table = f"s3://bucket/scores-{run}.parquet"
        command = [*SCORE, f"s3://bucket/set/{args.manifest.name}", "-o", table]
        command += ["--cache-dir", f"s3://bucket/cache-{run}", "--engine", args.engine]
        at, long = draw.uniform(0.2, 0.7) * seconds, run % 2 == 1
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        time.sleep(at)
        proxy.cut()
        if not long:
            time.sleep(1)
            proxy.mend()
        said = process.communicate()[1].strip().splitlines()[-1:]
        if long:
            proxy.mend()
            subprocess.run(command, check=True)
        same = objects.read(table) == here.read_bytes()
        kind = "until it ended" if long else "for 1 s"
        came = f"status {process.returncode}, {' '.join(said)}; same bytes: {same}"
        outcomes.append(f"cut after {at:.1f} s {kind}: {came}")
    print(*outcomes, sep="\n")
    server.stop()


if __name__ == "__main__":
    main()

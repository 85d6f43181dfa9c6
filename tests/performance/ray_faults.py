"""Commands on a Ray cluster of three nodes, while processes, nodes and folders are taken from them.

    python tests/performance/ray_faults.py ESC10_FOLDER --work FOLDER [--command score]
        [--pairs 1500] [--faults 30 | --inject "worker killed" ...] [--every 8] [--seed 0]

What this process makes (`--engine local`) is compared, byte for byte, with what the cluster makes
of the same while faults come at random moments, `--every` so many seconds on average; a command
that was killed, or ended with a sentence, is given again. Pairs are virtual mixes of esc10, of
which `--distinct` are heard and the others are the same under other ids, since features are kept
by content. The table says of each fault what had been done before it, and of each run whether its
bytes are the same and how many rows were lost or stand twice.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import psutil
from results import keep

from auditeval.digests import sha256

COMMAND = [sys.executable, "-c", "from auditeval.cli import main; main()"]
BUILD = ["--background-seconds", "5", "--event-seconds", "1.5", "3", "--group-by", "freesound_id"]
STOPPED_SECONDS = 15.0
JOINS = 5  # tries
MOST_AGAIN = 5  # times that a command may end with a sentence


class Cluster:
    """Three nodes of one core, the first of which stays; and the command that runs on them."""

    def __init__(self, command: list[str], output: Path, cache: Path, rng: random.Random) -> None:
        from ray.cluster_utils import Cluster as RayCluster

        self.command, self.output, self.cache, self.rng = command, output, cache, rng
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        self.nodes = RayCluster(initialize_head=True, head_node_args={"num_cpus": 1})
        self.others: list[Any] = []
        for _ in range(2):
            self.join()
        self.address = self.nodes.address
        self.process = self.start()

    def join(self) -> None:
        """Another node; beside other work one may take longer to come up than Ray waits."""
        for _ in range(JOINS - 1):
            with suppress(Exception):
                self.others.append(self.nodes.add_node(num_cpus=1))
                return
        self.others.append(self.nodes.add_node(num_cpus=1))

    def start(self) -> subprocess.Popen[bytes]:
        arguments = [*self.command, "--engine", "ray", "--address", self.address]
        log = self.output.with_name(f"{self.output.name}.log").open("ab")
        return subprocess.Popen([*COMMAND, *arguments], stdout=log, stderr=log)

    def workers(self) -> list[psutil.Process]:
        """The actors of the command: its nodes are children of this process."""
        found = []
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):  # it has ended meanwhile
                if process.name().startswith("ray::Holder"):
                    found.append(process)
        return found

    def close(self) -> None:
        self.nodes.shutdown()


def worker_killed(cluster: Cluster) -> str:
    workers = cluster.workers()
    with suppress(psutil.NoSuchProcess):  # the command has just ended
        cluster.rng.choice(workers).kill()
    return f"SIGKILL to one of {len(workers)}"


def node_lost(cluster: Cluster) -> str:
    """And another joined, so that the next fault finds as many."""
    node = cluster.others.pop(cluster.rng.randrange(len(cluster.others)))
    cluster.nodes.remove_node(node, allow_graceful=False)
    time.sleep(cluster.rng.uniform(0, 5))
    cluster.join()
    return "one of three gone, another joined"


def raylet_killed(cluster: Cluster) -> str:
    node = cluster.others[cluster.rng.randrange(len(cluster.others))]
    (raylet,) = node.all_processes["raylet"]
    raylet.process.send_signal(signal.SIGKILL)
    cluster.others.remove(node)
    time.sleep(2)
    cluster.nodes.remove_node(node, allow_graceful=False)
    cluster.join()
    return "SIGKILL to a node's raylet, another node joined"


def driver_killed(cluster: Cluster) -> str:
    cluster.process.send_signal(signal.SIGKILL)
    cluster.process.wait()
    cluster.process = cluster.start()
    return "SIGKILL to the command, given again"


def worker_stopped(cluster: Cluster) -> str:
    workers = cluster.workers()
    worker = cluster.rng.choice(workers)
    with suppress(psutil.NoSuchProcess):  # the command has just ended, or ends without it
        worker.suspend()
        time.sleep(STOPPED_SECONDS)
        worker.resume()
    return f"one worker stood still for {STOPPED_SECONDS:.0f} s"


def cache_gone(cluster: Cluster) -> str:
    away = cluster.cache.with_name("away")
    cluster.cache.rename(away)
    cluster.cache.write_text("no folder")
    time.sleep(3)
    cluster.cache.unlink()
    away.rename(cluster.cache)
    return "a file in its place for 3 s"


FAULTS: dict[str, Callable[[Cluster], str]] = {
    "worker killed": worker_killed,
    "node lost": node_lost,
    "raylet killed": raylet_killed,
    "driver killed": driver_killed,
    "worker stopped": worker_stopped,
    "cache gone": cache_gone,
}


def prepared(esc10: Path, work: Path, pairs: int, distinct: int) -> Path:
    """A manifest of virtual pairs."""
    if not (work / "set" / "manifest.jsonl").exists():
        made = ["build", "--clips", str(esc10 / "labels.csv"), *BUILD, "--audio", "virtual"]
        tuples = str(-(-distinct // 270))  # 45 pairs of classes, six edits a tuple
        made += ["--backgrounds-per-pair", tuples, "-o", str(work / "set")]
        subprocess.run([*COMMAND, *made], check=True)
    with (work / "set" / "manifest.jsonl").open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file][:distinct]
    path = work / "set" / f"pairs{pairs}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(pairs):
            row = rows[number % len(rows)]
            file.write(json.dumps({**row, "id": f"{number:07d}_{row['id']}"}) + "\n")
    return path


def command_of(
    name: str, esc10: Path, table: Path, cache: Path, output: Path, checkpoint: str | None = None
) -> list[str]:
    if name == "score":
        made = ["score", str(table), "-o", str(output), "--cache-dir", str(cache)]
        return [*made, "-c", checkpoint] if checkpoint else made
    if name == "metrics":
        return ["metrics", str(table), "-o", str(output), "--cache-dir", str(cache)]
    labels = ["--clips", str(esc10 / "labels.csv"), "--backgrounds-per-pair", "20"]
    return ["build", *labels, *BUILD, "-o", str(output)]


def digests(output: Path) -> dict[str, str]:
    """Of the file, or of each in the folder."""
    paths = sorted(output.rglob("*")) if output.is_dir() else [output]
    return {
        str(path.relative_to(output.parent).as_posix().removeprefix(output.name)): sha256(path)
        for path in paths
        if path.is_file() and not path.name.startswith(".")
    }


def done_by(output: Path) -> str:
    """How far it has come: parts, or files, or a table that is whole."""
    parts = output.with_name(f"{output.name}.partial")
    if parts.is_dir():
        return f"{len(list(parts.iterdir()))} parts"
    if output.is_dir():
        return f"{sum(1 for _ in output.rglob('*.flac'))} files"
    return "finished" if output.exists() else "nothing"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("esc10", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--command", choices=("score", "build", "metrics"), default="score")
    parser.add_argument("--pairs", type=int, default=1500)
    parser.add_argument("--distinct", type=int, default=600)
    parser.add_argument("--faults", type=int, default=30)
    parser.add_argument(
        "--inject", nargs="+", choices=FAULTS, help="these, in place of random ones"
    )
    parser.add_argument("--every", type=float, default=8.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checkpoint", "-c", help="of score; default: the one that ships")
    parser.add_argument("--keep", help="name of a file of results")
    chosen = parser.parse_args()
    work, rng = chosen.work.resolve(), random.Random(chosen.seed)
    esc10, cache = chosen.esc10.resolve(), work / "cache"
    table = prepared(esc10, work, chosen.pairs, chosen.distinct)
    of = partial(command_of, chosen.command, esc10, table, cache, checkpoint=chosen.checkpoint)
    suffix = ".csv" if chosen.command == "score" else ""
    local = work / f"{chosen.command}{chosen.pairs}_local{suffix}"
    began = time.perf_counter()
    if not local.exists():
        subprocess.run([*COMMAND, *of(local)])
    print(f"local: {time.perf_counter() - began:.0f} s")
    waiting = chosen.inject or [rng.choice(list(FAULTS)) for _ in range(chosen.faults)]
    if not chosen.inject:
        waiting[: len(FAULTS)] = rng.sample(list(FAULTS), len(FAULTS))  # each once at least
    rows: list[dict[str, Any]] = []
    run = 0
    while waiting:
        run += 1
        output = work / f"{chosen.command}_ray{run}{suffix}"
        for old in work.glob(f"{output.name}*"):
            shutil.rmtree(old) if old.is_dir() else old.unlink()
        began = time.perf_counter()
        cluster = Cluster(of(output), output, cache, rng)
        injected = []
        again = 0
        try:
            while (status := cluster.process.poll()) != 0:
                if status is not None:
                    # With a sentence, as where the cache was away when it began: given again.
                    again += 1
                    if again > MOST_AGAIN:
                        break
                    cluster.process = cluster.start()
                moment = time.monotonic() + rng.expovariate(1 / chosen.every) + 1
                while time.monotonic() < moment and cluster.process.poll() is None:
                    time.sleep(0.2)
                if waiting and cluster.process.poll() is None:
                    if not cluster.workers():
                        continue  # the next is to find something to take away
                    name, before = waiting.pop(0), done_by(output)
                    said = FAULTS[name](cluster)
                    injected.append(
                        {"run": run, "fault": name, "done before": before, "what": said}
                    )
                    print(injected[-1], flush=True)
        finally:
            cluster.close()
        if status != 0:
            sys.exit(f"{output}: given {again} times, and it always ended with status {status}")
        same = digests(output) == digests(local)
        came = "the same bytes" if same else "OTHER BYTES"
        came += f", given again {again} times" if again else ""
        if chosen.command == "score":
            with output.open(newline="", encoding="utf-8") as file:
                ids = Counter(row["id"] for row in csv.DictReader(file))
            lost, twice = chosen.pairs - len(ids), sum(n > 1 for n in ids.values())
            came += f", {lost} lost, {twice} twice"
        came += f", {time.perf_counter() - began:.0f} s"
        print(f"run {run}: {came}", flush=True)
        rows += [{**row, "came out": came} for row in injected]
        if not same:
            sys.exit(f"{output} is not as {local}")
    if chosen.keep:
        title = (
            f"`auditeval {chosen.command}` of {chosen.pairs} pairs on three Ray nodes, with faults"
        )
        keep(chosen.keep, title, rows)


if __name__ == "__main__":
    main()

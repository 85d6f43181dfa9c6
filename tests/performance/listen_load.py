"""Fifty raters at once on one server, and twenty kills of a server under ten.

Run by hand on an idle machine: python tests/performance/listen_load.py
It prints and keeps the seconds of a vote and until a clip's first byte, and how many went wrong.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "listening"))
from commands import row_of, write_rows
from listening_tests import pairs
from remote_raters import RemoteRater, Server, all_at_once
from results import keep

from auditeval.listening import votes_database

DESIGN = "training: false\nheadphone_check: false\nblock: 10\nrepeat_share: 0\nattention_share: 0\n"


def run(folder: Path, raters: int, count: int, seconds: float, kills: int) -> dict[str, Any]:
    """All raters vote on `count` pairs each while the server is killed so many times."""
    folder.mkdir()
    given = pairs(folder, count, seconds)
    manifest = write_rows(folder / "pairs.jsonl", [row_of(pair) for pair in given])
    design = folder / "design.yaml"
    design.write_text(f"raters_per_pair: {raters}\n{DESIGN}")
    server = Server(manifest, folder / "votes.db", design, raters, 8765).start()
    clients = [RemoteRater(link, "4", again=60) for link in server.links]
    begin = time.perf_counter()
    threads = all_at_once(clients)
    dice = random.Random(0)
    for _ in range(kills):
        time.sleep(dice.uniform(0.1, 1.0))
        server.stop(signal.SIGKILL)
        server.start()
    for thread in threads:
        thread.join()
    lasted = time.perf_counter() - begin
    server.stop(signal.SIGINT)
    database = votes_database.opened(folder / "votes.db", reading=True)
    trials = {trial.token: trial.number for trial in database.all_trials()}
    votes = database.votes()
    acknowledged = [token for client in clients for token in client.acknowledged]
    lost = sum(trials[token] not in votes for token in acknowledged)
    votes_ms, clips_ms = (
        1000 * np.percentile(np.concatenate([getattr(c, f"{what}_seconds") for c in clients]), 95)
        for what in ("vote", "clip")
    )
    return {
        "raters": raters,
        "votes": len(votes),
        "kills": kills,
        "acknowledged, lost": lost,
        "twice": len(acknowledged) - len(set(acknowledged)),
        "errors": sum(len(client.errors) for client in clients),
        "p95 of a vote, ms": f"{votes_ms:.0f}",
        "p95 of a clip's first byte, ms": f"{clips_ms:.0f}",
        "votes a second": f"{len(votes) / lasted:.0f}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--raters", type=int, default=50)
    parser.add_argument("--votes", type=int, default=40)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=0.1, help="of a clip")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            run(Path(folder) / "load", options.raters, options.votes, options.seconds, 0),
            run(Path(folder) / "kills", 10, 60, options.seconds, options.kills),
        ]
    keep("listen_load", "Raters at once on one server of `auditeval listen`", rows)


if __name__ == "__main__":
    main()

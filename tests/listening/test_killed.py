"""A server that is killed at any moment under raters who vote: every acknowledged vote is there."""

from __future__ import annotations

import random
import signal
import socket
import time
from pathlib import Path

import pytest
from commands import row_of, write_rows
from listening_tests import pairs
from remote_raters import RemoteRater, Server, all_at_once

from auditeval.listening import votes_database
from auditeval.types import AXES

RATERS, PAIRS = 10, 12


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.mark.parametrize("kills", [2])
def test_acknowledged_votes_outlive_kills(tmp_path: Path, kills: int) -> None:
    manifest = write_rows(tmp_path / "pairs.jsonl", [row_of(p) for p in pairs(tmp_path, PAIRS)])
    settings = tmp_path / "design.yaml"
    settings.write_text(
        f"raters_per_pair: {RATERS}\ntraining: false\nheadphone_check: false\nblock: 4\n"
        "repeat_share: 0\nattention_share: 0\n"
    )
    server = Server(manifest, tmp_path / "votes.db", settings, RATERS, free_port()).start()
    raters = [RemoteRater(link, str(1 + n % 5)) for n, link in enumerate(server.links)]
    threads = all_at_once(raters)
    dice = random.Random(7)
    for _ in range(kills):
        time.sleep(dice.uniform(0.2, 0.9))
        before = server.links
        server.stop(signal.SIGKILL)
        assert server.start().links == before
    for thread in threads:
        thread.join(60)
    server.stop(signal.SIGINT)

    assert [rater.errors for rater in raters] == [[]] * RATERS
    database = votes_database.opened(tmp_path / "votes.db", reading=True)
    names = {trial.token: trial.number for trial in database.all_trials()}
    votes = database.votes()
    for rater in raters:
        assert len(set(rater.acknowledged)) == PAIRS
        for token in rater.acknowledged:
            assert votes[names[token]].grades == dict.fromkeys(AXES, float(rater.grade))
    assert len(votes) == RATERS * PAIRS  # and no second one

"""Two processes of one training on processors, joined by gloo and forked: nothing is imported anew.

They are forked of a process that was forked before any test ran: the threads that tests start do
not outlive a fork, and what they held at that moment would stay held.
How `train.py` starts the second of them is seen by tests/training/test_devices.py.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Timer

import pytest

_SECONDS = 120  # then both are ended
_forks: list[Connection] = []  # the way to the process that forks, once it is there

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def prepare() -> None:
    """Fork the process that forks: after the tests are imported, before any of them runs."""
    if not hasattr(os, "fork") or _forks:
        return
    here, there = Pipe()
    if os.fork():
        there.close()
        _forks.append(here)
        return
    here.close()
    try:
        while True:  # until the process of the tests ends, and with it the pipe
            there.send(_run(*there.recv()))
    finally:
        os._exit(0)


def on_two_devices(run: Callable[[], object], said: Path) -> None:
    """Call it in both, which Lightning takes for processes of its own; `said` is what they print.

    `run` is one that can be pickled, as a `partial` of a test module's function. Fails with what
    was said where one of them does.
    """
    _forks[0].send((run, said, dict(os.environ)))
    assert _forks[0].recv() == [0, 0], said.read_text()


def _run(run: Callable[[], object], said: Path, environment: dict[str, str]) -> list[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    joined = {**environment, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": f"{port}"}
    joined.pop("AUDITEVAL_RUN_DIR", None)  # of a run that the process of the tests made before
    processes = [_forked(run, rank, joined, said) for rank in range(2)]
    stop = Timer(_SECONDS, lambda: [os.kill(process, signal.SIGKILL) for process in processes])
    stop.start()  # one that has failed lets the other wait
    ended = [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in processes]
    stop.cancel()
    stop.join()
    return ended


def _forked(run: Callable[[], object], rank: int, environment: dict[str, str], said: Path) -> int:
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        file = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for stream in (1, 2):
            os.dup2(file, stream)
        sys.stdout = sys.stderr = os.fdopen(2, "w", buffering=1)
        os.environ.clear()
        os.environ |= {**environment, "LOCAL_RANK": f"{rank}"}
        from pytorch_lightning.utilities.rank_zero import rank_zero_only

        rank_zero_only.rank = rank  # as where Lightning is imported in a process of this rank
        run()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)

"""Two processes of one training on processors, joined by gloo and forked: nothing is imported anew.

How `train.py` starts the second of them is seen by tests/training/test_devices.py.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from threading import Timer

import pytest
from pytorch_lightning.utilities.rank_zero import rank_zero_only

_SECONDS = 120  # then both are ended

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def on_two_devices(run: Callable[[], object], said: Path) -> None:
    """Call it in both, which Lightning takes for processes of its own; `said` is what they print.

    Fails with that where one of them does.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    processes = [_forked(run, rank, port, said) for rank in range(2)]
    stop = Timer(_SECONDS, lambda: [os.kill(process, signal.SIGKILL) for process in processes])
    stop.start()  # one that has failed lets the other wait
    ended = [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in processes]
    stop.cancel()
    assert ended == [0, 0], said.read_text()


def _forked(run: Callable[[], object], rank: int, port: int, said: Path) -> int:
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        file = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for stream in (1, 2):
            os.dup2(file, stream)
        sys.stdout = sys.stderr = os.fdopen(2, "w", buffering=1)
        os.environ |= {
            "LOCAL_RANK": f"{rank}",
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": f"{port}",
        }
        os.environ.pop("AUDITEVAL_RUN_DIR", None)  # of a run that this process made before
        rank_zero_only.rank = rank  # as where Lightning is imported in a process of this rank
        run()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)

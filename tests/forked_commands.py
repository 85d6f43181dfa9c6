"""The command in processes that may be killed: imports once and then forks."""

from __future__ import annotations

import json
import subprocess
import sys

# Imports once and then forks: each request is the real command in a process of its own.
FORKS = """
import json, os, sys
import auditeval.scoring, auditeval.features.melstats, rich.progress, transformers.audio_utils
from auditeval import cli
for line in sys.stdin:
    arguments = json.loads(line)
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        sys.argv = ["auditeval", *arguments]
        code = 1
        try:
            cli.main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        finally:
            os._exit(code)
    print(pid, flush=True)
    _, status = os.waitpid(pid, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
"""


class Commands:
    """Runs `auditeval ...` as processes that may be killed."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._forks = subprocess.Popen(
            [sys.executable, "-c", FORKS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def start(self, *arguments: str) -> int:
        assert self._forks.stdin is not None
        self._forks.stdin.write(json.dumps(arguments) + "\n")
        self._forks.stdin.flush()
        return self._answer()

    def wait(self) -> int:
        return self._answer()

    def _answer(self) -> int:
        assert self._forks.stdout is not None
        return int(self._forks.stdout.readline())

    def close(self) -> None:
        self._forks.communicate(timeout=60)

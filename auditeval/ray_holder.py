"""What a process of a Ray cluster runs: a worker, made once, and the blocks that it is given."""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Callable, Mapping
from typing import Any

from auditeval.types import UserError
from auditeval.version import __version__

_PAUSES_SECONDS = (0.5, 2.0)  # before a disk or a server that failed is tried again


class Holder:
    """An actor: one worker, made once."""

    def open(self, start: Callable[[], Any], folder: str, version: str) -> tuple[str, str]:
        """Make the worker, where the command was given; id and name of this node."""
        import ray

        host = socket.gethostname()
        if version != __version__:
            raise UserError(
                f"{host}: has auditeval {__version__}, the command {version}; install one version "
                "on all nodes"
            )
        try:
            os.chdir(folder)
        except OSError as error:
            raise UserError(
                f"{host}: the folder {folder} cannot be entered ({error.strerror}); give the "
                "command where all nodes see the same files"
            ) from None
        self._said = _Warnings()
        logging.getLogger("auditeval").addHandler(self._said)
        self._worker = start()
        return ray.get_runtime_context().get_node_id(), host

    def do(self, block: Any, failed: Mapping[int, str]) -> tuple[list[str], list[Any]]:
        """What was warned of, and the steps of a block."""
        for pause in (*_PAUSES_SECONDS, None):
            try:
                steps = list(self._worker(block, failed))
                return self._said.taken(), steps
            except OSError:
                if pause is None:
                    raise
                time.sleep(pause)
        raise AssertionError

    def attempt(self, block: Any, rows: range) -> None:
        """The work of some rows of a block, for whether this process outlives it."""
        for _ in self._worker(block, {row: "" for row in block.numbers() if row not in rows}):
            pass


class _Warnings(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self._messages.append(record.getMessage())

    def taken(self) -> list[str]:
        taken, self._messages = self._messages, []
        return taken

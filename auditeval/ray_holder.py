"""What a process of a Ray cluster runs: a worker, made once, and the blocks that it is given."""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from auditeval.types import UserError
from auditeval.version import __version__

Made = TypeVar("Made")

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
        self._worker = _tried(start)
        return ray.get_runtime_context().get_node_id(), host

    def do(self, block: Any, failed: Mapping[int, str]) -> tuple[list[str], list[Any]]:
        """What was warned of, and the steps of a block."""
        steps = _tried(lambda: list(self._worker(block, failed)))
        return self._said.taken(), steps

    def attempt(self, block: Any, rows: range) -> None:
        """The work of some rows of a block, for whether this process outlives it."""
        others = {row: "" for row in block.numbers() if row not in rows}
        _tried(lambda: list(self._worker(block, others)))


def _tried(work: Callable[[], Made]) -> Made:
    """What comes of it, tried again where a disk or a server fails.

    Raises OSError where it still does, also where the command that works here alone would end with
    a sentence of its own on what it cannot read: another node may.
    """
    for pause in (*_PAUSES_SECONDS, None):
        try:
            return work()
        except OSError:
            if pause is None:
                raise
        except UserError as error:
            if not isinstance(error.__context__, OSError):
                raise
            if pause is None:
                raise OSError(str(error)) from None
        time.sleep(pause)
    raise AssertionError


class _Warnings(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self._messages.append(record.getMessage())

    def taken(self) -> list[str]:
        taken, self._messages = self._messages, []
        return taken

"""Torch threads of encoders that run on the CPU."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

_lock = threading.Lock()
_inside = 0
_before = 1


@contextmanager
def one_thread() -> Iterator[None]:
    """One torch thread inside: callers can run in parallel, and no result depends on the cores.

    Torch keeps one number for new threads as well as one for each: who comes first notes it, and
    who leaves last puts it back.
    """
    global _inside, _before
    with _lock:
        if _inside == 0:
            _before = torch.get_num_threads()
        _inside += 1
        torch.set_num_threads(1)
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            torch.set_num_threads(_before if _inside == 0 else 1)


@contextmanager
def threads_kept() -> Iterator[None]:
    """As many torch threads afterwards as before: some packages set their number for everybody."""
    before = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(before)

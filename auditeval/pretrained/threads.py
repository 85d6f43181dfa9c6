"""One thread a model: clips run in parallel, and no result depends on how many cores there are."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_inside = 0
_before = 1
_limits: Any = None
_found: tuple[int, ThreadpoolController] | None = None


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread inside for torch and for the BLAS and OpenMP of numpy and scipy.

    Pools of several threads, one in each of several workers, wait for each other at full speed:
    beside other work that takes thrice as long. Torch keeps one number for new threads as well as
    one for each: who comes first notes it, and who leaves last puts it back.
    """
    global _inside, _before, _limits
    with _lock:
        if _inside == 0:
            _before = torch.get_num_threads()
            _limits = _pools().limit(limits=1)
        _inside += 1
        torch.set_num_threads(1)
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0 and _limits is not None:
                _limits.restore_original_limits()
            torch.set_num_threads(_before if _inside == 0 else 1)


def _pools() -> ThreadpoolController:
    """Of the libraries that are loaded. To look for them takes as long as to score a pair, and new
    ones come with new modules only."""
    from threadpoolctl import ThreadpoolController

    global _found
    if _found is None or _found[0] != len(sys.modules):
        _found = len(sys.modules), ThreadpoolController()
    return _found[1]


@contextmanager
def threads_kept() -> Iterator[None]:
    """As many torch threads afterwards as before: some packages set their number for everybody."""
    before = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(before)

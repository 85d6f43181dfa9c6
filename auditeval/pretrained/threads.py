"""One thread a model, and float32 in full: no result depends on how a machine computes."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Switches = list[tuple[Any, str, Any]]
"""Objects, names of attributes of theirs, and values."""

_lock = threading.Lock()
_default = threading.RLock()
_left_early = threading.local()
_inside = 0
_before = 1
_limits: Any = None
_precisions: Switches = []
_found: tuple[int, ThreadpoolController] | None = None


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread inside for torch and for the BLAS and OpenMP of numpy and scipy.

    And products of float32 in full: newer GPUs cut their factors to 10 bits (TF32), in convolutions
    unless told otherwise, and autocast to 7 (where an evaluator is asked in the training of
    something else). What is not placed is on the CPU, whatever default device was set.

    Pools of several threads, one in each of several workers, wait for each other at full speed:
    beside other work that takes thrice as long. Torch keeps one number for new threads as well as
    one for each: who comes first notes it, and who leaves last puts it back.
    """
    global _inside, _before, _limits, _precisions
    with _lock:
        if _inside == 0:
            # Of a thread that left before others its own number is still the 1 from here.
            _before = getattr(_left_early, "before", None) or torch.get_num_threads()
            _free_openblas()
            _limits = _pools().limit(limits=1)
        if not _precisions and torch.cuda.is_initialized():  # maybe since the first came in
            _precisions = _set(_switches())
        _inside += 1
        torch.set_num_threads(1)
    try:
        with _of_this_thread():
            yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0 and _limits is not None:
                _free_openblas()
                _limits.restore_original_limits()
                _free_openblas()
                _set(_precisions)
                _precisions = []
            torch.set_num_threads(_before if _inside == 0 else 1)
            _left_early.before = _before if _inside else None


def _of_this_thread() -> ExitStack:
    """No autocast and no default device inside, where the program around has set them."""
    stack = ExitStack()
    for kind in ("cpu", "cuda", "mps"):
        if torch.is_autocast_enabled(kind):
            stack.enter_context(torch.autocast(kind, enabled=False))
    if torch.get_default_device().type != "cpu":
        stack.enter_context(torch.device("cpu"))
    return stack


@contextmanager
def made_apart() -> Iterator[None]:
    """Modules made inside are of float32, whatever default of torch the program around has set, and
    what they draw to begin with is no draw from its random numbers.

    Both are one for all threads, so one is inside at a time.
    """
    with _default, torch.random.fork_rng(devices=[]):
        before = torch.get_default_dtype()
        torch.set_default_dtype(torch.float32)
        try:
            yield
        finally:
            torch.set_default_dtype(before)


def _switches() -> Switches:
    """What says whether products of float32 are cut, at what cuts nothing."""
    convolutions, matrices = torch.backends.cudnn, torch.backends.cuda.matmul
    if hasattr(convolutions, "conv"):  # since torch 2.9, which refuses to read a mixture of both
        return [
            (of, "fp32_precision", "ieee") for of in (convolutions.conv, convolutions.rnn, matrices)
        ]
    return [(of, "allow_tf32", False) for of in (convolutions, matrices)]


def _set(switches: Switches) -> Switches:
    """Set them; what they were."""
    before = [(of, name, getattr(of, name)) for of, name, _ in switches]
    for of, name, value in switches:
        setattr(of, name, value)
    return before


def _pools() -> ThreadpoolController:
    """Of the libraries that are loaded. To look for them takes as long as to score a pair, and new
    ones come with new modules only."""
    from threadpoolctl import ThreadpoolController

    global _found
    if _found is None or _found[0] != len(sys.modules):
        _found = len(sys.modules), ThreadpoolController()
    return _found[1]


def _free_openblas() -> None:
    """Let any thread say how many OpenBLAS has, one number for all of them.

    threadpoolctl 3.8 lets the first that ever did, for as long as it lives, and does nothing for
    others: where that was the main thread, what a server scored took all cores.
    """
    import threadpoolctl

    of_openblas = getattr(threadpoolctl, "OpenBLASController", None)
    if (free := getattr(of_openblas, "clear_controlling_thread", None)) is not None:
        free(force=True)


@contextmanager
def threads_kept() -> Iterator[None]:
    """As many torch threads afterwards as before: some packages set their number for everybody."""
    before = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(before)

"""ONNX graphs that packages carry, run by onnxruntime on the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnxruntime import InferenceSession


def session(model: str | bytes) -> InferenceSession:
    """A graph, from its path or its bytes, that runs in the thread that calls it.

    One thread makes no pool, so that none spins: clips run in parallel. A result depends on the
    kind of processor by rounding, and on how many cores there are not at all.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

"""Sessions of onnxruntime run in the thread that calls them."""

from __future__ import annotations

import os

import numpy as np
import onnxruntime
import psutil
import pytest
from onnx import TensorProto, helper

from auditeval.pretrained.onnx import session


@pytest.fixture(scope="module")
def product() -> bytes:
    """A matrix times itself, large enough for several threads."""
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [512, 512]) for n in "xy"]
    node = helper.make_node("MatMul", ["x", "x"], ["y"])
    graph = helper.make_graph([node], "product", values[:1], values[1:])
    opsets = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


@pytest.mark.skipif(os.cpu_count() == 1, reason="onnxruntime starts no threads on one core")
def test_no_thread_is_started(product: bytes) -> None:
    x = np.eye(512, dtype=np.float32)
    before = psutil.Process().num_threads()
    made = session(product)
    assert np.array_equal(made.run(None, {"x": x})[0], x)
    assert psutil.Process().num_threads() == before
    usual = onnxruntime.InferenceSession(product, providers=["CPUExecutionProvider"])
    usual.run(None, {"x": x})
    assert psutil.Process().num_threads() > before  # what it does where nobody says otherwise

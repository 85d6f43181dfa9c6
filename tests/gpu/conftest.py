"""The CPU against a GPU: `pytest tests/gpu`, on a machine that has one; elsewhere, or beside
other tests, all is skipped.

`pytest tests/gpu --gpu-device cpu` compares the CPU with itself instead: nothing is learned about
GPUs, but that the tests run.
"""

from __future__ import annotations

import pytest
import torch


@pytest.fixture(scope="session", autouse=True)
def device(request: pytest.FixtureRequest) -> str:
    """A torch device to compare with the CPU."""
    name = request.config.getoption("--gpu-device")
    if torch.device(name).type == "cuda" and not torch.cuda.is_available():
        pytest.skip("no GPU that torch can use, or other tests beside; see tests/gpu/conftest.py")
    return name

"""The number of torch threads that a caller set is there again afterwards, for new threads too."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import torch

from auditeval.pretrained.threads import one_thread


def hold(seconds: float) -> int:
    with one_thread():
        time.sleep(seconds)
        return torch.get_num_threads()


def test_overlapping_workers_put_the_number_back() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    try:
        with ThreadPoolExecutor(3) as pool:
            assert list(pool.map(hold, [0.01 * (i % 4) for i in range(30)])) == [1] * 30
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(torch.get_num_threads).result() == 4
        assert torch.get_num_threads() == 4
    finally:
        torch.set_num_threads(before)

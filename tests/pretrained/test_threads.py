"""The number of torch threads that a caller set is there again afterwards, for new threads too."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType

import pytest
import threadpoolctl
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


def test_who_left_early_and_comes_first_puts_the_number_back() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    try:
        with ThreadPoolExecutor(1) as early, ThreadPoolExecutor(1) as late:
            first, second, again = one_thread(), one_thread(), one_thread()
            early.submit(first.__enter__).result()
            late.submit(second.__enter__).result()
            early.submit(first.__exit__, None, None, None).result()
            late.submit(second.__exit__, None, None, None).result()
            early.submit(again.__enter__).result()
            early.submit(again.__exit__, None, None, None).result()
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(torch.get_num_threads).result() == 4
    finally:
        torch.set_num_threads(before)


def test_every_pool_has_one_thread_and_then_as_many_as_before() -> None:
    def threads() -> list[int]:
        return [pool["num_threads"] for pool in threadpoolctl.threadpool_info()]

    with threadpoolctl.threadpool_limits(2):
        before = threads()
        for _ in range(2):
            with one_thread():
                assert set(threads()) == {1}
            assert threads() == before
            assert 2 in before


def test_every_pool_has_one_thread_whoever_asks() -> None:
    """Of a thread beside one that asked before, asks now, or ends after it."""

    def of_blas() -> list[int]:
        pools = threadpoolctl.threadpool_info()
        return [pool["num_threads"] for pool in pools if pool["user_api"] == "blas"]

    def inside() -> list[int]:
        with one_thread():
            return of_blas()

    with threadpoolctl.threadpool_limits(2):
        before = of_blas()
        assert set(before) == {2}
        assert set(inside()) == {1}
        with ThreadPoolExecutor(1) as other:
            assert set(other.submit(inside).result()) == {1}
            assert of_blas() == before
            late = one_thread()
            with one_thread():
                other.submit(late.__enter__).result()
            assert set(of_blas()) == {1}
            other.submit(late.__exit__, None, None, None).result()
            assert of_blas() == before


def test_libraries_are_looked_for_again_once_modules_have_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked = []

    class Counted(threadpoolctl.ThreadpoolController):
        def __init__(self) -> None:
            looked.append(len(sys.modules))
            super().__init__()

    monkeypatch.setattr(threadpoolctl, "ThreadpoolController", Counted)
    for name in ("first", "second"):
        monkeypatch.setitem(sys.modules, f"a_module_that_comes_{name}", ModuleType(name))
        for _ in range(3):
            with one_thread():
                pass
    assert looked == [looked[0], looked[0] + 1]


def test_products_on_a_gpu_are_in_full_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    def cut() -> list[str]:
        convolutions = torch.backends.cudnn
        parts = (convolutions.conv, convolutions.rnn, torch.backends.cuda.matmul)
        return [part.fp32_precision for part in parts]

    if not hasattr(torch.backends.cudnn, "conv"):
        pytest.skip("this torch has no switch for each of them")
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        assert cut() == ["tf32"] * 3
        with one_thread():
            assert cut() == ["tf32"] * 3  # no GPU is in use, yet
            monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
            with one_thread():
                assert cut() == ["ieee"] * 3
            assert cut() == ["ieee"] * 3
        assert cut() == ["tf32"] * 3
        with one_thread():
            assert cut() == ["ieee"] * 3
        assert cut() == ["tf32"] * 3
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision(before)


def test_neither_autocast_nor_a_default_device_of_the_program_around_is_there_inside() -> None:
    def made() -> tuple[torch.dtype, str]:
        product = torch.ones(2, 2) @ torch.ones(2, 2)
        return product.dtype, product.device.type

    with torch.device("meta"):
        with one_thread():
            assert made() == (torch.float32, "cpu")
        assert made()[1] == "meta"
    with torch.autocast("cpu", dtype=torch.bfloat16):
        with one_thread():
            assert made() == (torch.float32, "cpu")
        assert made() == (torch.bfloat16, "cpu")

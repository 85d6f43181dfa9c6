"""Frechet distance against scipy's matrix root: time at n=50, d=2048; peak memory of long streams.

Run by hand: OMP_NUM_THREADS=1 python tests/performance/frechet_speed.py
"""

from __future__ import annotations

import time
import tracemalloc

import numpy as np
from scipy import linalg

from auditeval.metrics.frechet import Gaussian, frechet_distance


def by_matrix_root(a: np.ndarray, b: np.ndarray) -> float:
    """The form of most tools."""
    covariances = np.cov(a.T), np.cov(b.T)
    root = linalg.sqrtm(covariances[0] @ covariances[1])
    traces = np.trace(covariances[0]) + np.trace(covariances[1]) - 2 * np.trace(root).real
    return float(np.square(a.mean(axis=0) - b.mean(axis=0)).sum() + traces)


def streamed(a: np.ndarray, b: np.ndarray) -> float:
    sides = Gaussian(), Gaussian()
    for side, rows in zip(sides, (a, b), strict=True):
        side.update(rows)
    found = frechet_distance(*sides)
    assert isinstance(found, float)
    return found


def speed(count: int, dim: int) -> None:
    a, b = np.random.default_rng(0).normal(size=(2, count, dim))
    b = b + 0.1
    seconds, values = [], []
    for function, times in ((streamed, 5), (by_matrix_root, 1)):
        streamed(a[:4], b[:4])  # what is loaded on first use
        taken = []
        for _ in range(times):
            start = time.perf_counter()
            value = function(a, b)
            taken.append(time.perf_counter() - start)
        seconds.append(min(taken))
        values.append(value)
    print(
        f"n={count} d={dim}: {seconds[0]:.4f} s against {seconds[1]:.2f} s, "
        f"{seconds[1] / seconds[0]:.0f} times as fast; values {values[0]:.6f} and {values[1]:.6f}"
    )


def memory(count: int, dim: int) -> None:
    rng = np.random.default_rng(0)
    tracemalloc.start()
    start = time.perf_counter()
    sides = Gaussian(), Gaussian()
    for _ in range(count // 100):
        for side in sides:
            side.update(rng.normal(size=(100, dim)))
    value = frechet_distance(*sides)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    taken = time.perf_counter() - start
    print(f"{count:>9} x {dim} on each side: peak {peak:.2f} MiB, {taken:.1f} s, value {value:.6f}")


if __name__ == "__main__":
    speed(50, 512)
    speed(50, 2048)
    speed(500, 2048)
    for count in (100_000, 1_000_000):
        memory(count, 128)

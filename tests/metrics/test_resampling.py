"""Statistics of all draws at once are those of each draw by itself."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from auditeval.metrics import resampling
from auditeval.metrics.agreement import STATISTICS, computed
from auditeval.metrics.resampling import on_draws
from auditeval.types import Undefined


@pytest.mark.parametrize("decimals", [8, 0])  # without ties, and with many
@pytest.mark.parametrize("sizes", [(1,) * 12, (40, 1, 7, 12), (3, 3)])
def test_they_are_those_of_the_rows_of_a_draw(
    sizes: tuple[int, ...], decimals: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resampling, "_CELLS", 100)  # in many pieces
    rng = np.random.default_rng(len(sizes) + decimals)
    x = rng.normal(3, 1, sum(sizes)).round(decimals)
    y = (x + rng.normal(0, 1, sum(sizes))).round(decimals)
    places = rng.permutation(sum(sizes))
    clusters = np.split(places, np.cumsum(sizes)[:-1])
    picks = rng.integers(len(sizes), size=(60, len(sizes)))
    draws = np.array([np.bincount(pick, minlength=len(sizes)) for pick in picks])
    found = on_draws(x, y, clusters, draws)
    for name in STATISTICS:
        for pick, value in zip(picks, found[name], strict=True):
            rows = np.concatenate([clusters[number] for number in pick])
            expected = computed(name, x[rows], y[rows])
            if isinstance(expected, Undefined):
                assert np.isnan(value)
            else:
                assert value == pytest.approx(expected, abs=1e-12)


def test_a_draw_of_equal_values_has_no_correlation() -> None:
    x, y = np.array([0.1, 0.3 - 0.2, 0.1, 2.0]), np.arange(4.0)
    found = on_draws(
        x, y, [np.arange(3), np.array([3])], np.array([[1, 0], [0, 2], [0, 3], [1, 1]])
    )
    for name in ("LCC", "SRCC", "KTAU"):
        assert np.isnan(found[name]).tolist() == [True, True, True, False]
    assert not np.isnan(found["MSE"]).any()


def test_no_draw_costs_nothing() -> None:
    x = np.arange(1_000_000.0)
    found = on_draws(x, x, [np.arange(len(x))], np.empty((0, 1), int))
    assert {name: values.size for name, values in found.items()} == dict.fromkeys(STATISTICS, 0)


def test_memory_does_not_grow_with_items_times_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "_CELLS", 100_000)
    x = np.random.default_rng(0).normal(size=3000)
    clusters = np.split(np.arange(3000), 1500)
    tracemalloc.start()
    try:
        on_draws(x, x[::-1], clusters, np.ones((5, 1500), int))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * 3000 * 1500 / 3, peak

"""Frechet distance: closed forms, scipy's matrix root, streaming, what rounding must not do."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest
from scipy import linalg

from auditeval.metrics.frechet import Gaussian, frechet_distance
from auditeval.types import Undefined


def rows(seed: int, count: int, dim: int, mean: float = 0.0, scale: float = 1.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return scale * (mean + rng.normal(size=(count, dim)) @ rng.normal(size=(dim, dim)) / dim**0.5)


def gaussian(*parts: np.ndarray) -> Gaussian:
    made = Gaussian()
    for part in parts:
        made.update(part)
    return made


def distance(a: np.ndarray, b: np.ndarray) -> float:
    found = frechet_distance(gaussian(a), gaussian(b))
    assert isinstance(found, float)
    return found


def by_matrix_root(a: np.ndarray, b: np.ndarray) -> float:
    """The definition, as most tools compute it."""
    means, covariances = zip(*((x.mean(axis=0), np.cov(x.T)) for x in (a, b)), strict=True)
    root = linalg.sqrtm(covariances[0] @ covariances[1])
    traces = sum(np.trace(covariance) for covariance in covariances)
    return float(np.square(means[0] - means[1]).sum() + traces - 2 * np.trace(root).real)


def test_of_given_moments_it_is_exact() -> None:
    a = Gaussian.of_moments(np.zeros(16), np.eye(16))
    b = Gaussian.of_moments(np.ones(16), 4 * np.eye(16))
    assert frechet_distance(a, b) == frechet_distance(b, a) == 32


def test_diagonal_gaussians_have_a_closed_form() -> None:
    rng = np.random.default_rng(0)
    (m1, m2), (s1, s2) = rng.normal(size=(2, 30)), rng.uniform(0, 2, (2, 30))
    s1[:5] = 0  # directions in which one of them does not vary
    found = frechet_distance(
        Gaussian.of_moments(m1, np.diag(s1**2)), Gaussian.of_moments(m2, np.diag(s2**2))
    )
    expected = np.square(m1 - m2).sum() + np.square(s1 - s2).sum()
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("count_a", "count_b"), [(400, 300), (400, 20), (15, 300), (19, 20)])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_it_is_the_form_with_a_matrix_root(count_a: int, count_b: int, scale: float) -> None:
    """Rows on both sides, moments on both, and one of each."""
    a, b = rows(1, count_a, 20, scale=scale), rows(2, count_b, 20, mean=0.3, scale=scale)
    # Singular covariances are what the matrix root is bad at.
    digits = 1e-9 if min(count_a, count_b) > 20 else 1e-5
    assert distance(a, b) == pytest.approx(by_matrix_root(a, b), rel=digits)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("count", [2, 20, 64, 65, 1000])
@pytest.mark.parametrize("rank", [3, 64])
def test_identical_sets_are_at_no_distance(count: int, rank: int, scale: float) -> None:
    a = rows(3, count, 64, mean=5, scale=scale)
    a[:, rank:] = a[:, :1]  # of low rank, as embeddings behind a ReLU are
    size = np.square(a).sum(axis=1).mean()
    assert 0 <= distance(a, a) < 1e-9 * size
    parts = frechet_distance(gaussian(*np.array_split(a, 7)), gaussian(*np.array_split(a[::-1], 3)))
    assert 0 <= parts < 1e-9 * size  # type: ignore[operator]


def test_it_is_never_negative() -> None:
    for seed in range(50):
        a = rows(seed, 30, 40)
        assert distance(a, a + 1e-9 * rows(seed + 1, 30, 40)) >= 0


@pytest.mark.parametrize("count", [5, 16, 17, 500])
@pytest.mark.parametrize("parts", [1, 2, 7, 500])
def test_parts_and_merging_change_rounding_only(count: int, parts: int) -> None:
    a = rows(4, count, 16, mean=1e4)  # far from 0: sums of squares would lose eight digits
    other = gaussian(rows(5, 100, 16, mean=1e4))
    whole = frechet_distance(gaussian(a), other)
    split = np.array_split(a, parts)
    assert frechet_distance(gaussian(*split), other) == pytest.approx(whole, rel=1e-9)
    merged = reduce(Gaussian.merge, map(gaussian, split))
    assert merged.count == count
    assert frechet_distance(merged, other) == pytest.approx(whole, rel=1e-9)
    mean, root = merged.root()
    np.testing.assert_allclose(mean, a.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(root.T @ root, np.cov(a.T), rtol=1e-7, atol=1e-9)


def test_merging_changes_neither_side() -> None:
    a, b = gaussian(rows(6, 30, 4)), gaussian(rows(7, 3, 4))
    before = frechet_distance(a, b)
    a.merge(b)
    b.merge(a)
    assert frechet_distance(a, b) == before
    assert (a.count, b.count) == (30, 3)


def test_what_was_given_may_be_overwritten() -> None:
    buffer = rows(8, 3, 8)
    made, kept = gaussian(buffer), gaussian(buffer.copy())
    buffer[:] = 0
    assert frechet_distance(made, kept) < 1e-12  # type: ignore[operator]


def test_memory_ends_at_the_dimension() -> None:
    made = gaussian(*rows(9, 1000, 8)[:, None])
    assert sum(map(len, made._rows)) <= 8
    assert made.count == 1000


def test_bias_falls_with_the_number_of_rows() -> None:
    found = [
        distance(*np.random.default_rng(0).normal(size=(2, n, 64))) for n in (50, 100, 500, 2000)
    ]
    assert found == sorted(found, reverse=True)
    assert found[0] > 10 * found[-1]


def test_too_few_rows_are_undefined_and_misfits_are_errors() -> None:
    many = gaussian(rows(10, 9, 4))
    assert frechet_distance(gaussian(rows(0, 1, 4)), many) == Undefined(
        "1 row; a covariance needs 2"
    )
    assert frechet_distance(many, Gaussian()) == Undefined("0 rows; a covariance needs 2")
    with pytest.raises(ValueError, match="rows of 4 and of 5 numbers"):
        frechet_distance(many, gaussian(rows(0, 9, 5)))
    with pytest.raises(ValueError, match="rows of 4 and of 5 numbers"):
        many.merge(gaussian(rows(0, 9, 5)))
    with pytest.raises(ValueError, match=r"rows of \(9, 5\), expected \(N, 4\)"):
        many.update(rows(0, 9, 5))
    with pytest.raises(ValueError, match=r"rows of \(4,\), expected \(N, 4\)"):
        many.update(np.zeros(4))
    with pytest.raises(ValueError, match="finite"):
        many.update(np.full((2, 4), np.nan))

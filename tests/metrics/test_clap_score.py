"""CLAP scores: laws of the cosine, and scipy's own."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cosine

from auditeval.metrics.clap_score import clap_score


def rows(seed: int, count: int = 20, size: int = 8) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, size)).astype(np.float32)


def test_each_row_is_scipys_cosine_of_its_two() -> None:
    x, y = rows(0), rows(1)
    expected = [1 - cosine(a, b) for a, b in zip(x.astype(float), y.astype(float), strict=True)]
    assert clap_score(x, y) == pytest.approx(expected, abs=1e-12)
    assert clap_score(x, y).dtype == np.float64


def test_alike_is_one_opposite_minus_one_and_upright_zero() -> None:
    x = rows(2)
    assert clap_score(x, 3 * x) == pytest.approx(np.ones(20), abs=1e-12)
    assert clap_score(x, -0.1 * x) == pytest.approx(-np.ones(20), abs=1e-12)
    many = rows(8, count=500, size=512)
    assert clap_score(many, many).max() == 1
    assert clap_score(many, -many).min() == -1
    turned = np.stack([-x[:, 1], x[:, 0]], axis=1)
    assert clap_score(x[:, :2], turned) == pytest.approx(np.zeros(20), abs=1e-12)


def test_sides_lengths_and_rotations_change_nothing() -> None:
    x, y = rows(3), rows(4)
    expected = clap_score(x, y)
    lengths = np.random.default_rng(5).uniform(0.1, 9, (20, 1))
    rotation, _ = np.linalg.qr(np.random.default_rng(6).normal(size=(8, 8)))
    assert np.array_equal(clap_score(y, x), expected)
    assert clap_score(lengths * x, y) == pytest.approx(expected, abs=1e-12)
    assert clap_score(x @ rotation, y @ rotation) == pytest.approx(expected, abs=1e-12)
    order = np.random.default_rng(7).permutation(20)
    assert np.array_equal(clap_score(x[order], y[order]), expected[order])


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (rows(0), rows(1, size=9)),
        (rows(0), rows(1, count=19)),
        (rows(0), rows(1)[:1]),  # numpy would repeat it
        (rows(0)[0], rows(1)[0]),
    ],
)
def test_rows_of_different_spaces_are_refused(x: np.ndarray, y: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"are not rows of one space$"):
        clap_score(x, y)


def test_an_embedding_without_direction_is_named() -> None:
    x = rows(0)
    x[13] = 0
    for pair in ((x, rows(1)), (rows(1), x)):
        with pytest.raises(ValueError, match=r"^embedding 13 is zero"):
            clap_score(*pair)


def test_an_embedding_that_is_no_number_is_refused() -> None:
    x = rows(0)
    x[4, 2] = np.nan
    with pytest.raises(ValueError, match="embedding 4"):
        clap_score(x, rows(1))


def test_no_rows_have_no_scores() -> None:
    assert clap_score(np.zeros((0, 4)), np.zeros((0, 4))).shape == (0,)

"""Frechet distance of two sets of embeddings, from statistics that stream in constant memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from auditeval.text import counted
from auditeval.types import Undefined


class _Moments(NamedTuple):
    """`scatter` is the sum over `size` rows of the outer products of each less the mean."""

    size: int
    mean: np.ndarray
    scatter: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray) -> _Moments:
        mean = rows.mean(axis=0)
        centred = rows - mean
        return cls(len(rows), mean, centred.T @ centred)

    def merge(self, other: _Moments) -> _Moments:
        """Of both sets of rows (Chan et al. 1983): no difference of large sums."""
        size = self.size + other.size
        shift = other.mean - self.mean
        return _Moments(
            size,
            self.mean + shift * (other.size / size),
            self.scatter + other.scatter + np.outer(shift, shift) * (self.size * other.size / size),
        )


class Gaussian:
    """Count, mean and covariance of rows (N, D) that come in parts, in float64.

    Up to D rows are kept as they are, which is exact and cheap; beyond that the scatter matrix
    stands for them, so memory ends at some D x D numbers. How the rows were parted changes results
    by rounding only.
    """

    def __init__(self) -> None:
        self._rows: list[np.ndarray] = []
        self._moments: _Moments | None = None

    @classmethod
    def of_moments(cls, mean: np.ndarray, covariance: np.ndarray, count: int = 2) -> Gaussian:
        """From a mean (D,) and a covariance (D, D), as of `count` rows."""
        made = cls()
        covariance = np.asarray(covariance, np.float64)
        made._moments = _Moments(count, np.asarray(mean, np.float64), covariance * (count - 1))
        return made

    def update(self, rows: np.ndarray) -> None:
        """Take in (N, D); raises ValueError for another D and for what is not finite."""
        rows = np.array(rows, np.float64)
        if rows.ndim != 2 or self.dim not in (None, rows.shape[1]):
            raise ValueError(f"rows of {rows.shape}, expected (N, {self.dim or 'D'})")
        if not np.isfinite(rows).all():
            raise ValueError("rows must be finite")
        if len(rows):
            self._rows.append(rows)
            self._fold()

    def merge(self, other: Gaussian) -> Gaussian:
        """The statistics of both sets of rows; neither is changed."""
        if None not in (self.dim, other.dim) and self.dim != other.dim:
            raise ValueError(f"rows of {self.dim} and of {other.dim} numbers")
        made = Gaussian()
        made._rows = self._rows + other._rows
        if self._moments is None or other._moments is None:
            made._moments = self._moments or other._moments
        else:
            made._moments = self._moments.merge(other._moments)
        made._fold()
        return made

    @property
    def dim(self) -> int | None:
        """Numbers in a row, None before the first one."""
        if self._moments is not None:
            return len(self._moments.mean)
        return self._rows[0].shape[1] if self._rows else None

    @property
    def count(self) -> int:
        """Rows so far."""
        return sum(map(len, self._rows)) + (self._moments.size if self._moments else 0)

    def root(self) -> tuple[np.ndarray, np.ndarray]:
        """The mean (D,), and A (K, D) such that A^T A is the covariance; needs two rows."""
        if self._moments is None:
            rows = np.concatenate(self._rows)
            mean = rows.mean(axis=0)
            return mean, (rows - mean) / np.sqrt(len(rows) - 1)
        moments = self._moments
        if self._rows:
            moments = moments.merge(_Moments.of(np.concatenate(self._rows)))
        values, vectors = linalg.eigh(moments.scatter / (moments.size - 1), driver="evd")
        there = values > 0
        return moments.mean, np.sqrt(values[there])[:, None] * vectors[:, there].T

    def _fold(self) -> None:
        """More than D rows into the moments."""
        if self.dim is not None and sum(map(len, self._rows)) > self.dim:
            moments = _Moments.of(np.concatenate(self._rows))
            self._moments = self._moments.merge(moments) if self._moments else moments
            self._rows = []


def frechet_distance(a: Gaussian, b: Gaussian) -> float | Undefined:
    """Squared Frechet distance of two Gaussians, 0 or more; lower is more alike.

    |m1 - m2|^2 + tr S1 + tr S2 - 2 tr sqrt(S1 S2). With S1 = A^T A and S2 = B^T B the last trace is
    the sum of the singular values of A B^T: no root of a product of matrices, which loses half of
    the digits where one of them is singular. Undefined for fewer than two rows on a side, and
    biased upwards the more the fewer there are. Raises ValueError where the dimensions differ.

    >>> frechet_distance(
    ...     Gaussian.of_moments(np.zeros(16), np.eye(16)),
    ...     Gaussian.of_moments(np.ones(16), 4 * np.eye(16)),
    ... )
    32.0
    """
    if None not in (a.dim, b.dim) and a.dim != b.dim:
        raise ValueError(f"rows of {a.dim} and of {b.dim} numbers")
    if (fewest := min(a.count, b.count)) < 2:
        return Undefined(f"{counted(fewest, 'row', 'rows')}; a covariance needs 2")
    (mean_a, root_a), (mean_b, root_b) = a.root(), b.root()
    shared = linalg.svdvals(root_a @ root_b.T).sum() if len(root_a) and len(root_b) else 0.0
    spread = np.square(root_a).sum() + np.square(root_b).sum()
    # Below 0 it is rounding: the trace is never more than half of the spread.
    return max(float(np.square(mean_a - mean_b).sum() + spread - 2 * shared), 0.0)

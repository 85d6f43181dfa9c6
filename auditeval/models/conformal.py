"""Conformal prediction: how far from a score a rating may lie, by how far others lay."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def conformal_quantile(residuals: Tensor, groups: Tensor, level: float) -> float:
    """The smallest residual that level (k + 1) of k groups lie below :: (n,), (n,) numbers.

    Each group counts the same, in part where a part of it lies there; infinite if there is none. A
    residual of a further group, exchangeable with these, does not exceed it with probability
    `level` at least, though those within a group be alike (hierarchical conformal prediction: Lee,
    Barber & Willett, arXiv 2306.06342). Were each residual a group, it would be the
    ceil((n + 1) level)-th smallest.

    >>> conformal_quantile(torch.arange(1.0, 11.0), torch.arange(10), 0.8)
    9.0
    >>> conformal_quantile(torch.tensor([1.0, 2.0, 3.0, 9.0]), torch.tensor([0, 1, 2, 2]), 0.6)
    3.0
    """
    _, numbers, sizes = groups.unique(return_inverse=True, return_counts=True)
    order = residuals.argsort()
    below = (1 / sizes.double())[numbers[order]].cumsum(dim=0)
    place = int(torch.searchsorted(below, level * (len(sizes) + 1) - 1e-9))
    return float(residuals[order[place]]) if place < len(residuals) else math.inf


def widest_quantile(residuals: Tensor, groups: Tensor, kinds: Tensor, level: float) -> float:
    """The greatest `conformal_quantile` of all and of each of their `kinds` :: (n,) numbers.

    So that what is easy makes nothing else look surer than it is. A kind with too few groups counts
    with all alone.

    >>> x, kinds = torch.arange(1.0, 41.0), torch.arange(40) // 20
    >>> [widest_quantile(x, torch.arange(40), one, 0.9) for one in (kinds, 0 * kinds)]
    [39.0, 37.0]
    """

    def of(rows: Tensor) -> float:
        return conformal_quantile(residuals[rows], groups[rows], level)

    each = (of(kinds == kind) for kind in kinds.unique())
    everything = torch.ones_like(kinds, dtype=torch.bool)
    return max(of(everything), *(x for x in each if math.isfinite(x)), -math.inf)

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

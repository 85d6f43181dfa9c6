"""Features on one scale, whatever their units."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Standardise(nn.Module):
    """(x - mean) / spread, per dimension, with statistics of the training part kept as buffers.

    What hardly varied in training must not swamp the rest the first time it does: spreads under
    FLOOR count as FLOOR, results are clipped at +-LIMIT, and a dimension that never varied is 0.
    """

    FLOOR, NEVER, LIMIT = 0.02, 1e-4, 5.0
    mean: Tensor
    spread: Tensor

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(dim))
        self.register_buffer("spread", torch.ones(dim))

    def fit(self, x: Tensor) -> None:
        """Take the statistics of (N, dim)."""
        if not x.shape[1]:  # an encoder without words, or without frames
            return
        spread = x.std(dim=0, correction=0)
        self.mean.copy_(x.mean(dim=0))
        self.spread.copy_(spread.clamp_min(self.FLOOR).masked_fill(spread < self.NEVER, torch.inf))

    def forward(self, x: Tensor) -> Tensor:
        return ((x - self.mean) / self.spread).clamp(-self.LIMIT, self.LIMIT)

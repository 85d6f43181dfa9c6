"""The head that all evaluators end in."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional


class Linear(nn.Linear):
    """A linear layer that sums in float64 when it does not learn :: (B, in) -> (B, out), as `x` is.

    In float32 the products of one row are added in another order than those of many, and in one
    that depends on the processor: a score would not be the same beside other pairs.
    """

    def forward(self, x: Tensor) -> Tensor:
        learns = self.training and self.weight.requires_grad
        if learns or x.device.type == "mps":  # which knows no float64
            return super().forward(x)
        bias = None if self.bias is None else self.bias.double()
        return functional.linear(x.double(), self.weight.double(), bias).to(x.dtype)


class UniformDropout(nn.Module):
    """Dropout of `rate` inputs by uniform numbers: torch's takes a processor thrice as long.

    For inputs by the thousand; behind a layer of an `mlp` torch's costs little.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or not self.rate:
            return x
        return x * (torch.rand_like(x) >= self.rate) / (1 - self.rate)


def mlp(inputs: int, hidden: Sequence[int], dropout: float) -> nn.Sequential:
    """Linear layers with ReLU between :: (B, inputs) -> (B, 1).

    Dropout stands behind the first layer; a purely linear head (`hidden` empty) drops inputs.
    """
    layers: list[nn.Module] = [] if hidden else [nn.Dropout(dropout)]
    for index, size in enumerate(hidden):
        layers += [Linear(inputs, size), nn.ReLU()]
        if index == 0:
            layers.append(nn.Dropout(dropout))
        inputs = size
    return nn.Sequential(*layers, Linear(inputs, 1))

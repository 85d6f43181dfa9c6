"""The head that all evaluators end in."""

from __future__ import annotations

from collections.abc import Sequence

from torch import nn


def mlp(inputs: int, hidden: Sequence[int], dropout: float) -> nn.Sequential:
    """Linear layers with ReLU between :: (B, inputs) -> (B, 1).

    Dropout stands behind the first layer; a purely linear head (`hidden` empty) drops inputs.
    """
    layers: list[nn.Module] = [] if hidden else [nn.Dropout(dropout)]
    for index, size in enumerate(hidden):
        layers += [nn.Linear(inputs, size), nn.ReLU()]
        if index == 0:
            layers.append(nn.Dropout(dropout))
        inputs = size
    return nn.Sequential(*layers, nn.Linear(inputs, 1))

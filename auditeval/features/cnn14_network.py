"""CNN14 of PANNs (Kong et al. 2020): the trunk under Microsoft CLAP 2022's audio tower.

Parameter names are those of the published checkpoints.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

WIDTHS = (64, 128, 256, 512, 1024, 2048)


class Cnn14(nn.Module):
    """Log-mel frames in dB to an embedding :: (B, 1, T, 64) -> (B, DIM), T >= 32."""

    DIM = 2048

    def __init__(self) -> None:
        super().__init__()
        self.bn0 = nn.BatchNorm2d(64)
        for index, (before, after) in enumerate(zip((1, *WIDTHS), WIDTHS, strict=False), start=1):
            setattr(self, f"conv_block{index}", _Block(before, after))
        self.fc1 = nn.Linear(WIDTHS[-1], self.DIM)

    def forward(self, mel: Tensor) -> Tensor:
        x = self.bn0(mel.transpose(1, 3)).transpose(1, 3)
        for index in range(1, len(WIDTHS) + 1):
            x = getattr(self, f"conv_block{index}")(x)
            if index < len(WIDTHS):
                x = functional.avg_pool2d(x, 2)
        x = x.mean(dim=3)
        return torch.relu(self.fc1(x.amax(dim=2) + x.mean(dim=2)))


class _Block(nn.Module):
    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, 3, padding=1, bias=False)
        self.conv2 = nn.Conv2d(after, after, 3, padding=1, bias=False)
        self.bn1, self.bn2 = nn.BatchNorm2d(after), nn.BatchNorm2d(after)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x))))))

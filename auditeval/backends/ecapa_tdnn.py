"""ECAPA-TDNN (Desplanques et al. 2020) on the hidden states of WavLM, as UniSpeech trained it.

Parameter names are those of its checkpoints.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from auditeval.pretrained.torch_files import read
from auditeval.pretrained.weights import digest, fill

CHANNELS, POOLED, EMBEDDING = 512, 1536, 256
_SCALE, _BOTTLENECK = 8, 128


def load_head(path: Path, config: Any) -> tuple[EcapaTdnn, str]:
    """The head for a WavLM of this configuration and its digest; raises UserError."""
    what = "the ECAPA-TDNN of UniSpeech's speaker_verification"
    state = read(path, f"expected is a checkpoint of {what}")
    head = EcapaTdnn(config.hidden_size, config.num_hidden_layers + 1)
    ours = {k: v for k, v in state.items() if not k.startswith(("feature_extract.", "loss"))}
    fill(path, head, ours, what)
    return head.eval().requires_grad_(False), digest(head)


class EcapaTdnn(nn.Module):
    """Hidden states of all layers to embeddings :: (L, B, T, D) -> (B, 256)."""

    def __init__(self, dim: int, layers: int) -> None:
        super().__init__()
        self.feature_weight = nn.Parameter(torch.zeros(layers))
        self.layer1 = _ConvReluNorm(dim, CHANNELS, kernel=5)
        self.layer2, self.layer3, self.layer4 = (_Block(dilation) for dilation in (2, 3, 4))
        self.conv = nn.Conv1d(3 * CHANNELS, POOLED, 1)
        self.pooling = _AttentiveStatistics()
        self.bn = nn.BatchNorm1d(2 * POOLED)
        self.linear = nn.Linear(2 * POOLED, EMBEDDING)

    def forward(self, states: Tensor) -> Tensor:
        weights = self.feature_weight.softmax(0)
        mixed = torch.einsum("l,lbtd->bdt", weights, states) + 1e-6
        x = self.layer1(functional.instance_norm(mixed))
        blocks = []
        for block in (self.layer2, self.layer3, self.layer4):
            x = block(x)
            blocks.append(x)
        return self.linear(self.bn(self.pooling(self.conv(torch.cat(blocks, 1)).relu())))


class _ConvReluNorm(nn.Module):
    def __init__(self, before: int, after: int, kernel: int = 1) -> None:
        super().__init__()
        self.conv = nn.Conv1d(before, after, kernel, padding=kernel // 2)
        self.bn = nn.BatchNorm1d(after)

    def forward(self, x: Tensor) -> Tensor:
        return self.bn(self.conv(x).relu())


class _Block(nn.Module):
    """SE-Res2Block."""

    def __init__(self, dilation: int) -> None:
        super().__init__()
        self.Conv1dReluBn1 = _ConvReluNorm(CHANNELS, CHANNELS)
        self.Res2Conv1dReluBn = _Res2(dilation)
        self.Conv1dReluBn2 = _ConvReluNorm(CHANNELS, CHANNELS)
        self.SE_Connect = _SqueezeExcitation()

    def forward(self, x: Tensor) -> Tensor:
        inner = self.Conv1dReluBn2(self.Res2Conv1dReluBn(self.Conv1dReluBn1(x)))
        return x + self.SE_Connect(inner)


class _Res2(nn.Module):
    """Groups of channels, each added to what became of the one before; the last stays."""

    def __init__(self, dilation: int) -> None:
        super().__init__()
        self.width = CHANNELS // _SCALE
        groups = range(_SCALE - 1)
        self.convs = nn.ModuleList(
            nn.Conv1d(self.width, self.width, 3, padding=dilation, dilation=dilation)
            for _ in groups
        )
        self.bns = nn.ModuleList(nn.BatchNorm1d(self.width) for _ in groups)

    def forward(self, x: Tensor) -> Tensor:
        *groups, last = x.split(self.width, 1)
        made: list[Tensor] = []
        for group, conv, norm in zip(groups, self.convs, self.bns, strict=True):
            made.append(norm(conv(made[-1] + group if made else group).relu()))
        return torch.cat([*made, last], 1)


class _SqueezeExcitation(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear1 = nn.Linear(CHANNELS, _BOTTLENECK)
        self.linear2 = nn.Linear(_BOTTLENECK, CHANNELS)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.linear2(self.linear1(x.mean(2)).relu()).sigmoid()[:, :, None]


class _AttentiveStatistics(nn.Module):
    """Mean and standard deviation over time, frames weighted by attention :: -> (B, 2 x 1536)."""

    def __init__(self) -> None:
        super().__init__()
        self.linear1 = nn.Conv1d(POOLED, _BOTTLENECK, 1)
        self.linear2 = nn.Conv1d(_BOTTLENECK, POOLED, 1)

    def forward(self, x: Tensor) -> Tensor:
        weights = self.linear2(self.linear1(x).tanh()).softmax(2)
        mean = (weights * x).sum(2)
        variance = (weights * x.square()).sum(2) - mean.square()
        return torch.cat([mean, variance.clamp(min=1e-9).sqrt()], 1)

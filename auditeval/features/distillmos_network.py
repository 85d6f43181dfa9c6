"""DistillMOS [Stahl and Gamper, arXiv:2502.05356] as a module: speech, unheard before, to a rating.

Names of its tensors are those of the package `distillmos` (MIT), whose weights it reads.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

import torch
from torch import Tensor, nn

from auditeval.pretrained.torch_files import read as read_tensors
from auditeval.pretrained.weights import digest, fill

WINDOW = 122880
"""Samples at 16 kHz that it takes: 7.68 s."""

_N_FFT, _HOP, _FRAMES = 320, 160, 768
_CHANNELS = (2, 64, 64, 128, 256, 256, 256)
_STEPS, _INPUTS, _SIZE, _HEADS, _LAYERS = 384, 1024, 200, 8, 7
# What torch prepares for a convolution it keeps for each length, some 3 MB: there are twelve.
_ROUND = 64  # frames
_REACH = 16  # frames; each of the six convolutions sees one more on either side
_SUPPORTED = "supported is distill_mos_v7.pt of the package distillmos"


class DistillMos(nn.Module):
    """Mono float32 :: (N,), 1 <= N <= WINDOW, at 16 kHz -> 1 to 5; level does not matter."""

    window: Tensor
    silence: Tensor

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        last = len(_CHANNELS) - 2
        for place in range(last + 1):
            stride = (2 if place else 1, 2 if place == last else 1)
            sizes = _CHANNELS[place], _CHANNELS[place + 1]
            layers += [nn.Conv2d(*sizes, 3, stride, padding=(0, 1)), nn.LeakyReLU(0.1)]
        self.cnn = nn.ModuleDict({"cnn": nn.Sequential(*layers)})
        self.transformer_pool_attn = _Head()
        self.register_buffer("window", torch.hann_window(_N_FFT), persistent=False)
        self.register_buffer("silence", torch.zeros(1, _INPUTS, _STEPS), persistent=False)

    def hear_silence(self) -> None:
        """Note what the convolutions make of silence, which is what stands behind short clips."""
        self.silence.copy_(self._convolved(self.silence.new_zeros(WINDOW)))

    def forward(self, samples: Tensor) -> float:
        loud = samples / (samples.abs().max() + 1e-8)
        heard = -(-(len(loud) // _HOP + _REACH) // 2) * 2  # frames that the clip reaches into
        frames = -(-(heard + _REACH) // _ROUND) * _ROUND
        if frames < _FRAMES:
            padded = nn.functional.pad(loud, (0, frames * _HOP - len(loud)))
            steps = self._convolved(padded)[..., : heard // 2]
            steps = torch.cat([steps, self.silence[..., heard // 2 :]], dim=2)
        else:
            steps = self._convolved(nn.functional.pad(loud, (0, WINDOW - len(loud))))
        return 1 + 4 * float(self.transformer_pool_attn(steps.transpose(1, 2)))

    def _convolved(self, samples: Tensor) -> Tensor:
        """Spectra whose magnitudes are compressed, and the convolutions :: (1, _INPUTS, steps)."""
        edge = (_N_FFT - _HOP) // 2
        padded = nn.functional.pad(samples[None], (edge, edge), mode="reflect")
        spectra = torch.stft(
            padded, _N_FFT, _HOP, window=self.window, center=False, return_complex=True
        )
        size = torch.view_as_real(spectra).square().sum(dim=-1, keepdim=True).sqrt()
        size = size.clip(1e-12)
        compressed = size**0.3 * torch.view_as_real(spectra) / size
        layers = cast(nn.ModuleDict, self.cnn)["cnn"]
        return layers(compressed.permute(0, 3, 1, 2)).flatten(1, 2)


class _Head(nn.Module):
    """A transformer over time and attention pooling :: (1, T, _INPUTS) -> (1, 1), 0 to 1."""

    def __init__(self) -> None:
        super().__init__()
        self.norm_input = nn.BatchNorm1d(_INPUTS)
        self.transformer = _Transformer()
        self.norm_trans = nn.BatchNorm1d(_SIZE)
        self.pool = _Pool()

    def forward(self, x: Tensor) -> Tensor:
        x = self.transformer(_normed(self.norm_input, x))
        return torch.sigmoid(self.pool(_normed(self.norm_trans, x)))


class _Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(_INPUTS)
        self.position_encoding = _Positions()
        self.linear_proj = nn.Linear(_INPUTS, _SIZE)
        layer = nn.TransformerEncoderLayer(_SIZE, _HEADS, 2 * _SIZE, batch_first=True)
        self.transformer_encoder = nn.TransformerEncoder(layer, _LAYERS)

    def forward(self, x: Tensor) -> Tensor:
        x = self.linear_proj(_normed(self.norm, x))
        return self.transformer_encoder(x + self.position_encoding.pe)


class _Positions(nn.Module):
    pe: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("pe", torch.zeros(1, _STEPS, _SIZE))


class _Pool(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear1 = nn.Linear(_SIZE, 2 * _SIZE)
        self.linear2 = nn.Linear(2 * _SIZE, 1)
        self.linear3 = nn.Linear(_SIZE, 1)

    def forward(self, x: Tensor) -> Tensor:
        weights = self.linear2(torch.relu(self.linear1(x))).transpose(1, 2).softmax(dim=2)
        return self.linear3((weights @ x).squeeze(1))


def _normed(norm: nn.Module, x: Tensor) -> Tensor:
    return norm(x.transpose(1, 2)).transpose(1, 2)


def load(path: Path) -> tuple[DistillMos, str]:
    """The network with the weights of a file, and what these are known by; raises UserError."""
    network = DistillMos()
    fill(path, network, read_tensors(path, _SUPPORTED), "DistillMOS")
    network.eval().requires_grad_(False)
    with torch.inference_mode():
        network.hear_silence()
    return network, digest(network)

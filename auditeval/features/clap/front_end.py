"""The log-mel frames of a CLAP, computed on an accelerator.

`ClapFeatureExtractor` takes a window apart in a loop of Python, frame by frame: 50 ms for 10 s, in
which hardly another thread runs. That is little beside a pass on a processor; a GPU would wait.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from transformers import ClapFeatureExtractor

_LEAST_POWER = 1e-10


def log_mel(front_end: ClapFeatureExtractor, bank: Tensor, windows: Sequence[np.ndarray]) -> Tensor:
    """Windows no longer than the model's to what `front_end` makes of each with the filters `bank`
    :: (N,) each, (513, 64) -> float32 (B, 1, T, 64), fused (B, 4, T, 64), to 1e-4 dB, on the
    device of the filters."""
    device = bank.device
    # Memory that a GPU reads by itself, or the copy would wait for the pass before, and all for it.
    # Torch keeps it for the next pass: filled in place, a window takes a sixth of the time.
    at_hand = device.type == "cuda"
    filled = torch.empty(len(windows), front_end.nb_max_samples, pin_memory=at_hand)
    for row, window in zip(filled.numpy(), windows, strict=True):
        _fill(row, window, front_end.padding)
    size = front_end.fft_window_size
    spectrum = torch.stft(
        # In double precision, like the original: of a loud clip, its quiet bands are in the rest.
        filled.to(device, non_blocking=True).double(),
        size,
        front_end.hop_length,
        window=torch.hann_window(size, dtype=torch.float64, device=device),
        return_complex=True,
    )
    power = bank.double().T @ spectrum.abs().square()
    decibels = 10 * power.clamp(min=_LEAST_POWER).log10()
    channels = 4 if front_end.truncation == "fusion" else 1
    return decibels.float().transpose(1, 2)[:, None].expand(-1, channels, -1, -1)


def _fill(row: np.ndarray, window: np.ndarray, padding: str) -> None:
    """Write a window no longer than the row into it, as the original does: repeated whole and then
    zeros ("repeatpad"), repeated to the end ("repeat"), or zeros alone."""
    whole = len(row) // len(window) if padding in ("repeat", "repeatpad") else 1
    written = whole * len(window)
    row[:written].reshape(whole, -1)[:] = window
    rest = len(row) - written
    row[written:] = window[:rest] if padding == "repeat" else 0

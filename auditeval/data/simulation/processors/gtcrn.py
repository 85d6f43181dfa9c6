"""GTCRN, a small network against noise, as Xiaobin-Rong/gtcrn publishes it (ICASSP 2024)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.fft import irfft, rfft

from auditeval.data.simulation.processors.files import find
from auditeval.pretrained.onnx import session

FILES = ("gtcrn_simple.onnx",)

_BLOCK, _HOP = 512, 256
_STATES = {
    "conv_cache": (2, 1, 16, 16, 33),
    "tra_cache": (2, 3, 1, 1, 16),
    "inter_cache": (2, 1, 33, 16),
}


class Gtcrn:
    """A complex mask, frame by frame; no delay is left."""

    def __init__(self, folder: Path) -> None:
        (name,) = FILES
        self._network = session(str(find(folder, name)))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        window = np.sqrt(np.hanning(_BLOCK + 1)[:-1]).astype(np.float32)
        padded = np.pad(x, _BLOCK).astype(np.float32)
        frames = np.lib.stride_tricks.sliding_window_view(padded, _BLOCK)[::_HOP]
        spectra = rfft(frames * window, axis=1)
        states = {name: np.zeros(shape, np.float32) for name, shape in _STATES.items()}
        made = np.zeros(len(padded) + _BLOCK, np.float32)
        for place, spectrum in enumerate(spectra):
            mix = np.stack([spectrum.real, spectrum.imag], axis=-1)[None, :, None]
            enhanced, *kept = self._network.run(None, {"mix": mix.astype(np.float32), **states})
            states = dict(zip(_STATES, kept, strict=True))
            block = irfft(enhanced[0, :, 0, 0] + 1j * enhanced[0, :, 0, 1], _BLOCK)
            made[place * _HOP : place * _HOP + _BLOCK] += window * block
        return made[_BLOCK:][: len(x)]


def read(folder: Path) -> Gtcrn:
    """From a folder that holds FILES, or a checkout of Xiaobin-Rong/gtcrn."""
    return Gtcrn(folder)

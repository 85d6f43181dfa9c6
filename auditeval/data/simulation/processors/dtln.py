"""DTLN, a small network against noise [arXiv:2005.07551], as breizhn/DTLN publishes it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from auditeval.data.simulation.processors.files import find
from auditeval.pretrained.onnx import session

FILES = ("model_1.onnx", "model_2.onnx")

_BLOCK, _HOP, _STATE = 512, 128, (1, 2, 128, 2)


class Dtln:
    """A mask on magnitudes, then one on learnt features, block by block; no delay is left."""

    def __init__(self, folder: Path) -> None:
        self._first, self._second = (session(str(find(folder, name))) for name in FILES)
        self._names = [[i.name for i in s.get_inputs()] for s in (self._first, self._second)]

    def __call__(self, x: np.ndarray) -> np.ndarray:
        padded = np.pad(x, (_BLOCK - _HOP, _BLOCK)).astype(np.float32)
        blocks = np.lib.stride_tricks.sliding_window_view(padded, _BLOCK)[::_HOP]
        spectra = np.fft.rfft(blocks, axis=1)
        made = np.zeros(len(padded) + _BLOCK, np.float32)
        states = [np.zeros(_STATE, np.float32)] * 2
        for place, spectrum in enumerate(spectra):
            magnitude = np.abs(spectrum).astype(np.float32)[None, None]
            inputs = dict(zip(self._names[0], (magnitude, states[0]), strict=True))
            mask, states[0] = self._first.run(None, inputs)
            block = np.fft.irfft(spectrum * mask[0, 0]).astype(np.float32)[None, None]
            inputs = dict(zip(self._names[1], (block, states[1]), strict=True))
            block, states[1] = self._second.run(None, inputs)
            made[place * _HOP : place * _HOP + _BLOCK] += block[0, 0]
        return made[_BLOCK - _HOP :][: len(x)]


def read(folder: Path) -> Dtln:
    """From a folder that holds FILES, or a checkout of breizhn/DTLN."""
    return Dtln(folder)

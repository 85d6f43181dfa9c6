"""Processors for tests: the real ones that AUDITEVAL_PROCESSORS names, and stand-ins for the rest.

The variable names a folder with lyra/, DTLN/ and gtcrn/, checkouts or folders of their weights.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from auditeval.data.simulation.processors import Process, Processors

VARIABLE = "AUDITEVAL_PROCESSORS"
FOLDERS = {"lyra": "lyra", "dtln": "DTLN", "gtcrn": "gtcrn"}
PACKAGES = {
    "lyra": "ai_edge_litert",
    "dtln": "onnxruntime",
    "gtcrn": "onnxruntime",
    "world": "pyworld",
}


def missing(name: str) -> str:
    """Why the real one of that name is not at hand; nothing if it is."""
    if find_spec(PACKAGES[name]) is None:
        return f"{name}: the package {PACKAGES[name]} is not installed"
    if name in FOLDERS and not folder(name).is_dir():
        return f"{name}: {VARIABLE} names no folder that holds {FOLDERS[name]}/"
    return ""


def folder(name: str) -> Path:
    """Of the weights, where it is at hand."""
    return Path(os.environ.get(VARIABLE) or os.devnull) / FOLDERS[name]


def real(*names: str) -> Processors:
    """Those; skips the test where one is not at hand."""
    for name in names:
        if why := missing(name):
            pytest.skip(why)
    return Processors({name: folder(name) if name in FOLDERS else True for name in names})


def _coded(x: np.ndarray, kbits: float = np.inf) -> np.ndarray:
    """With noise at 2 dB below it for each kbit/s, and once more at 20 dB."""
    noise = np.random.default_rng(0).standard_normal((2, len(x))).astype(np.float32)
    gains = 10 ** (-np.array([2 * kbits, 20.0], np.float32) / 20)
    return x + x.std() * (gains @ noise)


def _bent(x: np.ndarray, *changes: float) -> np.ndarray:
    """What a curve that is not straight makes of it: of every frequency some more."""
    return 0.1 * np.tanh(x / 0.1)


STAND_INS: dict[str, Process] = {"lyra": _coded, "dtln": _bent, "gtcrn": _bent, "world": _bent}


class AtHand(Processors):
    """All of them: real where they are at hand, else a stand-in."""

    def __init__(self) -> None:
        there = [name for name in STAND_INS if not missing(name)]
        super().__init__({name: folder(name) if name in FOLDERS else True for name in there})
        self._processes = STAND_INS | self._processes

"""The mel filters and the window are those of the libraries that are too slow to import."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal
from transformers.audio_utils import mel_filter_bank

from auditeval.features.mel import hann, htk_filters


@pytest.mark.parametrize(
    ("n_fft", "bands", "low_hz", "high_hz", "rate_hz"),
    [(1024, 64, 50.0, 14000.0, 32000), (4096, 64, 50.0, 14000.0, 32000),
     (512, 64, 125.0, 7500.0, 16000), (2048, 40, 0.0, 8000.0, 22050)],
)  # fmt: skip
def test_filters_are_transformers(
    n_fft: int, bands: int, low_hz: float, high_hz: float, rate_hz: int
) -> None:
    expected = mel_filter_bank(n_fft // 2 + 1, bands, low_hz, high_hz, rate_hz, mel_scale="htk")
    assert np.array_equal(htk_filters(n_fft, bands, low_hz, high_hz, rate_hz), expected)


@pytest.mark.parametrize("length", [400, 1024, 4096])
def test_the_window_is_scipys(length: int) -> None:
    assert np.array_equal(hann(length), signal.get_window("hann", length).astype(np.float32))

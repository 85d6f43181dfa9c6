"""A TangoFlux without weights, of its own call signature."""

from __future__ import annotations

import time
from typing import Any

import torch

from auditeval.data.pseudo_parallel import text_to_audio


class FakePipeline:
    """Noise of torch's global generator, at TangoFlux's rate, as slow as a small model."""

    def generate(
        self, prompt: str, steps: int = 25, duration: float = 10, guidance_scale: float = 4.5
    ) -> torch.Tensor:
        time.sleep(0.02)
        return 0.3 * torch.randn(2, int(duration * 44100))


def put_in_place() -> None:
    """Of the package, for as long as this process lasts."""

    def load(model: str) -> Any:
        return FakePipeline()

    text_to_audio._load_tangoflux = load

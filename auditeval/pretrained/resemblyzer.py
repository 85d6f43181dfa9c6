"""Resemblyzer's d-vector (GE2E, Wan et al. 2018), which its package carries (Apache-2.0)."""

from __future__ import annotations

from importlib.metadata import version
from typing import cast

import numpy as np

from auditeval.pretrained.packages import imported, package_file

RATE_HZ = 16000
_CODE = "1"
"""Part of the revision: counts the changes here that change a number."""


def revision() -> str:
    """Of the embeddings, without the model being loaded. Raises UserError without the package."""
    package_file("resemblyzer", "pretrained.pt")
    return f"{_CODE}-{version('resemblyzer')}"


class VoiceEncoder:
    """One embedding of a clip, brought to -30 dBFS.

    The package does so with quieter clips only, but a gain makes no other voice (and the AUC is
    .996, not .994). Its pauses stay, since the package's trimming hardly helps. Raises UserError.
    """

    def __init__(self, device: str = "cpu") -> None:
        weights = package_file("resemblyzer", "pretrained.pt")
        package = imported("resemblyzer", "bench")
        # Loads its file with torch's default since 2.6, weights_only.
        self._model = package.VoiceEncoder(device, verbose=False, weights_fpath=weights)
        self.revision = revision()

    def embed(self, samples: np.ndarray) -> np.ndarray:
        """Mono float32 (N,) at 16 kHz, no digital silence, to (256,) of length 1."""
        from resemblyzer.audio import normalize_volume
        from resemblyzer.hparams import audio_norm_target_dBFS

        levelled = normalize_volume(samples, audio_norm_target_dBFS)
        return cast(np.ndarray, self._model.embed_utterance(levelled))

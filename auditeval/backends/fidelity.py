"""SQUIM: PESQ, STOI and SI-SDR of speech without a reference."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch

from auditeval import audio
from auditeval.backends.backend import Ratings
from auditeval.pretrained.packages import imported, reaching_a_hub
from auditeval.pretrained.torch_files import read
from auditeval.pretrained.weights import digest, fill

_CODE = "1"
"""Part of the revision: counts the changes here that change a number."""

_RATE_HZ = 16000
_LEAST_SAMPLES = 64  # one step of the network's first layer


class SQUIM:
    """torchaudio's SQUIM_OBJECTIVE (Kumar et al. 2023), the mean over windows of 10 s.

    PESQ (1 to 4.64), STOI (0 to 1) and SI-SDR (dB). `weights` is the state dict that torchaudio
    publishes (squim_objective_dns2020.pth); without it torchaudio downloads the file. Raises
    UserError where the extra `squim` or the file is absent.
    """

    name = "squim-objective"

    WINDOW_SECONDS = 10
    """The attention grows with the square of the length: a minute would take 14 GB."""

    def __init__(self, weights: str | None = None, device: str = "cpu") -> None:
        pipelines = imported("torchaudio.pipelines", "squim")
        if weights is None:
            with reaching_a_hub("torchaudio"):
                self._model = pipelines.SQUIM_OBJECTIVE.get_model()
        else:
            path = Path(weights).expanduser().resolve()
            self._model = imported("torchaudio.models", "squim").squim_objective_base()
            state = read(path, "the weights of SQUIM are a state dict that torch saved")
            fill(path, self._model, state, "SQUIM_OBJECTIVE")
        self._model.eval().requires_grad_(False)
        self.revision = f"{_CODE}-{version('torchaudio')}-{digest(self._model)}"
        self.device = device
        self._model.to(device)

    def __call__(self, clip: audio.Waveform) -> Ratings:
        """Raises AudioError for digital silence; a silent window has no value and no weight."""
        samples = audio.resample(clip, _RATE_HZ)
        window = self.WINDOW_SECONDS * _RATE_HZ
        spans = audio.adjoining_windows(len(samples), window, _RATE_HZ)
        spans = [span for span in spans if samples[span.start : span.stop].any()]
        if not spans:
            raise audio.AudioError("a clip of digital silence has no STOI, PESQ or SI-SDR")
        rows = [self._rate(samples[span.start : span.stop]) for span in spans]
        means = np.average(np.array(rows), axis=0, weights=[span.weight for span in spans])
        stoi, pesq, si_sdr = means.astype(np.float32).tolist()
        return Ratings({"PESQ": pesq, "STOI": stoi, "SI-SDR": si_sdr})

    def _rate(self, window: np.ndarray) -> list[float]:
        """STOI, PESQ and SI-SDR of at most one window."""
        padded = np.pad(window, (0, max(0, _LEAST_SAMPLES - len(window))))
        with torch.inference_mode():
            measures = self._model(torch.from_numpy(padded).to(self.device)[None])
        return [measure.item() for measure in measures]

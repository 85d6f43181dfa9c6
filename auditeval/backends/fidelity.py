"""SQUIM: PESQ, STOI and SI-SDR of speech without a reference."""

from __future__ import annotations

from auditeval import audio
from auditeval.backends.backend import Ratings


class SQUIM:
    """torchaudio's SQUIM_OBJECTIVE (Kumar et al. 2023), the mean over windows of 10 s.

    PESQ (1 to 4.64), STOI (0 to 1) and SI-SDR (dB). `weights` is torchaudio's file; without it
    torchaudio downloads it. Raises UserError where the extra `squim` or the file is absent.
    """

    name = "squim-objective"

    def __init__(self, weights: str | None = None, device: str = "cpu") -> None:
        from auditeval.features.packages import Squim

        self._encoder = Squim(weights)
        self._encoder.to(device)
        self.revision = self._encoder.revision

    def __call__(self, clip: audio.Waveform) -> Ratings:
        """Raises AudioError for digital silence."""
        samples = audio.resample(clip, self._encoder.rate_hz)
        stoi, pesq, si_sdr = self._encoder.encode_audio([samples])[0].embedding.tolist()
        return Ratings({"PESQ": pesq, "STOI": stoi, "SI-SDR": si_sdr})

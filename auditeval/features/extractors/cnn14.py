"""`cnn14`: CNN14 of PANNs (Kong et al. 2020), from the files that its authors publish."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from transformers.audio_utils import mel_filter_bank, spectrogram, window_function

from auditeval import audio
from auditeval.features.cnn14_network import Cnn14
from auditeval.features.extractor import AudioFeatures, Extractor
from auditeval.pretrained.threads import one_thread
from auditeval.pretrained.torch_files import read
from auditeval.pretrained.weights import Undrawn, digest, fill
from auditeval.types import UserError

CLASSES = 527
"""AudioSet's, in the order of its class_labels_indices.csv."""

_CODE = "1"
"""Part of the revision: counts the changes here that change a number."""

_SUPPORTED = (
    "supported are CNN14 of PANNs for 32 kHz (Cnn14_mAP=0.431.pth) and for 16 kHz "
    "(Cnn14_16k_mAP=0.438.pth), from zenodo.org/records/3987831"
)
_STFT, _BANK = "spectrogram_extractor.", "logmel_extractor.melW"


class FrontEnd(NamedTuple):
    """How one of the published models hears."""

    rate_hz: int
    n_fft: int
    hop: int
    highest_hz: float

    def mel_bank(self) -> np.ndarray:
        """Slaney's filters from 50 Hz :: (n_fft / 2 + 1, 64)."""
        return mel_filter_bank(
            num_frequency_bins=self.n_fft // 2 + 1,
            num_mel_filters=64,
            min_frequency=50.0,
            max_frequency=self.highest_hz,
            sampling_rate=self.rate_hz,
            norm="slaney",
            mel_scale="slaney",
        )


FRONT_ENDS = (FrontEnd(32000, 1024, 320, 14000.0), FrontEnd(16000, 512, 160, 8000.0))


class Cnn14Extractor(Extractor):
    """PANNs' CNN14 from `checkpoint`; which front end it was trained with is read off its mel bank.

    Embedding :: (2048,), what the published model calls by that name (behind a ReLU). Frames ::
    `logits` (1, 527), before the sigmoid. A clip is one pass of the network, about 0.3 GB a minute;
    one of fewer than 32 frames (0.31 s), too short for the network, ends in zeros.
    """

    name = "cnn14"
    dim = Cnn14.DIM

    LEAST_FRAMES = 32

    def __init__(self, checkpoint: str) -> None:
        path = Path(checkpoint).expanduser().resolve()
        self.arguments = {"checkpoint": str(path)}
        state = read(path, _SUPPORTED)
        self.front_end = _front_end(path, state)
        with Undrawn():
            self._model = _Tagger(state[_BANK])
        heard = {k: v for k, v in state.items() if not k.startswith(_STFT)}
        fill(path, self._model, heard, "PANNs' CNN14")
        self._model.eval().requires_grad_(False)
        self.modules = (self._model,)
        self._bank = state[_BANK].numpy()
        self.rate_hz = self.front_end.rate_hz
        self.revision = f"{_CODE}-{digest(self._model)}"

    def encode_clip(self, samples: np.ndarray) -> AudioFeatures:
        """Mono float32 (N,) at `rate_hz`; see the class for what comes out."""
        mel = torch.from_numpy(self._log_mel(samples))[None, None].to(self.device)
        with torch.inference_mode(), one_thread():
            embedding = self._model(mel)
            logits = self._model.fc_audioset(embedding)
        return AudioFeatures(embedding[0].cpu().numpy(), {"logits": logits.cpu().numpy()})

    def tag(self, waveform: audio.Waveform) -> np.ndarray:
        """Class logits of a whole clip of any rate :: (527,)."""
        return self.encode_clip(audio.resample(waveform, self.rate_hz)).frames["logits"][0]

    def _log_mel(self, samples: np.ndarray) -> np.ndarray:
        """Power in dB, no less than -100 :: float32 (1 + N // hop, 64)."""
        n_fft, hop = self.front_end.n_fft, self.front_end.hop
        short = (self.LEAST_FRAMES - 1) * hop - len(samples)
        return spectrogram(
            np.pad(samples, (0, max(0, short))),
            window_function(n_fft, "hann"),
            frame_length=n_fft,
            hop_length=hop,
            power=2.0,
            mel_filters=self._bank,
            log_mel="dB",
        ).T


class _Tagger(Cnn14):
    """The trunk with the layer of logits, and the mel bank that it was trained with."""

    def __init__(self, bank: Tensor) -> None:
        super().__init__()
        self.fc_audioset = nn.Linear(self.DIM, CLASSES)
        self.logmel_extractor = nn.Module()
        self.logmel_extractor.register_buffer("melW", bank)


def _front_end(path: Path, state: dict[str, Tensor]) -> FrontEnd:
    """The published front end whose mel bank the file holds."""
    if _BANK not in state:
        raise UserError(f"{path}: is no CNN14 of PANNs (no {_BANK}); {_SUPPORTED}")
    bank = state[_BANK].numpy()
    for known in FRONT_ENDS:
        expected = known.mel_bank()
        if bank.shape == expected.shape and np.allclose(bank, expected, rtol=1e-3, atol=1e-5):
            return known
    raise UserError(f"{path}: its mel bank {bank.shape} is that of another front end; {_SUPPORTED}")

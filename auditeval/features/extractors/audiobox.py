"""`audiobox`: Meta's AudioBox aesthetics (Tjandra et al. 2025), run by its own package."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch

from auditeval import audio
from auditeval.features.extractor import AudioFeatures, Extractor
from auditeval.pretrained.packages import first_line, imported, revision
from auditeval.pretrained.threads import one_thread
from auditeval.pretrained.torch_files import load
from auditeval.pretrained.weights import fill
from auditeval.types import UserError

_CODE = "1"
"""Part of the revision: counts the changes here that change a number."""

_SUPPORTED = "supported is the checkpoint.pt of facebook/audiobox-aesthetics"
_SETTINGS = (
    "proj_num_layer", "proj_ln", "proj_act_fn", "proj_dropout", "nth_layer",
    "use_weighted_layer_sum", "precision", "normalize_embed", "output_dim",
)  # fmt: skip


class Audiobox(Extractor):
    """`MEASURES` of a clip, as audiobox_aesthetics' predictor makes them of `checkpoint`.

    Not an embedding space: four numbers, the mean over adjoining windows of 10 s, weighted by
    length. The last window ends in masked zeros, however short it is. No change of level. Of the
    package only the model is imported, which needs no torchaudio.
    """

    name = "audiobox"
    rate_hz = 16000

    MEASURES = ("PQ", "PC", "CE", "CU")
    """In the order of the embedding: production quality, production complexity, content enjoyment,
    content usefulness, each from 1 to 10."""
    WINDOW_SECONDS = 10
    dim = len(MEASURES)

    def __init__(self, checkpoint: str) -> None:
        path = Path(checkpoint).expanduser().resolve()
        self.arguments = {"checkpoint": str(path)}
        content = load(path, _SUPPORTED)
        if not isinstance(content, dict):
            raise UserError(f"{path}: is no AudioBox aesthetics; {_SUPPORTED}")
        aes = imported("audiobox_aesthetics.model.aes", "audiobox")
        try:
            tensors = dict(content["state_dict"])
            self._scales = [_scale(content["target_transform"][name]) for name in self.MEASURES]
            settings = {name: content["model_cfg"][name] for name in _SETTINGS}
            self._model = aes.AesMultiOutput(**settings)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            reason = f"{type(error).__name__}: {first_line(error)}"
            raise UserError(f"{path}: is no AudioBox aesthetics ({reason}); {_SUPPORTED}") from None
        state = {re.sub(r"^model\.", "", key): value for key, value in tensors.items()}
        fill(path, self._model, state, "AudioBox aesthetics")
        self._model.eval().requires_grad_(False)
        self.modules = (self._model,)
        # Of masks inside the package, once a process.
        warnings.filterwarnings("ignore", "Support for mismatched key_padding_mask")
        self.revision = revision(_CODE, "audiobox_aesthetics", path)

    def encode_clip(self, samples: np.ndarray) -> AudioFeatures:
        """Mono float32 (N,) at 16 kHz to the four measures; no frames."""
        window = self.WINDOW_SECONDS * self.rate_hz
        measures = np.zeros(self.dim)
        with torch.inference_mode(), one_thread():
            for span in audio.windows(len(samples), window, window):
                measures += span.weight * self._rate(samples[span.start : span.stop], window)
        return AudioFeatures(measures.astype(np.float32), {})

    def _rate(self, samples: np.ndarray, window: int) -> np.ndarray:
        """The measures of one window :: (4,)."""
        padded = torch.from_numpy(np.pad(samples, (0, window - len(samples))))
        heard = torch.arange(window) < len(samples)
        batch = {"wav": padded[None, None], "mask": heard[None, None]}
        made = self._model({name: part.to(self.device) for name, part in batch.items()})
        return np.array(
            [
                made[name].item() * deviation + mean
                for name, (mean, deviation) in zip(self.MEASURES, self._scales, strict=True)
            ]
        )


def _scale(transform: Any) -> tuple[float, float]:
    """Mean and deviation of the ratings that a measure was trained on."""
    return float(transform["mean"]), float(transform["std"])

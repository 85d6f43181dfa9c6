"""`msclap`: Microsoft's CLAP as its own package runs it."""

from __future__ import annotations

import io
import warnings
from pathlib import Path

import numpy as np
import torch

from auditeval.features.clap import SUPPORTED
from auditeval.features.clap.packages import CODE, COMPUTED, PackageExtractor, row
from auditeval.pretrained.packages import imported, reaching_a_hub, revision
from auditeval.pretrained.torch_files import read
from auditeval.pretrained.weights import fill
from auditeval.types import UserError


class MsClapPackage(PackageExtractor):
    """msclap's CLAP, version 2023 or 2022, with its tokens and its pooling of captions.

    `checkpoint` is a file as Microsoft publishes it. The package reads audio from files only and
    crops at random; windows are repeated to full length here instead, as it does. Raises UserError.
    """

    name = "msclap"

    def __init__(self, checkpoint: str, version: str = "2023") -> None:
        version = str(version)  # a command line makes a number of it
        self.family = f"Microsoft CLAP {version}"
        if version not in ("2023", "2022"):
            raise UserError(f"version {version!r} of msclap has no joint embeddings: 2023 or 2022")
        path = Path(checkpoint).expanduser().resolve()
        self.arguments = {"checkpoint": str(path), "version": version}
        state = read(path, SUPPORTED)
        package = imported("msclap", "msclap", clashes=True)
        nothing = io.BytesIO()
        torch.save({"model": {}}, nothing)
        nothing.seek(0)
        with reaching_a_hub("msclap"):
            self._wrapper = package.CLAP(nothing, version=version, use_cuda=False)
        what = f"msclap {version}"
        fill(path, self._wrapper.clap, state, what, COMPUTED, beyond_is_wrong=False)
        self._wrapper.clap.eval().requires_grad_(False)
        self.revision = revision(CODE, "msclap", path)
        settings = self._wrapper.args
        self.rate_hz = settings.sampling_rate
        self._window = settings.sampling_rate * settings.duration
        self.modules = (self._wrapper.clap,)
        self.dim = self.text_dim = self.joint_dim = settings.d_proj

    def _encode_window(self, window: np.ndarray) -> np.ndarray:
        samples = torch.from_numpy(np.resize(window, (1, 1, self._window)))
        return row(self._wrapper._get_audio_embeddings(samples.to(self.device)))

    def _encode_caption(self, caption: str) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tokens = self._wrapper.preprocess_text([caption])
        count = tokens["input_ids"].shape[1]
        if count > self._wrapper.clap.caption_encoder.base.config.max_position_embeddings:
            raise UserError(
                f"a caption of {count} tokens is longer than msclap reads: {caption[:40]!r}..."
            )
        tokens = {key: value.to(self.device) for key, value in tokens.items()}
        return row(self._wrapper._get_text_embeddings(tokens))

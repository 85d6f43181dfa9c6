"""The original packages as extractors: laion_clap and msclap.

For those who want a CLAP exactly as its authors run it. `clap` loads the same checkpoint files
without these packages, and to the same numbers (tests/second_environment).

laion_clap and msclap fetch tokenizers and text models from a model hub when they are imported or
built; their checkpoints are read here, as data, and never by the packages.
"""

from __future__ import annotations

import io
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from auditeval import audio
from auditeval.features.clap import SUPPORTED
from auditeval.features.clap.windows import WindowExtractor, unit
from auditeval.features.extractor import AudioFeatures
from auditeval.pretrained.packages import first_line, imported, reaching_a_hub, revision
from auditeval.pretrained.threads import one_thread
from auditeval.pretrained.torch_files import read
from auditeval.pretrained.weights import fill
from auditeval.types import UserError

_CODE = "2"
"""Part of every revision: counts the changes here that change a number."""

_COMPUTED = re.compile(
    r"spectrogram_extractor\.|logmel_extractor\.|\.attn\.(bias|masked_bias)$|"
    r"(attn_mask|relative_position_index|position_ids|token_type_ids|num_batches_tracked)$"
)
"""Buffers of the originals that follow from their settings."""


class _PackageExtractor(WindowExtractor, ABC):
    """Clips cut into fixed windows, each encoded by itself, from the clip's start without overlap.

    No window is longer than the package's own, so none of its random crops is ever reached.
    """

    _window: int  # samples

    def encode_audio(self, clips: Sequence[np.ndarray]) -> list[AudioFeatures]:
        """Mono float32 (N,) clips at `rate_hz` to unit embeddings (dim,) and their windows'."""
        with torch.inference_mode():
            return super().encode_audio(clips)

    def encode_clip(self, samples: np.ndarray) -> AudioFeatures:
        spans = audio.adjoining_windows(len(samples), self._window, self.rate_hz)
        rows = [self._encode_window(samples[span.start : span.stop]) for span in spans]
        return self.of_windows(spans, np.stack(rows))

    def encode_text(self, captions: Sequence[str]) -> np.ndarray:
        """Captions to unit embeddings, float32 (len(captions), dim); one at a time."""
        with torch.inference_mode(), one_thread():
            return np.stack([unit(self._encode_caption(caption)) for caption in captions])

    @abstractmethod
    def _encode_window(self, window: np.ndarray) -> np.ndarray:
        """Samples of at most one window :: (n,) -> (dim,), at unit norm."""

    @abstractmethod
    def _encode_caption(self, caption: str) -> np.ndarray:
        """One caption to (dim,)."""


class LaionClapPackage(_PackageExtractor):
    """laion_clap's CLAP_Module, fed tensors (its path for arrays rounds samples to 16 bits).

    `checkpoint` is a file as LAION publishes it; `amodel` (HTSAT-tiny, HTSAT-base) and
    `enable_fusion` must be those it was trained with, as in the package. Raises UserError.
    """

    name = "laion_clap"
    family = "LAION CLAP"

    def __init__(
        self, checkpoint: str, enable_fusion: bool = False, amodel: str = "HTSAT-tiny"
    ) -> None:
        path = Path(checkpoint).expanduser().resolve()
        self.arguments = {
            "checkpoint": str(path),
            "enable_fusion": enable_fusion,
            "amodel": amodel,
        }
        state = read(path, SUPPORTED)
        # Older transformers kept this buffer; the package takes it out as well.
        state.pop("text_branch.embeddings.position_ids", None)
        package = imported("laion_clap", "laion-clap", clashes=True)
        try:
            with reaching_a_hub("laion_clap"):
                self._module = package.CLAP_Module(enable_fusion, device="cpu", amodel=amodel)
        except RuntimeError as error:
            raise UserError(f"laion_clap cannot build {amodel!r} ({first_line(error)})") from None
        what = f"laion_clap's {amodel}, fusion {enable_fusion}"
        fill(path, self._module.model, state, what, _COMPUTED)
        self._module.eval().requires_grad_(False)
        self.revision = revision(_CODE, "laion_clap", path)
        settings = self._module.model_cfg["audio_cfg"]
        self.rate_hz, self._window = settings["sample_rate"], settings["clip_samples"]
        self.dim = self.text_dim = self.joint_dim = self._module.model.joint_embed_shape

    def to(self, device: str) -> None:
        """Run on this torch device from now on."""
        self._module.to(device)

    def _encode_window(self, window: np.ndarray) -> np.ndarray:
        samples = torch.from_numpy(np.ascontiguousarray(window))
        return _row(self._module.get_audio_embedding_from_data([samples], use_tensor=True))

    def _encode_caption(self, caption: str) -> np.ndarray:
        return _row(self._module.get_text_embedding([caption], use_tensor=True))


class MsClapPackage(_PackageExtractor):
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
        fill(path, self._wrapper.clap, state, what, _COMPUTED, beyond_is_wrong=False)
        self._wrapper.clap.eval().requires_grad_(False)
        self.revision = revision(_CODE, "msclap", path)
        settings = self._wrapper.args
        self.rate_hz = settings.sampling_rate
        self._window = settings.sampling_rate * settings.duration
        self.dim = self.text_dim = self.joint_dim = settings.d_proj
        self._device = "cpu"

    def to(self, device: str) -> None:
        """Run on this torch device from now on."""
        self._device = device
        self._wrapper.clap.to(device)

    def _encode_window(self, window: np.ndarray) -> np.ndarray:
        samples = torch.from_numpy(np.resize(window, (1, 1, self._window)))
        return _row(self._wrapper._get_audio_embeddings(samples.to(self._device)))

    def _encode_caption(self, caption: str) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tokens = self._wrapper.preprocess_text([caption])
        count = tokens["input_ids"].shape[1]
        if count > self._wrapper.clap.caption_encoder.base.config.max_position_embeddings:
            raise UserError(
                f"a caption of {count} tokens is longer than msclap reads: {caption[:40]!r}..."
            )
        tokens = {key: value.to(self._device) for key, value in tokens.items()}
        return _row(self._wrapper._get_text_embeddings(tokens))


def _row(embeddings: Tensor) -> np.ndarray:
    """The only row of a batch, at unit norm :: (1, D) -> (D,)."""
    return unit(embeddings[0].float().cpu().numpy())

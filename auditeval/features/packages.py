"""The original packages as encoders: laion_clap, msclap, and SQUIM of torchaudio.

For those who want an encoder exactly as its authors run it. `clap` loads the same checkpoint files
without these packages, and to the same numbers (tests/second_environment).

laion_clap and msclap fetch tokenizers and text models from a model hub when they are imported or
built; their checkpoints are read here, as data, and never by the packages.
"""

from __future__ import annotations

import io
import re
import warnings
from abc import abstractmethod
from collections.abc import Sequence
from importlib.metadata import version as installed_version
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from auditeval import audio
from auditeval.features.clap.files import read
from auditeval.features.encoder import AudioFeatures
from auditeval.features.threads import one_thread
from auditeval.features.weights import digest, fill
from auditeval.features.wrapped import first_line, imported, reaching_a_hub, revision
from auditeval.types import UserError

_CODE = "1"
"""Part of every revision: counts the changes here that change a number."""

_COMPUTED = re.compile(
    r"spectrogram_extractor\.|logmel_extractor\.|\.attn\.(bias|masked_bias)$|"
    r"(attn_mask|relative_position_index|position_ids|token_type_ids|num_batches_tracked)$"
)
"""Buffers of the originals that follow from their settings."""


class _Windowed:
    """Clips cut into fixed windows, each encoded by itself; a clip is their weighted mean.

    Windows start at the clip's start and do not overlap. No window is longer than the package's
    own, so none of its random crops is ever reached.
    """

    rate_hz: int
    dim: int
    batch_size = 1
    compares_frames = False
    _window: int  # samples

    def encode_audio(self, clips: Sequence[np.ndarray]) -> list[AudioFeatures]:
        """Mono float32 (N,) clips at `rate_hz` to embeddings (dim,); no frames."""
        with torch.inference_mode(), one_thread():
            return [AudioFeatures(self._encode_clip(clip), {}) for clip in clips]

    def _encode_clip(self, clip: np.ndarray) -> np.ndarray:
        rows = [
            span.weight * self._encode_window(clip[span.start : span.stop]).astype(np.float64)
            for span in audio.adjoining_windows(len(clip), self._window, self.rate_hz)
        ]
        return np.sum(rows, axis=0).astype(np.float32)

    @abstractmethod
    def _encode_window(self, window: np.ndarray) -> np.ndarray:
        """Samples of at most one window :: (n,) -> (dim,)."""


class _JointEncoder(_Windowed):
    """A CLAP package: unit embeddings of sound and words in one space."""

    text_dim: int
    joint_dim: int

    def _encode_clip(self, clip: np.ndarray) -> np.ndarray:
        return _unit(super()._encode_clip(clip))

    def encode_text(self, captions: Sequence[str]) -> np.ndarray:
        """Captions to unit embeddings, float32 (len(captions), dim); one at a time."""
        rows = np.zeros((len(captions), self.text_dim), np.float32)
        with torch.inference_mode(), one_thread():
            for row, caption in enumerate(captions):
                rows[row] = _unit(self._encode_caption(caption))
        return rows

    @abstractmethod
    def _encode_caption(self, caption: str) -> np.ndarray:
        """One caption to (dim,)."""


class LaionClapPackage(_JointEncoder):
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
        state = read(path)
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


class MsClapPackage(_JointEncoder):
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
        state = read(path)
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


class Squim(_Windowed):
    """torchaudio's SQUIM_OBJECTIVE (Kumar et al. 2023): `MEASURES` of speech, without a reference.

    Not an embedding space: three numbers a clip, the mean over windows of 10 s. `weights` is the
    state dict that torchaudio publishes (squim_objective_dns2020.pth); without it torchaudio
    downloads the file. A window of digital silence has no value and counts for nothing.
    """

    name = "squim"
    rate_hz = 16000
    text_dim = 0
    joint_dim = 0

    MEASURES = ("stoi", "pesq", "si_sdr")
    """In the order of the embedding: STOI (0 to 1), PESQ (1 to 4.64) and SI-SDR (dB)."""
    WINDOW_SECONDS = 10
    """The attention grows with the square of the length: a minute would take 14 GB."""
    dim = len(MEASURES)
    _window = WINDOW_SECONDS * rate_hz
    _least_samples = 64  # one step of the network's first layer

    def __init__(self, weights: str | None = None) -> None:
        path = Path(weights).expanduser().resolve() if weights is not None else None
        self.arguments = {"weights": str(path) if path is not None else None}
        pipelines = imported("torchaudio.pipelines", "squim")
        if path is None:
            with reaching_a_hub("torchaudio"):
                self._model = pipelines.SQUIM_OBJECTIVE.get_model()
        else:
            self._model = imported("torchaudio.models", "squim").squim_objective_base()
            state = read(path, "the weights of SQUIM are a state dict that torch saved")
            fill(path, self._model, state, "SQUIM_OBJECTIVE")
        self._model.eval().requires_grad_(False)
        self.revision = f"{_CODE}-{installed_version('torchaudio')}-{digest(self._model)}"
        self._device = "cpu"

    def to(self, device: str) -> None:
        """Run on this torch device from now on."""
        self._device = device
        self._model.to(device)

    def encode_text(self, captions: Sequence[str]) -> np.ndarray:
        """No text encoder: (N, 0)."""
        return np.zeros((len(captions), 0), np.float32)

    def _encode_clip(self, clip: np.ndarray) -> np.ndarray:
        spans = audio.adjoining_windows(len(clip), self._window, self.rate_hz)
        spans = [span for span in spans if clip[span.start : span.stop].any()]
        if not spans:
            raise audio.AudioError("a clip of digital silence has no STOI, PESQ or SI-SDR")
        rows = [self._encode_window(clip[span.start : span.stop]) for span in spans]
        weights = [span.weight for span in spans]
        return np.average(np.array(rows, np.float64), axis=0, weights=weights).astype(np.float32)

    def _encode_window(self, window: np.ndarray) -> np.ndarray:
        padded = np.pad(window, (0, max(0, self._least_samples - len(window))))
        measures = self._model(torch.from_numpy(padded).to(self._device)[None])
        return np.array([measure.item() for measure in measures], np.float32)


def _row(embeddings: Tensor) -> np.ndarray:
    """The only row of a batch, at unit norm :: (1, D) -> (D,)."""
    return _unit(embeddings[0].float().cpu().numpy())


def _unit(row: np.ndarray) -> np.ndarray:
    wide = row.astype(np.float64)
    return (wide / max(float(np.linalg.norm(wide)), 1e-12)).astype(np.float32)

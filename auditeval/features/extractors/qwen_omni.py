"""`qwen_omni`: the audio tower of a Qwen2.5-Omni, frozen; 25 tokens a second for its Thinker."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from auditeval import audio
from auditeval.features.encoder import Clip
from auditeval.features.extractor import AudioFeatures, Extractor
from auditeval.pretrained.accelerators import Passes, place
from auditeval.pretrained.qwen_omni import DTYPES, open_base
from auditeval.pretrained.threads import one_thread
from auditeval.types import UserError

_TOKENS = "audio_tokens"

_ACCELERATOR_BATCH = 16
# What decides how given weights are used.
_COMPUTING = ("activation_function", "encoder_attention_heads", "n_window", "scale_embedding")


class OmniExtractor(Extractor):
    """The audio tower of `model`, a folder or hub id of Qwen2.5-Omni (at `model_revision`).

    A clip becomes one token for each 40 ms: frames `audio_tokens` :: (T, dim), float32, or float16
    where the tower computes in less; their mean is the embedding. Clips are heard whole, in blocks
    of 2 s as the tower was trained. On the CPU a clip is a forward pass of its own and uses one
    core; on an accelerator `batch_size` clips make a pass, and none is padded.
    """

    name = "qwen_omni"

    def __init__(
        self,
        model: str,
        model_revision: str | None = None,
        dtype: str = "float32",
        batch_size: int | None = None,
    ) -> None:
        if dtype not in DTYPES:
            raise UserError(f"dtype {dtype!r} is none of {', '.join(DTYPES)}")
        if not (batch_size is None or (isinstance(batch_size, int) and batch_size > 0)):
            raise UserError(f"batch_size {batch_size!r}: expected a whole number above 0, or null")
        base = open_base(model, model_revision)
        self.arguments = {"model": base.name, "model_revision": base.revision, "dtype": dtype}
        self._front_end = base.front_end()
        self._tower = base.audio_tower(DTYPES[dtype])
        self.revision = self._revision(base.config.audio_config)
        self._chosen_batch_size = batch_size
        self._set_passes()
        self.rate_hz = self._front_end.sampling_rate
        self.dim = base.config.audio_config.output_dim

    def to(self, device: str) -> None:
        """Run on this torch device from now on."""
        self.device = place(device, self._tower)
        self._set_passes()

    def _set_passes(self) -> None:
        default = 1 if self.device.type == "cpu" else _ACCELERATOR_BATCH
        self.batch_size = self._chosen_batch_size or default
        self._passes = Passes(self.device, self.batch_size)

    def encode_audio(self, clips: Sequence[np.ndarray]) -> list[AudioFeatures]:
        """Mono float32 (N,) clips at 16 kHz to their tokens and the mean of them.

        Raises audio.AudioError for a clip too short for a token, or tokens that are not finite.
        """
        mels = [log_mel(self._front_end, clip) for clip in clips]
        counts = [token_count(mel.shape[1]) for mel in mels]
        for clip, count in zip(clips, counts, strict=True):
            if count < 1:
                raise audio.AudioError(
                    f"a clip of {1000 * len(clip) / self.rate_hz:.1f} ms is too short for "
                    "Qwen2.5-Omni, which needs more than 20 ms for its first audio token"
                )
        passes = self._passes(mels, self._tokens, size=lambda mel: mel.shape[1])
        # float16 holds whatever bfloat16 does between 6e-5 and 65504; numpy has no bfloat16.
        kept = np.float32 if self.arguments["dtype"] == "float32" else np.float16
        with np.errstate(over="ignore"):
            made = [tokens.float().cpu().numpy().astype(kept) for tokens in passes]
        rows = np.concatenate(made)
        if not np.isfinite(rows).all():
            raise audio.AudioError(
                f"audio tokens are not finite in {self.arguments['dtype']}; the weights of "
                f"{self.arguments['model']} are damaged, or dtype=float32 is needed"
            )
        return [
            AudioFeatures(tokens.mean(axis=0, dtype=np.float32), {_TOKENS: tokens})
            for tokens in np.split(rows, np.cumsum(counts)[:-1])
        ]

    def _tokens(self, mels: Sequence[np.ndarray]) -> Tensor:
        """Of all clips, one after the other."""
        lengths = torch.tensor([mel.shape[1] for mel in mels], device=self.device)
        joined = torch.from_numpy(np.concatenate(mels, axis=1)).to(self.device)
        after_convolution = (lengths - 1) // 2 + 1
        with torch.inference_mode(), one_thread():
            return self._tower(
                joined, feature_lens=lengths, aftercnn_lens=after_convolution
            ).last_hidden_state

    def _revision(self, config: object) -> str:
        """Of weights and options, wherever the model lies; front ends are all alike."""
        digest = hashlib.sha256()
        for key, value in sorted(self._tower.state_dict().items()):
            digest.update(f"{key} {tuple(value.shape)}\n".encode())
            digest.update(np.ascontiguousarray(value.float().numpy()).data)
        settings = {name: getattr(config, name) for name in _COMPUTING}
        settings |= {"dtype": self.arguments["dtype"], "code": 1}
        digest.update(json.dumps(settings, sort_keys=True).encode())
        return digest.hexdigest()[:16]


def tokens_of(clip: Clip) -> np.ndarray:
    """The audio tokens of a clip that an `OmniExtractor` encoded :: (T, dim)."""
    return clip[OmniExtractor.name].frames[_TOKENS]


def log_mel(front_end: Any, samples: np.ndarray) -> np.ndarray:
    """Mono samples to the tower's log-mel frames :: (N,) -> float32 (bands, ceil(N / hop)).

    To the last digit what the official processor makes, which fills every clip to 300 s: the frames
    of a clip see at most n_fft samples behind it, so that many zeros do.
    """
    hop = front_end.hop_length
    filled = np.pad(samples.astype(np.float32), (0, front_end.n_fft))
    made = front_end(
        filled,
        sampling_rate=front_end.sampling_rate,
        padding="do_not_pad",
        truncation=False,
        return_tensors="np",
    )
    return made["input_features"][0][:, : -(-len(samples) // hop)]


def token_count(mel_frames: int) -> int:
    """Audio tokens of that many mel frames: two convolutions, then an average of two."""
    return ((mel_frames - 1) // 2 + 1 - 2) // 2 + 1

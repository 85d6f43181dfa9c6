"""Speaker embeddings: whether two clips are of one voice.

Cosines of one model mean nothing to another, so each has its own `same_speaker_cosine`, from which
on it calls two clips the same speaker.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from auditeval import audio
from auditeval.backends.backend import SpeakerEmbedding
from auditeval.pretrained.resemblyzer import RATE_HZ, VoiceEncoder
from auditeval.types import UserError

_CODE = "1"
"""Part of every revision: counts the changes here that change a number."""


class Resemblyzer:
    """Resemblyzer's d-vector, of `pretrained.resemblyzer`.

    `same_speaker_cosine` is where as many pairs of one speaker are missed as pairs of
    two are taken for one (3.2 %), over all pairs of 40 neutral clips of EMO-DB (10 speakers) and
    the halves of 10 clips of LibriSpeech. It is for voices of one manner: across acted emotions the
    AUC is .75.
    """

    name = "resemblyzer"
    same_speaker_cosine = 0.76

    def __init__(self, device: str = "cpu") -> None:
        self._encoder, self.device = VoiceEncoder(device), device
        self.revision = self._encoder.revision

    def __call__(self, clip: audio.Waveform) -> SpeakerEmbedding:
        """Raises AudioError for digital silence."""
        return _unit(self._encoder.embed(_audible(clip)))


class WavLMSpeaker:
    """WavLM with the x-vector head of transformers: SwanBench-Speech's WavLM TDCNN.

    `checkpoint` is a folder or hub id; microsoft/wavlm-base-plus-sv says of itself that 0.86 is its
    threshold. A clip is one pass of the network. Raises UserError.
    """

    same_speaker_cosine = 0.86

    def __init__(
        self, checkpoint: str = "microsoft/wavlm-base-plus-sv", device: str = "cpu"
    ) -> None:
        from transformers import Wav2Vec2FeatureExtractor, WavLMForXVector

        self._model, digest = _pretrained(WavLMForXVector, checkpoint)
        self._model.to(device)
        self.device = device
        with _from(checkpoint, "feature extractor"):
            front_end = Wav2Vec2FeatureExtractor.from_pretrained(checkpoint)
        self._normalise = bool(front_end.do_normalize)
        self._least_samples = _least_samples(self._model.config)
        self.name = Path(checkpoint).name
        self.revision = f"{_CODE}-{digest}"

    def __call__(self, clip: audio.Waveform) -> SpeakerEmbedding:
        """Raises AudioError for digital silence, and for less than the head spans, 0.3 s."""
        import torch

        heard = _audible(clip)
        if len(heard) < self._least_samples:
            raise audio.AudioError(
                f"{clip.seconds:.2f} s are too short for a voice, at least "
                f"{self._least_samples / RATE_HZ:.2f} s are needed"
            )
        samples = torch.from_numpy(heard.copy())[None].to(self.device)
        if self._normalise:
            samples = (samples - samples.mean()) / (samples.var(correction=0) + 1e-7).sqrt()
        with torch.inference_mode():
            return _unit(self._model(samples).embeddings[0].cpu().numpy())


class WavLMECAPA:
    """WavLM-large under an ECAPA-TDNN head: SpeechEditBench's speaker similarity.

    `checkpoint` is the file of UniSpeech's downstreams/speaker_verification with the head, `wavlm`
    a folder or hub id of the network below it. Its threshold is the paper's (Table 12). As in the
    benchmark, the copy of WavLM inside the checkpoint is not read, so the file must be the one
    whose WavLM was not fine-tuned. Raises UserError.
    """

    same_speaker_cosine = 0.50

    def __init__(
        self, checkpoint: str, wavlm: str = "microsoft/wavlm-large", device: str = "cpu"
    ) -> None:
        from transformers import WavLMModel

        from auditeval.backends.ecapa_tdnn import load_head

        self._wavlm, digest = _pretrained(WavLMModel, wavlm)
        self._head, head_digest = load_head(Path(checkpoint).expanduser(), self._wavlm.config)
        self._wavlm.to(device)
        self._head.to(device)
        self.device = device
        self.name = f"{Path(wavlm).name}-ecapa-tdnn"
        self.revision = f"{_CODE}-{digest}-{head_digest}"

    def __call__(self, clip: audio.Waveform) -> SpeakerEmbedding:
        """Raises AudioError for digital silence."""
        import torch

        samples = torch.from_numpy(_audible(clip).copy())[None].to(self.device)
        with torch.inference_mode():
            states = self._wavlm(samples, output_hidden_states=True).hidden_states
            return _unit(self._head(torch.stack(states))[0].cpu().numpy())


def _pretrained(kind: Any, checkpoint: str) -> tuple[Any, str]:
    """A model of transformers with every weight found, and the digest of them."""
    import torch

    from auditeval.pretrained.quiet import quiet_transformers
    from auditeval.pretrained.weights import digest

    with _from(checkpoint, kind.__name__), quiet_transformers():
        model, found = kind.from_pretrained(
            checkpoint, output_loading_info=True, dtype=torch.float32
        )
    for what in ("missing_keys", "mismatched_keys"):
        if found[what]:
            raise UserError(
                f"{checkpoint}: is no {kind.__name__} ({what.replace('_', ' ')}, "
                f"{sorted(map(str, found[what]))[0]} among them)"
            )
    return model.eval().requires_grad_(False), digest(model)


@contextmanager
def _from(checkpoint: str, what: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # whatever a malformed folder provokes in transformers
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(
            f"{checkpoint}: no {what} in this folder, and a model hub did not give one ({reason})"
        ) from None


def _least_samples(config: Any) -> int:
    """Of a clip from which two frames, whose deviation is pooled, leave the x-vector's TDNN."""
    length = 2 + sum(
        (kernel - 1) * dilation
        for kernel, dilation in zip(config.tdnn_kernel, config.tdnn_dilation, strict=True)
    )
    for kernel, stride in reversed(list(zip(config.conv_kernel, config.conv_stride, strict=True))):
        length = (length - 1) * stride + kernel
    return length


def _audible(clip: audio.Waveform) -> np.ndarray:
    samples = audio.resample(clip, RATE_HZ)
    if np.abs(samples).max() < audio.SILENCE_PEAK:
        raise audio.AudioError("digital silence is nobody's voice")
    return samples


def _unit(values: np.ndarray) -> SpeakerEmbedding:
    """The embedding at length 1 :: (D,); raises AudioError where it has none."""
    wide = values.astype(np.float64)
    length = float(np.linalg.norm(wide))
    if not np.isfinite(length) or length == 0:
        raise audio.AudioError("no speaker embedding can be made of it")
    return SpeakerEmbedding(tuple((wide / length).tolist()))

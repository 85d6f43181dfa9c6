"""`clap`: the joint embeddings of a frozen CLAP, LAION's or Microsoft's."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from auditeval import audio
from auditeval.features.clap.front_end import log_mel
from auditeval.features.clap.load import load_clap
from auditeval.features.clap.models import LaionClap
from auditeval.features.clap.windows import WindowExtractor, unit
from auditeval.features.extractor import AudioFeatures
from auditeval.pretrained.accelerators import Passes, place
from auditeval.pretrained.threads import one_thread
from auditeval.types import UserError

_DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
_ACCELERATOR_BATCH = 64  # on an H200 half as fast again as 16 in float32, twice in bfloat16
_ACCELERATOR_CAPTIONS = 32  # a forward pass, all of one length in tokens
# What decides how given weights are used, over all the configurations of transformers involved.
_COMPUTING = (
    "activation_function", "hidden_act", "layer_norm_eps", "layer_norm_epsilon", "n_head",
    "num_attention_heads", "pad_token_id", "patch_stride", "projection_hidden_act",
    "scale_attn_by_inverse_layer_idx", "scale_attn_weights", "spec_size", "window_size",
)  # fmt: skip
_KEPT = 2  # counts changes of what is kept of a clip: before, no windows
_PROBE = "A dog's bark, 2 bells & rain!"  # tokenizers that differ at all most likely differ here
_UPSTREAM_RATE_HZ, _UPSTREAM_SAMPLES = 16000, 160000


class ClapExtractor(WindowExtractor):
    """A frozen CLAP from `model`: a transformers directory, a hub id or an original .pt file.

    Clips are cut into windows of the length that the model was trained on (10 s; Microsoft 7 or
    5 s), from the start and without overlap. A short window is filled as in training: LAION repeats
    it whole and ends in zeros, Microsoft repeats it to the end.
    The embedding of a clip is the mean of its windows' unit embeddings, weighted by their length,
    at unit norm: no random crop, so the same bytes on every run. On the CPU a window is a forward
    pass of its own and uses one core; threads of the store use the others. A caption is one as
    well: neighbours change no byte. On an accelerator `batch_size` windows make a pass, and up to
    32 captions of one length.

    `upstream_compat` repeats what the authors of AuditEval do with a LAION model: the first 160,000
    samples at 16 kHz, zeros behind a shorter clip, are fed as if they were of 48 kHz. With a
    Microsoft model it pools captions that hold "!" where msclap does.

    `family` says whose architecture it is: "LAION CLAP", "Microsoft CLAP 2022" or "... 2023".
    """

    name = "clap"

    def __init__(
        self,
        model: str,
        tokenizer: str | None = None,
        dtype: str = "float32",
        upstream_compat: bool = False,
        batch_size: int | None = None,
    ) -> None:
        if dtype not in _DTYPES:
            raise UserError(f"dtype {dtype!r} is none of {', '.join(_DTYPES)}")
        if not (batch_size is None or (isinstance(batch_size, int) and batch_size > 0)):
            raise UserError(f"batch_size {batch_size!r}: expected a whole number above 0, or null")
        if not isinstance(upstream_compat, bool):
            raise UserError(f"upstream_compat {upstream_compat!r}: expected true or false")
        model, tokenizer = _found(model), tokenizer and _found(tokenizer)
        self.arguments = {
            "model": model,
            "tokenizer": tokenizer,
            "dtype": dtype,
            "upstream_compat": upstream_compat,
        }
        self._source, self._dtype = model, _DTYPES[dtype]
        self._clap = load_clap(model, tokenizer, upstream_compat)
        self.family = self._clap.family
        self._upstream = upstream_compat and isinstance(self._clap, LaionClap)
        self.revision = self._revision(dtype, upstream_compat)
        self._clap = self._clap.to(self._dtype).requires_grad_(False)
        self._chosen_batch_size = batch_size
        self._set_passes()
        self.dim = self.text_dim = self.joint_dim = self._clap.dim
        front_end = self._clap.front_end
        self.rate_hz = _UPSTREAM_RATE_HZ if self._upstream else front_end.sampling_rate
        self._window = _UPSTREAM_SAMPLES if self._upstream else front_end.nb_max_samples

    def to(self, device: str) -> None:
        """Run on this torch device from now on."""
        self.device = place(device, self._clap)
        self._set_passes()

    def _set_passes(self) -> None:
        on_processor = self.device.type == "cpu"
        self.batch_size = self._chosen_batch_size or (1 if on_processor else _ACCELERATOR_BATCH)
        self._windows = Passes(self.device, self.batch_size)
        if self.device.type == "cuda":
            self._bank = torch.from_numpy(self._clap.mel_bank()).to(self.device)
        self._captions = Passes(self.device, 1 if on_processor else _ACCELERATOR_CAPTIONS)

    def encode_audio(self, clips: Sequence[np.ndarray]) -> list[AudioFeatures]:
        """Mono float32 (N,) clips at `rate_hz` to unit embeddings (dim,), and their windows'.

        Raises audio.AudioError where an embedding is not finite.
        """
        spans = [self._spans(len(clip)) for clip in clips]
        windows = [
            clip[span.start : span.stop]
            for clip, of_clip in zip(clips, spans, strict=True)
            for span in of_clip
        ]
        passes = self._windows(windows, self._embed_pass)
        embeddings = np.concatenate([self._units(made, audio.AudioError) for made in passes])
        ends = np.cumsum([len(of_clip) for of_clip in spans])[:-1]
        return [
            self.of_windows(of_clip, rows)
            for of_clip, rows in zip(spans, np.split(embeddings, ends), strict=True)
        ]

    def encode_text(self, captions: Sequence[str]) -> np.ndarray:
        """Captions to unit embeddings, float32 (len(captions), dim).

        A forward pass takes captions of one length in tokens, so none is padded. Raises UserError
        where an embedding is not finite.
        """
        ids = self._clap.token_ids(captions)
        rows = np.empty((len(captions), self.dim), np.float32)
        lengths: dict[int, list[int]] = {}
        for row, tokens in enumerate(ids):
            lengths.setdefault(len(tokens), []).append(row)
        for same in lengths.values():
            made = self._captions([ids[row] for row in same], self._embed_captions)
            units = [self._units(part, UserError) for part in made]
            rows[same] = np.concatenate(units)
        return rows

    def _spans(self, length: int) -> list[audio.Window]:
        if self._upstream:
            return [audio.Window(0, min(length, self._window), 1.0)]
        return audio.adjoining_windows(length, self._window, self.rate_hz)

    def _embed_pass(self, windows: Sequence[np.ndarray]) -> Tensor:
        if self._upstream:
            windows = [np.pad(window, (0, self._window - len(window))) for window in windows]
        front_end = self._clap.front_end
        with torch.inference_mode(), one_thread():
            if self.device.type == "cuda":
                mel = log_mel(front_end, self._bank, windows)
            else:
                rate_hz = front_end.sampling_rate
                made = [front_end(x, sampling_rate=rate_hz, return_tensors="pt") for x in windows]
                mel = torch.stack([one["input_features"][0].float() for one in made])
            return self._clap.embed_audio(mel.to(self.device, self._dtype))

    def _embed_captions(self, ids: Sequence[list[int]]) -> Tensor:
        with torch.inference_mode(), one_thread():
            return self._clap.embed_text(torch.tensor(ids, device=self.device))

    def _units(self, embeddings: Tensor, failure: type[ValueError]) -> np.ndarray:
        rows = embeddings.float().cpu().numpy()
        if not np.isfinite(rows).all():
            raise failure(
                f"{self._source}: an embedding is not finite in {self._dtype}; its weights are "
                "damaged, or dtype=float32 is needed"
            )
        return unit(rows)

    def _revision(self, dtype: str, upstream_compat: bool) -> str:
        """Of weights, front end, tokens and options: where the model lies does not matter."""
        digest = hashlib.sha256()
        for key, value in sorted(self._clap.state_dict().items()):
            digest.update(f"{key} {tuple(value.shape)}\n".encode())
            digest.update(np.ascontiguousarray(value.numpy()).data)
        digest.update(np.ascontiguousarray(self._clap.mel_bank(), dtype="<f4").data)
        front_end = self._clap.front_end
        settings = {
            name: getattr(front_end, name)
            for name in ("fft_window_size", "hop_length", "nb_max_samples", "padding", "top_db")
        }
        settings |= {"dtype": dtype, "upstream_compat": upstream_compat, "code": 1}
        settings["configs"] = [
            # A release of transformers may know a field as None that another does not know.
            {k: x for k in _COMPUTING if (x := getattr(config, k, None)) is not None}
            for config in self._clap.configs()
        ]
        settings["tokens"] = self._clap.token_ids([_PROBE])
        digest.update(json.dumps(settings, sort_keys=True).encode())
        return f"{digest.hexdigest()[:16]}-{_KEPT}"


def _found(name: str) -> str:
    """A folder or file by its whole path, to be found from any working directory; else a hub id."""
    path = Path(name).expanduser()
    return str(path.resolve()) if path.exists() else name

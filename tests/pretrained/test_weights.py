"""Modules that are read over: nothing is drawn for them, and what is no draw is as it was."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn
from transformers import BertConfig, BertModel, GPT2Config, GPT2Model

from auditeval.pretrained.weights import Undrawn

_SMALL = {"vocab_size": 50, "num_attention_heads": 2, "num_hidden_layers": 1, "hidden_size": 8}


def layers() -> nn.Module:
    block = nn.TransformerEncoderLayer(8, 2, 16)
    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.Embedding(5, 8), block)


@pytest.mark.parametrize(
    "make",
    [
        layers,
        lambda: BertModel(BertConfig(**_SMALL, intermediate_size=16)),
        lambda: GPT2Model(GPT2Config(vocab_size=50, n_embd=8, n_layer=1, n_head=2)),
    ],
    ids=["torch", "BERT", "GPT-2"],
)
def test_only_draws_are_left_out(make: Callable[[], nn.Module]) -> None:
    torch.manual_seed(1)
    one = make().state_dict()
    torch.manual_seed(2)
    other = make().state_dict()
    before = torch.get_rng_state()
    with Undrawn():
        undrawn = make().state_dict()
    assert torch.equal(torch.get_rng_state(), before)
    assert undrawn.keys() == one.keys()
    fixed = [key for key in one if torch.equal(one[key], other[key])]
    assert 0 < len(fixed) < len(one)
    for key in fixed:
        assert torch.equal(undrawn[key], one[key]), key
    torch.manual_seed(1)
    again = make().state_dict()  # outside, all is drawn as before
    assert all(torch.equal(again[key], one[key]) for key in one)

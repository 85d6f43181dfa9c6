"""Microsoft's text towers against GPT-2 and BERT of transformers, run by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import original_files
import pytest
import torch
from original_files import State
from second_environment import weights
from torch.nn import functional
from transformers import GPT2Config, GPT2Model, GPT2TokenizerFast

from auditeval.features.extractors.clap import ClapExtractor

PLAIN = ("a dog barks", "rain on a tin roof, far away", "engine")
# msclap pads with "!", which is the token 0; the last two merge it with others otherwise.
WITH_PAD_TOKEN = ("Help! A man shouts", "stop! now! and a siren", "rain!", "stop!!", "Help ! A man")

Load = Callable[[bool], ClapExtractor]


@pytest.fixture(scope="module")
def state() -> State:
    return original_files.microsoft_2023()


@pytest.fixture(scope="module")
def load(state: State, tiny_clap: Path, tmp_path_factory: pytest.TempPathFactory) -> Load:
    path = tmp_path_factory.mktemp("microsoft") / "2023.pth"
    weights.write_original(path, "ms-clap-2023", state)
    tokenizer = str(tiny_clap / "tokenizers" / "gpt2")
    return lambda compat: ClapExtractor(str(path), tokenizer, upstream_compat=compat)


def by_hand(state: State, folder: Path, caption: str, compat: bool) -> np.ndarray:
    """Unit embedding of a caption, pooled at its end or where msclap pools it :: (dim,)."""
    shape = {"n_embd": 64, "n_positions": 90, "n_layer": 1, "n_head": 1}
    model = GPT2Model(GPT2Config(vocab_size=weights.vocabulary_size("gpt2"), **shape)).eval()
    tower = original_files.under(state, "caption_encoder.base.")
    model.load_state_dict({key: x for key, x in tower.items() if key in model.state_dict()})
    tokenizer = GPT2TokenizerFast.from_pretrained(folder / "tokenizers" / "gpt2")
    if compat:
        tokenizer.add_special_tokens({"pad_token": "!"})
    ids = torch.tensor([tokenizer(f"{caption} <|endoftext|>")["input_ids"]])
    place = int((ids != 0).sum()) - 1 if compat else ids.shape[1] - 1
    projection = original_files.under(state, "caption_encoder.projection.")
    with torch.no_grad():
        pooled = model(input_ids=ids).last_hidden_state[0, place]
        first = projection["linear1.weight"] @ pooled
        both = first + projection["linear2.weight"] @ functional.gelu(first)
        norm = (projection["layer_norm.weight"], projection["layer_norm.bias"])
        made = functional.layer_norm(both, both.shape, *norm).double().numpy()
    return made / np.linalg.norm(made)


@pytest.mark.parametrize("compat", [True, False])
def test_captions_are_pooled_at_their_end_or_where_msclap_does_it(
    state: State, load: Load, tiny_clap: Path, compat: bool
) -> None:
    captions = [*PLAIN, *WITH_PAD_TOKEN]
    for caption, row in zip(captions, load(compat).encode_text(captions), strict=True):
        assert np.abs(row - by_hand(state, tiny_clap, caption, compat)).max() < 1e-6


def test_compat_changes_captions_with_the_pad_token_alone(load: Load) -> None:
    ours, theirs = load(False), load(True)
    assert ours.revision != theirs.revision
    assert np.array_equal(ours.encode_text(PLAIN), theirs.encode_text(PLAIN))
    differences = ours.encode_text(WITH_PAD_TOKEN) - theirs.encode_text(WITH_PAD_TOKEN)
    assert np.abs(differences).max(axis=1).min() > 1e-3


def test_compat_hears_as_before(load: Load) -> None:
    """16 kHz fed as 48 kHz is a matter of LAION's models."""
    ours, theirs = load(False), load(True)
    assert theirs.rate_hz == ours.rate_hz == 44100
    clips = weights.synthetic_clips(44100)
    for first, second in zip(ours.encode_audio(clips), theirs.encode_audio(clips), strict=True):
        assert np.array_equal(first.embedding, second.embedding)
    assert np.abs(first.embedding - ours.encode_audio(clips)[0].embedding).max() > 0.01


@pytest.mark.parametrize("seconds", [3, 7, 9])
def test_windows_are_of_seven_seconds_repeated_and_cut(load: Load, seconds: float) -> None:
    encoder, window = load(False), 7 * 44100
    samples = np.random.default_rng(3).normal(0, 0.1, seconds * 44100).astype(np.float32)
    samples[: window // 4] *= 0.05
    parts = [samples[start : start + window] for start in range(0, len(samples), window)]
    filled = [np.resize(part, window) for part in parts]
    rows = np.stack([features.embedding for features in encoder.encode_audio(filled)])
    expected = np.average(rows, axis=0, weights=[len(part) for part in parts])
    expected /= np.linalg.norm(expected)
    (made,) = encoder.encode_audio([samples])
    assert np.abs(made.embedding - expected).max() < 1e-6

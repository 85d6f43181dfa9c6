"""Native loading of the originals' files against what the originals made of the same files.

The references hold embeddings of random weights, made once by the original packages; the weights
themselves are drawn again here (tests/second_environment).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
from second_environment import weights

from auditeval.features.extractors.clap import ClapExtractor

BAR = 1e-5
# What a wrong mapping costs at least; measured: 1.5e-3 (CNN14, another mel bank) to 1.5e-1.
SEEN = 100 * BAR
PAD_TOKEN_CAPTION = next(i for i, caption in enumerate(weights.CAPTIONS) if "!" in caption)

State = dict[str, torch.Tensor]


@pytest.fixture(scope="session")
def tokenizers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tokenizers")
    weights.write_tokenizers(folder)
    return folder


Load = Callable[..., ClapExtractor]


@pytest.fixture(scope="session")
def load(tmp_path_factory: pytest.TempPathFactory, tokenizers: Path) -> Load:
    """An encoder from a state dict, by way of a file in the original's format."""
    path = tmp_path_factory.mktemp("originals") / "original.pt"

    def run(name: str, state: State, upstream_compat: bool = False) -> ClapExtractor:
        weights.write_original(path, name, state)
        tokenizer = tokenizers / weights.FORMATS[name].tokenizer
        encoder = ClapExtractor(str(path), str(tokenizer), upstream_compat=upstream_compat)
        path.unlink()
        return encoder

    return run


def reference(name: str) -> weights.Reference:
    return weights.Reference.load(weights.REFERENCES / f"{name}.npz")


@lru_cache(maxsize=1)  # to draw a hundred million numbers takes half a second
def drawn(name: str) -> Mapping[str, torch.Tensor]:
    return reference(name).state()


class Loaded(NamedTuple):
    """One original: its own embeddings, and the native encoder of the same file."""

    form: weights.Format
    original: weights.Reference
    native: ClapExtractor


@pytest.fixture(scope="module", params=weights.FORMATS)
def loaded(request: pytest.FixtureRequest, load: Load) -> Loaded:
    name = request.param
    made = reference(name)
    # msclap 2023 pools a caption that holds "!" too early; the references have that in them.
    native = load(name, made.state(), upstream_compat=name == "ms-clap-2023")
    return Loaded(weights.FORMATS[name], made, native)


def embeddings(encoder: ClapExtractor, clips: list[np.ndarray]) -> np.ndarray:
    return np.stack([features.embedding for features in encoder.encode_audio(clips)])


def largest(ours: np.ndarray, theirs: np.ndarray) -> float:
    return float(np.abs(ours - theirs).max())


def test_synthetic_clips(loaded: Loaded) -> None:
    made = embeddings(loaded.native, weights.synthetic_clips(loaded.form.rate_hz))
    assert largest(made, loaded.original.synthetic) < BAR


def test_recordings(loaded: Loaded, shared_data: Path) -> None:
    made = embeddings(loaded.native, weights.real_clips(shared_data, loaded.form))
    assert largest(made, loaded.original.real) < BAR


def test_captions(loaded: Loaded) -> None:
    made = loaded.native.encode_text(weights.CAPTIONS)
    assert largest(made, loaded.original.text) < BAR


def test_pad_token_is_a_word_without_upstream_compat(load: Load) -> None:
    made = reference("ms-clap-2023")
    ours = load("ms-clap-2023", made.state()).encode_text(weights.CAPTIONS)
    differences = np.abs(ours - made.text).max(axis=1)
    assert differences[PAD_TOKEN_CAPTION] > SEEN
    assert np.delete(differences, PAD_TOKEN_CAPTION).max() < BAR


def swap_queries_and_keys(state: State) -> None:
    for key in state:
        if ".attn.qkv." in key:
            queries, keys, values = state[key].chunk(3)
            state[key] = torch.cat([keys, queries, values])


def swap_norms(state: State) -> None:
    for key in list(state):
        if ".norm1." in key:
            other = key.replace(".norm1.", ".norm2.")
            state[key], state[other] = state[other], state[key]


def zero_a_bias_table(state: State) -> None:
    key = next(key for key in state if key.endswith("relative_position_bias_table"))
    state[key] = torch.zeros_like(state[key])


def forget_bn0_statistics(state: State) -> None:
    for key in state:
        if key.endswith("bn0.running_mean"):
            state[key] = torch.zeros_like(state[key])
        elif key.endswith("bn0.running_var"):
            state[key] = torch.ones_like(state[key])


def turn_bn0_by_one_band(state: State) -> None:
    for key in state:
        if ".bn0.running" in key:
            state[key] = state[key].roll(1)


@pytest.mark.parametrize(
    "spoil",
    [
        swap_queries_and_keys,
        swap_norms,
        zero_a_bias_table,
        forget_bn0_statistics,
        turn_bn0_by_one_band,
    ],
)
def test_wrong_mapping_is_seen(load: Load, spoil: Callable[[State], None]) -> None:
    made = reference("laion-htsat-tiny")
    state = dict(drawn("laion-htsat-tiny"))
    spoil(state)
    spoiled = load("laion-htsat-tiny", state)
    assert largest(one_clip(spoiled), made.synthetic[:1]) > SEEN


def one_clip(encoder: ClapExtractor) -> np.ndarray:
    return embeddings(encoder, weights.synthetic_clips(encoder.rate_hz)[:1])


def test_wrong_mel_bank_is_seen(loaded: Loaded, monkeypatch: pytest.MonkeyPatch) -> None:
    """LAION: each of the two banks is wrong for the other; Microsoft: one made for its rate."""
    from transformers.audio_utils import mel_filter_bank

    front_end = loaded.native._clap.front_end
    banks = {"mel_filters": front_end.mel_filters_slaney, "mel_filters_slaney": None}
    banks["mel_filters_slaney"] = front_end.mel_filters
    if loaded.form is not weights.LAION:
        banks["mel_filters_slaney"] = mel_filter_bank(
            513, 64, 50.0, 8000.0, 44100, norm="slaney", mel_scale="slaney"
        )
    for name, bank in banks.items():
        monkeypatch.setattr(front_end, name, bank)
    assert largest(one_clip(loaded.native), loaded.original.synthetic[:1]) > SEEN


def test_bank_of_microsoft_is_read_from_the_file(load: Load) -> None:
    made = reference("ms-clap-2023")
    state = made.state()
    key = next(key for key in state if key.endswith("logmel_extractor.melW"))
    state[key] = state[key].roll(1, dims=1)
    assert largest(one_clip(load("ms-clap-2023", state)), made.synthetic[:1]) > SEEN

"""Every tensor finds its place and every place its tensor: no file is half loaded."""

from __future__ import annotations

import re
from pathlib import Path

import original_files
import pytest
import torch
from original_files import State
from transformers import ClapModel

from auditeval.features.clap import SUPPORTED, originals
from auditeval.features.clap.models import Clap
from auditeval.types import UserError

NARROW = (2, 2, 2, 2, 2, 4)
# Front end, classifiers, training's own layers, and what transformers computes itself.
NEEDLESS = re.compile(
    r"spectrogram_extractor|\.head\.|tscam_conv|attn_mask|_transform\.|position_ids"
    r"|relative_position_index|fc_audioset|\.attn\.(masked_)?bias$|base\.pooler|num_batches_tracked"
    r"|^logit_scale$|^audio_branch\.logmel"
)


@pytest.fixture(params=["laion", "2023", "2022"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """One of the formats; CNN14 is narrowed, it would hold 80 million numbers."""
    from auditeval.features import cnn14_network as cnn14

    monkeypatch.setattr(cnn14, "WIDTHS", NARROW)
    monkeypatch.setattr(cnn14.Cnn14, "DIM", NARROW[-1])
    return request.param


@pytest.fixture
def state(kind: str, tiny_clap: Path) -> State:
    if kind == "laion":
        return original_files.laion(ClapModel.from_pretrained(tiny_clap))
    if kind == "2023":
        return original_files.microsoft_2023()
    return original_files.microsoft_2022(NARROW)


def load(state: State, monkeypatch: pytest.MonkeyPatch) -> Clap:
    """As from a file with these tensors."""
    monkeypatch.setattr(originals, "read", lambda *_: dict(state))
    monkeypatch.setattr(originals, "load_tokenizer", lambda *_: None)
    return originals.load_original(Path("model.pt"), None, False)


def refused(state: State, monkeypatch: pytest.MonkeyPatch) -> str:
    with pytest.raises(UserError) as caught:
        load(state, monkeypatch)
    said = str(caught.value)
    assert len(said.splitlines()) == 1
    assert said.startswith("model.pt: ")
    assert said.endswith(f"; {SUPPORTED}")
    return said


def needed(state: State) -> dict[str, torch.Tensor]:
    """What no file may lack, of the first of the four stages of HTSAT."""
    return {
        key: value
        for key, value in state.items()
        if not NEEDLESS.search(key) and not re.search(r"\blayers\.[123]\.", key)
    }


def test_a_whole_file_is_loaded_with_or_without_the_needless(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = load(state, monkeypatch).state_dict()
    less = {key: value for key, value in state.items() if not NEEDLESS.search(key)}
    assert len(less) < len(state) - 5
    second = load(less, monkeypatch).state_dict()
    for key in first.keys() - {k for k in first if k.endswith("num_batches_tracked")}:
        assert torch.equal(first[key], second[key])


def test_the_architecture_tells_whose_it_is(
    kind: str, state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    families = {"laion": "LAION CLAP", "2023": "Microsoft CLAP 2023", "2022": "Microsoft CLAP 2022"}
    assert load(state, monkeypatch).family == families[kind]


def test_one_tensor_missing(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in needed(state):
        refused({k: value for k, value in state.items() if k != key}, monkeypatch)


def test_one_tensor_of_another_shape(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    for index, (key, value) in enumerate(needed(state).items()):
        if value.dim():  # torch takes a vector of one number for a number
            others = (value[None], value[0], torch.cat([value, value], dim=-1))
            refused({**state, key: others[index % 3]}, monkeypatch)


def test_one_tensor_too_many(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = {key.rpartition(".")[0] for key in needed(state)}
    folders |= {folder.partition(".")[0] for folder in folders}
    for folder in sorted(folders - {""}):
        if not folder.endswith("logmel_extractor"):
            surplus = {f"{folder}.surplus": torch.zeros(3)}
            assert "surplus" in refused({**state, **surplus}, monkeypatch)
    assert "surplus" in refused({**state, "surplus": torch.zeros(3)}, monkeypatch)

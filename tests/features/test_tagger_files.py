"""Files that are no CNN14, VGGish or YAMNet: refused with one sentence, and nothing in them run."""

from __future__ import annotations

import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from second_environment import tagger_weights

from auditeval.features import make_extractor
from auditeval.features.extractors.cnn14 import FRONT_ENDS
from auditeval.types import UserError


class Intruder:
    """Unpickled without care, it makes a file."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.marker),)


def bank() -> torch.Tensor:
    return torch.from_numpy(FRONT_ENDS[0].mel_bank()).float()


def text(path: Path) -> None:
    path.write_text("mAP 0.431")


def truncated(path: Path) -> None:
    torch.save({"model": {"fc1.weight": torch.zeros(100, 100)}}, path)
    path.write_bytes(path.read_bytes()[:20000])


def bare_pickle(path: Path) -> None:
    path.write_bytes(pickle.dumps({"model": Intruder(path.with_name("marker"))}))


def code_beside_the_weights(path: Path) -> None:
    torch.save(
        {"model": {"a": torch.zeros(1)}, "sampler": Intruder(path.with_name("marker"))}, path
    )


def another_network(path: Path) -> None:
    torch.save(torch.nn.TransformerEncoderLayer(8, 2, 8).state_dict(), path)


def half_a_network(path: Path) -> None:
    torch.save({tagger_weights.MEL_BANK: bank(), "features.0.bias": torch.zeros(64)}, path)


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
@pytest.mark.parametrize("name", ["cnn14", "vggish"])
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (text, "is a text file"),
        (truncated, "is a truncated PyTorch file|is a ZIP archive but no whole"),
        (bare_pickle, "is a pickle, not a PyTorch file"),
        (code_beside_the_weights, "asks for Python code to be run"),
        (another_network, "is no (CNN14 of PANNs|checkpoint of torchvggish's VGGish)"),
        (half_a_network, "is no checkpoint of (PANNs' CNN14|torchvggish's VGGish): lacks"),
    ],
)
def test_wrong_file_is_one_sentence(
    name: str, make: Callable[[Path], None], said: str, tmp_path: Path
) -> None:
    path = tmp_path / "weights.pth"
    make(path)
    with pytest.raises(UserError, match=said) as caught:
        make_extractor(name, checkpoint=str(path))
    assert str(caught.value).startswith(f"{path}: ")
    assert len(str(caught.value).splitlines()) == 1
    assert "CLAP" not in str(caught.value)
    assert not (tmp_path / "marker").exists()


def test_no_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        make_extractor("cnn14", checkpoint=str(tmp_path / "none.pth"))
    with pytest.raises(UserError, match="is a folder"):
        make_extractor("vggish", checkpoint=str(tmp_path))


def test_weights_with_more_or_with_nan_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "vggish.pth"
    state = tagger_weights.zeros(tagger_weights.Reference.load("vggish").layout)
    state["pproc.pca_means"] = torch.zeros(128, 1)
    torch.save(state, path)
    with pytest.raises(UserError, match=r"holds beyond it pproc.pca_means \(1 tensors\)"):
        make_extractor("vggish", checkpoint=str(path))
    del state["pproc.pca_means"]
    for broken in (torch.nan, torch.inf, -torch.inf):
        state["embeddings.2.bias"] = torch.zeros(4096)
        state["embeddings.2.bias"][7] = broken
        torch.save(state, path)
        with pytest.raises(UserError, match=r"not finite in embeddings.2.bias"):
            make_extractor("vggish", checkpoint=str(path))
    state["embeddings.2.bias"] = torch.zeros(7)
    torch.save(state, path)
    with pytest.raises(UserError, match=r"size mismatch for embeddings.2.bias"):
        make_extractor("vggish", checkpoint=str(path))


def other_archive(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("readme.txt", "nothing")


def no_graph(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("model.onnx", "nothing")
        made.writestr("model.data", "nothing")


@pytest.mark.parametrize("make", [text, truncated, other_archive, no_graph, None])
def test_wrong_archive_of_yamnet_is_one_sentence(
    make: Callable[[Path], None] | None, tmp_path: Path
) -> None:
    path = tmp_path / "yamnet.zip"
    if make is not None:
        make(path)
    with pytest.raises(UserError, match="is no YAMNet") as caught:
        make_extractor("yamnet", weights=str(path))
    assert str(caught.value).startswith(f"{path}: ")
    assert len(str(caught.value).splitlines()) == 1

"""Wrong checkpoint files: refused with one sentence, nothing in them run, nothing half loaded."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import pickle
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import original_files
import pytest
import soundfile
import torch
from original_files import State
from safetensors.torch import load_file, save_file
from second_environment import weights
from transformers import BertConfig, BertModel, ClapModel

from auditeval.features.clap import SUPPORTED
from auditeval.features.clap.load import load_clap
from auditeval.features.clap.originals import load_original
from auditeval.features.extractors.clap import ClapExtractor
from auditeval.pretrained.torch_files import read
from auditeval.types import UserError


@pytest.fixture(scope="module")
def laion_state(tiny_clap: Path) -> State:
    return original_files.laion(ClapModel.from_pretrained(tiny_clap))


def refusal(path: Path, tokenizers: Path | None = None) -> str:
    """What is said of a wrong file, behind its path and before what is supported."""
    with pytest.raises(UserError) as caught:
        load_clap(str(path), str(tokenizers) if tokenizers else None)
    said = str(caught.value)
    assert len(said.splitlines()) == 1
    assert "Traceback" not in said
    assert said.startswith(f"{path}: ")
    assert said.endswith(f"; {SUPPORTED}")
    assert said.count(SUPPORTED) == 1
    assert len(said.replace(str(path), "")) < len(SUPPORTED) + 250
    return said.removeprefix(f"{path}: ").removesuffix(f"; {SUPPORTED}")


class Intruder:
    """Unpickled without care, it makes a file."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.marker),)


def test_the_intruder_would_make_its_mark(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(Intruder(tmp_path / "marker")))
    assert (tmp_path / "marker").exists()


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
@pytest.mark.parametrize("protocol", [0, 2, 4, 5])
def test_a_pickle_is_refused_and_runs_nothing(tmp_path: Path, protocol: int) -> None:
    path, marker = tmp_path / "model.pt", tmp_path / "marker"
    path.write_bytes(pickle.dumps({"state_dict": {"a": 1}}, protocol))
    harmless = refusal(path)
    path.write_bytes(pickle.dumps({"state_dict": Intruder(marker)}, protocol))
    intruding = refusal(path)
    assert not marker.exists()
    if protocol:
        assert harmless == intruding
        assert harmless.startswith("is a pickle, not a PyTorch file; it can run code when loaded")


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("place", ["state_dict", "optimizer", "a tensor's"])
def test_an_intruder_in_a_pytorch_file_runs_nothing(
    laion_state: State, tmp_path: Path, place: str, zipped: bool
) -> None:
    path, marker = tmp_path / "model.pt", tmp_path / "marker"
    content: dict[str, Any] = {"state_dict": dict(laion_state), "optimizer": {}}
    if place == "a tensor's":
        content["state_dict"]["logit_scale_a"] = Intruder(marker)
    else:
        content[place] = Intruder(marker)
    torch.save(content, path, _use_new_zipfile_serialization=zipped)
    assert refusal(path) == (
        f"asks for Python code to be run ({os.mkdir.__module__}.mkdir), which is refused"
    )
    assert not marker.exists()


def test_numpy_arrays_beside_the_weights_are_read_as_nothing(
    laion_state: State, tmp_path: Path
) -> None:
    path, marker = tmp_path / "model.pt", tmp_path / "marker"
    arrays = [np.arange(5), np.ones((2, 3), np.float32)]
    torch.save({"state_dict": laion_state, "sampler": arrays}, path)
    assert read(path, SUPPORTED).keys() == laion_state.keys()
    rename_numpy(path, tmp_path / "numpy-1.pt")
    assert read(tmp_path / "numpy-1.pt", SUPPORTED).keys() == laion_state.keys()
    torch.save({"state_dict": {**laion_state, "logit_scale_a": np.ones(1)}}, path)
    assert refusal(path).startswith("holds a dictionary of")
    torch.save({"state_dict": laion_state, "a": np.array([Intruder(marker)], object)}, path)
    assert "asks for Python code to be run" in refusal(path)
    assert not marker.exists()


def rename_numpy(path: Path, older: Path) -> None:
    """Numpy 1 wrote another name for the same functions."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(older, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"numpy._core.multi", b"numpy.core.multi"))


def test_the_settings_of_a_training_script_are_refused_by_name(
    laion_state: State, tmp_path: Path
) -> None:
    torch.save({"state_dict": laion_state, "args": argparse.Namespace(lr=1)}, tmp_path / "m.pt")
    assert "(argparse.Namespace)" in refusal(tmp_path / "m.pt")


@pytest.mark.parametrize("value", [np.float64(1e-4), np.float32(1e-4), np.int64(3)])
def test_numpy_scalars_of_a_training_script_are_read(
    laion_state: State, tiny_clap: Path, tmp_path: Path, value: np.generic
) -> None:
    path = tmp_path / "model.pt"
    torch.save({"optimizer": {"lr": value}, "state_dict": laion_state}, path)
    assert read(path, SUPPORTED).keys() == laion_state.keys()
    rename_numpy(path, tmp_path / "numpy-1.pt")
    assert read(tmp_path / "numpy-1.pt", SUPPORTED).keys() == laion_state.keys()


def test_the_format_of_the_authors_is_read(
    laion_state: State, tiny_clap: Path, tmp_path: Path
) -> None:
    weights.write_original(tmp_path / "model.pt", "laion-htsat-tiny", laion_state)
    tensors = read(tmp_path / "model.pt", SUPPORTED)
    assert tensors.keys() == laion_state.keys()
    assert all(torch.equal(tensors[key], value) for key, value in laion_state.items())
    assert ClapExtractor(str(tmp_path / "model.pt"), str(tiny_clap)).dim == 32


@pytest.mark.parametrize("kind", ["float16 scalar", "array of objects", "random state"])
def test_what_is_neither_tensor_nor_number_is_named(
    laion_state: State, tmp_path: Path, kind: str
) -> None:
    extra = {
        "float16 scalar": np.float16(1),
        "array of objects": np.array([None], object),
        "random state": np.random.RandomState(1),
    }[kind]
    torch.save({"state_dict": laion_state, "extra": extra}, tmp_path / "model.pt")
    said = refusal(tmp_path / "model.pt")
    assert "numpy" in said
    assert "which is refused" in said


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("kept", [200, 0.1, 0.5, 0.9, -700, -20, -1])
def test_a_truncated_file_is_called_that(
    laion_state: State, tmp_path: Path, kept: float, zipped: bool
) -> None:
    path = tmp_path / "model.pt"
    torch.save({"state_dict": laion_state}, path, _use_new_zipfile_serialization=zipped)
    data = path.read_bytes()
    path.write_bytes(data[: round(kept * len(data)) if 0 < kept < 1 else int(kept)])
    assert refusal(path).startswith("is a truncated PyTorch file")


def as_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("notes.txt", "nothing of the kind")


def as_npz(path: Path) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, weight=np.zeros(3))
    path.write_bytes(buffer.getvalue())


def as_torchscript(path: Path) -> None:
    torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), path)


def as_wav(path: Path) -> None:
    soundfile.write(path, np.zeros(4000), 16000, format="WAV")


NO_WEIGHTS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "empty": (lambda path: path.write_bytes(b""), "is empty"),
    "text": (lambda path: path.write_text("hello\n" * 500), "is a text file"),
    "one word": (lambda path: path.write_text("404"), "is a text file"),
    "json": (lambda path: path.write_text(json.dumps({"model_type": "clap"})), "is a text file"),
    "wav": (as_wav, "is no PyTorch file"),
    "zip": (as_zip, "is a ZIP archive but no whole PyTorch file"),
    "npz": (as_npz, "is a ZIP archive but no whole PyTorch file"),
    "torchscript": (as_torchscript, "is a ZIP archive but no whole PyTorch file"),
    "noise": (
        lambda path: path.write_bytes(np.random.default_rng(0).bytes(3000)),
        "is no PyTorch file",
    ),
    "a tensor": (lambda path: torch.save(torch.zeros(3), path), "holds a Tensor and no model"),
    "a list": (lambda path: torch.save([1, 2], path), "holds a list and no model"),
    "nothing": (lambda path: torch.save({}, path), "holds nothing and no model"),
    "numbers": (
        lambda path: torch.save({"epoch": 3, "loss": 0.5}, path),
        "holds a dictionary of 2 entries ('epoch', 'loss') and no model",
    ),
    "an empty state": (
        lambda path: torch.save({"state_dict": {}}, path),
        "holds nothing and no model",
    ),
}


@pytest.mark.filterwarnings("ignore:.*TorchScript archive")
@pytest.mark.parametrize(("write", "found"), NO_WEIGHTS.values(), ids=NO_WEIGHTS)
def test_a_file_without_weights_is_called_what_it_is(
    tmp_path: Path, write: Callable[[Path], Any], found: str
) -> None:
    write(tmp_path / "model.pt")
    assert refusal(tmp_path / "model.pt").startswith(found)


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "absent.pt") == "no such file or folder"
    assert refusal(tmp_path / "absent folder") == "no such file or folder"
    with pytest.raises(UserError, match="no such file"):
        load_original(tmp_path / "absent.pt", None, False)


def test_folders_of_other_things_are_refused(tiny_clap: Path, tmp_path: Path) -> None:
    bare, bert = tmp_path / "bare", tmp_path / "bert"
    bare.mkdir()
    assert refusal(bare) == "holds no readable config.json"
    (bare / "config.json").write_text("{")
    assert refusal(bare) == "holds no readable config.json"
    small = {"hidden_size": 8, "num_attention_heads": 1, "num_hidden_layers": 1, "vocab_size": 9}
    BertModel(BertConfig(intermediate_size=8, **small)).save_pretrained(bert)
    assert refusal(bert) == "is a transformers model of type bert"
    weightless = shutil.copytree(tiny_clap, tmp_path / "weightless")
    (weightless / "model.safetensors").unlink()
    assert "model.safetensors" in refusal(weightless)


def test_a_folder_runs_no_code_of_its_own(tiny_clap: Path, tmp_path: Path) -> None:
    folder, marker = tmp_path / "custom", tmp_path / "marker"
    folder.mkdir()
    own = {"AutoConfig": "own.OwnConfig", "AutoModel": "own.OwnModel"}
    (folder / "config.json").write_text(json.dumps({"model_type": "own", "auto_map": own}))
    (folder / "own.py").write_text(f"import os\nos.mkdir({str(marker)!r})\n")
    assert refusal(folder) == "is a transformers model of type own"
    assert not marker.exists()
    tokenizer = shutil.copytree(tiny_clap, tmp_path / "tokenizer")
    own = {"auto_map": {"AutoTokenizer": ["own.OwnTokenizer", "own.OwnTokenizer"]}}
    (tokenizer / "tokenizer_config.json").write_text(json.dumps(own))
    shutil.copy(folder / "own.py", tokenizer)
    with contextlib.suppress(UserError):
        load_clap(str(tokenizer))
    assert not marker.exists()


def one_missing(weights: State) -> None:
    del weights["logit_scale_a"]


def one_too_many(weights: State) -> None:
    weights["audio_model.surplus"] = torch.zeros(2)


def one_of_another_shape(weights: State) -> None:
    weights["audio_projection.linear1.bias"] = torch.zeros(31)


@pytest.mark.parametrize("spoil", [one_missing, one_too_many, one_of_another_shape])
def test_a_folder_is_never_half_loaded(
    tiny_clap: Path, tmp_path: Path, spoil: Callable[[State], None]
) -> None:
    folder = shutil.copytree(tiny_clap, tmp_path / "folder")
    tensors = load_file(folder / "model.safetensors")
    spoil(tensors)
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(UserError, match=r"logit_scale_a|surplus|mismatch") as caught:
        load_clap(str(folder))
    assert len(str(caught.value).splitlines()) == 1


def renamed(state: State, old: str, new: str) -> State:
    return {key.replace(old, new): value for key, value in state.items()}


def other_network(state: State) -> State:
    return torch.nn.TransformerEncoderLayer(8, 2, 8).state_dict()


def pann_audio(state: State) -> State:
    cnn14 = original_files.under(original_files.microsoft_2022((2,) * 6), "audio_encoder.base.")
    text = {key: value for key, value in state.items() if "audio_branch." not in key}
    return text | {f"audio_branch.{key}": value for key, value in cnn14.items()}


def bert_text(state: State) -> State:
    key = "text_branch.embeddings.token_type_embeddings.weight"
    return state | {key: torch.zeros(2, 64)}


def clapcap(state: State) -> State:
    return {"clap.base.weight": torch.zeros(2), "gpt.wte.weight": torch.zeros(2)}


def transformers_state(state: State) -> State:
    return renamed(state, "audio_branch.", "audio_model.audio_encoder.")


def head(state: State) -> State:
    return {f"model.{layer}.weight": torch.zeros(2, 2) for layer in (0, 3, 5, 7, 9, 11)}


def other_microsoft(state: State) -> State:
    return renamed(original_files.microsoft_2023(), "wte", "embed")


def bankless(state: State) -> State:
    made = original_files.microsoft_2023()
    return {key: value for key, value in made.items() if "melW" not in key}


OTHER_WEIGHTS: dict[str, tuple[Callable[[State], State], str]] = {
    "another network": (other_network, "holds the weights of another model (self_attn.in_proj"),
    "PANN audio": (pann_audio, "is a LAION CLAP whose audio tower is no HTSAT"),
    "BERT text": (bert_text, "is a LAION CLAP whose text tower is no RoBERTa"),
    "clapcap": (clapcap, "holds a captioning model around Microsoft CLAP (clapcap)"),
    "transformers": (transformers_state, "holds the weights of a transformers CLAP"),
    "a head": (head, "holds a head of AuditEval-ssl, not a CLAP (auditeval convert takes"),
    "another Microsoft": (other_microsoft, "is a Microsoft CLAP of neither 2022 (CNN14 and BERT)"),
    "without its bank": (bankless, "is a Microsoft CLAP without its mel bank"),
}


@pytest.mark.parametrize(("make", "found"), OTHER_WEIGHTS.values(), ids=OTHER_WEIGHTS)
def test_weights_of_another_model_are_called_what_they_are(
    laion_state: State, tmp_path: Path, make: Callable[[State], State], found: str
) -> None:
    torch.save({"state_dict": make(laion_state)}, tmp_path / "model.pt")
    assert refusal(tmp_path / "model.pt").startswith(found)

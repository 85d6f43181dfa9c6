"""`auditeval convert`: an original file and the directory made of it are one encoder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import original_files
import pytest
import torch
from commands import content, every_file
from second_environment import weights
from transformers import ClapModel, ClapProcessor

from auditeval.features import cnn14_network as cnn14
from auditeval.features.clap import load
from auditeval.features.extractors.clap import ClapExtractor
from auditeval.types import UserError

CAPTIONS = ["A dog barks.", "Rain on a roof, then thunder!", "engine"]
WIDTHS = (2, 4, 4, 4, 4, 8)
TOKENIZERS = {
    "laion": "roberta-base",
    "laion-fused": "roberta-base",
    "microsoft-2023": "gpt2",
    "microsoft-2022": "bert-base-uncased",
}


@pytest.fixture(params=TOKENIZERS)
def name(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """One of the formats. CNN14 is narrowed, its file would hold 80 million numbers."""
    monkeypatch.setattr(cnn14, "WIDTHS", WIDTHS)
    monkeypatch.setattr(cnn14.Cnn14, "DIM", WIDTHS[-1])
    return request.param


@pytest.fixture
def tokenizer(name: str, tiny_clap: Path) -> Path:
    return tiny_clap / "tokenizers" / TOKENIZERS[name]


@pytest.fixture
def original(name: str, tiny_clap: Path, tmp_path: Path) -> Path:
    """A file as its authors publish it."""
    if name == "laion":
        state = original_files.laion(ClapModel.from_pretrained(tiny_clap))
    elif name == "laion-fused":
        from random_clap import write_tiny_clap

        fused = write_tiny_clap(tmp_path / "fused", fused=True)
        state = original_files.laion(ClapModel.from_pretrained(fused))
    elif name == "microsoft-2023":
        state = original_files.microsoft_2023()
    else:
        state = original_files.microsoft_2022(WIDTHS)
    weights.write_original(tmp_path / "original.pt", name, state)
    return tmp_path / "original.pt"


@pytest.fixture
def laion(tiny_clap: Path, tmp_path: Path) -> Path:
    path = tmp_path / "630k.pt"
    state = original_files.laion(ClapModel.from_pretrained(tiny_clap))
    weights.write_original(path, "laion-htsat-tiny", state)
    return path


def embeddings(encoder: ClapExtractor) -> list[np.ndarray]:
    """Of a short clip, a longer one and some captions."""
    short, longer = weights.synthetic_clips(encoder.rate_hz)
    made = encoder.encode_audio([short, np.tile(longer, 3)])
    return [*(features.embedding for features in made), *encoder.encode_text(CAPTIONS)]


def test_a_directory_is_the_same_encoder_as_its_file(
    cli: Any, original: Path, tokenizer: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "made" / "clap"
    ended = cli("convert", original, "-o", folder, "--tokenizer", tokenizer)
    assert ended.status == 0, ended.err
    assert f"{folder}: " in ended.out
    assert "32 dimensions" in ended.out
    assert list(folder.parent.iterdir()) == [folder]
    before, after = ClapExtractor(str(original), str(tokenizer)), ClapExtractor(str(folder))
    assert after.revision == before.revision
    for first, second in zip(embeddings(before), embeddings(after), strict=True):
        np.testing.assert_allclose(first, second, rtol=0, atol=1e-6)
    before = ClapExtractor(str(original), str(tokenizer), upstream_compat=True)
    assert before.revision != after.revision
    assert before.revision == ClapExtractor(str(folder), upstream_compat=True).revision


@pytest.mark.parametrize("fused", [False, True])
def test_an_original_of_laion_is_the_model_that_it_was_rebuilt_from(
    tmp_path: Path, fused: bool
) -> None:
    from random_clap import write_tiny_clap

    folder = write_tiny_clap(tmp_path / "model", fused=fused)
    state = original_files.laion(ClapModel.from_pretrained(folder))
    weights.write_original(tmp_path / "original.pt", "laion", state)
    tokenizer = folder / "tokenizers" / "roberta-base"
    original = ClapExtractor(str(tmp_path / "original.pt"), str(tokenizer))
    model = ClapExtractor(str(folder))
    assert original.revision == model.revision
    for first, second in zip(embeddings(original), embeddings(model), strict=True):
        np.testing.assert_allclose(first, second, rtol=0, atol=1e-6)


def test_a_directory_holds_no_pickle(
    cli: Any, original: Path, tokenizer: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "clap"
    assert cli("convert", original, "-o", folder, "--tokenizer", tokenizer).status == 0
    made = every_file(folder)
    assert "model.safetensors" in made
    assert "config.json" in made
    for path, data in made.items():
        if path.endswith(".json"):
            json.loads(data)
        elif not path.endswith(".safetensors"):
            assert path in ("merges.txt", "vocab.txt")
            data.decode()
    # Nothing in there leads back to where the file or its tokenizer lay.
    texts = b"".join(data for path, data in made.items() if not path.endswith(".safetensors"))
    assert str(tmp_path).encode() not in texts
    assert str(tokenizer).encode() not in texts


def test_transformers_loads_what_was_of_laion(
    cli: Any, laion: Path, tiny_clap: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "clap"
    tokenizer = tiny_clap / "tokenizers" / "roberta-base"
    assert cli("convert", laion, "-o", folder, "--tokenizer", tokenizer).status == 0
    model, expected = (ClapModel.from_pretrained(place).eval() for place in (folder, tiny_clap))
    assert model.state_dict().keys() == expected.state_dict().keys()
    for key, value in expected.state_dict().items():
        assert torch.equal(model.state_dict()[key], value), key
    processor, reference = (ClapProcessor.from_pretrained(p) for p in (folder, tiny_clap))
    clip = weights.synthetic_clips(48000)[0]
    inputs = [
        one(text=CAPTIONS, audio=clip, sampling_rate=48000, padding=True, return_tensors="pt")
        for one in (processor, reference)
    ]
    for key in ("input_ids", "attention_mask", "input_features"):
        assert torch.equal(inputs[0][key], inputs[1][key])
    with torch.no_grad():
        outputs = [
            one(**{**given, "input_features": given["input_features"].float()})
            for one, given in zip((model, expected), inputs, strict=True)
        ]
    assert torch.equal(outputs[0].logits_per_audio, outputs[1].logits_per_audio)
    assert torch.equal(outputs[0].text_embeds, outputs[1].text_embeds)


def test_an_existing_output_is_refused_and_left_as_it_was(
    cli: Any, laion: Path, tiny_clap: Path, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    before = every_file(tmp_path)
    for name in ("folder", "file"):
        ended = cli("convert", laion, "-o", tmp_path / name, "--tokenizer", tiny_clap)
        assert ended.status == 2
        assert ended.sentence.startswith(f"{tmp_path / name}: exists already")
    assert every_file(tmp_path) == before


def test_a_failed_conversion_leaves_nothing(
    laion: Path, tiny_clap: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    before = every_file(tmp_path)
    monkeypatch.setattr(ClapModel, "save_pretrained", fail)
    with pytest.raises(OSError, match="No space left"):
        load.convert(laion, tmp_path / "clap", str(tiny_clap))
    assert every_file(tmp_path) == before
    assert sorted(tmp_path.iterdir()) == [laion]


def test_what_cannot_be_converted_is_a_sentence_and_leaves_nothing(
    cli: Any, laion: Path, tiny_clap: Path, tmp_path: Path
) -> None:
    short = content(tmp_path / "short.pt", laion.read_bytes()[:5000])
    text = content(tmp_path / "text.pt", b"no weights\n")
    empty, bert = tmp_path / "empty", tiny_clap / "tokenizers" / "bert-base-uncased"
    empty.mkdir()
    before = sorted(tmp_path.iterdir())
    for given, said in (
        ([short], f"{short}: is a truncated PyTorch file"),
        ([text], f"{text}: is a text file"),
        ([tmp_path / "absent.pt"], f"{tmp_path / 'absent.pt'}: no such file"),
        ([tiny_clap], f"{tiny_clap}: is a folder, not a file"),
        ([laion, laion], "give one CLAP file"),
        ([laion, "--base", tiny_clap], "--base is for a Qwen2.5-Omni evaluator"),
        ([laion, "--tokenizer", empty], f"{empty}: the tokenizer "),
        ([laion, "--tokenizer", bert], f"{bert}: the tokenizer knows 5 tokens and the model 274"),
        ([laion, "--tokenizer", "no/such/folder"], "no/such/folder: the tokenizer cannot be"),
    ):
        ended = cli("convert", *given, "-o", tmp_path / "clap")
        assert ended.status == 2
        assert ended.sentence.startswith(said)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("damage", ["weights", "config", "a tensor", "tokenizer"])
def test_a_damaged_directory_of_microsoft_is_refused(
    tiny_clap: Path, tmp_path: Path, damage: str
) -> None:
    path, folder = tmp_path / "2023.pth", tmp_path / "clap"
    weights.write_original(path, "ms-clap-2023", original_files.microsoft_2023())
    load.convert(path, folder, str(tiny_clap / "tokenizers" / "gpt2"))
    assert load.load_clap(str(folder)).dim == 32
    if damage == "weights":
        content(folder / "model.safetensors", (folder / "model.safetensors").read_bytes()[:-9])
    elif damage == "config":
        (folder / "config.json").write_text('{"model_type": "microsoft-clap"}')
    elif damage == "tokenizer":
        for file in folder.glob("*token*"):
            file.unlink()
    else:
        from safetensors.torch import load_file, save_file

        tensors = load_file(folder / "model.safetensors")
        del tensors["mel_bank"]
        save_file(tensors, folder / "model.safetensors")
    with pytest.raises(UserError) as caught:
        load.load_clap(str(folder))
    assert str(caught.value).startswith(f"{folder}: ")
    assert len(str(caught.value).splitlines()) == 1

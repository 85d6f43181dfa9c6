"""Bases that are none, or not whole: one sentence, and nothing of theirs is run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from auditeval.features.extractors.qwen_omni import OmniExtractor
from auditeval.pretrained.qwen_omni import Base, open_base
from auditeval.types import UserError

Break = Callable[[Path], object]


def edit_config(**changes: object) -> Break:
    def change(folder: Path) -> None:
        path = folder / "config.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))

    return change


def drop_tensor(name: str) -> Break:
    def change(folder: Path) -> None:
        weights = load_file(folder / "model.safetensors")
        del weights[name]
        save_file(weights, folder / "model.safetensors", {"format": "pt"})

    return change


def everything(base: Base) -> None:
    base.tokenizer()
    base.front_end()
    base.audio_tower(torch.float32)
    base.language_model(torch.float32)
    base.fingerprint()


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda f: (f / "config.json").unlink(), "holds no config.json"),
        (lambda f: (f / "config.json").write_text("{"), "config.json cannot be read"),
        (edit_config(thinker_config={"model_type": "qwen2"}), "is a model of type qwen2"),
        (lambda f: (f / "config.json").write_text('{"model_type": "bert"}'), "of type bert"),
        (lambda f: (f / "model.safetensors").unlink(), "cannot be loaded"),
        (lambda f: (f / "model.safetensors").write_bytes(b"PK\x03\x04"), "cannot be"),
        (drop_tensor("thinker.model.norm.weight"), "missing keys, norm.weight among them"),
        (drop_tensor("thinker.audio_tower.proj.bias"), "missing keys, proj.bias among them"),
        (lambda f: (f / "preprocessor_config.json").unlink(), "preprocessor_config.json"),
        (lambda f: (f / "preprocessor_config.json").write_text("]"), "preprocessor_config.json"),
        (lambda f: (f / "vocab.json").write_text("{}"), "tokenizer"),
        (lambda f: (f / "vocab.json").write_text("nonsense"), "tokenizer"),
    ],
)
def test_a_broken_base_is_one_sentence(
    tiny_omni: Path, tmp_path: Path, spoil: Break, words: str
) -> None:
    folder = shutil.copytree(tiny_omni, tmp_path / "base")
    spoil(folder)
    with pytest.raises(UserError) as caught:
        everything(open_base(str(folder)))
    assert words in str(caught.value)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_code_in_a_base_is_not_run(tiny_omni: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_omni, tmp_path / "base")
    marker = tmp_path / "ran"
    (folder / "evil.py").write_text(f"import pathlib; pathlib.Path({str(marker)!r}).touch()")
    path = folder / "tokenizer_config.json"
    settings = json.loads(path.read_text()) | {
        "auto_map": {"AutoTokenizer": ["evil.Tokenizer", None]},
        "tokenizer_class": "Tokenizer",
    }
    path.write_text(json.dumps(settings))
    edit_config(auto_map={"AutoConfig": "evil.Config"})(folder)
    try:
        everything(open_base(str(folder)))
    except UserError as error:
        assert "\n" not in str(error)  # noqa: PT017 (either way will do)
    assert not marker.exists()


def test_a_hub_id_is_recorded_with_its_commit(
    tiny_omni: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub

    snapshot = shutil.copytree(tiny_omni, tmp_path / "snapshots" / "0123abc")
    asked: list[tuple[str, str | None]] = []

    def download(name: str, revision: str | None = None, **_: object) -> str:
        asked.append((name, revision))
        return str(snapshot)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    base = open_base("Qwen/Qwen2.5-Omni-7B", "main")
    assert asked == [("Qwen/Qwen2.5-Omni-7B", "main")]
    assert (base.name, base.revision) == ("Qwen/Qwen2.5-Omni-7B", "0123abc")
    encoder = OmniExtractor("Qwen/Qwen2.5-Omni-7B")
    assert encoder.arguments["model"] == "Qwen/Qwen2.5-Omni-7B"
    assert encoder.arguments["model_revision"] == "0123abc"


def test_the_fingerprint_tells_bases_apart(tiny_omni: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_omni, tmp_path / "base")
    before = open_base(str(folder)).fingerprint()
    assert before == open_base(str(tiny_omni)).fingerprint()
    weights = load_file(folder / "model.safetensors")
    weights["thinker.audio_tower.conv1.bias"] += 1  # no part of the language model
    weights["thinker.lm_head.weight"] += 1
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    assert open_base(str(folder)).fingerprint() == before
    weights["thinker.model.layers.1.mlp.up_proj.weight"] += 1e-3
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    assert open_base(str(folder)).fingerprint() != before

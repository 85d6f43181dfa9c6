"""Evaluators that ms-swift itself trained give the scores that ms-swift itself gives.

references/ was made with ms-swift 4.6.0 and 3.12.6 on the base of `random_base`, whose weights come
from seeds; recipes/train_auditeval_llm has the commands. Only paths were taken out of the files.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import torch
from safetensors.torch import load_file, save_file

import auditeval
from auditeval.models.omni.regressor import OmniRegressor
from auditeval.pretrained.qwen_omni import open_base
from auditeval.types import AXES, EditPair, UserError

REFERENCES = Path(__file__).with_name("references")
RATE_HZ = 16000
# Seed, seconds of the original, seconds of the edited clip, captions.
PAIRS = [
    (11, 1.00, 1.30, "Rain falls on a roof.", "Rain falls on a roof while a dog barks."),
    (12, 0.40, 0.73, "A door slams.", "A door slams twice."),
    (13, 2.513, 1.871, "A car drives past and a horn sounds.", "A car drives past."),
    (14, 4.00, 3.60, "A man speaks over soft music.", "A woman speaks over soft music."),
    (15, 1.777, 4.00, "Birds sing in a garden.", "Birds sing in a garden, then thunder rolls."),
    (16, 3.2001, 0.95, "Wind blows and a bell rings.", "A bell rings."),
    (17, 0.611, 2.05, "Keys jingle.", "Keys jingle louder, and a phone starts to ring."),
    (18, 2.90, 2.9575, "Water runs into a sink.", "Water runs slowly into a glass."),
]


def clip(seed: int, seconds: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    times = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    envelope = np.exp(-times / rng.uniform(0.2, 1.5)) + 0.05
    wave = rng.uniform(0.1, 0.6) * rng.standard_normal(len(times)) * envelope
    for _ in range(3):
        loudness, pitch = rng.uniform(0.05, 0.4), rng.uniform(80.0, 4000.0)
        wave += loudness * np.sin(2 * np.pi * pitch * times + rng.uniform(0, 2 * np.pi))
    return np.round(wave * 0.8 / np.abs(wave).max() * 32767).astype(np.int16)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> list[EditPair]:
    folder = tmp_path_factory.mktemp("swift-pairs")
    made = []
    for number, (seed, first, second, before, after) in enumerate(PAIRS):
        paths = {}
        for place, (side, seconds) in enumerate((("original", first), ("edited", second))):
            paths[side] = folder / f"pair{number}_{side}.wav"
            soundfile.write(paths[side], clip(10 * seed + place, seconds), RATE_HZ)
        captions = {"original_caption": before, "target_caption": after}
        made.append(EditPair(id=f"pair{number}", **paths, **captions))
    return made


@pytest.fixture(params=["ms-swift-4", "ms-swift-3"])
def adapter(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return shutil.copytree(REFERENCES / request.param, tmp_path / request.param)


def expected(adapter: Path, pairs: list[EditPair]) -> np.ndarray:
    scores = json.loads((adapter / "scores.json").read_text())["scores"]
    return np.array([scores[pair.id] for pair in pairs])


def predicted(model: Any, store: Any, pairs: list[EditPair]) -> np.ndarray:
    return model.predict(model.look(store, pairs)).numpy()


def test_scores_are_those_of_ms_swift(
    adapter: Path, tiny_omni: Path, pairs: list[EditPair]
) -> None:
    evaluator = auditeval.load(adapter, "cpu", base=str(tiny_omni))
    ours = predicted(evaluator.checkpoint.model, evaluator.store, pairs)
    theirs = expected(adapter, pairs)
    assert np.abs(ours - theirs).max() <= 1e-5
    assert np.ptp(theirs, axis=0).min() > 0.5  # pairs are far apart: the test can fail
    # `score` says the same, on the scale of ratings.
    for row, values in zip(evaluator.score(pairs), theirs, strict=True):
        assert row.status == "ok"
        shown = [getattr(row, axis) for axis in AXES]
        np.testing.assert_allclose(shown, values.clip(1, 5), atol=1.1e-5)
    assert evaluator.checkpoint.config.training["trained_by"] == "ms-swift"


def test_token_ids_are_those_of_ms_swift(tiny_omni: Path, pairs: list[EditPair]) -> None:
    adapter = REFERENCES / "ms-swift-4"
    evaluator = auditeval.load(adapter, "cpu", base=str(tiny_omni))
    (row,) = evaluator.checkpoint.model.look(evaluator.store, pairs[:1])
    assert row.ids.tolist() == json.loads((adapter / "scores.json").read_text())["input_ids"]


def write_merged(model: OmniRegressor, base: Path, folder: Path, architecture: str) -> Path:
    """A merged checkpoint as `swift export --merge_lora true` lays it out."""
    shutil.copytree(base, folder)
    model.merge()
    weights = load_file(base / "model.safetensors")
    for key, tensor in model.language_model.state_dict(keep_vars=True).items():
        if ".lora_" not in key:
            weights[f"thinker.model.{key.replace('.base_layer', '')}"] = tensor.detach().clone()
    del weights["thinker.lm_head.weight"]
    weights["thinker.score.weight"] = model.heads["scores"].weight.detach()
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    config = json.loads((folder / "config.json").read_text()) | {"architectures": [architecture]}
    (folder / "config.json").write_text(json.dumps(config))
    shutil.copy(REFERENCES / "ms-swift-4" / "args.json", folder)
    torch.save({}, folder / "spk_dict.pt")  # ms-swift leaves one there; it is not opened
    return folder


@pytest.mark.parametrize(
    "architecture", ["Qwen2_5OmniModel", "Qwen2_5OmniForConditionalGeneration"]
)
def test_a_merged_checkpoint_scores_as_its_adapter(
    tiny_omni: Path, pairs: list[EditPair], tmp_path: Path, architecture: str
) -> None:
    adapter = REFERENCES / "ms-swift-4"
    model: Any = auditeval.load(adapter, "cpu", base=str(tiny_omni)).checkpoint.model
    folder = write_merged(model, tiny_omni, tmp_path / "merged", architecture)
    merged = auditeval.load(folder, "cpu")
    ours = predicted(merged.checkpoint.model, merged.store, pairs)
    assert np.abs(ours - expected(adapter, pairs)).max() <= 1e-5
    with pytest.raises(UserError, match="has its base in it: no --base"):
        auditeval.load(folder, "cpu", base=str(tiny_omni))


def edited(**changes: Any) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        path = folder / "adapter_config.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))

    return change


def retold(**changes: Any) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        path = folder / "args.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))

    return change


def rewritten(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    def rewrite(folder: Path) -> None:
        weights = load_file(folder / "adapter_model.safetensors")
        change(weights)
        save_file(weights, folder / "adapter_model.safetensors", {"format": "pt"})

    return rewrite


def drop(weights: dict[str, Any], words: str) -> None:
    for key in [key for key in weights if words in key]:
        del weights[key]


SCORE = "base_model.model.thinker.score.weight"


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (
            lambda f: (f / "adapter_model.safetensors").unlink(),
            "adapter_model.safetensors: is miss",
        ),
        (lambda f: (f / "adapter_model.safetensors").write_bytes(b"PK\3\4"), "cannot be read as"),
        (lambda f: (f / "adapter_config.json").write_text("{"), "is not JSON"),
        (lambda f: (f / "adapter_config.json").write_text("[]"), "expected a JSON object"),
        (lambda f: (f / "args.json").write_text("]"), "is not JSON"),
        (edited(peft_type="IA3"), "is an adapter of kind IA3; expected LORA"),
        (edited(use_dora=True), "has use_dora; expected plain LoRA"),
        (edited(rank_pattern={"q_proj": 4}), "has rank_pattern; expected plain LoRA"),
        (edited(bias="all"), "trains biases as well"),
        (edited(r="many"), "expected numbers r and lora_alpha"),
        (edited(r=4), "is an adapter of another base"),
        (retold(use_chat_template=True), "was trained with a chat template"),
        (edited(alora_invocation_tokens=[1]), "has alora_invocation_tokens"),
        (retold(max_length="many"), "max_tokens 'many': expected a whole number"),
        (retold(max_length=-1), "max_tokens -1: expected a whole number"),
        (rewritten(lambda w: w.pop(SCORE)), "holds no score head"),
        (rewritten(lambda w: drop(w, "lora_B")), "has one half of its LoRA"),
        (rewritten(lambda w: drop(w, "layers.1.")), "has LoRA in 1 of the base's 2 layers"),
        (
            rewritten(lambda w: w.update({SCORE: w[SCORE][:2].clone()})),
            "expected 3 scores",
        ),
        (rewritten(lambda w: w.update({"base_model.model.x": w[SCORE] + 0})), "which is neither"),
    ],
)
def test_a_broken_adapter_is_one_sentence(
    tiny_omni: Path, tmp_path: Path, spoil: Callable[[Path], object], words: str
) -> None:
    folder = shutil.copytree(REFERENCES / "ms-swift-4", tmp_path / "adapter")
    spoil(folder)
    with pytest.raises(UserError) as caught:
        auditeval.load(folder, "cpu", base=str(tiny_omni))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_adapter_of_a_larger_base(tiny_omni: Path, tmp_path: Path) -> None:
    from auditeval.models.omni.random_base import build

    larger = build(tmp_path / "larger", hidden=64, vocabulary="trained")
    with pytest.raises(UserError, match=r"is an adapter of another base: .* is \(") as caught:
        auditeval.load(REFERENCES / "ms-swift-4", "cpu", base=str(larger))
    assert "\n" not in str(caught.value)


def test_a_base_that_is_not_here_is_asked_for(pairs: list[EditPair]) -> None:
    with pytest.raises(UserError, match="which is not here; say where it lies with --base"):
        auditeval.load(REFERENCES / "ms-swift-4", "cpu")


def test_the_hub_id_of_the_training_stands_in_for_a_folder_that_is_not_here(
    tiny_omni: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub

    snapshot = shutil.copytree(tiny_omni, tmp_path / "snapshots" / "0123abc")
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda name, **_: str(snapshot))
    folder = shutil.copytree(REFERENCES / "ms-swift-4", tmp_path / "adapter")
    retold(model="Qwen/Qwen2.5-Omni-7B")(folder)
    loaded = auditeval.load(folder, "cpu").checkpoint
    assert loaded.config.model.arguments["base"] == "Qwen/Qwen2.5-Omni-7B"
    assert loaded.config.model.arguments["base_revision"] == "0123abc"
    assert loaded.config.features["qwen_omni"].arguments["model"] == "Qwen/Qwen2.5-Omni-7B"


def test_a_base_without_scores_is_no_evaluator(tiny_omni: Path) -> None:
    assert open_base(str(tiny_omni)).config
    with pytest.raises(UserError) as caught:
        auditeval.load(tiny_omni, "cpu")
    assert "\n" not in str(caught.value)


def test_layers_without_lora_stay_as_they_are(tiny_omni: Path, tmp_path: Path) -> None:
    """ms-swift trains some layers only, if it is told to."""
    folder = shutil.copytree(REFERENCES / "ms-swift-4", tmp_path / "adapter")
    rewritten(lambda w: [w.pop(key) for key in list(w) if ".q_proj." in key])(folder)
    model: Any = auditeval.load(folder, "cpu", base=str(tiny_omni)).checkpoint.model
    state = model.state_dict()
    untouched = [key for key in state if ".q_proj.lora_B" in key]
    assert len(untouched) == 2
    assert all(not state[key].any() for key in untouched)

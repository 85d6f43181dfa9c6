"""The local judge on a small Qwen3-Omni with random weights, laid out as the published ones."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import BaseModel
from safetensors.torch import load_file, save_file

from auditeval.audio import Waveform
from auditeval.judges.judge import Question
from auditeval.judges.local import LocalJudge
from auditeval.pretrained.quiet import quiet_transformers

transformers = pytest.importorskip("transformers")
if not hasattr(transformers, "Qwen3OmniMoeThinkerForConditionalGeneration"):
    pytest.skip("this transformers has no Qwen3-Omni", allow_module_level=True)

CLIP = Waveform(np.sin(np.arange(16000) / 9).astype(np.float32) / 2, 16000)
NOISE = Waveform(np.random.default_rng(1).normal(0, 0.3, 30000).astype(np.float32), 24000)
RENAMED = {"<|AUDIO|>": "<|audio_pad|>", "audio_bos|>": "audio_start|>", "audio_eos": "audio_end"}


class Mark(BaseModel):
    score: int


def question(*clips: Waveform, **changes: Any) -> Question[Mark]:
    named = tuple((f"clip {number}", clip) for number, clip in enumerate(clips))
    return Question(**{"prompt": "How good?", "clips": named, "reply": Mark, **changes})


@pytest.fixture(scope="module")
def folder(tiny_omni: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tokenizer of the small Qwen2.5-Omni under Qwen3's names, a model of 0.2M parameters."""
    folder = tmp_path_factory.mktemp("bases") / "tiny-qwen3"
    shutil.copytree(tiny_omni, folder)
    settings = (folder / "tokenizer_config.json").read_text()
    for old, new in RENAMED.items():
        settings = settings.replace(old, new)
    (folder / "tokenizer_config.json").write_text(settings)
    added = json.loads(settings)["added_tokens_decoder"]
    number = {token["content"]: int(place) for place, token in added.items()}
    rope = {"mrope_section": [2, 3, 3], "rope_type": "default", "mrope_interleaved": True}
    small = {"num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1}
    text = {
        **{"vocab_size": max(number.values()) + 1, "hidden_size": 32, "intermediate_size": 64},
        **{"moe_intermediate_size": 16, "head_dim": 16, "num_experts": 4},
        **{"num_experts_per_tok": 2, "rope_scaling": rope, "rope_theta": 1e6, **small},
    }
    tower = {
        **{"d_model": 32, "encoder_layers": 2, "encoder_attention_heads": 2, "output_dim": 32},
        **{"encoder_ffn_dim": 64, "downsample_hidden_size": 16},
    }
    vision = {
        **{"depth": 1, "hidden_size": 32, "intermediate_size": 32, "num_heads": 2},
        **{"out_hidden_size": 32, "deepstack_visual_indexes": [0], "num_position_embeddings": 16},
    }
    config = transformers.Qwen3OmniMoeThinkerConfig(
        text_config=text,
        audio_config=tower,
        vision_config=vision,
        audio_token_id=number["<|audio_pad|>"],
        audio_start_token_id=number["<|audio_start|>"],
        image_token_id=number["<|IMAGE|>"],
        video_token_id=number["<|VIDEO|>"],
        vision_start_token_id=number["<|vision_bos|>"],
    )
    torch.manual_seed(0)
    with quiet_transformers():
        transformers.Qwen3OmniMoeThinkerForConditionalGeneration(config).save_pretrained(folder)
    weights = load_file(folder / "model.safetensors")
    renamed = {f"thinker.{name}": tensor for name, tensor in weights.items()}
    save_file(renamed, folder / "model.safetensors", {"format": "pt"})
    thinker = json.loads((folder / "config.json").read_text())
    whole = {"model_type": "qwen3_omni_moe", "thinker_config": thinker}
    (folder / "config.json").write_text(json.dumps(whole))
    return folder


@pytest.fixture(scope="module")
def judge(folder: Path) -> LocalJudge:
    return LocalJudge(str(folder), max_new_tokens=8)


def test_it_is_heard_and_asked_in_its_own_tokens(judge: LocalJudge) -> None:
    text = judge.text(question(CLIP), [2])
    assert "clip 0: <|audio_start|><|audio_pad|><|audio_pad|><|audio_end|>How good?" in text
    answer = judge.ask(question(CLIP, NOISE))
    assert answer.value is None
    assert answer.usage.completion_tokens > 0
    assert answer == judge.ask(question(CLIP, NOISE))


@pytest.mark.parametrize("seconds", [0.05, 0.5, 0.99, 1.0, 1.01, 2.5, 8.1])
def test_the_tower_makes_as_many_tokens_as_there_are_placeholders(
    judge: LocalJudge, seconds: float
) -> None:
    clip = Waveform(np.resize(NOISE.samples, int(16000 * seconds)), 16000)
    inputs = judge._inputs(question(clip))
    with torch.inference_mode():  # raises where the counts differ
        logits = judge._model(**inputs).logits
    assert torch.isfinite(logits).all()


def test_clips_reach_the_model(judge: LocalJudge) -> None:
    def next_token(*clips: Waveform) -> torch.Tensor:
        with torch.inference_mode():
            return judge._model(**judge._inputs(question(*clips))).logits[0, -1]

    assert (next_token(CLIP, NOISE) - next_token(NOISE, CLIP)).abs().max() > 1e-3

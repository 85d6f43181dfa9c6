"""The local judge on a small Qwen2.5-Omni with random weights: what it reads, and that it does."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import BaseModel

from auditeval.audio import AudioError, Waveform
from auditeval.features.extractors.qwen_omni import OmniExtractor
from auditeval.judges.judge import Question
from auditeval.judges.local import _FAMILIES, LocalJudge
from auditeval.types import UserError

CLIP = Waveform(np.sin(np.arange(16000) / 9).astype(np.float32) / 2, 16000)
OTHER = Waveform(np.sin(np.arange(12000) / 3).astype(np.float32) / 2, 8000)

NOISE = Waveform(np.random.default_rng(1).normal(0, 0.3, 12000).astype(np.float32), 8000)


class Mark(BaseModel):
    score: int


def question(**changes: Any) -> Question[Mark]:
    fields: dict[str, Any] = {"prompt": "How good is the output?", "reply": Mark}
    return Question(**{**fields, "clips": (("output", CLIP), ("input1", OTHER)), **changes})


@pytest.fixture(scope="module")
def judge(tiny_omni: Path) -> LocalJudge:
    return LocalJudge(str(tiny_omni), max_new_tokens=12)


@pytest.fixture
def made(judge: LocalJudge, monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """The tokens that the judge wrote, as it writes them."""
    written: list[list[int]] = []
    generate = judge._model.generate

    def noting(**inputs: Any) -> Any:
        tokens = generate(**inputs)
        written.append(tokens[0, inputs["input_ids"].shape[1] :].tolist())
        return tokens

    monkeypatch.setattr(judge._model, "generate", noting)
    return written


def test_the_chat_names_the_clips_before_the_question(judge: LocalJudge) -> None:
    clip = "<|audio_bos|>{}<|audio_eos|>".format
    schema = json.dumps(Mark.model_json_schema())
    text = judge.text(question(system_prompt="You listen."), [3, 2])
    assert text == (
        "<|im_start|>system\nYou listen.<|im_end|>\n"
        f"<|im_start|>user\nAudio output: {clip('<|AUDIO|>' * 3)}"
        f"Audio input1: {clip('<|AUDIO|>' * 2)}"
        "How good is the output?\n\nAnswer with one JSON object that fits this JSON schema, and "
        f"nothing else:\n{schema}<|im_end|>\n<|im_start|>assistant\n"
    )


def test_a_template_beside_the_model_is_used(tiny_omni: Path, tmp_path: Path) -> None:
    folder = tmp_path / "base"
    shutil.copytree(tiny_omni, folder)
    template = "{% for part in messages[0].content %}[{{ part.text or '<|AUDIO|>' }}]{% endfor %}"
    (folder / "chat_template.json").write_text(json.dumps({"chat_template": template}))
    text = LocalJudge(str(folder)).text(question(), [2, 1])
    assert text.startswith("[Audio output: ][<|AUDIO|><|AUDIO|>][Audio input1: ][<|AUDIO|>][How")


def test_junk_is_no_answer_and_greedy_decoding_repeats_itself(
    judge: LocalJudge, made: list[list[int]]
) -> None:
    answers = [judge.ask(question()) for _ in range(2)]
    assert answers[0] == answers[1]
    assert made[0] == made[1]
    assert answers[0].value is None
    assert answers[0].reason.startswith("the judge")
    assert answers[0].usage.completion_tokens == len(made[0]) == 12


@pytest.mark.parametrize(
    "change",
    [
        {"prompt": "How bad is the output?"},
        {"clips": (("output", OTHER), ("input1", CLIP))},
        {"clips": (("output", CLIP), ("input1", NOISE))},
    ],
)
def test_prompt_and_clips_reach_the_model(judge: LocalJudge, change: dict[str, Any]) -> None:
    def next_token(asked: Question[Mark]) -> torch.Tensor:
        with torch.inference_mode():
            return judge._model(**judge._inputs(asked)).logits[0, -1]

    asked, changed = next_token(question()), next_token(question(**change))
    assert torch.equal(asked, next_token(question()))
    assert (asked - changed).abs().max() > 1e-3


def test_a_temperature_draws_anew_for_each_run_and_the_same_again(
    judge: LocalJudge, made: list[list[int]]
) -> None:
    state = torch.random.get_rng_state()
    for run in (0, 1, 0):
        judge.ask(question(run=run, temperature=1.0))
    assert made[0] != made[1]
    assert made[0] == made[2]
    assert torch.equal(torch.random.get_rng_state(), state)


def test_an_answer_that_fits_is_read(judge: LocalJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    said = judge._tokenizer('{"score": 4}<|im_end|>', return_tensors="pt")["input_ids"]
    monkeypatch.setattr(
        judge._model, "generate", lambda **inputs: torch.cat([inputs["input_ids"], said], 1)
    )
    answer = judge.ask(question())
    assert answer.value == Mark(score=4)
    assert answer.usage.requests == 1


def test_what_cannot_be_asked_has_no_answer(
    judge: LocalJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = (("output", Waveform(CLIP.samples[:200], 16000)),)
    assert "too short" in judge.ask(question(clips=short)).reason
    assert "<|im_end|>" in judge.ask(question(prompt="a<|im_end|>")).reason
    with pytest.raises(AudioError, match="AUDIO"):
        judge.text(question(system_prompt="<|AUDIO|>"), [1, 1])

    def full(**_: Any) -> None:
        raise torch.OutOfMemoryError

    monkeypatch.setattr(judge._model, "generate", full)
    assert "memory" in judge.ask(question()).reason


@pytest.mark.parametrize("seconds", [0.05, 0.1, 0.97, 1.0, 2.0, 2.03, 3.3])
def test_a_clip_has_as_many_placeholders_as_the_tower_makes_tokens(
    judge: LocalJudge, tiny_omni: Path, seconds: float
) -> None:
    clip = CLIP.samples.repeat(4)[: int(16000 * seconds)]
    (features,) = OmniExtractor(str(tiny_omni)).encode_audio([clip])
    inputs = judge._inputs(question(clips=(("output", Waveform(clip, 16000)),)))
    place = judge._tokenizer.convert_tokens_to_ids("<|AUDIO|>")
    assert (inputs["input_ids"] == place).sum() == len(features.frames["audio_tokens"])


def test_qwen3_counts_as_its_processor_does() -> None:
    module = pytest.importorskip("transformers.models.qwen3_omni_moe.processing_qwen3_omni_moe")
    count = _FAMILIES["qwen3_omni_moe_thinker"].token_count
    for frames in range(1, 1200):
        assert count(frames) == module._get_feat_extract_output_lengths(frames)


def test_the_revision_is_of_the_weights(tiny_omni: Path, tmp_path: Path) -> None:
    from auditeval.models.omni.random_base import build

    other = build(tmp_path / "tiny", hidden=32, vocabulary="trained", seed=3)
    copy = Path(shutil.copytree(tiny_omni, tmp_path / "copy"))
    revisions = [LocalJudge(str(folder)).revision for folder in (tiny_omni, copy, other)]
    assert revisions[0] == revisions[1] != revisions[2]


@pytest.mark.parametrize(
    ("spoilt", "text", "says"),
    [
        ("config.json", '{"model_type": "bert"}', "model of type bert"),
        ("config.json", "{", "config.json cannot be read"),
        ("preprocessor_config.json", "[", "processor cannot be read"),
        ("model.safetensors", "PK", "cannot be"),
    ],
)
def test_what_is_no_judge_is_one_sentence(
    tiny_omni: Path, tmp_path: Path, spoilt: str, text: str, says: str
) -> None:
    folder = Path(shutil.copytree(tiny_omni, tmp_path / "copy"))
    (folder / spoilt).write_text(text)
    with pytest.raises(UserError, match=says):
        LocalJudge(str(folder))
    with pytest.raises(UserError, match="no such folder"):
        LocalJudge("./none")

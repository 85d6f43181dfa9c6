"""The audio tower alone: the official log-mel and tokens, clip by clip."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from auditeval import audio
from auditeval.features import make_extractor
from auditeval.features.extractors.qwen_omni import OmniExtractor, log_mel, token_count
from auditeval.pretrained.qwen_omni import open_base
from auditeval.types import UserError

RATE_HZ = 16000


def clip(seconds: float, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    count = int(seconds * RATE_HZ)
    loudness = np.abs(np.sin(np.arange(count) / 3000)) + 0.01
    return (0.1 * rng.standard_normal(count) * loudness).astype(np.float32)


@pytest.fixture(scope="module")
def encoder(tiny_omni: Path) -> OmniExtractor:
    return OmniExtractor(str(tiny_omni))


@pytest.fixture(scope="module")
def front_end(tiny_omni: Path) -> Any:
    return open_base(str(tiny_omni)).front_end()


def official_mel(front_end: Any, clips: Sequence[np.ndarray]) -> Any:
    """As Qwen2_5OmniProcessor calls it: everything filled to 300 s, and a mask."""
    return front_end(
        list(clips),
        sampling_rate=RATE_HZ,
        padding="max_length",
        return_attention_mask=True,
        return_tensors="pt",
    )


@pytest.mark.parametrize("seconds", [0.5, 3, 10, 29.9, 45, 0.0201, 1.23456])
def test_log_mel_is_the_official_one_to_the_last_digit(front_end: Any, seconds: float) -> None:
    samples = clip(seconds)
    official = official_mel(front_end, [samples])
    kept = official["input_features"][0][:, official["attention_mask"][0] == 1]
    ours = log_mel(front_end, samples)
    assert ours.dtype == np.float32
    # Some processors sum in another order where there are few frames.
    np.testing.assert_allclose(ours, kept.numpy(), rtol=0, atol=2.0**-22)


def test_tokens_are_those_of_the_official_model(
    tiny_omni: Path, front_end: Any, encoder: OmniExtractor
) -> None:
    from transformers import Qwen2_5OmniThinkerForConditionalGeneration

    thinker = Qwen2_5OmniThinkerForConditionalGeneration.from_pretrained(tiny_omni)
    clips = [clip(1.0), clip(2.7, 1), clip(0.05, 2)]
    with torch.inference_mode():
        official = thinker.get_audio_features(
            official_mel(front_end, clips)["input_features"],
            official_mel(front_end, clips)["attention_mask"],
        )
    # transformers 4.57 gives the tensor, 5 an object around it.
    official = getattr(official, "last_hidden_state", official).numpy()
    ours = [made.frames["audio_tokens"] for made in encoder.encode_audio(clips)]
    assert [len(tokens) for tokens in ours] == [25, 67, 1]
    np.testing.assert_allclose(np.concatenate(ours), official, atol=2e-6)


def test_neighbours_change_a_token_by_rounding_at_most(encoder: OmniExtractor) -> None:
    clips = [clip(1.0), clip(2.7, 1), clip(0.05, 2), clip(1.0, 3)]
    for together, sample in zip(encoder.encode_audio(clips), clips, strict=True):
        (alone,) = encoder.encode_audio([sample])
        np.testing.assert_allclose(
            together.frames["audio_tokens"], alone.frames["audio_tokens"], atol=5e-6
        )
        np.testing.assert_allclose(
            alone.embedding, alone.frames["audio_tokens"].mean(axis=0), rtol=1e-5, atol=1e-7
        )


@pytest.mark.parametrize("samples", [321, 400, 480, 481, 640, 16000, 16001, 15999])
def test_token_count_is_what_the_tower_makes(encoder: OmniExtractor, samples: int) -> None:
    (made,) = encoder.encode_audio([clip(1.1)[:samples]])
    assert len(made.frames["audio_tokens"]) == token_count(-(-samples // 160))


@pytest.mark.parametrize("samples", [1, 160, 320])
def test_a_clip_too_short_for_a_token_is_an_error(encoder: OmniExtractor, samples: int) -> None:
    with pytest.raises(audio.AudioError, match="needs more than 20 ms for its first audio token"):
        encoder.encode_audio([clip(1.0), clip(1.0)[:samples]])


def test_less_precision_is_near_and_another_revision(
    tiny_omni: Path, encoder: OmniExtractor
) -> None:
    rough = OmniExtractor(str(tiny_omni), dtype="bfloat16")
    assert rough.revision != encoder.revision
    (exact,), (near,) = encoder.encode_audio([clip(1.0)]), rough.encode_audio([clip(1.0)])
    tokens = near.frames["audio_tokens"]
    assert tokens.dtype == np.float16
    # Kept as the tower made them: all of bfloat16's numbers are float16's too, at this size.
    as_bfloat16 = torch.from_numpy(tokens.astype(np.float32)).bfloat16().float().numpy()
    normal = np.abs(as_bfloat16) > 6.2e-5
    assert np.array_equal(tokens.astype(np.float32)[normal], as_bfloat16[normal])
    scale = np.abs(exact.frames["audio_tokens"]).max()
    assert 0 < np.abs(tokens - exact.frames["audio_tokens"]).max() < 0.05 * scale


def test_the_revision_is_of_the_weights_not_of_the_place(
    tiny_omni: Path, encoder: OmniExtractor, tmp_path: Path
) -> None:
    from safetensors.torch import load_file, save_file

    moved = shutil.copytree(tiny_omni, tmp_path / "elsewhere")
    assert OmniExtractor(str(moved)).revision == encoder.revision
    weights = load_file(moved / "model.safetensors")
    weights["thinker.audio_tower.conv1.bias"][0] += 1e-3
    save_file(weights, moved / "model.safetensors", {"format": "pt"})
    assert OmniExtractor(str(moved)).revision != encoder.revision


def test_names_of_a_saved_thinker_are_known_too(
    tiny_omni: Path, encoder: OmniExtractor, tmp_path: Path
) -> None:
    """`Qwen2_5OmniThinkerForConditionalGeneration.save_pretrained` leaves the prefix out."""
    from transformers import AutoTokenizer, Qwen2_5OmniThinkerForConditionalGeneration

    thinker = Qwen2_5OmniThinkerForConditionalGeneration.from_pretrained(tiny_omni)
    thinker.save_pretrained(tmp_path / "saved")
    AutoTokenizer.from_pretrained(tiny_omni).save_pretrained(tmp_path / "saved")
    shutil.copy(tiny_omni / "preprocessor_config.json", tmp_path / "saved")
    again, base = OmniExtractor(str(tmp_path / "saved")), open_base(str(tmp_path / "saved"))
    assert again.revision == encoder.revision
    assert base.fingerprint() == open_base(str(tiny_omni)).fingerprint()
    assert base.tokenizer()("a<|AUDIO|>b")["input_ids"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"model": "no/such/place"}, "no/such/place: no such folder"),
        ({"model": "/no/such"}, "/no/such: no such folder"),
        ({"dtype": "int4"}, "dtype 'int4' is none of float32, float16, bfloat16"),
        ({"batch_size": 0}, "batch_size 0: expected a whole number above 0"),
        ({"size": 3}, "extractor 'qwen_omni' cannot be made with its arguments"),
    ],
)
def test_wrong_options_are_one_sentence(
    tiny_omni: Path, change: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UserError) as caught:
        make_extractor("qwen_omni", **{"model": str(tiny_omni), **change})
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


def test_passes_are_as_large_as_memory_takes(
    tiny_omni: Path, encoder: OmniExtractor, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = OmniExtractor(str(tiny_omni), batch_size=4)
    clips = [clip(seconds, seed) for seed, seconds in enumerate((1, 6, 2, 0.5))]
    whole, sizes = small._tower.forward, []

    def forward(mel: torch.Tensor, **lengths: torch.Tensor) -> Any:
        sizes.append(mel.shape[1])
        if mel.shape[1] > 650:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return whole(mel, **lengths)

    monkeypatch.setattr(small._tower, "forward", forward)
    for made, alone in zip(small.encode_audio(clips), encoder.encode_audio(clips), strict=True):
        assert np.abs(made.embedding - alone.embedding).max() < 1e-5
    assert sizes == [950, 700, 100, 600, 250]

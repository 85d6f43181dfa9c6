"""`ClapExtractor` against the modules of transformers, run by hand, and its laws."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import soundfile
import torch
from random_clap import write_tiny_clap
from safetensors.torch import load_file, save_file
from transformers import ClapFeatureExtractor, ClapModel, ClapProcessor

from auditeval.audio import AudioError
from auditeval.features.encoder import Encoder
from auditeval.features.extractors.clap import ClapExtractor
from auditeval.features.pair import PairFeatures
from auditeval.features.store import FeatureStore
from auditeval.types import EditPair, UserError

RATE_HZ = 48000
WINDOW = 10 * RATE_HZ
CLOSE = 1e-6
CAPTIONS = (
    "Rain.",
    "A dog barks twice, then a door is shut.",
    "engine",
    "Rain!",
    "ein Café, leise Stimmen",
    "birds sing, " * 6,
)
LONG = "a bell rings seven times and " * 10


def clip(seconds: float, seed: int = 0, rate_hz: int = RATE_HZ) -> np.ndarray:
    """Noise whose loudness and colour change from second to second: no two windows are alike."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal(round(seconds * rate_hz))
    parts = np.array_split(noise, max(1, round(seconds)))
    coloured = []
    for part in parts:
        width, gain = rng.integers(1, 40), rng.uniform(0.001, 0.2)
        coloured.append(gain * np.convolve(part, np.ones(width) / width**0.5, mode="same"))
    return np.concatenate(coloured).astype(np.float32)


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


class ByHand(NamedTuple):
    """The modules of transformers, without the encoder under test."""

    model: ClapModel
    front_end: ClapFeatureExtractor
    processor: ClapProcessor

    @classmethod
    def load(cls, folder: Path) -> ByHand:
        return cls(
            ClapModel.from_pretrained(folder).eval(),
            ClapFeatureExtractor.from_pretrained(folder),
            ClapProcessor.from_pretrained(folder),
        )

    def window(self, samples: np.ndarray, longer: bool = False) -> np.ndarray:
        """Unit embedding of at most one window :: (dim,)."""
        made = self.front_end(samples, sampling_rate=RATE_HZ, return_tensors="pt")
        with torch.no_grad():
            pooled = self.model.audio_model(
                input_features=made["input_features"].float(), is_longer=torch.tensor([[longer]])
            ).pooler_output
            return unit(self.model.audio_projection(pooled)[0].double().numpy())

    def words(self, captions: tuple[str, ...]) -> np.ndarray:
        """Unit embeddings of captions that are padded to one length and masked :: (N, dim)."""
        made = self.processor.tokenizer(
            list(captions), padding=True, truncation=True, max_length=77, return_tensors="pt"
        )
        assert len(captions) == 1 or not made["attention_mask"].all()
        with torch.no_grad():
            pooled = self.model.text_model(
                input_ids=made["input_ids"], attention_mask=made["attention_mask"]
            ).pooler_output
            return unit(self.model.text_projection(pooled).double().numpy())


@pytest.fixture(scope="module")
def by_hand(tiny_clap: Path) -> ByHand:
    return ByHand.load(tiny_clap)


@pytest.fixture(scope="module")
def encoder(tiny_clap: Path) -> ClapExtractor:
    return ClapExtractor(str(tiny_clap))


@pytest.fixture(scope="module")
def fused(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_clap(tmp_path_factory.mktemp("models") / "fused", fused=True)


@pytest.fixture(scope="module")
def minute() -> np.ndarray:
    return clip(60, seed=1)


def embed(encoder: ClapExtractor, *clips: np.ndarray) -> np.ndarray:
    made = encoder.encode_audio(clips)
    for features in made:
        windows = features.frames["joint"]
        assert np.allclose(np.linalg.norm(windows, axis=1), 1, atol=1e-6)
        assert len(features.frames["span"]) == len(windows)
    return np.stack([features.embedding for features in made])


def largest(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.abs(first - second).max())


@pytest.mark.parametrize("batch_size", [1, 8])
def test_a_minute_gives_the_same_bytes_alone_and_among_neighbours(
    tiny_clap: Path, encoder: ClapExtractor, minute: np.ndarray, batch_size: int
) -> None:
    expected = embed(encoder, minute)[0]
    other = ClapExtractor(str(tiny_clap), batch_size=batch_size)
    assert other.batch_size == batch_size
    among = embed(other, clip(3, 2), minute, clip(13, 3), minute)
    assert np.array_equal(among[1], expected)
    assert np.array_equal(among[3], expected)
    assert np.array_equal(among[0], embed(encoder, clip(3, 2))[0])
    assert largest(among[0], expected) > 0.01  # or all clips were alike


def test_the_store_gives_the_same_bytes_whatever_its_threads_and_batches(
    tiny_clap: Path, encoder: ClapExtractor, minute: np.ndarray, tmp_path: Path
) -> None:
    clips = {"minute": minute, "short": clip(2, 4), "two": clip(12, 5), "rain": clip(4, 6)}
    for name, samples in clips.items():
        soundfile.write(tmp_path / f"{name}.wav", samples, RATE_HZ, subtype="FLOAT")
    names = [("short", "minute"), ("minute", "two"), ("rain", "short"), ("two", "rain")]
    pairs = [
        EditPair(
            id=f"{first}-{second}",
            original=tmp_path / f"{first}.wav",
            edited=tmp_path / f"{second}.wav",
            original_caption=CAPTIONS[index],
            target_caption=CAPTIONS[index + 1],
        )
        for index, (first, second) in enumerate(names)
    ]
    expected = {name: embed(encoder, samples)[0] for name, samples in clips.items()}
    words = encoder.encode_text(CAPTIONS)
    for workers, batch_size in ((0, 1), (2, 1), (0, 3), (2, 3)):
        other = ClapExtractor(str(tiny_clap), batch_size=batch_size)
        store = FeatureStore(Encoder([other]), tmp_path / f"{workers} {batch_size}", workers)
        rows = store.pairs(pairs)
        assert store.misses > len(clips)
        for index, (row, (before, after)) in enumerate(zip(rows, names, strict=True)):
            assert isinstance(row, PairFeatures)
            assert np.array_equal(row.original_audio, expected[before])
            assert np.array_equal(row.edited_audio, expected[after])
            assert largest(row.original_text, words[index]) < CLOSE
            assert largest(row.target_text, words[index + 1]) < CLOSE


@pytest.mark.parametrize("kind", ["unfused", "fused"])
def test_chance_has_no_part(tiny_clap: Path, fused: Path, kind: str) -> None:
    """No random crop of a long clip, and no random clip that is marked as longer."""
    encoder = ClapExtractor(str(fused if kind == "fused" else tiny_clap))
    clips = [clip(23, 7), clip(4, 8), clip(10, 9)]
    made = []
    for seed in (1, 2, 3):
        np.random.seed(seed)  # noqa: NPY002
        torch.manual_seed(seed)
        made.append(embed(encoder, *clips))
    assert np.array_equal(made[0], made[1])
    assert np.array_equal(made[0], made[2])


def test_nobody_elses_random_numbers_are_used_up(encoder: ClapExtractor) -> None:
    np.random.seed(4)  # noqa: NPY002
    torch.manual_seed(4)
    embed(encoder, clip(13, 7))
    encoder.encode_text(CAPTIONS)
    drawn, drawn_by_torch = np.random.random(), torch.rand(1)  # noqa: NPY002
    np.random.seed(4)  # noqa: NPY002
    torch.manual_seed(4)
    assert drawn == np.random.random()  # noqa: NPY002
    assert torch.equal(drawn_by_torch, torch.rand(1))


@pytest.mark.parametrize("seconds", [20, 23.7, 10.5, 60])
def test_a_clip_is_the_mean_of_its_windows_by_length(
    encoder: ClapExtractor, by_hand: ByHand, seconds: float
) -> None:
    samples = clip(seconds, seed=10)
    windows = [samples[start : start + WINDOW] for start in range(0, len(samples), WINDOW)]
    embeddings = np.stack([by_hand.window(window) for window in windows])
    expected = unit(np.average(embeddings, axis=0, weights=[len(w) for w in windows]))
    assert largest(embed(encoder, samples)[0], expected) < CLOSE
    assert largest(embeddings[0], expected) > 100 * CLOSE
    if seconds % 10:
        assert largest(unit(embeddings.mean(axis=0)), expected) > 100 * CLOSE


@pytest.mark.parametrize("seconds", [0.06, 0.7, 3.3, 4.99, 6, 10])
def test_a_short_clip_is_repeated_as_the_processor_of_transformers_does_it(
    encoder: ClapExtractor, by_hand: ByHand, seconds: float
) -> None:
    samples = clip(seconds, seed=11)
    inputs = by_hand.processor(audio=samples, sampling_rate=RATE_HZ, return_tensors="pt")
    with torch.no_grad():
        made = by_hand.model.get_audio_features(input_features=inputs["input_features"].float())
    expected = unit(getattr(made, "pooler_output", made)[0].double().numpy())
    assert largest(embed(encoder, samples)[0], expected) < CLOSE


def test_a_rest_that_is_too_short_to_be_rated_is_dropped(
    encoder: ClapExtractor, by_hand: ByHand
) -> None:
    """49 ms behind a round length say nothing; 50 ms are a window of their own."""
    samples = clip(20.06, seed=12)
    whole = embed(encoder, samples[: 2 * WINDOW])
    limit = round(0.05 * RATE_HZ)
    assert np.array_equal(embed(encoder, samples[: 2 * WINDOW + limit - 1]), whole)
    for rest in (limit, round(0.06 * RATE_HZ)):
        ends = (0, WINDOW, 2 * WINDOW, 2 * WINDOW + rest)
        windows = [samples[a:b] for a, b in pairwise(ends)]
        rows = np.stack([by_hand.window(window) for window in windows])
        expected = unit(np.average(rows, axis=0, weights=np.diff(ends)))
        assert largest(embed(encoder, samples[: ends[-1]])[0], expected) < CLOSE
        assert largest(whole[0], expected) > 10 * CLOSE


def test_words_are_those_of_padded_and_masked_batches(
    encoder: ClapExtractor, by_hand: ByHand
) -> None:
    expected = by_hand.words(CAPTIONS)
    assert largest(encoder.encode_text(CAPTIONS), expected) < CLOSE
    assert min(largest(expected[0], row) for row in expected[1:]) > 0.01
    for row, caption in zip(expected, CAPTIONS, strict=True):
        assert largest(encoder.encode_text([caption])[0], row) < CLOSE
    many = [*CAPTIONS[::-1], *CAPTIONS[:3] * 20]
    assert largest(encoder.encode_text(many), np.concatenate([expected[::-1],
                   np.tile(expected[:3], (20, 1))])) < CLOSE  # fmt: skip


def test_a_caption_is_cut_at_77_tokens(encoder: ClapExtractor, by_hand: ByHand) -> None:
    tokenizer = by_hand.processor.tokenizer
    ids = tokenizer(LONG)["input_ids"]
    assert len(ids) > 100
    kept = [*ids[:76], ids[-1]]
    with torch.no_grad():
        pooled = by_hand.model.text_model(input_ids=torch.tensor([kept])).pooler_output
        expected = unit(by_hand.model.text_projection(pooled)[0].double().numpy())
    made = encoder.encode_text([LONG, LONG + " at last", "Now " + LONG])
    assert largest(made[0], expected) < CLOSE
    assert largest(made[1], expected) < CLOSE
    assert largest(made[2], expected) > 100 * CLOSE


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_embeddings_are_of_unit_norm(tiny_clap: Path, dtype: str) -> None:
    encoder = ClapExtractor(str(tiny_clap), dtype=dtype)
    for rows in (embed(encoder, clip(13), clip(2)), encoder.encode_text(CAPTIONS)):
        assert rows.dtype == np.float32
        assert rows.shape[1] == encoder.dim == encoder.text_dim == encoder.joint_dim == 32
        assert np.abs(np.linalg.norm(rows.astype(np.float64), axis=1) - 1).max() < CLOSE


def test_bfloat16_is_near_and_another_revision(tiny_clap: Path, encoder: ClapExtractor) -> None:
    half = ClapExtractor(str(tiny_clap), dtype="bfloat16")
    assert half.revision != encoder.revision
    for exact, near in (
        (embed(encoder, clip(13), clip(2)), embed(half, clip(13), clip(2))),
        (encoder.encode_text(CAPTIONS), half.encode_text(CAPTIONS)),
    ):
        assert (exact * near).sum(axis=1).min() > 0.99
        assert largest(exact, near) > 1e-4  # or nothing was computed in it


def test_an_unknown_dtype_is_a_sentence(tiny_clap: Path) -> None:
    with pytest.raises(UserError, match=r"^dtype 'int8' is none of float32, float16, bfloat16$"):
        ClapExtractor(str(tiny_clap), dtype="int8")


def test_the_revision_is_of_what_is_in_the_folder(
    tiny_clap: Path, encoder: ClapExtractor, tmp_path: Path
) -> None:
    copy = shutil.copytree(tiny_clap, tmp_path / "elsewhere" / "copy")
    again = ClapExtractor(str(copy), batch_size=8)
    assert again.revision == encoder.revision
    assert again.arguments["model"] != encoder.arguments["model"]


def change_weight(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    weights["text_model.encoder.layer.0.output.dense.bias"][3] += 1e-6
    save_file(weights, folder / "model.safetensors", {"format": "pt"})


def change_statistics(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    weights["audio_model.audio_encoder.batch_norm.running_mean"][0] -= 1e-3
    save_file(weights, folder / "model.safetensors", {"format": "pt"})


def change_front_end(folder: Path) -> None:
    path = folder / "preprocessor_config.json"
    path = path if path.exists() else folder / "processor_config.json"
    settings = json.loads(path.read_text())
    settings.get("feature_extractor", settings)["frequency_min"] = 60
    path.write_text(json.dumps(settings))


def change_tokens(folder: Path) -> None:
    path = folder / "tokenizer.json"
    tokenizer = json.loads(path.read_text(encoding="utf-8"))
    words = tokenizer["model"]["vocab"]
    words["d"], words["g"] = words["g"], words["d"]
    path.write_text(json.dumps(tokenizer), encoding="utf-8")


@pytest.mark.parametrize(
    "change", [change_weight, change_statistics, change_front_end, change_tokens]
)
def test_what_changes_a_number_changes_the_revision(
    tiny_clap: Path, encoder: ClapExtractor, tmp_path: Path, change: Callable[[Path], None]
) -> None:
    folder = shutil.copytree(tiny_clap, tmp_path / "changed")
    change(folder)
    assert ClapExtractor(str(folder)).revision != encoder.revision


def test_another_tokenizer_is_another_revision(
    tiny_clap: Path, encoder: ClapExtractor, tmp_path: Path
) -> None:
    folder = shutil.copytree(tiny_clap, tmp_path / "tokenizer")
    assert ClapExtractor(str(tiny_clap), str(folder)).revision == encoder.revision
    change_tokens(folder)
    other = ClapExtractor(str(tiny_clap), str(folder))
    assert other.revision != encoder.revision
    assert largest(other.encode_text(["dog"]), encoder.encode_text(["dog"])) > 1e-3


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("side", ["audio", "text"])
def test_damaged_weights_are_no_silent_nan(
    tiny_clap: Path, tmp_path: Path, side: str, value: float
) -> None:
    folder = shutil.copytree(tiny_clap, tmp_path / "damaged")
    weights = load_file(folder / "model.safetensors")
    weights[f"{side}_projection.linear2.bias"][5] = value
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    damaged = ClapExtractor(str(folder))
    calls = {"audio": lambda: embed(damaged, clip(2)), "text": lambda: damaged.encode_text("a")}
    failure = AudioError if side == "audio" else UserError
    with pytest.raises(failure, match=r"damaged: an embedding is not finite.*dtype") as caught:
        calls.pop(side)()
    assert "\n" not in str(caught.value)
    (other,) = calls.values()
    assert np.isfinite(other()).all()


@pytest.mark.parametrize("seconds", [4, 10, 14])
def test_upstream_compat_takes_16_khz_for_48(
    tiny_clap: Path, encoder: ClapExtractor, by_hand: ByHand, seconds: int
) -> None:
    compat = ClapExtractor(str(tiny_clap), upstream_compat=True)
    assert compat.rate_hz == 16000
    assert compat.revision != encoder.revision
    samples = clip(seconds, seed=13, rate_hz=16000)
    as_fed = np.zeros(160000, np.float32)
    as_fed[: len(samples)] = samples[:160000]
    made = embed(compat, clip(1), samples)[1]
    assert np.array_equal(made, embed(encoder, as_fed)[0])
    assert largest(made, by_hand.window(as_fed)) < CLOSE
    if seconds != 10:
        assert largest(made, embed(encoder, samples)[0]) > 100 * CLOSE
    assert np.array_equal(compat.encode_text(CAPTIONS), encoder.encode_text(CAPTIONS))


def test_a_fused_model_has_nothing_to_fuse(fused: Path) -> None:
    """The extractor would mark a clip of each batch as longer, and mean another embedding."""
    by_hand = ByHand.load(fused)
    encoder, samples = ClapExtractor(str(fused)), clip(3, seed=14)
    assert largest(embed(encoder, samples)[0], by_hand.window(samples)) < CLOSE
    assert largest(by_hand.window(samples, longer=True), by_hand.window(samples)) > 100 * CLOSE

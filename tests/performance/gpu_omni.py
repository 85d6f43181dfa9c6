"""AuditEval-llm at its full sizes on one device: its part of gpu.py, which says what is measured.

The base has random weights, made on the device in bfloat16; only its tokenizer is on disk.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import torch
from torch import Tensor, nn
from transformers import Qwen2_5OmniThinkerConfig, Qwen2_5OmniThinkerForConditionalGeneration
from transformers.models.qwen2_5_omni import modeling_qwen2_5_omni as omni

from auditeval.features.extractors.qwen_omni import token_count
from auditeval.models.omni import regressor as regressors
from auditeval.models.omni.inputs import Batch, PairRow
from auditeval.models.omni.random_base import build
from auditeval.models.omni.regressor import OmniRegressor
from auditeval.pretrained.qwen_omni import Base, open_base
from auditeval.training.lora import checkpoint_activations
from auditeval.training.lora_data import LengthBatches
from auditeval.types import EditPair

FILLED_FRAMES, BANDS = 3000, 128
_TOKENS = ("audio_token_index", "audio_start_token_id", "audio_end_token_id",
           "image_token_index", "video_token_index", "vision_start_token_id",
           "vision_end_token_id", "pad_token_id")  # fmt: skip
BATCH = 8  # pairs a pass, as the paper has it


class Size(NamedTuple):
    """Of a language model, as published; `tower` is width, layers and heads of the audio tower."""

    name: str
    hidden: int
    layers: int
    heads: int
    key_value_heads: int
    inner: int
    vocabulary: int
    tower: tuple[int, int, int] = (1280, 32, 20)


SIZES = (
    Size("3B", 2048, 36, 16, 2, 11008, 151936),
    Size("7B", 3584, 28, 28, 4, 18944, 152064),
)


Way = Callable[[Sequence[PairRow]], Tensor]
"""Pairs to ratings :: N rows -> (N, 3)."""


class Measured(NamedTuple):
    """Rows of two tables, none where memory did not do."""

    training: list[dict[str, str]]
    scoring: list[dict[str, str]]


@dataclass(frozen=True)
class RandomBase(Base):
    """A base whose language model is drawn on a device, once: a second model is given the same."""

    device: str
    made: list[nn.Module]

    def language_model(self, dtype: torch.dtype, **options: Any) -> nn.Module:
        if not self.made:
            with torch.device(self.device):
                model = omni.Qwen2_5OmniThinkerTextModel._from_config(
                    self.config.text_config, dtype=dtype, attn_implementation="sdpa"
                )
            self.made.append(model.eval().requires_grad_(False))
        return self.made[0]


def random_base(folder: Path, size: Size, device: str) -> RandomBase:
    tokens = open_base(str(build(folder, vocabulary="trained")))
    width, layers, heads = size.tower
    section = [size.hidden // size.heads // 8 * part for part in (1, 1.5, 1.5)]
    config = Qwen2_5OmniThinkerConfig(
        text_config={
            "hidden_size": size.hidden,
            "num_hidden_layers": size.layers,
            "num_attention_heads": size.heads,
            "num_key_value_heads": size.key_value_heads,
            "intermediate_size": size.inner,
            "vocab_size": size.vocabulary,
            "max_position_embeddings": 32768,
            "rope_theta": 1000000.0,
            "rope_scaling": {
                "mrope_section": list(map(int, section)),
                "rope_type": "default",
                "type": "default",
            },
        },
        audio_config={
            "d_model": width,
            "encoder_layers": layers,
            "encoder_attention_heads": heads,
            "encoder_ffn_dim": 4 * width,
            "output_dim": size.hidden,
            "num_mel_bins": BANDS,
        },
        **{name: getattr(tokens.config, name) for name in _TOKENS},
    )
    known = {field.name: getattr(tokens, field.name) for field in fields(Base)}
    return RandomBase(**{**known, "config": config}, device=device, made=[])


def make_rows(model: OmniRegressor, count: int, hidden: int) -> list[PairRow]:
    """Pairs of 1 to 10 s, an edit as long as its original; tokens as the cache gives them."""
    rng = np.random.default_rng(0)
    captions = {"original_caption": "Rain.", "target_caption": "Rain, and a dog barks."}
    pair = EditPair(id="1", original="a.wav", edited="b.wav", **captions)
    rows = []
    for seconds in rng.uniform(1, 10, count):
        shape = token_count(int(100 * seconds)), hidden
        sides = [0.02 * rng.standard_normal(shape, dtype=np.float32) for _ in range(2)]
        rows.append(model.inputs.row(pair, *(side.astype(np.float16) for side in sides)))
    return rows


class Plain:
    """The published class as it comes, around the same language model and its LoRA."""

    def __init__(self, base: RandomBase, model: OmniRegressor) -> None:
        self._device, self._head = torch.device(base.device), model.heads["scores"]
        with torch.device("meta"):
            thinker = Qwen2_5OmniThinkerForConditionalGeneration(base.config)
        del thinker.model.visual
        thinker.model.language_model = model.language_model
        with torch.device(base.device):
            thinker.model.audio_tower = omni.Qwen2_5OmniAudioEncoder._from_config(
                base.config.audio_config, dtype=torch.bfloat16, attn_implementation="sdpa"
            )
            head = nn.Linear(base.config.text_config.hidden_size,
                             base.config.text_config.vocab_size, bias=False)  # fmt: skip
            thinker.lm_head = head.to(torch.bfloat16)
        thinker.model.audio_tower.eval().requires_grad_(False)
        thinker.lm_head.requires_grad_(False)
        self._thinker = thinker
        self._mel = torch.randn(2 * BATCH, BANDS, FILLED_FRAMES, dtype=torch.bfloat16)

    def __call__(self, rows: Sequence[PairRow]) -> Tensor:
        batch = Batch.stack(rows)
        counts = [len(clip) for row in rows for clip in (row.original, row.edited)]
        frames = 4 * torch.tensor(counts)  # those that make as many tokens
        mask = torch.arange(FILLED_FRAMES)[None] < frames[:, None]
        made = self._thinker(
            input_ids=batch.ids.to(self._device),
            attention_mask=batch.mask.to(self._device),
            input_features=self._mel[: len(counts)].to(self._device),
            feature_attention_mask=mask.long().to(self._device),
            output_hidden_states=True,
            use_cache=False,
        )
        assert made.logits.shape[1] == batch.ids.shape[1]
        last = batch.mask.sum(dim=1) - 1
        return self._head(made.hidden_states[-1][torch.arange(len(rows)), last].float())


def measure(size: Size, device: str, folder: Path, tiny: bool) -> Measured:
    """All of one size; what memory does not hold is left out, and said."""
    place = torch.device(device)
    layer = 3 * size.hidden * size.inner + 3 * size.hidden**2
    needed = 2 * (size.layers * layer + 2 * size.vocabulary * size.hidden) + 2e9
    if place.type == "cuda" and (free := torch.cuda.mem_get_info(place)[0]) < 1.2 * needed:
        print(f"{size.name}: left out, {free / 1e9:.0f} GB are free of {1.2 * needed / 1e9:.0f}")
        return Measured([], [])
    try:
        return _measure(size, device, folder, tiny)
    finally:
        gc.collect()
        torch.cuda.empty_cache()


def _measure(size: Size, device: str, folder: Path, tiny: bool) -> Measured:
    base = random_base(folder, size, device)
    torch.manual_seed(0)
    with _opened(base):
        model = OmniRegressor("random", dtype="bfloat16").to(device)
        prefixed = OmniRegressor("random", order="text_first", dtype="bfloat16", rank=0).to(device)
    steps, pairs = (2, 2 * BATCH) if tiny else (6, 16 * BATCH)
    rows = make_rows(model, pairs, size.hidden)
    behind = make_rows(prefixed, pairs, size.hidden)
    training: list[dict[str, str]] = []
    scoring: list[dict[str, str]] = []

    def ours(some: Sequence[PairRow]) -> Tensor:
        return model(Batch.stack(some).to(torch.device(device)))

    def train(name: str, way: Way, batches: Sequence[list[int]]) -> None:
        with _fitting(f"{size.name}: steps of {name}"):
            told = _training(model, way, [[rows[i] for i in some] for some in batches], device)
            training.append({"size": size.name, "way": name, **told})
            print(f"{size.name}, steps of {name}: {told['seconds a step']} s each", flush=True)

    def score(name: str, run: Callable[[], object]) -> None:
        with _fitting(f"{size.name}: scoring, {name}"), torch.inference_mode():
            run()
            speed = f"{pairs / timed(run, device):.4g}"
            scoring.append({"size": size.name, "way": name, "pairs a second": speed})
            print(f"{size.name}, scoring, {name}: {speed} pairs a second", flush=True)

    in_order = [list(range(i, i + BATCH)) for i in range(0, pairs, BATCH)]
    by_length = list(LengthBatches([len(row.ids) for row in rows], BATCH, seed=0))
    train("ours", ours, by_length[: steps + 1])
    model.eval()
    score("ours, by length", lambda: model.predict(rows))
    score("ours, text first, prefix read once", lambda: prefixed.eval().predict(behind))
    score("ours, in the order of the data", lambda: _in_order(ours, rows))
    # Last: its tower and its vocabulary head are no part of what ours takes of memory.
    with _fitting(f"{size.name}: the plain way"):
        plain = Plain(base, model)
        train("plain", plain, in_order[: steps + 1])
        model.eval()
        score("plain", lambda: _in_order(plain, rows))
    return Measured(
        _beside_plain(training, "tokens a second"), _beside_plain(scoring, "pairs a second")
    )


def _beside_plain(rows: list[dict[str, str]], speed: str) -> list[dict[str, str]]:
    plain = next((float(row[speed]) for row in rows if row["way"] == "plain"), None)
    ratios = [f"{float(row[speed]) / plain:.1f}" if plain else "-" for row in rows]
    return [{**row, "times plain": ratio} for row, ratio in zip(rows, ratios, strict=True)]


def _in_order(way: Way, rows: Sequence[PairRow]) -> list[Tensor]:
    return [way(rows[i : i + BATCH]).cpu() for i in range(0, len(rows), BATCH)]


@contextmanager
def _fitting(what: str) -> Iterator[None]:
    try:
        yield
    except torch.OutOfMemoryError:
        print(f"{what}: left out, it does not fit into the memory")


@contextmanager
def _opened(base: RandomBase) -> Iterator[None]:
    with mock.patch.object(regressors, "open_base", return_value=base):
        yield


def _training(
    model: OmniRegressor, way: Way, batches: Sequence[Sequence[PairRow]], device: str
) -> dict[str, str]:
    """Steps on batches, the first of which is not timed, with gradient checkpointing."""
    language_model: Any = model.language_model
    language_model.train()
    checkpoint_activations(language_model, True)
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-5)
    on_gpu = torch.device(device).type == "cuda"
    if on_gpu:
        torch.cuda.reset_peak_memory_stats(device)

    def step(some: Sequence[PairRow]) -> None:
        (way(some) - 3).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    try:
        _, *seconds = [timed(partial(step, some), device) for some in batches]
    finally:
        optimizer.zero_grad()
        checkpoint_activations(language_model, False)
    lengths = [len(row.ids) for some in batches[1:] for row in some]
    return {
        "tokens a pair": f"{statistics.mean(lengths):.0f}",
        "seconds a step": f"{statistics.median(seconds):.3g}",
        "tokens a second": f"{sum(lengths) / sum(seconds):.4g}",
        "peak GiB": f"{torch.cuda.max_memory_allocated(device) / 2**30:.1f}" if on_gpu else "-",
    }


def timed(run: Callable[[], object], device: str) -> float:
    """Seconds of a run, with all that it leaves to the device."""
    on_gpu = torch.device(device).type == "cuda"
    if on_gpu:
        torch.cuda.synchronize(device)
    started = time.perf_counter()
    run()
    if on_gpu:
        torch.cuda.synchronize(device)
    return time.perf_counter() - started

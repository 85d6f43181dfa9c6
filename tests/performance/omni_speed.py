"""Training steps of a LoRA-tuned Qwen2.5-Omni, the plain way and ours, and their peak memory.

The plain way is the published class as it comes: clips filled to 30 s, the frozen audio tower in
every step, vocabulary logits of every token, batches in random order. Ours encodes each clip once,
feeds cached tokens, computes no logits, and puts pairs of like length together. Both see the same
pairs once, with the same LoRA and head; the learning rate is 0, so the mean loss has to agree.

Run by hand: python tests/performance/omni_speed.py [--hidden 64] [--layers 2] [--vocabulary auto]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import torch
from results import keep
from torch import Tensor

from auditeval.features.encoder import Encoder
from auditeval.features.extractors.qwen_omni import OmniExtractor, log_mel
from auditeval.features.store import FeatureStore
from auditeval.models.omni.inputs import Batch, PairRow
from auditeval.models.omni.random_base import build
from auditeval.models.omni.regressor import OmniRegressor
from auditeval.pretrained.qwen_omni import open_base
from auditeval.training.lora_data import ClipTokens, LengthBatches
from auditeval.types import EditPair

RATE_HZ = 16000
FILLED = 30 * RATE_HZ


def make_pairs(folder: Path, count: int) -> list[EditPair]:
    """Pairs of noise of 1 to 10 s; an edit lasts as long as its original."""
    rng = np.random.default_rng(0)
    pairs = []
    for number in range(count):
        paths = {side: folder / f"{number}-{side}.wav" for side in ("original", "edited")}
        length = int(rng.uniform(1, 10) * RATE_HZ)
        for path in paths.values():
            soundfile.write(path, 0.1 * rng.standard_normal(length), RATE_HZ)
        captions = {"original_caption": "Rain.", "target_caption": "Rain, and a dog barks."}
        pairs.append(EditPair(id=str(number), **paths, **captions))
    return pairs


def ours(base: Path, pairs: list[EditPair], batch_size: int, folder: Path) -> dict[str, float]:
    started = time.perf_counter()
    tokens = ClipTokens(
        FeatureStore(Encoder([OmniExtractor(str(base))]), folder), pairs, memory_gib=4
    )
    encoding = time.perf_counter() - started
    model = regressor(base)
    batches = LengthBatches(list(tokens.lengths(pairs, model.inputs).values()), batch_size, seed=0)

    def step(rows: list[int]) -> Tensor:
        looked: Any = model.look(tokens, [pairs[row] for row in rows])
        return model(Batch.stack(looked))

    return {"encoding_seconds": encoding, **train(model, step, list(batches))}


def plain(base: Path, pairs: list[EditPair], batch_size: int, folder: Path) -> dict[str, float]:
    from transformers import Qwen2_5OmniThinkerForConditionalGeneration

    model = regressor(base)
    thinker = Qwen2_5OmniThinkerForConditionalGeneration.from_pretrained(
        base, dtype=torch.float32
    ).requires_grad_(False)
    thinker.model.language_model = model.language_model  # the same LoRA, and the same weights
    front_end = open_base(str(base)).front_end()

    def step(rows: list[int]) -> Tensor:
        chosen = [pairs[row] for row in rows]
        clips = [
            soundfile.read(p, dtype="float32")[0] for c in chosen for p in (c.original, c.edited)
        ]
        counts = [len(clip) for clip in clips]
        mel = np.stack([log_mel(front_end, np.pad(c, (0, FILLED - len(c)))) for c in clips])
        frames = torch.tensor([-(-count // front_end.hop_length) for count in counts])
        mask = torch.arange(mel.shape[2])[None] < frames[:, None]
        after = ((frames - 1) // 2 + 1 - 2) // 2 + 1
        nothing = [np.zeros((int(n), 0), np.float32) for n in after]
        looked: list[PairRow] = [
            model.inputs.row(pair, nothing[2 * i], nothing[2 * i + 1])
            for i, pair in enumerate(chosen)
        ]
        batch = Batch.stack(looked)
        made = thinker(
            input_ids=batch.ids,
            attention_mask=batch.mask,
            input_features=torch.from_numpy(mel),
            feature_attention_mask=mask.long(),
            output_hidden_states=True,
            use_cache=False,
        )
        assert made.logits.shape[1] == batch.ids.shape[1]
        last = batch.mask.sum(dim=1) - 1
        return model.heads["scores"](made.hidden_states[-1][torch.arange(len(rows)), last])

    order = torch.randperm(len(pairs), generator=torch.Generator().manual_seed(0)).tolist()
    return train(model, step, [order[i : i + batch_size] for i in range(0, len(order), batch_size)])


def regressor(base: Path) -> OmniRegressor:
    torch.manual_seed(0)
    return OmniRegressor(str(base), dtype="float32", dropout=0.0).train()


def train(model: OmniRegressor, step: Any, batches: list[list[int]]) -> dict[str, float]:
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=0.0)
    losses, seconds = [], []
    for rows in batches:
        started = time.perf_counter()
        errors = (step(rows) - 3).square()
        errors.mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        seconds.append(time.perf_counter() - started)
        losses += errors.detach().mean(dim=1).tolist()
    return {"steps_per_second": len(seconds) / sum(seconds), "mean_loss": float(np.mean(losses))}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--vocabulary", choices=("auto", "qwen", "trained"), default="auto")
    parser.add_argument("--pairs", type=int, default=64)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--way", choices=("ours", "plain"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.way:
        folder = Path(chosen.folder)
        pairs = make_pairs(folder, chosen.pairs)
        way = {"ours": ours, "plain": plain}[chosen.way]
        made = way(folder / "base", pairs, chosen.batch_size, folder / "cache")
        made["peak_gib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(json.dumps(made))
        return
    results = {}
    with tempfile.TemporaryDirectory() as place:
        build(Path(place) / "base", chosen.hidden, chosen.layers, vocabulary=chosen.vocabulary)
        for name in ("plain", "ours"):
            command = [sys.executable, __file__, *sys.argv[1:], "--way", name, "--folder", place]
            ended = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            results[name] = json.loads(ended.stdout.splitlines()[-1])
            print(name, {key: round(value, 4) for key, value in results[name].items()})
    speed, memory, loss = (
        {name: made[key] for name, made in results.items()}
        for key in ("steps_per_second", "peak_gib", "mean_loss")
    )
    row = {
        "pairs": chosen.pairs,
        "plain, steps a second": f"{speed['plain']:.3g}",
        "ours": f"{speed['ours']:.3g}",
        "ratio": f"{speed['ours'] / speed['plain']:.1f}",
        "plain, peak GiB": f"{memory['plain']:.1f}",
        "ours, peak GiB": f"{memory['ours']:.1f}",
        "mean losses differ by": f"{abs(loss['plain'] - loss['ours']):.0e}",
    }
    base = f"a random base of hidden {chosen.hidden}, {chosen.layers} layers"
    keep(f"omni_speed_{chosen.hidden}", f"Training steps on {base}", [row])


if __name__ == "__main__":
    main()

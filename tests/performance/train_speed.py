"""The paper's 115 epochs the authors' way and ours, on the same pairs, in one process.

The authors' way: each axis trains alone, and each of its epochs sends every pair through the frozen
CLAP four times. Ours: every clip and caption once, then three heads in one pass over the
embeddings. Both start from the same heads, see the same batches in the same order with the same
dropout, and use the full-size architecture with random weights.

Run by hand: python tests/performance/train_speed.py [--pairs 256] [--upstream-epochs 1]
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from hydra import compose, initialize_config_dir
from torch.utils.data import DistributedSampler

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from random_clap import write_full_clap  # noqa: E402
from results import keep  # noqa: E402

from auditeval import audio, manifest  # noqa: E402
from auditeval.data.simulation.build import build  # noqa: E402
from auditeval.features.extractors.clap import ClapExtractor  # noqa: E402
from auditeval.features.pair import PairFeatures  # noqa: E402
from auditeval.models.three_head import ConcatRegressor  # noqa: E402
from auditeval.training.process import deterministic  # noqa: E402
from auditeval.training.run import train  # noqa: E402
from auditeval.types import AXES, EditPair  # noqa: E402

EPOCHS = {"quality": 50, "relevance": 30, "faithfulness": 35}
SEED, BATCH = 1984, 256


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=500, help="a multiple of 5")
    parser.add_argument("--upstream-epochs", type=int, default=1, help="timed epochs of each axis")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        clap = write_full_clap(Path(folder) / "clap")
        data = Path(folder) / "data"
        path = build(data, chosen.pairs // 5, seconds=2.0, seed=SEED, unedited=0.0)
        compare(Path(folder), clap, path, chosen.upstream_epochs)


def compare(folder: Path, clap: Path, path: Path, upstream_epochs: int) -> None:
    seconds, encoder_seconds, losses = {}, {}, {}
    for run in ("first run", "second run, warm cache"):
        started = time.perf_counter()
        run_dir = folder / run.replace(" ", "-").replace(",", "")
        train(ours(folder, clap, path, run_dir))
        seconds[run] = time.perf_counter() - started
        timing = json.loads((run_dir / "timing.json").read_text())
        encoder_seconds[run] = (timing["encoder_seconds"], timing["encoded"])
        losses["ours"] = last_losses(run_dir / "auditeval_ssl" / "holdout" / "metrics.csv")
    splits = json.loads((run_dir / "splits.json").read_text())[0]
    by_id = {pair.id: pair for pair in manifest.read(path)}
    pairs = [by_id[name] for name in splits["train"]]
    held_out = [by_id[name] for name in splits["test"]]
    encoder = ClapExtractor(str(clap))
    epoch_seconds, losses["authors"] = upstream(encoder, pairs, held_out, upstream_epochs)

    whole = sum(EPOCHS[axis] * epoch_seconds[axis] for axis in AXES)
    first, second = seconds.values()
    rows = f"{len(pairs)} training pairs, {len(held_out)} held out"
    told = {f"authors' way, an epoch of {axis}": f"{epoch_seconds[axis]:.0f}" for axis in AXES} | {
        "authors' way, 50 + 30 + 35 epochs of these": f"{whole:,.0f}",
        "ours, everything, nothing cached": f"{first:.0f} (1/{whole / first:.0f})",
        "ours, everything, embeddings cached": f"{second:.0f} (1/{whole / second:.0f})",
    }
    for axis in AXES:
        told[f"last training MSE of {axis}: authors' way, ours"] = (
            f"{losses['authors'][axis]:.4f}, {losses['ours'][axis]:.4f}"
        )
    title = f"The paper's training, {rows}, {torch.get_num_threads()} threads"
    keep("train_speed", title, [{"": name, "seconds": value} for name, value in told.items()])
    a_epoch = second / sum(EPOCHS.values())
    print(f"ours, an epoch of an axis {a_epoch:10.3f} s  (warm run / 115)")
    for run, (spent, items) in encoder_seconds.items():
        print(f"encoder time, {run}: {spent:.2f} s for {items} items")
    (cold, _), (warm, _) = encoder_seconds.values()
    print(f"encoder time, first / second: {'infinite' if warm == 0 else f'{cold / warm:.0f}'}")


def ours(folder: Path, clap: Path, path: Path, run_dir: Path) -> Any:
    with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
        return compose(
            "train",
            [
                *("experiment=auditeval_ssl", "data=manifest", f"data.path={path}"),
                *("data.split.validation_share=0.0", "baselines=none", "resamples=10"),
                *(f"features.clap.model={clap}", f"run_dir={run_dir}", f"cache_dir={folder}/cache"),
                *("device=cpu", "trainer.accelerator=cpu"),
            ],
        )


def last_losses(path: Path) -> dict[str, float]:
    """Training MSE of each axis in the last epoch that it trained."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {axis: float([r[k] for r in rows if r[k := f"train/mse/{axis}"]][-1]) for axis in AXES}


def upstream(
    encoder: ClapExtractor, pairs: list[EditPair], held_out: list[EditPair], timed_epochs: int
) -> tuple[dict[str, float], dict[str, float]]:
    """Each axis alone with four frozen passes a pair and epoch: seconds an epoch, last losses.

    Only the first `timed_epochs` of an axis are sent through CLAP again. It is frozen, so the
    embeddings of later epochs are the same; those epochs are finished with them, not timed. The
    held-out pairs are sent through after every epoch, as the authors do to validate.
    """
    ratings = torch.tensor([[pair.ratings[axis] for axis in AXES] for pair in pairs])
    samples = {
        path: audio.resample(audio.decode(path), encoder.rate_hz)
        for pair in [*pairs, *held_out]
        for path in (pair.original, pair.edited)
    }
    seconds, losses = {}, {}
    for index, axis in enumerate(AXES):
        deterministic(SEED)
        model = ConcatRegressor(512, 512, 512, 0, standardise=False)
        model.fit_scales(PairFeatures(*torch.zeros(8, 1, 0)), ratings)
        head = model.heads[axis]
        optimizer = torch.optim.Adam(head.parameters(), lr=5e-5)
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, "min", 0.8, 5)
        sampler = DistributedSampler(pairs, num_replicas=1, rank=0, shuffle=True, seed=SEED)
        kept: dict[int, torch.Tensor] = {}
        spent = []
        for epoch in range(EPOCHS[axis]):
            started = time.perf_counter()
            sampler.set_epoch(epoch)
            order, total = list(sampler), 0.0
            for start in range(0, len(order), BATCH):
                rows = order[start : start + BATCH]
                if epoch < timed_epochs:
                    embedded = four_passes(encoder, [pairs[row] for row in rows], samples)
                    kept.update(zip(rows, embedded, strict=True))
                torch.manual_seed(SEED + (epoch << 32) + start // BATCH)
                inputs = list(torch.stack([kept[row] for row in rows]).unbind(1))
                loss = (head[0](inputs)[:, 0] - ratings[rows, index]).square().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += loss.item() * len(rows)
            losses[axis] = total / len(order)
            scheduler.step(losses[axis])
            if epoch < timed_epochs:
                four_passes(encoder, held_out, samples)
                spent.append(time.perf_counter() - started)
                print(f"authors' way: {axis}, epoch {epoch + 1}: {spent[-1]:.1f} s", flush=True)
        seconds[axis] = sum(spent) / len(spent)
    return seconds, losses


def four_passes(
    encoder: ClapExtractor, pairs: list[EditPair], samples: dict[Path, np.ndarray]
) -> torch.Tensor:
    """Both clips and both captions of each pair through CLAP :: (B, 4, 512).

    In two threads, as fast as this machine does it, so that the comparison is of the number of
    passes alone.
    """

    def embed(pair: EditPair) -> torch.Tensor:
        clips = encoder.encode_audio([samples[pair.original], samples[pair.edited]])
        original, edited = (torch.from_numpy(clip.embedding) for clip in clips)
        words = torch.from_numpy(encoder.encode_text([pair.original_caption, pair.target_caption]))
        return torch.stack([original, words[0], edited, words[1]])

    with ThreadPoolExecutor(torch.get_num_threads()) as pool:
        return torch.stack(list(pool.map(embed, pairs)))


if __name__ == "__main__":
    main()

"""What a GPU does with CLAP and with AuditEval-llm at their full sizes, in about ten minutes.

Their weights are random, shapes the published ones: no speed depends on what a weight is. A product
of large matrices in the same dtype is what the device can do; a share of it is what is reached.

- CLAP (HTSAT-tiny, RoBERTa-base): windows a second by dtype and batch; clips a second from files
  on a cold cache beside the extractor alone, which shows whether decoding is off its path.
- A Qwen2.5-Omni of 3B and of 7B: steps of LoRA and scoring, beside the plain way of
  omni_speed.py (clips filled to 30 s, frozen tower in every pass, logits of every token, batches in
  the order of the data; its mel frames are made beforehand). A size that memory does not hold is
  left out, and said.
- The evaluator that ships, with its real weights: pairs a second on a cold cache, beside the CPU.

Run by hand: python tests/performance/gpu.py. With --device cpu --tiny all of it is tried on small
shapes in a minute, and nothing is kept.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import soundfile
import torch
from gpu_omni import SIZES, Size, measure, timed
from results import keep, table
from score_speed import make_pairs
from torch.utils.flop_counter import FlopCounterMode

sys.path.insert(0, str(Path(__file__).parents[1]))  # where the tests' random models are made
from random_clap import write_full_clap, write_tiny_clap

import auditeval
from auditeval.features.encoder import Encoder
from auditeval.features.extractors.clap import ClapExtractor
from auditeval.features.store import Failure, FeatureStore
from auditeval.pretrained.threads import one_thread
from auditeval.types import AXES

RATE_HZ, WINDOW = 48000, 480000
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


class Amounts(NamedTuple):
    """How much is measured: of matrices, passes, files; and which Qwen2.5-Omni."""

    matrix: int
    batches: tuple[int, ...]
    repeats: int
    files: int
    workers: tuple[int, ...]
    sizes: tuple[Size, ...]
    pairs: int


WHOLE = Amounts(8192, (1, 16, 64, 256), 5, 1024, (2, os.cpu_count() or 2), SIZES, 240)
TINY = Amounts(
    256, (1, 4), 2, 8, (2,), (Size("tiny", 64, 2, 4, 2, 128, 1280, tower=(64, 2, 4)),), 8
)


def median_seconds(run: Callable[[], Any], repeats: int, device: str) -> float:
    """Of a run that has been warm, with all that it leaves to the device."""
    run()
    return statistics.median(timed(run, device) for _ in range(repeats))


def matrix_speed(device: str, dtype: torch.dtype, amounts: Amounts) -> float:
    """FLOP a second of a product of two square matrices; float32 in full."""
    size = amounts.matrix
    a, b = (torch.randn(size, size, device=device, dtype=dtype) for _ in range(2))
    with torch.inference_mode(), one_thread():
        return 2 * size**3 / median_seconds(lambda: a @ b, amounts.repeats, device)


def clap_windows(folder: Path, device: str, amounts: Amounts) -> list[dict[str, str]]:
    """Windows of 10 s through the network alone, and through the extractor from samples on."""
    rows = []
    rng = np.random.default_rng(0)
    samples = 0.1 * rng.standard_normal(max(amounts.batches) * WINDOW, dtype=np.float32)
    for name, dtype in DTYPES.items():
        most = matrix_speed(device, dtype, amounts)
        for batch in amounts.batches:
            clap = ClapExtractor(str(folder), dtype=name, batch_size=batch)
            clap.to(device)
            mel = torch.randn(batch, 1, 1001, 64, device=device, dtype=dtype) * 17 - 30
            network = partial(clap._clap.embed_audio, mel)
            extractor = partial(clap.encode_audio, [samples[: batch * WINDOW]])
            try:
                with torch.inference_mode(), one_thread():
                    with FlopCounterMode(display=False) as counter:
                        network()
                    alone = median_seconds(network, amounts.repeats, device)
            except torch.OutOfMemoryError:
                print(f"{name}, {batch} windows a pass: left out, they do not fit into the memory")
                continue
            whole = median_seconds(extractor, amounts.repeats, device)
            work = counter.get_total_flops()
            rows.append(
                {
                    "dtype": name,
                    "windows a pass": str(batch),
                    "network, windows a second": f"{batch / alone:.4g}",
                    "GFLOP a window": f"{work / batch / 1e9:.3g}",
                    "TFLOP/s": f"{work / alone / 1e12:.3g}",
                    "of the matrix speed": f"{work / alone / most:.1%}",
                    "extractor, windows a second": f"{batch / whole:.4g}",
                }
            )
    return rows


def encode_all(clap: ClapExtractor, batches: Sequence[Sequence[np.ndarray]]) -> None:
    for batch in batches:
        clap.encode_audio(batch)


def clap_files(folder: Path, device: str, amounts: Amounts, place: Path) -> list[dict[str, str]]:
    """Clips of 10 s from files on a cold cache, beside the extractor alone on decoded ones."""
    rng = np.random.default_rng(0)
    paths = [place / f"{number}.wav" for number in range(amounts.files)]
    clips = []
    for path in paths:
        clip = 0.1 * rng.standard_normal(WINDOW, dtype=np.float32)
        soundfile.write(path, clip, RATE_HZ, "PCM_16")
        clips.append(clip)
    rows = []
    for name in DTYPES:
        for batch in sorted({amounts.batches[1], amounts.batches[-2]}):
            clap = ClapExtractor(str(folder), dtype=name, batch_size=batch)
            clap.to(device)
            batches = [clips[start : start + batch] for start in range(0, len(clips), batch)]
            alone = median_seconds(partial(encode_all, clap, batches), 1, device)
            for workers in amounts.workers:
                cache = place / f"{name}-{batch}-{workers}"
                store = FeatureStore(Encoder([clap]), cache, workers)
                started = time.perf_counter()
                found = store.files(paths)
                seconds = time.perf_counter() - started
                assert store.misses == len(paths)
                assert not any(isinstance(clip, Failure) for clip in found.values())
                rows.append(
                    {
                        "dtype": name,
                        "clips a pass": str(batch),
                        "workers": str(workers),
                        "extractor alone, clips a second": f"{len(paths) / alone:.4g}",
                        "from files": f"{len(paths) / seconds:.4g}",
                        "share": f"{alone / seconds:.2f}",
                    }
                )
    return rows


def shipped_pairs(device: str, amounts: Amounts, place: Path) -> list[dict[str, str]]:
    """Pairs of 5 s from files to scores of the evaluator that ships, by device and threads."""
    pairs = make_pairs(place, amounts.pairs)
    rows, tables = [], []
    for where in dict.fromkeys(("cpu", device)):
        for workers in amounts.workers:
            evaluator = auditeval.load(None, where, place / f"{where}-{workers}", workers)
            evaluator.score(pairs[:4])
            started = time.perf_counter()
            made = evaluator.score(pairs[4:])
            seconds = time.perf_counter() - started
            tables.append([[getattr(scores, axis) for axis in AXES] for scores in made])
            away = np.abs(np.array(tables[-1]) - np.array(tables[0])).max()
            rows.append(
                {
                    "device": where,
                    "workers": str(workers),
                    "pairs a second": f"{len(made) / seconds:.4g}",
                    "points from the first row at most": f"{away:.1e}",
                }
            )
            print(*rows[-1].values(), flush=True)
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--tiny", action="store_true", help="small shapes; nothing is kept")
    parser.add_argument("--only", choices=("clap", "evaluator", "omni"), help="one of these")
    chosen = parser.parse_args(arguments)
    kind = torch.device(chosen.device).type
    if kind == "cuda" and not torch.cuda.is_available():
        sys.exit("no GPU that torch can use; --device cpu --tiny tries all of it without one")
    if kind == "cpu" and not chosen.tiny:
        sys.exit("on the CPU this would take hours: give --tiny")
    amounts = TINY if chosen.tiny else WHOLE

    def told(name: str, title: str, rows: list[dict[str, str]]) -> None:
        print(f"\n{title}", flush=True)
        if chosen.tiny or kind == "cpu":
            print(table(rows), flush=True)
        else:
            keep(name, title, rows)

    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if chosen.only in (None, "evaluator"):
            rows = shipped_pairs(chosen.device, amounts, folder)
            told("gpu_evaluator", "The evaluator that ships: pairs of 5 s, on a cold cache", rows)
        if chosen.only in (None, "clap"):
            write = write_tiny_clap if chosen.tiny else write_full_clap
            clap = write(folder / "clap")
            rows = clap_windows(clap, chosen.device, amounts)
            told("gpu_clap", "CLAP: windows of 10 s through the network", rows)
            rows = clap_files(clap, chosen.device, amounts, folder)
            told("gpu_clap_files", "CLAP: clips of 10 s from files, on a cold cache", rows)
        if chosen.only in (None, "omni"):
            training, scoring = [], []
            for size in amounts.sizes:
                made = measure(size, chosen.device, folder / size.name, chosen.tiny)
                training += made.training
                scoring += made.scoring
            if training:
                told("gpu_omni_training", "AuditEval-llm: steps of LoRA", training)
                told("gpu_omni_scoring", "AuditEval-llm: scoring", scoring)
    print(f"\n{time.perf_counter() - started:.0f} s in all")


if __name__ == "__main__":
    main()

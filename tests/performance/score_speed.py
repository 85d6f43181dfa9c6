"""Seconds of one score from nothing, and the speed of many beside the bare encoder's.

First `auditeval score` of one pair: a process of its own, its start and the model's load included,
nothing in the cache. Then unique pairs of 5 s, half of each pair's sound its own: all of
`score_manifest` (decoding, hashing, encoding, cache, comparison, model, table) on a cold cache,
against the encoder alone on the same decoded clips and distinct texts, in as many threads; neither
remembers a text from before. Runs take turns, since a machine is rarely alone; the median of the
ratios counts. Last, once more beside one busy process a core: threads that wait for each other at
full speed would show here.

Run by hand: python tests/performance/score_speed.py [--pairs 1000] [--repeats 3] [-c CHECKPOINT]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from results import keep

import auditeval
from auditeval import audio, manifest
from auditeval.audio import files, waveform
from auditeval.data.soundbank import EVENTS, synthesize
from auditeval.features import minilm
from auditeval.features.comparison import changed_words
from auditeval.features.encoder import Encoder
from auditeval.pretrained.threads import one_thread
from auditeval.types import EditPair

RATE_HZ, SECONDS = 32000, 5.0
COMMAND = "from auditeval.cli import main; main()"


def make_pairs(folder: Path, count: int) -> list[EditPair]:
    """`count` pairs of clips that no other pair has."""
    rng = np.random.default_rng(1984)
    sounds = [synthesize(name, 1, SECONDS, RATE_HZ) for name in list(EVENTS)[:24]]
    names = [EVENTS[name].captions[0] for name in list(EVENTS)[:24]]
    pairs = []
    for number in range(count):
        first, second = rng.choice(len(sounds), 2, replace=False)
        rolled = np.roll(sounds[first], rng.integers(len(sounds[first])))
        clips = {"a": rolled, "b": rolled + 0.5 * sounds[second]}
        for side, samples in clips.items():
            path = folder / f"{number:05d}_{side}.wav"
            files.write(path, waveform.quantised(0.6 * samples), RATE_HZ)
        pairs.append(
            EditPair(
                id=f"{number:05d}",
                original=folder / f"{number:05d}_a.wav",
                edited=folder / f"{number:05d}_b.wav",
                original_caption=f"{names[first].capitalize()}.",
                target_caption=f"{names[first].capitalize()}, with {names[second]}.",
            )
        )
    return pairs


def forget_texts() -> None:
    """Embeddings made lately are at hand for whoever asks next: for none that is compared here."""
    for model in minilm._open.values():
        model.sentence.cache_clear()


def seconds_bare(encoder: Encoder, cache: Path, pairs: Sequence[EditPair], workers: int) -> float:
    """The extractors alone, on clips that lie decoded in memory and on each text once: those that
    heard the clips as the pairs were scored, into this cache."""
    paths = [path for pair in pairs for path in (pair.original, pair.edited)]
    heard = {folder.parent.name.partition("@")[0] for folder in cache.glob("*/audio")}
    hearing = [extractor for extractor in encoder.hearing if extractor.name in heard]
    rates_hz = {extractor.rate_hz for extractor in hearing}
    clips = {
        rate_hz: [audio.resample(audio.decode(path), rate_hz) for path in paths]
        for rate_hz in rates_hz
    }
    texts = {text for p in pairs for text in (p.original_caption, p.target_caption)}
    texts |= {w for p in pairs for w in changed_words(p.original_caption, p.target_caption)} - {""}
    size = encoder.batch_size
    forget_texts()
    batches = {
        rate_hz: [of_rate[start : start + size] for start in range(0, len(paths), size)]
        for rate_hz, of_rate in clips.items()
    }
    began = time.perf_counter()
    with one_thread(), ThreadPoolExecutor(workers) as pool:
        encoded = [pool.map(x.encode_audio, batches[x.rate_hz]) for x in hearing]
        words = [
            pool.map(x.encode_text, [[text] for text in sorted(texts)]) for x in encoder.reading
        ]
        for results in encoded + words:
            list(results)
    return time.perf_counter() - began


@contextmanager
def beside_other_work() -> Iterator[None]:
    """One process a core that never waits."""
    command = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(command) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--checkpoint", "-c")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pairs = make_pairs(folder, chosen.pairs)
        pair = pairs[0]
        command = [sys.executable, "-c", COMMAND, "score", "--cache-dir", str(folder / "one")]
        command += ["--original", str(pair.original), "--edited", str(pair.edited)]
        command += ["--original-caption", pair.original_caption]
        command += ["--target-caption", pair.target_caption]
        command += ["-c", chosen.checkpoint] if chosen.checkpoint else []
        began = time.perf_counter()
        subprocess.run(command, check=True)
        cold = time.perf_counter() - began
        print(f"one pair, cold: {cold:.1f} s (at most 10)")

        manifest.write(pairs, folder / "pairs.jsonl")
        ratios, seconds = [], []
        for repeat in range(chosen.repeats):
            cache = folder / f"cache{repeat}"
            evaluator = auditeval.load(chosen.checkpoint, "cpu", cache, chosen.workers)
            forget_texts()
            began = time.perf_counter()
            steps = evaluator.score_manifest(folder / "pairs.jsonl", folder / f"{repeat}.csv")
            *_, last = steps
            whole = time.perf_counter() - began
            assert (last.done, last.errors) == (chosen.pairs, 0)
            bare = seconds_bare(evaluator.checkpoint.encoder, cache, pairs, chosen.workers)
            ratios.append(bare / whole)
            seconds.append(whole)
            print(
                f"{chosen.pairs} pairs: {whole:.1f} s, {chosen.pairs / whole:.1f} a second; "
                f"encoder alone {bare:.1f} s; speed {bare / whole:.3f} of it"
            )
        with beside_other_work():
            evaluator = auditeval.load(
                chosen.checkpoint, "cpu", folder / "cache busy", chosen.workers
            )
            began = time.perf_counter()
            *_, _ = evaluator.score_manifest(folder / "pairs.jsonl", folder / "busy.csv")
            busy = time.perf_counter() - began
        print(f"beside one busy process a core: {busy:.1f} s")
        assert (folder / "busy.csv").read_bytes() == (folder / "0.csv").read_bytes()
        row = {
            "pairs": chosen.pairs,
            "seconds": f"{statistics.median(seconds):.0f}",
            "beside a busy process a core": f"{busy:.0f}",
            "part of the encoder's speed": f"{statistics.median(ratios):.2f}",
            "one pair, cold": f"{cold:.1f}",
        }
        keep("score_speed", "Scoring pairs of 5 s, medians of several runs", [row])


if __name__ == "__main__":
    main()

"""Pairs a second of each shipped evaluator beside other measures of sound, and their memory.

Each has a process of its own, one after the other, with one thread: pairs of 5 s are decoded,
resampled and answered, nothing known before. The model's load is not counted, and seconds are the
processor's, so that work beside hardly counts. Both evaluators score once more what their slowest
extractors hear: pairs whose captions name a voice, and spoken sentences with words that ask for
another sentence. ViSQOL is there where the package visqol-python is
installed. CLAP stands for an encoder of this size alone: LAION's architecture, random weights, two
clips and two captions a pair.

Run by hand: python tests/performance/evaluators_speed.py [--pairs 40]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
from results import keep
from score_speed import RATE_HZ, make_pairs

import auditeval
from auditeval import audio, manifest
from auditeval.audio import files, waveform
from auditeval.types import EditPair

Answer = Callable[[Sequence[EditPair]], object]
SENTENCES = (
    "We will meet again on Monday morning, in front of the school behind the river.",
    "The old teacher opened the window slowly, and the children looked at the snow outside.",
    "He drank a cup of coffee before work, and then he took the early train to the city.",
)


def evaluator(name: str, folder: Path) -> Answer:
    return auditeval.load(name, "cpu", folder / "cache", workers=0).score


def evaluator_of_speech(name: str, folder: Path) -> Answer:
    score = evaluator(name, folder)
    captions = "original_caption", "target_caption"
    return lambda pairs: score(
        [
            pair.model_copy(update={x: f"{getattr(pair, x)} Somebody speaks." for x in captions})
            for pair in pairs
        ]
    )


def evaluator_of_voices(name: str, folder: Path) -> Answer:
    from spoken import say

    score = evaluator(name, folder)
    said = [audio.resample(say(sentence), RATE_HZ) for sentence in SENTENCES]

    def answer(pairs: Sequence[EditPair]) -> object:
        made = []
        for number, pair in enumerate(pairs):
            before, after = (np.roll(said[(number + k) % 3], 8 * number) for k in range(2))
            paths = {"original": folder / f"{pair.id} a.wav", "edited": folder / f"{pair.id} b.wav"}
            for path, samples in zip(paths.values(), (before, after), strict=True):
                files.write(path, waveform.quantised(samples), RATE_HZ)
            asked = f'Say "{SENTENCES[(number + 1) % 3]}" instead.'
            made.append(pair.model_copy(update={**paths, "instruction": asked}))
        return score(made)

    return answer


def pesq(name: str, folder: Path) -> Answer:
    from auditeval.metrics.signal import pesq_wideband

    return lambda pairs: [
        pesq_wideband(audio.decode(pair.original), audio.decode(pair.edited)) for pair in pairs
    ]


def dnsmos(name: str, folder: Path) -> Answer:
    from auditeval.backends.speech_quality import DNSMOS

    ask = DNSMOS()
    return lambda pairs: [ask(audio.decode(pair.edited)) for pair in pairs]


def visqol(name: str, folder: Path) -> Answer:
    from visqol import VisqolApi

    ask = VisqolApi()
    ask.create(mode="audio")
    return lambda pairs: [
        ask.measure_from_arrays(
            *(
                audio.resample(audio.decode(path), 48000).astype(float)
                for path in (pair.original, pair.edited)
            ),
            48000,
        )
        for pair in pairs
    ]


def clap(name: str, folder: Path) -> Answer:
    from random_clap import write_full_clap

    from auditeval.features.encoder import Encoder
    from auditeval.features.extractors.clap import ClapExtractor
    from auditeval.features.store import FeatureStore

    encoder = Encoder([ClapExtractor(str(write_full_clap(folder / "clap")))])
    return FeatureStore(encoder, folder / "cache", workers=0).encoded


MEASURES: dict[str, tuple[Callable[[str, Path], Answer], str]] = {
    "auditeval-offline": (evaluator, "auditeval-offline"),
    "auditeval-offline, of a voice": (evaluator_of_speech, "auditeval-offline"),
    "auditeval-offline-thorough": (evaluator, "auditeval-offline-thorough"),
    "auditeval-offline-thorough, asked for other words": (
        evaluator_of_voices,
        "auditeval-offline-thorough",
    ),
    "PESQ (wideband)": (pesq, ""),
    "ViSQOL (audio)": (visqol, ""),
    "DNSMOS (the edited clip)": (dnsmos, ""),
    "a CLAP's encoder alone": (clap, ""),
}


def measure(name: str, folder: Path) -> dict[str, float]:
    """In a process of its own; a first pair warms up what is made at its first use."""
    make, of = MEASURES[name]
    first, *pairs = manifest.read(folder / "pairs.jsonl")
    with tempfile.TemporaryDirectory() as scratch:
        answer = make(of, Path(scratch))
        answer([first])
        began = time.process_time()
        answer(pairs)
        seconds = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"pairs a second": len(pairs) / seconds, "peak MiB": peak}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.measure:
        print(json.dumps(measure(chosen.measure, chosen.folder)))
        return
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        manifest.write(make_pairs(folder, chosen.pairs + 1), folder / "pairs.jsonl")
        for measured in MEASURES:
            if measured.startswith("ViSQOL") and importlib.util.find_spec("visqol") is None:
                print("ViSQOL: pip install visqol-python")
                continue
            command = [sys.executable, __file__, "--measure", measured, "--folder", name]
            made = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            found = json.loads(made.stdout.splitlines()[-1])
            rows.append(
                {
                    "what answers": measured,
                    "pairs a second of a core": f"{found['pairs a second']:.1f}",
                    "peak memory, MiB": f"{found['peak MiB']:.0f}",
                }
            )
            print(rows[-1], flush=True)
    keep("evaluators_speed", "Pairs of 5 s, one thread each, a second of the processor", rows)


if __name__ == "__main__":
    main()

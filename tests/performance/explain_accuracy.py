"""How often the greatest change that `auditeval explain` marks lies where something was done.

For a folder that `auditeval.data.simulation` made: manifest.jsonl and edits.jsonl, whose `changed`
says which stretches of the edited clip the edit or a local fault touched. Edits that touched
nothing, or more than `--most` of the clip, have no place to find and are left out. No weights are
needed: the change is measured on log-mel frames alone.

With `--splits` (the splits.json of a run trained on the folder) only its first test part counts.

Run by hand: python tests/performance/explain_accuracy.py FOLDER [--edits 200] [--most 0.7]
    [--splits RUN/splits.json]
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

import numpy as np

from auditeval import audio, manifest
from auditeval.features.change import find_change, find_course
from auditeval.features.extractors.spectrum import Spectrum

MARGIN_SECONDS = 0.05  # half a step of the curve


def peak_seconds(original: Path, edited: Path) -> tuple[float, float]:
    """When the change is greatest, and how long the edited clip is."""
    encoder, frames = Spectrum(), []
    for path in (original, edited):
        samples = audio.resample(audio.decode(path), encoder.rate_hz)
        frames.append(encoder.encode_clip(samples).frames["mel"])
    change = find_change(frames[0], frames[1], find_course(frames[0], frames[1]))
    hop = encoder.HOP_SECONDS
    return hop * int(np.argmax(change)), hop * len(change)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--most", type=float, default=0.7)
    parser.add_argument("--splits", type=Path)
    chosen = parser.parse_args()
    lines = (chosen.folder / "edits.jsonl").read_text(encoding="utf-8").splitlines()
    edits = {edit["id"]: edit for edit in map(json.loads, lines)}
    found: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    pairs = manifest.read(chosen.folder / "manifest.jsonl")
    if chosen.splits:
        held_out = set(json.loads(chosen.splits.read_text())[0]["test"])
        pairs = [pair for pair in pairs if pair.id in held_out]
    for index in np.random.default_rng(1984).permutation(len(pairs)):
        pair, edit = pairs[index], edits[pairs[index].id]
        if asked["all"] == chosen.edits:
            break
        if not edit["changed"]:
            continue
        peak, seconds = peak_seconds(pair.original, pair.edited)
        if sum(end - start for start, end in edit["changed"]) > chosen.most * seconds:
            continue
        inside = any(s - MARGIN_SECONDS <= peak <= e + MARGIN_SECONDS for s, e in edit["changed"])
        for kind in ("all", edit["operation"], *(edit["faults"] or ["no fault"])):
            asked[kind] += 1
            found[kind] += inside
    print("| edits with | peak inside | of |\n|---|--:|--:|")
    for kind, count in asked.most_common():
        print(f"| {kind} | {found[kind] / count:.3f} | {count} |")


if __name__ == "__main__":
    main()

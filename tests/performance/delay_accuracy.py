"""How often the delay of an edit of known delay is missed, by what was done to it.

Beds and events are of the sound bank, 1.5 to 5 s, events cover a fifth to three quarters of a clip.
The edit begins as its original does, or later by silence before it, or 20 ms of it are cut off. A
delay is missed by more than a frame of 10 ms. No weights are needed.

Run by hand: python tests/performance/delay_accuracy.py [--edits 1200]
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import edited_clips
import numpy as np
from edited_clips import modulated, narrowed, noisy, replaced, rms

from auditeval.data.soundbank import EVENTS, synthesize
from auditeval.features.alignment import align
from auditeval.features.extractors.spectrum import Spectrum

RATE_HZ = edited_clips.RATE_HZ = Spectrum.rate_hz
DELAYS_MS = (0, 0, 20, -20, 100, 300)
KINDS = "add", "delete", "replace an event", "replace a share", "noise", "modulated noise", "band"


def make(kind: str, seconds: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A clip and an edit of it that begins with it."""

    def sound() -> np.ndarray:
        name = rng.choice(list(EVENTS))
        made = synthesize(name, int(rng.integers(10**6)), seconds, RATE_HZ).astype(float)
        return made / rms(made)

    bed, other = 0.03 * sound(), 0.03 * sound()
    share, times = rng.choice([0.2, 0.4, 0.6, 0.75]), rng.choice([0.5, 1.0, 3.0])
    first = rng.uniform(0, (1 - share) * len(bed))
    inside = np.clip((np.arange(len(bed)) - first) / 320, 0, 1)
    inside *= np.clip((first + share * len(bed) - np.arange(len(bed))) / 320, 0, 1)
    event = times * inside * other
    edits: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
        "add": lambda: (bed, bed + event),
        "delete": lambda: (bed + event, bed),
        "replace an event": lambda: (bed + event, bed + 0.03 * times * inside * sound()),
        "replace a share": lambda: (bed, replaced(bed, other, share)),
        "noise": lambda: (bed, noisy(bed + event, rng.choice([20.0, 10.0, 0.0]))),
        "modulated noise": lambda: (bed, modulated(bed + event, rng.choice([20.0, 10.0, 0.0]))),
        "band": lambda: (bed, narrowed(bed + event, rng.choice([2000.0, 5000.0, 9000.0]))),
    }
    return edits[kind]()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--edits", type=int, default=1200)
    rng = np.random.default_rng(1984)
    spectrum = Spectrum()
    edits, missed = Counter[str](), Counter[str]()
    for number in range(parser.parse_args().edits):
        kind, seconds = KINDS[number % len(KINDS)], (1.5, 2.0, 3.0, 5.0)[number % 4]
        original, edited = make(kind, seconds, rng)
        delay = int(rng.choice(DELAYS_MS)) * RATE_HZ // 1000
        edited = np.concatenate([np.zeros(max(delay, 0)), edited])[max(-delay, 0) :]
        frames = [
            spectrum.encode_clip(samples.astype(np.float32)).frames["mel"]
            for samples in (original, edited)
        ]
        edits[kind] += 1
        missed[kind] += abs(align(*frames).lag - delay // (RATE_HZ // 100)) > 1
    for kind in KINDS:
        print(f"{kind:16} {missed[kind]:4} of {edits[kind]} {missed[kind] / edits[kind]:6.3f}")
    print(f"{'all':16} {missed.total():4} of {edits.total()} {missed.total() / edits.total():6.3f}")


if __name__ == "__main__":
    main()

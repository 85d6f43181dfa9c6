"""Laws about when and how often a sound comes, and which instrument plays, in words.

Sounds are of ESC-10, melodies are played by fluidsynth with the soundfont of Debian's
fluid-soundfont-gm, where both are installed. `pytest tests/test_laws_of_occasions.py --trials 24
-s` prints shares.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
import soundfile

import auditeval
from auditeval.audio import decode, resample
from auditeval.scoring import Evaluator
from auditeval.types import EditPair

RATE_HZ = 32000
SAID = {
    "dog_bark": "a dog barks",
    "rooster": "a rooster crows",
    "person_sneeze": "someone sneezes",
    "baby_cry": "a baby cries",
}
SOUNDFONT = Path("/usr/share/sounds/sf2/FluidR3_GM.sf2")
PROGRAMS = {
    **{"piano": 0, "harpsichord": 6, "vibraphone": 11, "marimba": 12, "church organ": 19},
    **{"accordion": 21, "acoustic guitar": 24, "violin": 40, "cello": 42, "harp": 46},
    **{"trumpet": 56, "trombone": 57, "french horn": 60, "saxophone": 65, "clarinet": 71},
    **{"flute": 73, "sitar": 104, "banjo": 105, "steel drum": 114},
}


class Bench:
    """Pairs by what they are, right or wrong, and trial."""

    def __init__(self, evaluator: Evaluator, folder: Path) -> None:
        self.evaluator, self.folder = evaluator, folder
        self.pairs: dict[tuple[str, bool, int], EditPair] = {}

    def add(
        self,
        key: tuple[str, bool, int],
        original: np.ndarray,
        edited: np.ndarray,
        captions: tuple[str, str],
    ) -> None:
        files = [self.folder / f"{'-'.join(map(str, key))}-{side}.wav" for side in "ab"]
        for file, samples in zip(files, (original, edited), strict=True):
            soundfile.write(file, samples, RATE_HZ, "FLOAT")
        self.pairs[key] = EditPair(
            id=str(key),
            original=files[0],
            edited=files[1],
            original_caption=captions[0],
            target_caption=captions[1],
        )

    def shares(self) -> dict[str, float]:
        """In how many trials of each kind the right one is above the wrong one."""
        rows = self.evaluator.score(list(self.pairs.values()))
        relevance = {key: row.relevance for key, row in zip(self.pairs, rows, strict=True)}
        above: dict[str, list[bool]] = {}
        for kind, right, trial in self.pairs:
            if right:
                better, worse = (relevance[kind, x, trial] for x in (True, False))
                above.setdefault(kind, []).append(better > worse)
        return {kind: float(np.mean(trials)) for kind, trials in above.items()}


@pytest.fixture(scope="module")
def trials(request: pytest.FixtureRequest) -> int:
    """Of fewer than eight, one that goes wrong counts for too much."""
    return max(int(request.config.getoption("--trials")), 8)


@pytest.fixture(scope="module")
def evaluator(request: pytest.FixtureRequest, cache_dir: Path) -> Evaluator:
    pytest.importorskip("faster_whisper")
    named = request.config.getoption("--evaluator")
    return auditeval.load(named or "auditeval-offline-thorough")


def burst(samples: np.ndarray) -> np.ndarray:
    """The loudest 0.7 s, faded in and out."""
    loud = int(np.argmax(np.convolve(samples**2, np.ones(RATE_HZ // 20), "same")))
    start = max(0, loud - RATE_HZ // 4)
    found = samples[start : start + int(0.7 * RATE_HZ)]
    rise = np.minimum(np.arange(len(found)) / 800, 1)
    found = found * rise * rise[::-1]
    return 0.6 * found / max(float(np.abs(found).max()), 1e-3)


def with_bursts(bed: np.ndarray, *bursts: tuple[float, np.ndarray]) -> np.ndarray:
    made = bed.copy()
    for seconds, samples in bursts:
        start = int(seconds * RATE_HZ)
        made[start : start + len(samples)] += samples[: len(made) - start]
    return made


def clips(folder: Path) -> Sequence[np.ndarray]:
    return [resample(decode(path), RATE_HZ) for path in sorted(folder.iterdir())[:40:2]]


def test_order_place_and_number(
    evaluator: Evaluator,
    shared_data: Path,
    told: Callable[..., None],
    trials: int,
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(1)
    sounds = {name: [burst(x) for x in clips(shared_data / "esc10" / name)] for name in SAID}
    beds = [
        0.02 * x[: 5 * RATE_HZ] / np.sqrt(np.mean(x**2))
        for name in ("rain", "sea_waves")
        for x in clips(shared_data / "esc10" / name)
    ]
    bench = Bench(evaluator, tmp_path)
    base = "Steady noise in the background"
    for trial in range(trials):
        bed = beds[int(rng.integers(len(beds)))]
        names = [str(name) for name in rng.choice(list(SAID), 2, replace=False)]
        x, y = (sounds[name][int(rng.integers(20))] for name in names)
        one, two = (SAID[name] for name in names)
        both = with_bursts(bed, (0.6, x), (3.2, y))
        for kind, right, wrong in (
            ("then", f"; {one}, then {two}.", f"; {two}, then {one}."),
            ("before", f", and {one} before {two}.", f", and {two} before {one}."),
            ("after", f", and {two} after {one}.", f", and {one} after {two}."),
        ):
            bench.add((kind, True, trial), bed, both, (f"{base}.", base + right))
            bench.add((kind, False, trial), bed, both, (f"{base}.", base + wrong))
        edits = {
            "once": with_bursts(bed, (2, x)),
            "twice": with_bursts(bed, (1, x), (3, x)),
            "three times": with_bursts(bed, (0.4, x), (1.8, x), (3.4, x)),
            "at the end": with_bursts(bed, (4.1, x)),
            "at the beginning": with_bursts(bed, (0.2, x)),
        }
        for kind, other in (
            ("once", "three times"), ("twice", "once"), ("three times", "once"),
            ("at the end", "at the beginning"), ("at the beginning", "at the end"),
        ):  # fmt: skip
            captions = f"{base}.", f"{base}, {one} {kind}."
            bench.add((kind, True, trial), bed, edits[kind], captions)
            bench.add((kind, False, trial), bed, edits[other], captions)
    found, together = bench.shares(), []
    for what, kinds in (
        ("order", ("then", "before", "after")),
        ("number", ("once", "twice", "three times")),
        ("place", ("at the end", "at the beginning")),
    ):
        for kind in kinds:
            told(f"{what} ({kind}): right above wrong in relevance", found[kind], trials)
        together.append(float(np.mean([found[kind] for kind in kinds])))
        law = f"{what}: right above wrong in relevance"
        told(law, together[-1], len(kinds) * trials, "0.80")
    assert min(together) >= 0.8


def played(folder: Path, program: int, notes: Sequence[tuple[int, int]]) -> np.ndarray:
    """A melody of (MIDI note, ticks of 1/960 s) on an instrument of General MIDI, 4 s at most."""
    events = bytes([0, 0xC0, program])
    for note, ticks in notes:
        length = bytes([0x80 | ticks >> 7, ticks & 0x7F])
        events += bytes([0, 0x90, note, 96]) + length + bytes([0x80, note, 0])
    events += b"\x00\xff\x2f\x00"
    head = b"MThd" + struct.pack(">IHHH", 6, 0, 1, 480)
    midi, wav = folder / "melody.mid", folder / "melody.wav"
    midi.write_bytes(head + b"MTrk" + struct.pack(">I", len(events)) + events)
    command = ["fluidsynth", "-ni", "-r", str(RATE_HZ), "-F", wav, SOUNDFONT, midi]
    subprocess.run(command, check=True, capture_output=True)
    samples = resample(decode(wav), RATE_HZ)[: 4 * RATE_HZ]
    return 0.5 * samples / max(float(np.abs(samples).max()), 1e-3)


def test_an_instrument_is_told_from_others(
    evaluator: Evaluator, told: Callable[..., None], trials: int, tmp_path: Path
) -> None:
    if shutil.which("fluidsynth") is None or not SOUNDFONT.is_file():
        pytest.skip("no fluidsynth, or no soundfont: apt-get install fluidsynth fluid-soundfont-gm")
    rng = np.random.default_rng(0)
    bench = Bench(evaluator, tmp_path)
    for trial in range(3 * trials):
        notes = [
            (int(rng.choice([60, 62, 64, 65, 67, 69, 71, 72])), int(rng.choice([240, 480])))
            for _ in range(10)
        ]
        before, after, other = (str(name) for name in rng.choice(list(PROGRAMS), 3, replace=False))
        a, b = (played(tmp_path, PROGRAMS[name], notes) for name in (before, after))
        clause = "A melody is played on the"
        bench.add(("instrument", True, trial), a, b, (f"{clause} {before}.", f"{clause} {after}."))
        bench.add(("instrument", False, trial), a, b, (f"{clause} {before}.", f"{clause} {other}."))
    share = bench.shares()["instrument"]
    told("another instrument: right above wrong in relevance", share, 3 * trials, "0.90")
    assert share >= 0.9

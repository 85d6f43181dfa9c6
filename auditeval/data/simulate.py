"""Simulated edits of the sound bank, with known faults: the data that `python train.py` needs.

A *scene* is a background A from the bank with two events B and C; its edits are those of the paper
(add A -> A+B, delete A+B -> A, replace A+B -> A+C), each carried out by one of ten *simulated
systems* that fail in ways of their own. Ratings come from the simulated panel of `listeners`.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import signal

from auditeval import manifest
from auditeval.audio import files, waveform
from auditeval.data import listeners, mixing
from auditeval.data.soundbank import EVENTS, synthesize
from auditeval.types import EditPair

RATE_HZ = 32000
VERSION = 5
"""Raise it when the same arguments would make other sounds: old folders are then not reused."""

EDITS_PER_SCENE = 5

# About half of the bank's events. With all of them, a set that a laptop encodes in two minutes
# would show each event too rarely to learn which words go with it.
SCENE_EVENTS = (
    *("thunder", "siren", "car_horn", "bicycle_bell", "helicopter", "clock_ticking"),
    *("telephone_ring", "door_knock", "glass_breaking", "church_bell", "gunshot", "whistle"),
    *("dog_bark", "duck_quack", "frog_croak", "bird_chirp", "drum_beat", "piano_notes"),
    *("guitar_pluck", "speech", "footsteps", "applause", "baby_cry", "cough"),
)

# What goes wrong now and then whoever edits, and how often. Slight faults are likelier than grave
# ones: a severity is 0.1 to 1, with the density of u ** 1.5.
COMMON_SLIPS = {
    "edit_absent": 0.08,
    "edit_faint": 0.45,
    "edit_wrong": 0.08,
    "noise": 0.12,
    "clipping": 0.12,
    "low_pass": 0.12,
    "background_lost": 0.08,
    "background_reshuffled": 0.08,
    "background_shifted": 0.08,
    "background_regenerated": 0.08,
    "level_changed": 0.12,
}

# Each system commits some of them more often, which keeps the systems' means apart.
SYSTEMS: dict[str, dict[str, float]] = {
    "sim_careful": dict.fromkeys(COMMON_SLIPS, 0.03),
    "sim_timid": {"edit_absent": 0.3, "edit_faint": 0.8},
    "sim_confused": {"edit_wrong": 0.5},
    "sim_noisy": {"noise": 0.7},
    "sim_overdriven": {"clipping": 0.7},
    "sim_muffled": {"low_pass": 0.7},
    "sim_forgetful": {"background_lost": 0.7},
    "sim_shuffler": {"background_reshuffled": 0.5, "background_shifted": 0.4},
    "sim_regenerator": {"background_regenerated": 0.7},
    "sim_rough": dict.fromkeys(COMMON_SLIPS, 0.3),
}


class Scene(NamedTuple):
    """A background and what may stand in it, all float32 (N,) at RATE_HZ, events placed in time."""

    background: np.ndarray
    other_take: np.ndarray
    events: dict[str, np.ndarray]
    caption: str
    event_captions: dict[str, str]
    centres_seconds: dict[str, float]


def build(
    folder: str | Path, scenes: int = 600, seconds: float = 4.0, seed: int = 1984, workers: int = 2
) -> Path:
    """Make the simulated dataset below `folder` unless it is there; return its manifest.

    The folder's name carries a hash of the arguments and VERSION, so that changed settings never
    meet old sounds. The manifest is written last: where it exists the set is whole.
    """
    settings = {"scenes": scenes, "seconds": seconds, "seed": seed, "version": VERSION}
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:8]
    target = Path(folder) / f"simulated-{digest}"
    path = target / "manifest.jsonl"
    if path.exists():
        return path
    shutil.rmtree(target, ignore_errors=True)
    (target / "audio").mkdir(parents=True)
    with ThreadPoolExecutor(workers) as pool:
        made = pool.map(lambda i: _write_scene(target / "audio", i, seconds, seed), range(scenes))
        manifest.write([pair for pairs in made for pair in pairs], path)
    return path


def make_scene(seconds: float, rng: np.random.Generator) -> Scene:
    """A background and three different events B, C and D (D is what a confused system uses)."""
    length = round(seconds * RATE_HZ)
    backgrounds = [name for name, event in EVENTS.items() if event.role == "background"]
    name = str(rng.choice(backgrounds))
    takes = [synthesize(name, int(rng.integers(2**31)), seconds, RATE_HZ) for _ in range(2)]
    gain = 10 ** (rng.uniform(-18, -3) / 20)
    background, other_take = (gain * take for take in takes)

    events, captions, centres = {}, {}, {}
    for slot, event in zip("BCD", rng.choice(SCENE_EVENTS, 3, replace=False), strict=True):
        duration = rng.uniform(0.3, 0.55) * seconds
        sound = synthesize(str(event), int(rng.integers(2**31)), duration, RATE_HZ)
        # The paper matches peaks, which leaves a click inaudible in steady noise. The panel's
        # ratings suppose that an event can be heard, so here power is matched, and exceeded.
        sound = sound * (_rms(background) / _rms(sound) * 10 ** (rng.uniform(5, 14) / 20))
        if rng.random() < 0.5:
            start = mixing.quietest_start(background, len(sound), RATE_HZ)
        else:  # the quietest place of a steady texture is nearly always its edge
            start = int(rng.integers(length - len(sound) + 1))
        events[slot] = mixing.place(sound, start, length)
        captions[slot] = str(rng.choice(EVENTS[str(event)].captions))
        centres[slot] = (start + len(sound) / 2) / RATE_HZ

    loudest = np.abs(background).max() + max(np.abs(event).max() for event in events.values())
    gain = min(1.0, 0.9 / loudest)
    return Scene(
        gain * background,
        gain * other_take,
        {slot: gain * event for slot, event in events.items()},
        str(rng.choice(EVENTS[name].captions)),
        captions,
        centres,
    )


def draw_faults(system: str, rng: np.random.Generator) -> dict[str, float]:
    """Which faults the system commits this time, with their severities in 0..1."""
    chances = COMMON_SLIPS | SYSTEMS[system]
    drawn = {n: 0.1 + 0.9 * rng.random() ** 1.5 for n, p in chances.items() if rng.random() < p}
    if "edit_absent" in drawn or "edit_wrong" in drawn:
        # An edit that was not made, or not this one, cannot also be faint or half made.
        drawn.pop("edit_faint", None)
        drawn = {n: 1.0 if n.startswith("edit_") else s for n, s in drawn.items()}
    return drawn


def render(
    scene: Scene,
    present: str | None,
    wanted: str | None,
    faults: dict[str, float],
    rng: np.random.Generator,
) -> np.ndarray:
    """The edited clip: A with the event `wanted` ("B", "C" or None) where `present` was.

    Faults of the edit act on the events, faults of the background on A, the rest on the sum.
    """
    silence = np.zeros_like(scene.background)
    before = scene.events[present] if present else silence
    after = scene.events[wanted] if wanted else silence
    if "edit_absent" in faults:
        after = before
    elif "edit_wrong" in faults:
        after = scene.events["D"]
    elif "edit_faint" in faults:
        # At full severity the wanted event is 24 dB down and what should be gone is only 3 dB down.
        severity = faults["edit_faint"]
        after = after * 10 ** (-24 * severity / 20) + before * 10 ** ((-24 + 21 * severity) / 20)
    background = scene.background
    for name, severity in faults.items():
        if name in _ON_BACKGROUND:
            background = _ON_BACKGROUND[name](background, scene, severity, rng)
    clip = background + after
    for name, severity in faults.items():
        if name in _ON_CLIP:
            clip = _ON_CLIP[name](clip, severity, rng)
    return clip.astype(np.float32)


def _write_scene(folder: Path, index: int, seconds: float, seed: int) -> list[EditPair]:
    rng = np.random.default_rng([seed, index])
    scene = make_scene(seconds, rng)
    source = f"scene{index:05d}"
    captions: dict[str | None, str] = {None: mixing.sentence(scene.caption)}
    for slot in "BC":
        captions[slot] = mixing.mix_caption(
            scene.caption,
            scene.event_captions[slot],
            scene.centres_seconds[slot],
            seconds,
            rng,
        )
    for name, wanted in (("A", None), ("B", "B")):
        _write_clip(folder / f"{source}_{name}.flac", render(scene, None, wanted, {}, rng))

    operations: dict[str, tuple[str | None, str | None]] = {
        "add": (None, "B"),
        "delete": ("B", None),
        "replace": ("B", "C"),
    }
    systems = rng.choice(list(SYSTEMS), EDITS_PER_SCENE, replace=False)
    pairs = []
    for system in map(str, systems):
        operation = str(rng.choice(list(operations)))
        present, wanted = operations[operation]
        faults = draw_faults(system, rng)
        name = f"{source}_{system}_{operation}"
        _write_clip(folder / f"{name}.flac", render(scene, present, wanted, faults, rng))
        pairs.append(
            EditPair(
                id=name,
                original=folder / f"{source}_{present or 'A'}.flac",
                edited=folder / f"{name}.flac",
                original_caption=captions[present],
                target_caption=captions[wanted],
                operation=operation,
                system=system,
                source=source,
                raters=listeners.rate(faults, np.random.default_rng(seed), rng),
            )
        )
    return pairs


def _rms(x: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(x, dtype=np.float64))))


def _write_clip(path: Path, samples: np.ndarray) -> None:
    files.write(path, waveform.quantised(samples), RATE_HZ)


def _lose(x: np.ndarray, scene: Scene, severity: float, rng: np.random.Generator) -> np.ndarray:
    """Silence (40 dB down) over a share of the clip that is the severity."""
    gap = round(severity * len(x))
    start = int(rng.integers(len(x) - gap + 1))
    gain = np.ones(len(x), np.float32)
    gain[start : start + gap] = 0.01
    return x * gain


def _shuffle(x: np.ndarray, scene: Scene, severity: float, rng: np.random.Generator) -> np.ndarray:
    """Blocks of 0.25 s, a share of them that is the severity permuted."""
    edges = range(0, len(x), round(0.25 * RATE_HZ))
    blocks = np.split(x, list(edges)[1:])
    moved = rng.choice(len(blocks) - 1, max(2, round(severity * (len(blocks) - 1))), replace=False)
    order = np.arange(len(blocks))
    order[moved] = np.roll(moved, 1)  # one cycle: none of them stays where it was
    return np.concatenate([blocks[i] for i in order])


def _shift(x: np.ndarray, scene: Scene, severity: float, rng: np.random.Generator) -> np.ndarray:
    return np.roll(x, round((0.1 + 1.4 * severity) * RATE_HZ) * int(rng.choice([-1, 1])))


def _regenerate(
    x: np.ndarray, scene: Scene, severity: float, rng: np.random.Generator
) -> np.ndarray:
    """From one moment on, for a share that is the severity, another take of the same sound."""
    length = round(severity * len(x))
    start = int(rng.integers(len(x) - length + 1))
    mixed = x.copy()
    mixed[start : start + length] = scene.other_take[start : start + length]
    return mixed


def _change_level(
    x: np.ndarray, scene: Scene, severity: float, rng: np.random.Generator
) -> np.ndarray:
    return x * 10 ** ((2 + 14 * severity) * rng.choice([-1, 1]) / 20)


def _add_noise(x: np.ndarray, severity: float, rng: np.random.Generator) -> np.ndarray:
    """White noise, 35 dB below the clip at the least and as loud as it at the most."""
    return x + rng.standard_normal(len(x)) * _rms(x) * 10 ** (-35 * (1 - severity) / 20)


def _clip(x: np.ndarray, severity: float, rng: np.random.Generator) -> np.ndarray:
    """Hard clipping 4 to 34 dB below the peak, brought back to the peak."""
    peak = np.abs(x).max()
    threshold = peak * 10 ** (-(4 + 30 * severity) / 20)
    # Half of the lost level is made up: a distortion pedal with its volume turned down.
    return np.clip(x, -threshold, threshold) * np.sqrt(peak / threshold)


def _low_pass(x: np.ndarray, severity: float, rng: np.random.Generator) -> np.ndarray:
    """Butterworth of order 8, from 8 kHz down to 500 Hz."""
    sections = signal.butter(8, 8000 * 2 ** (-4 * severity), fs=RATE_HZ, output="sos")
    return signal.sosfiltfilt(sections, x)


_ON_BACKGROUND: dict[str, Callable[[np.ndarray, Scene, float, np.random.Generator], np.ndarray]] = {
    "background_lost": _lose,
    "background_reshuffled": _shuffle,
    "background_shifted": _shift,
    "background_regenerated": _regenerate,
    "level_changed": _change_level,
}
_ON_CLIP: dict[str, Callable[[np.ndarray, float, np.random.Generator], np.ndarray]] = {
    "low_pass": _low_pass,
    "clipping": _clip,
    "noise": _add_noise,
}

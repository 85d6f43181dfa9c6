"""Simulated restorations: the original is broken, and the edit has less of the fault, or none.

Whoever denoises a recording changes all of it, and for the better, as words ask for. The panel is
the simulated one: no person rated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from auditeval.data.change_words.vocabulary import OPPOSITES
from auditeval.data.simulation import captions, panel
from auditeval.data.simulation.build import Made, finished, row_of, shortest_and_longest, write_clip
from auditeval.data.simulation.changes import relevance
from auditeval.data.simulation.edits import render
from auditeval.data.simulation.faults import FAULTS
from auditeval.data.simulation.faults.fault import Dose, Edit, Fault
from auditeval.data.simulation.material import Material, Recordings
from auditeval.data.simulation.nuisance import SHARE, nuisance
from auditeval.data.simulation.processors import Processors
from auditeval.data.simulation.scenes import UNEDITED, Scene, make_scene
from auditeval.data.simulation.signals import bandwidth_hz
from auditeval.data.simulation.systems import draw_damage, draw_one
from auditeval.seed import SEED
from auditeval.types import AXES, Axis, EditPair

OPERATION = "change"
_RATED = 3
"""Raise it when the same arguments would have other ratings or pairs."""
_LEVELLED = 0.99

# Fault of the original -> what words ask for, and how often it is drawn: noise most of all.
_CLEANER = ("noise_white", "noise_pink", "noise_real", "hum", "clipping", "mnru", "quantisation")
_BROKEN: dict[str, tuple[str, float]] = {
    **dict.fromkeys(_CLEANER, ("cleaner", 1.0)),
    "noise_real": ("cleaner", 2.0),
    "clipping": ("cleaner", 4.0),
    **dict.fromkeys(("opus", "mp3", "neural_codec"), ("cleaner", 0.5)),
    "low_pass": ("brighter", 1.5),
    "reverberation": ("less_reverb", 2.0),
}
_SEVERITY = 0.3, 0.9
_FAULT_FIRST = 0.3  # of the captions that differ: that of the original names the fault


class Variant(NamedTuple):
    """How much of the fault is left, and by which faults else the clip suffered: one that can."""

    left: float = 0.0
    also: tuple[str, ...] = ()


_DAMAGE = ("damage",)
"""In the place of a fault: one or two of any that a clip can suffer."""

VARIANTS: dict[str, Variant] = {
    "right": Variant(),
    "half": Variant(0.5),
    "untouched": Variant(1.0),
    "worse": Variant(1.5),
    "damaged": Variant(also=_DAMAGE),
    "half_damaged": Variant(0.6, _DAMAGE),
    "lost": Variant(also=("background_lost",)),
    "anew": Variant(also=("clip_regenerated", "speech_otherwise")),
    "unrelated": Variant(also=("clip_unrelated",)),
}


def build(
    folder: str | Path,
    scenes: int = 400,
    seconds: float | Sequence[float] = (2.0, 6.0),
    seed: int = SEED,
    workers: int = 2,
    recordings: Recordings | None = None,
    pools: int = 20,
    processors: Mapping[str, str | Path | bool | None] | None = None,
) -> Path:
    """Make the set below `folder` unless it is there; return its manifest.

    Arguments as of `simulation.build.build`, out of whose pools these scenes are more.
    """
    material = Material(recordings, (), pools, processors=Processors(processors))
    span = shortest_and_longest(seconds)
    settings = {"scenes": scenes, "seconds": span, "seed": seed, "pools": pools, "rated": _RATED}
    make = partial(_scene, material=material, seconds=span, seed=seed)
    return finished(Path(folder), "restorations", settings, material, scenes, workers, make)


def _scene(
    folder: Path, index: int, material: Material, seconds: Sequence[float], seed: int
) -> Made:
    rng = np.random.default_rng([seed, index, 29])
    pool = index % len(material.clips)
    scene = make_scene(material, pool, seconds, rng)
    name = f"restored{index:05d}"
    source = f"pool{pool:02d}" if material.real else name
    able = [fault for fault in _BROKEN if FAULTS[fault].can_befall(scene, UNEDITED)]
    weights = np.array([_BROKEN[fault][1] for fault in able])
    fault = FAULTS[str(rng.choice(able, p=weights / weights.sum()))]
    least = fault.least(bandwidth_hz(scene.background))
    whole = Dose(max(float(rng.uniform(*_SEVERITY)), least))
    state = int(rng.integers(2**31))

    def broken(x: np.ndarray, dose: Dose) -> np.ndarray:
        """What is left of a fault is of one make: the same noise, softer."""
        edit = Edit(scene, UNEDITED)
        edit.clip = x
        fault.apply(edit, dose, np.random.default_rng(state))
        return edit.clip

    given = broken(scene.background, whole)
    level = min(1.0, _LEVELLED / float(np.abs(given).max()))
    original = folder / f"{name}_original.flac"
    write_clip(original, (given * level).astype(np.float32))
    before, after, instruction = _asking(scene, fault.name, rng)
    pairs, rows, vote = [], [], rng.spawn(1)[0]
    for variant, (left, also) in VARIANTS.items():
        doses = _doses(also, scene, rng)
        if also and not doses:
            continue
        doses.pop(fault.name, None)
        samples, _ = render(scene, UNEDITED, doses, rng)
        rest = Dose(min(whole.severity * left, 1.0)) if left else None
        samples, later = (broken(samples, rest) if rest else samples) * level, 0.0
        if rng.random() < SHARE / 2:
            samples, later = nuisance(samples, rng)
        samples = samples * min(1.0, _LEVELLED / max(float(np.abs(samples).max()), 1e-9))
        edited = folder / f"{name}_{variant}.flac"
        write_clip(edited, samples.astype(np.float32))
        suffered = {fault.name: whole, **doses}
        rows.append(row_of(scene, edited.stem, UNEDITED, suffered, len(samples), later=later))
        means = _means(fault, whole, rest, doses, len(samples))
        pair = EditPair(
            id=edited.stem,
            original=original,
            edited=edited,
            original_caption=before,
            target_caption=after,
            instruction=instruction,
            operation=OPERATION,
            system=f"sim_restored_{variant}",
            source=source,
            raters=dict(panel.votes(means, np.random.default_rng(seed), vote)),
        )
        pairs.append(pair)
    return pairs, rows


def _doses(also: Sequence[str], scene: Scene, rng: Generator) -> dict[str, Dose]:
    band_hz = bandwidth_hz(scene.background)
    if also is _DAMAGE:
        return draw_damage(scene, UNEDITED, band_hz, rng)
    return draw_one(also, scene, UNEDITED, band_hz, rng)


def _means(
    fault: Fault,
    whole: Dose,
    rest: Dose | None,
    doses: Mapping[str, Dose],
    length: int,
) -> dict[Axis, float]:
    """Of a clip with the rest of its fault, and with others :: ratings without bias and spread.

    The sound is rated as it is, with what is left; of faithfulness to the broken original the fault
    itself costs nothing, unless it grew.
    """
    before = dict(zip(AXES, fault.lost(whole.severity).tolist(), strict=True))
    after = dict(zip(AXES, fault.lost(rest.severity if rest else 0.0).tolist(), strict=True))
    grown = after["faithfulness"] - before["faithfulness"]
    done = 1 - after["quality"] / before["quality"] if rest else 1.0
    lost: dict[Axis, float] = {
        "quality": after["quality"] if rest else 0.0,
        "relevance": 5 - relevance(done, told=False),
        "faithfulness": max(grown, 0.0),
    }
    return panel.less(panel.expected(doses, length), lost)


def _asking(scene: Scene, fault: str, rng: Generator) -> tuple[str, str, str | None]:
    """Captions and an instruction that ask for the fault to go."""
    change, _ = _BROKEN[fault]
    if rng.random() < _FAULT_FIRST:
        after, before, _ = captions.of_change(scene.words, OPPOSITES[change], rng)
        if before != after:
            return before, after, None
    return captions.of_change(scene.words, change, rng)

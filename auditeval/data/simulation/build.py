"""Build a simulated set: audio/, manifest.jsonl, and edits.jsonl, which tells what was done.

A line of edits.jsonl is {"id", "operation", "faults": {name: severity}, "local": [names of those
that act on a moment], "changed": [[start, end], ...] in seconds of the edited clip, "background",
"events": [classes of the events involved], "sounds": [all classes heard or named]}.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout
from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky import get_reusable_executor
from threadpoolctl import threadpool_limits

from auditeval import manifest
from auditeval.atomic import replacing
from auditeval.audio import files, waveform
from auditeval.audio.waveform import FULL_SCALE, MIN_SECONDS
from auditeval.data.simulation import panel
from auditeval.data.simulation.edits import original_of, render, word
from auditeval.data.simulation.faults import FAULTS
from auditeval.data.simulation.faults.fault import Dose
from auditeval.data.simulation.material import Material, Recordings
from auditeval.data.simulation.nuisance import SHARE, nuisance
from auditeval.data.simulation.processors import Processors
from auditeval.data.simulation.scenes import (
    OPERATIONS,
    SLOTS,
    UNEDITED,
    Scene,
    accompanied,
    inverted,
    make_scene,
)
from auditeval.data.simulation.signals import RATE_HZ, bandwidth_hz
from auditeval.data.simulation.systems import (
    DAMAGER,
    SYSTEMS,
    draw_accompanied,
    draw_damaged,
    draw_doses,
    draw_generated,
    draw_generative,
    draw_inverted,
    draw_late,
)
from auditeval.progress import track
from auditeval.seed import SEED
from auditeval.types import AXES, EditPair, UserError, whole

log = logging.getLogger(__name__)

VERSION = max(16, *(fault.since for fault in FAULTS.values()))
"""Raise it when the same arguments would make other sounds: old folders are then not reused."""

EDITS_PER_SCENE = 5
EDITS = "edits.jsonl"

# Two in five of the clips that only went through something are speech; less than a third of the
# scenes are.
_UNEDITED_SPEECH, _UNEDITED_OTHER = 1.7, 0.8

# Of mixtures, where separators leave what they leave, most are to lose one of their sounds.
_OF_MIXTURES = {"add": 0.2, "delete": 0.6, "replace": 0.2}

# What lies behind an event is taken away oftener than put there.
_OF_INVERTED = {"delete": 0.8, "add": 0.2}

_OF_ACCOMPANIED = {"delete": 0.6, "add": 0.4}

_WORTH_A_PROCESS = 20  # scenes: to start one takes as long as to make eight

FAINTEST = 0.5 / FULL_SCALE  # less is digital silence in 16 bits

Row = dict[str, Any]
Made = tuple[list[EditPair], list[Row]]


def build(
    folder: str | Path,
    scenes: int = 600,
    seconds: float | Sequence[float] = 4.0,
    seed: int = SEED,
    workers: int = 2,
    recordings: Recordings | None = None,
    held_out: Sequence[str] = (),
    pools: int = 20,
    unedited: float = 0.25,
    generative: int = 0,
    inverse: int = 0,
    accompaniment: int = 0,
    damaged: int = 0,
    processors: Mapping[str, str | Path | bool | None] | None = None,
) -> Path:
    """Make the simulated set below `folder` unless it is there; return its manifest.

    Sounds are the bank's and tones, and of `recordings`, {corpus: folder} (`material.READERS`).
    `seconds` is the length of the clips, or the least and the most. `held_out` names classes that
    appear nowhere in it. With recordings, `source` is one of `pools` that share none; without, each
    scene is its own. A share of `unedited` rows asks for no change, and has no rating of relevance.
    `generative` is how many edits more a scene has, by systems of that kind (`systems.GENERATIVE`),
    `inverse` how many more take what lies behind its event away, or put it there; one more then
    replaces it. `accompaniment` is how many more have a third sound, which should stay, `damaged`
    how many more suffer some damage beside what was asked for.
    `processors` are real ones, {name: folder of its files} (see `simulation.processors`).

    The folder's name carries a hash of the arguments, of names and sizes of the recordings and of
    VERSION, so that changed settings never meet old sounds. The manifest is written last: where it
    exists the set is whole. Raises UserError for numbers that make no set.
    """
    if not (isinstance(unedited, (int, float)) and 0 <= unedited <= 1):
        raise UserError(f"unedited {unedited!r}: expected a share, from 0 to 1")
    more = {"generative": generative, "inverse": inverse, "accompaniment": accompaniment}
    for name, count in {**more, "damaged": damaged}.items():
        whole(name, count, 0)
    material = Material(recordings, held_out, pools, processors=Processors(processors))
    span = shortest_and_longest(seconds)
    settings = {"scenes": scenes, "seconds": span, "seed": seed, "unedited": unedited}
    settings |= {**more, "pools": pools}
    settings |= {"replaced": 1} if inverse else {}
    settings |= {"damaged": damaged} if damaged else {}
    settings |= {"classes": material.synthetic}
    make = partial(
        _scene,
        material=material,
        seconds=span,
        seed=seed,
        unedited=unedited,
        generative=generative,
        inverse=inverse,
        accompaniment=accompaniment,
        damaged=damaged,
    )
    return finished(Path(folder), "simulated", settings, material, scenes, workers, make)


def shortest_and_longest(seconds: float | Sequence[float]) -> list[float]:
    """Of clips that last so long, or between the two. Raises UserError for what is no length.

    >>> shortest_and_longest(4.0), shortest_and_longest((2.0, 8.0))
    ([4.0, 4.0], [2.0, 8.0])
    """
    span = [seconds, seconds] if isinstance(seconds, (int, float)) else list(seconds)
    numbers = all(isinstance(end, (int, float)) for end in span)
    if not (numbers and len(span) == 2 and 0 < span[0] <= span[1] < math.inf):
        raise UserError(f"seconds {seconds!r}: expected a number above 0, or two, the least first")
    if span[0] < MIN_SECONDS:
        raise UserError(f"seconds {seconds!r}: no clip under {MIN_SECONDS} s can be rated")
    return span


def finished(
    folder: Path,
    kind: str,
    settings: dict[str, Any],
    material: Material,
    items: int,
    workers: int,
    make: Callable[[Path, int], Made],
) -> Path:
    """The manifest of what `make(audio folder, index)` gives for each item, made or there.

    Raises UserError, before anything is made, where recordings of the material cannot be opened.
    """
    whole("scenes (or trials)", items)
    whole("workers", workers)
    whole("seed", settings.get("seed", SEED), 0)
    settings = {**settings, "version": VERSION, "recordings": material.identity()}
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:8]
    target = folder / f"{kind}-{digest}"
    path = target / "manifest.jsonl"
    if not path.exists():
        with _one_at_a_time(target):
            if not path.exists():
                material.check()
                _make(target, kind, items, workers, make)
    return path


@contextmanager
def _one_at_a_time(target: Path) -> Iterator[None]:
    """Runs that begin together, such as one a seed, share what the first one makes."""
    target.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(target.with_name(f".{target.name}.lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        log.info("%s: another process makes it; waiting until it is there", target)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _make(
    target: Path, kind: str, items: int, workers: int, make: Callable[[Path, int], Made]
) -> None:
    shutil.rmtree(target, ignore_errors=True)
    (target / "audio").mkdir(parents=True)
    # Processes: threads wait for each other in Python itself; on sixteen cores four were as fast as
    # two.
    workers = max(1, min(workers, items // _WORTH_A_PROCESS))
    with threadpool_limits(1), parallel_config("loky", inner_max_num_threads=1):
        run = Parallel(workers, return_as="generator", batch_size=1)
        steps = run(delayed(make)(target / "audio", index) for index in range(items))
        try:
            made = list(track(steps, f"{kind} edits", items))
        except BrokenProcessPool:
            raise UserError(
                f"{target}: a process that made edits was killed, most likely for want of memory; "
                "fewer workers need less"
            ) from None
        finally:
            if workers > 1:  # or they would hold their recordings for minutes
                get_reusable_executor().shutdown()
    with replacing(target / EDITS) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for _, rows in made for row in rows)
    manifest.write([pair for pairs, _ in made for pair in pairs], target / "manifest.jsonl")


def _scene(
    folder: Path,
    index: int,
    material: Material,
    seconds: Sequence[float],
    seed: int,
    unedited: float,
    generative: int,
    inverse: int,
    accompaniment: int,
    damaged: int,
) -> Made:
    rng = np.random.default_rng([seed, index])
    late, more, turned, further, third, worse = (
        np.random.default_rng([seed, index, own]) for own in range(17, 23)
    )
    pool = index % len(material.clips)
    scene = make_scene(material, pool, seconds, rng)
    name = f"scene{index:05d}"
    source = f"pool{pool:02d}" if material.real else name
    band_hz = bandwidth_hz(scene.background)
    share = unedited * (_UNEDITED_SPEECH if scene.is_speech else _UNEDITED_OTHER)
    pairs, rows = [], []

    def make(
        system: str,
        operation: str,
        doses: dict[str, Dose],
        rng: np.random.Generator,
        which: str = "",
        scene: Scene = scene,
        alone: str = "A",
    ) -> None:
        heard = (SLOTS[operation][0] or alone) + ("D" if scene.companion else "")
        original = folder / f"{name}_{heard}.flac"
        before = original_of(scene, operation)
        if not original.exists():
            write_clip(original, before)
        words = word(scene, operation, doses, rng)
        if not words.told:
            for fault, (severity, span) in doses.items():
                doses[fault] = Dose(severity * FAULTS[fault].untold, span)
        (samples, changed), later = render(scene, operation, doses, rng), 0.0
        if rng.random() < SHARE:
            samples, later = nuisance(samples, rng)
        axes = [axis for axis in AXES if operation != UNEDITED or axis != "relevance"]
        votes = panel.rate(doses, len(before), np.random.default_rng(seed), rng, axes)
        if np.abs(samples).max() < FAINTEST:  # a low- and a high-pass may leave nothing to rate
            return
        edited = folder / f"{name}_{system}{which}_{operation}.flac"
        write_clip(edited, samples)
        pairs.append(
            EditPair(
                id=edited.stem,
                original=original,
                edited=edited,
                original_caption=words.original,
                target_caption=words.target,
                operation=operation,
                system=system,
                source=source,
                raters=dict(votes),
            )
        )
        rows.append(row_of(scene, edited.stem, operation, doses, len(samples), changed, later))

    for system in map(str, rng.choice(list(SYSTEMS), EDITS_PER_SCENE, replace=False)):
        operation = UNEDITED if rng.random() < share else _operation(scene, rng)
        doses = draw_doses(system, operation, scene, band_hz, rng)
        doses |= draw_late(operation, scene, doses, band_hz, late)
        make(system, operation, doses, rng)
    for number in range(generative):
        system = draw_generative(scene, more)
        operation = UNEDITED if more.random() < share else _operation(scene, more)
        doses = draw_generated(system, operation, scene, band_hz, more)
        make(system, operation, doses, more, f"_{number + 1}")
    for number in range(damaged):
        operation = _operation(scene, worse)
        doses = draw_damaged(scene, operation, band_hz, worse)
        make(DAMAGER, operation, doses, worse, f"_{number + 1}")
    if scene.is_mixture:  # both sounds last
        return pairs, rows
    for number in range(accompaniment):
        other = accompanied(scene, third)
        system = str(third.choice(list(SYSTEMS)))
        operation = str(third.choice(list(_OF_ACCOMPANIED), p=list(_OF_ACCOMPANIED.values())))
        doses = draw_accompanied(system, operation, other, bandwidth_hz(other.background), third)
        make(system, operation, doses, third, f"_accompanied_{number + 1}", other)
    if not inverse:
        return pairs, rows
    other = inverted(scene, further)
    band_hz = bandwidth_hz(other.background)
    for number in range(inverse):
        system = str(turned.choice(list(SYSTEMS)))
        operation = str(turned.choice(list(_OF_INVERTED), p=list(_OF_INVERTED.values())))
        doses = draw_inverted(system, operation, other, band_hz, turned)
        make(system, operation, doses, turned, f"_inverse_{number + 1}", other, "E")
    system = str(further.choice(list(SYSTEMS)))
    doses = draw_inverted(system, "replace", other, band_hz, further)
    make(system, "replace", doses, further, f"_inverse_{inverse + 1}", other)
    return pairs, rows


def _operation(scene: Scene, rng: np.random.Generator) -> str:
    if scene.is_mixture:
        return str(rng.choice(list(_OF_MIXTURES), p=list(_OF_MIXTURES.values())))
    return str(rng.choice(OPERATIONS))


def row_of(
    scene: Scene,
    name: str,
    operation: str,
    doses: Mapping[str, Dose],
    length: int,
    changed: Sequence[tuple[int, int]] = (),
    later: float = 0.0,
) -> Row:
    """A line of edits.jsonl; `length` and `changed` in samples, `later` in seconds."""
    end = length / RATE_HZ
    times = [[min(max(0.0, at / RATE_HZ + later), end) for at in span] for span in changed]
    events = [scene.events[slot].name for slot in SLOTS.get(operation, ()) if slot]
    needs = {FAULTS[fault].needs for fault in doses}
    spares = [spare for need, spare in scene.spare_names.items() if need in needs]
    spares += [scene.companion.name] if scene.companion else []
    return {
        "id": name,
        "operation": operation,
        "changed": [[round(start, 6), round(stop, 6)] for start, stop in times],
        "background": scene.name,
        "events": events,
        "faults": {fault: dose.severity for fault, dose in doses.items()},
        "local": [fault for fault, dose in doses.items() if dose.span is not None],
        "sounds": sorted({scene.name, *events, *spares}),
    }


def write_clip(path: Path, samples: np.ndarray) -> None:
    files.write(path, waveform.quantised(samples), RATE_HZ)

"""Contrast sets: of one scene the right edit and wrong ones, which relevance must tell apart.

To test on (`build`): events are of given classes alone, over any other background, a pair's
`source` is its trial, its `system` the variant, and the only rating a relevance of 5, of 3 where it
is done halfway, or of 1. To learn from (`build_rated`): events are recordings, where a pool has
any, and the simulated panel rates relevance alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

from auditeval.data.simulation import panel
from auditeval.data.simulation.build import Made, finished, row_of, shortest_and_longest, write_clip
from auditeval.data.simulation.edits import original_of, render, word
from auditeval.data.simulation.faults import FAULTS
from auditeval.data.simulation.faults.fault import Dose
from auditeval.data.simulation.material import SPEECH, Material, Recordings
from auditeval.data.simulation.processors import Processors
from auditeval.data.simulation.scenes import OPERATIONS, Scene, make_scene
from auditeval.data.simulation.signals import bandwidth_hz
from auditeval.data.simulation.systems import draw_damage, draw_one, implied
from auditeval.data.simulation.vocabulary import known
from auditeval.seed import SEED
from auditeval.types import Axis, EditPair, UserError

_RATED: tuple[Axis, ...] = ("relevance",)
VARIANTS: dict[str, tuple[str, ...]] = {
    "right": (),
    "wrong": ("edit_wrong",),
    "hiss": ("edit_hiss",),
    "swapped": ("edit_otherwise",),
    "untouched": ("edit_absent",),
    "opposite": ("edit_opposite",),
    "halfway": ("edit_halfway",),
}
"""Variant -> its faults. Only replacing can be done halfway, and it has no opposite."""

FURTHER: dict[str, tuple[str, ...]] = {
    "damaged_untouched": ("edit_absent",),
    "anew": (),
    **{f"anew_{name}": faults for name, faults in VARIANTS.items() if faults},
}
"""Further variants to learn from: all of a clip is other than it was, which is no edit. One made
anew has other takes of its sounds, of what should have gone too."""

# Of a trial, beside the right one: with all of them a model unsure of such clips takes any for
# wrong, as most would be.
_WRONG_ANEW = 2

# Editors that generate end in a decoder, whatever they made of the words: all variants of a trial
# in the same.
DECODERS = ("neural_codec", "neural_decoder", "vocoder", "opus", "mp3")
_DECODED_SHARE = 0.5


def build(
    folder: str | Path,
    classes: Sequence[str],
    trials: int = 200,
    seconds: float | Sequence[float] = 5.0,
    seed: int = SEED,
    workers: int = 2,
    recordings: Recordings | None = None,
) -> Path:
    """Make the set below `folder` unless it is there; return its manifest.

    The events are of `classes`, from recordings where there are any, also the one that a confused
    editor adds; where there are too few that nobody would confuse, it is any other. Operations take
    turns. Raises UserError for no class, and for one without sounds.
    """
    material = Material(recordings, pools=1, real_share=1.0)
    names = known(classes)
    if not names:
        raise UserError(
            "a contrast set needs classes of events: data.unheard=[...] (of data=synthesised and "
            "data=recordings)"
        )
    if missing := set(names) - set(material.classes(0)):
        raise UserError(f"there is no sound of {', '.join(sorted(missing))}: name its recordings")
    span = shortest_and_longest(seconds)
    settings = {"trials": trials, "seconds": span, "seed": seed, "classes": names}
    make = partial(_trial, material=material, seconds=span, seed=seed, classes=names)
    return finished(Path(folder), "contrasts", settings, material, trials, workers, make)


def build_rated(
    folder: str | Path,
    trials: int = 400,
    seconds: float | Sequence[float] = (2.0, 8.0),
    seed: int = SEED,
    workers: int = 2,
    recordings: Recordings | None = None,
    pools: int = 20,
    processors: Mapping[str, str | Path | bool | None] | None = None,
) -> Path:
    """Make a set to learn from below `folder` unless it is there; return its manifest.

    Arguments as of `simulation.build.build`, out of whose pools these scenes are more.
    """
    material = Material(recordings, (), pools, real_share=1.0, processors=Processors(processors))
    span = shortest_and_longest(seconds)
    settings = {"trials": trials, "seconds": span, "seed": seed, "pools": pools}
    settings |= {"further": [*FURTHER], "wrong_anew": _WRONG_ANEW, "decoders": DECODERS}
    make = partial(_trial, material=material, seconds=span, seed=seed, rated=True)
    return finished(Path(folder), "contrasts", settings, material, trials, workers, make)


def _trial(
    folder: Path,
    index: int,
    material: Material,
    seconds: Sequence[float],
    seed: int,
    classes: Sequence[str] = (),
    rated: bool = False,
) -> Made:
    rng = np.random.default_rng([seed, index, *([27] if rated else [])])
    pool = index % len(material.clips)
    if rated:
        classes = sorted(material.clips[pool].keys() - set(SPEECH))
    scene = make_scene(material, pool, seconds, rng, classes)
    trial, operation = f"trial{index:05d}", OPERATIONS[index % len(OPERATIONS)]
    if operation != "replace":  # C has no part in it, and is of the classes where two are given
        wrong = scene.events["C"]
        scene = scene._replace(wrong=lambda: wrong)
    original = folder / f"{trial}_original.flac"
    write_clip(original, original_of(scene, operation))
    # One wording of what stays for all variants, so that only the asked edit differs.
    state = int(rng.integers(2**31))
    decoded = _decoded(scene, operation, np.random.default_rng([seed, index, 28])) if rated else {}
    pairs, rows = [], []
    chosen = _chosen(scene, operation, np.random.default_rng([seed, index, 29]) if rated else None)
    for variant, faults in chosen.items():
        doses = dict.fromkeys(faults, Dose(1.0))
        doses |= decoded | implied(doses, operation)
        heard = scene
        if variant.startswith("anew_"):
            kept = scene.events["B"]._replace(samples=scene.other_event("B"))
            heard = scene._replace(events=scene.events | {"B": kept})
        elif variant == "damaged_untouched":
            doses |= draw_damage(scene, operation, bandwidth_hz(scene.background), rng)
        words = word(scene, operation, doses, np.random.default_rng(state))
        samples, changed = render(heard, operation, doses, np.random.default_rng(state))
        edited = folder / f"{trial}_{variant}.flac"
        write_clip(edited, samples)
        said: dict[str, Any]
        if rated:
            votes = panel.rate(doses, len(samples), np.random.default_rng(seed), rng, _RATED)
            source = f"pool{pool:02d}" if material.real else trial
            said = {"system": f"contrast_{variant}", "source": source, "raters": votes}
        else:
            relevance = {"right": 5.0, "halfway": 3.0}.get(variant, 1.0)
            said = {"system": variant, "source": trial, "ratings": {"relevance": relevance}}
        pair = EditPair(
            id=f"{trial}_{operation}_{variant}",
            original=original,
            edited=edited,
            original_caption=words.original,
            target_caption=words.target,
            operation=operation,
            **said,
        )
        pairs.append(pair)
        row = row_of(scene, pair.id, operation, doses, len(samples), changed)
        sounds = sorted({row["background"], *row["events"], scene.wrong().name})
        rows.append(row | {"sounds": sounds})
    return pairs, rows


def _chosen(scene: Scene, operation: str, rng: Generator | None) -> dict[str, tuple[str, ...]]:
    """Variants that there can be of a trial, with their faults; with `rng` further ones."""
    able = {}
    for variant, faults in {**VARIANTS, **(FURTHER if rng else {})}.items():
        if variant.startswith("anew"):
            faults += ("speech_otherwise" if scene.is_speech else "clip_regenerated",)
        if all(FAULTS[name].can_befall(scene, operation) for name in faults):
            able[variant] = faults
    if rng:
        wrong_anew = [variant for variant in able if variant.startswith("anew_")]
        for variant in map(str, rng.permutation(wrong_anew)[_WRONG_ANEW:]):
            del able[variant]
    return able


def _decoded(scene: Scene, operation: str, rng: Generator) -> dict[str, Dose]:
    """What befalls all edits of a trial, or nothing."""
    if rng.random() >= _DECODED_SHARE:
        return {}
    names = list(map(str, rng.permutation(DECODERS)))
    return draw_one(names, scene, operation, bandwidth_hz(scene.background), rng)

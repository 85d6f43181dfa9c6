"""Simulated sets of one kind of edit each, several of every scene, beside those of `build`.

There any system may commit any fault, and what only some clips can suffer is rare; here it is all
there is, side by side with the right edit. The panel is the simulated one: no person rated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from auditeval.data.simulation import lengths, removals, spoken_anew, strengths, unasked
from auditeval.data.simulation.build import Made, finished, shortest_and_longest
from auditeval.data.simulation.material import Material, Recordings
from auditeval.data.simulation.processors import Processors
from auditeval.data.simulation.scenes import UNEDITED, Scene, inverted, make_scene
from auditeval.data.simulation.variants import Variants
from auditeval.seed import SEED
from auditeval.types import AXES, Axis, UserError

_TRIES = 200


class Kind(NamedTuple):
    """How the edits of a scene are made, under what name, and what is rated of them."""

    edit: Callable[[Scene, Variants, int, Generator], None]
    name: str
    draws: int  # tells its scenes from another kind's
    operation: Callable[[int], str]
    axes: tuple[Axis, ...] = AXES
    suits: Callable[[Scene], bool] = lambda scene: True  # of which scenes
    inverted: float = 0.0  # share of them whose parts are exchanged


def _is_mixture(scene: Scene) -> bool:
    return scene.is_mixture


KINDS: dict[str, Kind] = {
    "lengths": Kind(lengths.edit, "length", 31, lengths.operation_of, lengths.RATED),
    "strengths": Kind(strengths.edit, "strength", 37, lambda _: UNEDITED, strengths.AXES),
    "removals": Kind(
        removals.edit, "removal", 41, lambda _: removals.OPERATION, suits=_is_mixture, inverted=0.5
    ),
    "unasked": Kind(unasked.edit, "unasked", 43, unasked.operation_of, unasked.AXES),
    "spoken_anew": Kind(
        *(spoken_anew.edit, "spoken_anew", 47, lambda _: spoken_anew.OPERATION, spoken_anew.AXES),
        suits=spoken_anew.suits,
    ),
}


def build(
    folder: str | Path,
    kind: str,
    scenes: int = 400,
    seconds: float | Sequence[float] = (2.0, 6.0),
    seed: int = SEED,
    workers: int = 2,
    recordings: Recordings | None = None,
    pools: int = 20,
    processors: Mapping[str, str | Path | bool | None] | None = None,
) -> Path:
    """Make the set of that kind below `folder` unless it is there; return its manifest.

    Other arguments as of `simulation.build.build`, out of whose pools these scenes are more. Raises
    UserError for a kind that is none of KINDS.
    """
    if kind not in KINDS:
        raise UserError(f"kind {kind!r}: expected one of {', '.join(KINDS)}")
    material = Material(recordings, (), pools, processors=Processors(processors))
    span = shortest_and_longest(seconds)
    settings = {"scenes": scenes, "seconds": span, "seed": seed, "pools": pools}
    make = partial(_scene, kind=KINDS[kind], material=material, seconds=span, seed=seed)
    return finished(Path(folder), kind, settings, material, scenes, workers, make)


def _suiting(
    kind: Kind, material: Material, pool: int, seconds: Sequence[float], rng: Generator
) -> Scene:
    """A scene of that pool or, where it has none that suits, of the sounds that are synthesised: of
    a pool's only recording of speech nothing is ever said otherwise."""
    for _ in range(_TRIES):
        scene = make_scene(material, pool, seconds, rng)
        if kind.suits(scene):
            return scene
    own = Material(None, (), 1, processors=material.processors)
    while not kind.suits(scene := make_scene(own, 0, seconds, rng)):
        pass
    return scene


def _scene(
    folder: Path,
    index: int,
    kind: Kind,
    material: Material,
    seconds: Sequence[float],
    seed: int,
) -> Made:
    rng = np.random.default_rng([seed, index, kind.draws])
    pool = index % len(material.clips)
    scene = _suiting(kind, material, pool, seconds, rng)
    if kind.inverted and rng.random() < kind.inverted:
        scene = inverted(scene, rng)
    source = f"pool{pool:02d}" if material.real else ""
    operation = kind.operation(index)
    variants = Variants(
        folder, kind.name, index, scene, operation, source, seed, rng, axes=kind.axes
    )
    kind.edit(scene, variants, index, rng)
    return variants.made

"""Simulated changes of how a sound sounds: asked for in words, and done right, half, or wrongly.

Of one scene, whose words ask for a change of pitch, pace, level, room or effect, there are several
edits. What each of them is worth follows from how much of which change was made (`relevance`,
`unasked`); a fault of `faults` can come on top. The panel is the simulated one: no person rated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from auditeval.data.simulation import panel
from auditeval.data.simulation.build import (
    FAINTEST,
    Made,
    finished,
    row_of,
    shortest_and_longest,
    write_clip,
)
from auditeval.data.simulation.captions import of_change
from auditeval.data.simulation.change_ways import WAYS, Way
from auditeval.data.simulation.edits import render
from auditeval.data.simulation.faults import FAULTS
from auditeval.data.simulation.faults.fault import Dose, Stage
from auditeval.data.simulation.material import Material, Recordings
from auditeval.data.simulation.nuisance import SHARE, nuisance
from auditeval.data.simulation.processors import Processors
from auditeval.data.simulation.scenes import UNEDITED, Scene, make_scene
from auditeval.data.simulation.signals import bandwidth_hz
from auditeval.data.simulation.systems import draw_damage, draw_one
from auditeval.seed import SEED
from auditeval.types import AXES, Axis, EditPair, whole

OPERATION = "change"
_RATED = 4
"""Raise it when the same arguments would have other ratings or variants."""
_LEVELLED = 0.99


class Variant(NamedTuple):
    """What an editor does: this ratio of the asked amount, of the asked change or of another.

    `also` are faults of the content, of which one that can strikes.
    """

    ratio: float = 1.0
    of: str = "asked"
    damaged: bool = False
    also: tuple[str, ...] = ()


VARIANTS: dict[str, Variant] = {
    "right": Variant(),
    "half": Variant(0.5),
    "double": Variant(2.0),
    "opposite": Variant(of="opposite"),
    "untouched": Variant(0.0),
    "other": Variant(of="other"),
    "damaged": Variant(damaged=True),
    "misnamed": Variant(of="misnamed"),
    "lost": Variant(also=("background_lost",)),
    "anew": Variant(also=("clip_regenerated", "speech_otherwise")),
    "unrelated": Variant(also=("clip_unrelated",)),
}
"""By name. `misnamed`: the change was made, and the words ask for another."""

_MADE_SYSTEMS = ("sim_right", "sim_half", "sim_double", "sim_lost")
_DONE = {"right": 0.5, "half": 0.15, "untouched": 0.25, "other": 0.1}
"""What variants the further damaged edits are of, and how often."""


def relevance(ratio: float, told: bool) -> float:
    """Of an edit that made `ratio` times the change that was asked for, 1 to 5.

    Raters forgive too little or too much where no amount was told. By ear.

    >>> [round(relevance(ratio, True), 1) for ratio in (-1, 0, 0.5, 1, 2)]
    [1.0, 1.0, 3.2, 5.0, 3.4]
    """
    ratios = (0.0, 0.25, 0.5, 0.8, 1.0, 1.3, 2.0, 4.0)
    strict, free = (
        (1.0, 2.0, 3.2, 4.6, 5.0, 4.6, 3.4, 2.2),
        (1.0, 2.4, 3.8, 4.8, 5.0, 4.9, 4.3, 3.0),
    )
    return float(np.interp(ratio, ratios, strict if told else free))


# Of what nobody asked for: points of faithfulness and of quality lost, at the middle of its span.
# A voice a few semitones off is still the voice; an echo is a fault. By ear.
_UNASKED: dict[str, tuple[float, float]] = {
    **dict.fromkeys(("pitch_up", "pitch_down"), (1.8, 0.4)),
    **dict.fromkeys(("faster", "slower"), (1.5, 0.3)),
    **dict.fromkeys(("louder", "softer"), (0.4, 0.0)),
    **{"more_reverb": (1.2, 0.5), "less_reverb": (0.8, 0.0)},
    **dict.fromkeys(("brighter", "duller"), (0.8, 0.3)),
    **{"narrow": (1.6, 1.3), "echo": (1.6, 0.8), "distorted": (1.8, 1.6)},
    **{"noisier": (1.6, 1.6), "cleaner": (0.6, 0.0), "tremolo": (1.6, 0.8)},
    **{"chorus": (1.2, 0.6), "compressed": (0.6, 0.2)},
}
# What the change itself costs in sound, asked for or not: artefacts of pitch and pace.
_MADE = {**dict.fromkeys(("pitch_up", "pitch_down", "faster", "slower"), 0.3), "distorted": 0.3}
_DAMAGE = [
    name
    for name, fault in FAULTS.items()
    if fault.stage is Stage.CLIP and not fault.processor and fault.needs is None
]


def build(
    folder: str | Path,
    scenes: int = 400,
    seconds: float | Sequence[float] = (2.0, 6.0),
    seed: int = SEED,
    workers: int = 2,
    recordings: Recordings | None = None,
    pools: int = 20,
    held_out_words: bool = False,
    damaged: int = 0,
    misnamed: int = 0,
    processors: Mapping[str, str | Path | bool | None] | None = None,
) -> Path:
    """Make the set below `folder` unless it is there; return its manifest.

    Arguments as of `simulation.build.build`. `held_out_words`: templates that no evaluator of ours
    was trained on. `damaged` is how many edits more a scene has, done or not, with any damage that
    there is; `misnamed` how often one of its edits is rated again, in relevance alone, under words
    that ask for another change.
    """
    whole("damaged", damaged, 0)
    whole("misnamed", misnamed, 0)
    material = Material(recordings, (), pools, processors=Processors(processors))
    span = shortest_and_longest(seconds)
    settings = {"scenes": scenes, "seconds": span, "seed": seed, "pools": pools}
    settings |= {"held_out_words": held_out_words, "rated": _RATED}
    settings |= {"damaged": damaged} if damaged else {}
    settings |= {"misnamed": misnamed} if misnamed else {}
    make = partial(
        _scene,
        material=material,
        seconds=span,
        seed=seed,
        held_out=held_out_words,
        damaged=damaged,
        misnamed=misnamed,
    )
    return finished(Path(folder), "changes", settings, material, scenes, workers, make)


class _Asked(NamedTuple):
    """The change that the words ask for, by how much, and whether they tell how much."""

    change: str
    amount: float
    told: bool


def _scene(
    folder: Path,
    index: int,
    material: Material,
    seconds: Sequence[float],
    seed: int,
    held_out: bool,
    damaged: int,
    misnamed: int,
) -> Made:
    rng = np.random.default_rng([seed, index, 25])
    pool = index % len(material.clips)
    scene = make_scene(material, pool, seconds, rng)
    own = np.random.default_rng([seed, index, 33])
    scene = scene._replace(character=int(own.integers(2**31)))
    names = list(WAYS)
    change, other = (str(x) for x in rng.choice(names, 2, replace=False))
    while other == WAYS[change].opposite:
        other = str(rng.choice(names))
    way = WAYS[change]
    asked = _Asked(change, float(rng.uniform(*way.span)), bool(way.unit) and rng.random() < 0.5)
    if asked.told and way.unit != "ratio":
        asked = asked._replace(amount=float(round(asked.amount)))
    name, source = (
        f"change{index:05d}",
        f"pool{pool:02d}" if material.real else f"change{index:05d}",
    )
    dry = scene.background
    given = way.make(dry, asked.amount, scene, rng) if way.undoes else dry
    original = folder / f"{name}_original.flac"
    words = np.random.default_rng([seed, index, 26])  # another wording makes no other sounds
    worded = _words(scene, asked, words, held_out)
    of_other = _words(scene, _Asked(other, asked.amount, False), words, held_out)
    level = _LEVELLED / max(float(np.abs(given).max()), _LEVELLED)
    write_clip(original, given * level)
    pairs, rows = [], []

    def keep(
        variant: str,
        samples: np.ndarray,
        doses: dict[str, Dose],
        lost: Mapping[Axis, float],
        draws: Generator,
        said: tuple[str, str, str | None] = worded,
    ) -> None:
        samples, later = samples * level, 0.0
        if draws.random() < SHARE / 2:
            samples, later = nuisance(samples, draws)
        samples = samples * min(1.0, _LEVELLED / max(float(np.abs(samples).max()), 1e-9))
        means = panel.less(panel.expected(doses, len(samples)), lost)
        # Of another take nobody can tell by how much it was changed.
        axes: list[Axis] = [axis for axis in AXES if variant != "anew" or axis != "relevance"]
        votes = panel.votes(means, np.random.default_rng(seed), draws, axes)
        edited = folder / f"{name}_{variant}.flac"
        write_clip(edited, samples.astype(np.float32))
        before, after, told = said
        pairs.append(
            EditPair(
                id=edited.stem,
                original=original,
                edited=edited,
                original_caption=before,
                target_caption=after,
                instruction=told,
                operation=OPERATION,
                system=f"sim_{variant.partition('-')[0]}",
                source=source,
                raters=dict(votes),
            )
        )
        row = row_of(scene, edited.stem, UNEDITED, doses, len(samples), later=later)
        rows.append(row | {"change": asked.change, "amount": asked.amount})

    further = np.random.default_rng([seed, index, 30])
    for variant, (ratio, of, spoilt, also) in VARIANTS.items():
        if of == "opposite" and not way.opposite:
            continue
        doses: dict[str, Dose] = {}
        heard, edited_of, draws = scene, given, further if also else rng
        if also:
            doses = draw_one(also, scene, UNEDITED, bandwidth_hz(dry), draws)
            if not doses:
                continue
            heard = scene._replace(background=render(scene, UNEDITED, doses, draws)[0])
            edited_of = given if way.undoes else heard.background
        samples, lost = _edited(heard, asked, edited_of, ratio, of, other, draws)
        if spoilt:
            fault = FAULTS[str(draws.choice(_DAMAGE))]
            dose = Dose(max(fault.draw(bandwidth_hz(samples), draws), 0.4))
            if fault.can_befall(scene, UNEDITED):
                doses = {fault.name: dose}
                samples = fault.effect(samples, fault.amount(dose.severity), draws)
        keep(variant, samples, doses, lost, draws, of_other if of == "misnamed" else worded)
    worse = np.random.default_rng([seed, index, 32])
    for number in range(damaged):
        done = VARIANTS[str(worse.choice(list(_DONE), p=list(_DONE.values())))]
        samples, lost = _edited(scene, asked, given, done.ratio, done.of, other, worse)
        # Noise of the scene is as long as it was before a change of pace.
        offers = scene.offers if len(samples) == len(scene.background) else frozenset()
        heard = scene._replace(background=samples, offers=offers)
        doses = draw_damage(heard, UNEDITED, bandwidth_hz(samples), worse)
        samples, _ = render(heard, UNEDITED, doses, worse)
        if np.abs(samples).max() >= FAINTEST:  # a low- and a high-pass may leave nothing to rate
            keep(f"damaged-{number + 2}", samples, doses, lost, worse)
    renamed = np.random.default_rng([seed, index, 34])
    made = [place for place, pair in enumerate(pairs) if pair.system in _MADE_SYSTEMS]
    others = [x for x in names if x not in (change, way.opposite)]
    for number in range(misnamed):
        place, another = int(renamed.choice(made)), str(renamed.choice(others))
        said = _words(scene, _Asked(another, 0.0, False), renamed, held_out)
        edit = f"{name}_misnamed-{number + 2}"
        pairs.append(_misnamed(pairs[place], edit, said, renamed, seed))
        rows.append(rows[place] | {"id": edit})
    return pairs, rows


def _misnamed(
    pair: EditPair, name: str, said: tuple[str, str, str | None], rng: Generator, seed: int
) -> EditPair:
    """An edit under words that ask for what was not made, of which only that is rated."""
    means = dict.fromkeys(AXES, 1.0)
    votes = panel.votes(means, np.random.default_rng(seed), rng, ["relevance"])
    before, after, told = said
    return EditPair(
        id=name,
        original=pair.original,
        edited=pair.edited,
        original_caption=before,
        target_caption=after,
        instruction=told,
        operation=OPERATION,
        system="sim_misnamed",
        source=pair.source,
        raters=dict(votes),
    )


def _edited(
    scene: Scene,
    asked: _Asked,
    given: np.ndarray,
    ratio: float,
    of: str,
    other: str,
    rng: Generator,
) -> tuple[np.ndarray, dict[Axis, float]]:
    """The clip, and the points that the change, or another, costs on each axis."""
    way = WAYS[asked.change]
    if way.undoes:
        ratio = min(ratio, 1.0)
    # What should go and is still there is heard; nobody says that of a clip who was not told.
    left = 1 - ratio if of == "asked" else float(of != "misnamed")
    still = left * _broken(way, asked.amount) if way.undoes else 0.0
    if of in ("other", "opposite"):
        name = other if of == "other" else way.opposite
        done = WAYS[name]
        if done.undoes:  # of what was never there
            return given, {"quality": still, "relevance": 4.0, "faithfulness": 0.0}
        amount = float(np.mean(done.span)) if of == "other" else asked.amount
        lost = _unasked(name)
        lost["quality"] = min(lost["quality"] + still, 4.0)
        return done.make(given, amount, scene, rng), lost
    if not ratio:
        made = given
    elif way.undoes:
        rest = asked.amount * (1 - ratio)
        made = way.make(scene.background, rest, scene, rng) if rest else scene.background
    else:
        made = way.make(given, asked.amount * ratio, scene, rng)
    lost = _unasked(asked.change)
    if of != "misnamed":
        too_much = float(np.log2(max(ratio, 1.0)))
        lost["faithfulness"] *= 0.4 * too_much
        ugly = 0.5 * too_much * _UNASKED[asked.change][1]
        lost["quality"] = still + ugly + _MADE.get(asked.change, 0.0) * min(ratio, 2.0)
        lost["relevance"] = 5 - relevance(ratio, asked.told)
    return made, lost


def _broken(way: Way, amount: float) -> float:
    """Points of quality that a clip with so much of what is to go lost by it."""
    return _UNASKED[way.opposite][1] * amount / float(np.mean(way.span))


def _unasked(change: str) -> dict[Axis, float]:
    """What a change costs that nobody asked for."""
    unfaithful, ugly = _UNASKED[change]
    lost = ugly + _MADE.get(change, 0.0)
    return {"quality": lost, "relevance": 4.0, "faithfulness": unfaithful}


def _words(
    scene: Scene, asked: _Asked, rng: Generator, held_out: bool
) -> tuple[str, str, str | None]:
    amount = _amount(asked) if asked.told else ""
    return of_change(scene.words, asked.change, rng, held_out, amount)


def _amount(asked: _Asked) -> str:
    unit, amount = WAYS[asked.change].unit, asked.amount
    if unit == "ratio":
        faster = 2**amount
        share = faster - 1 if asked.change == "faster" else 1 - 1 / faster
        return f"{round(100 * share)} percent"
    return f"{round(amount)} semitones" if unit == "semitones" else f"{round(amount)} dB"

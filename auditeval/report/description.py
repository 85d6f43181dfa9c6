"""A rated set as a paper describes it: counts, ratings by system and operation, raters, clips."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from math import fsum
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

from auditeval.audio import AudioError
from auditeval.data.contents import Clip
from auditeval.data.inventory import Inventory, Leak, leaks, take_stock
from auditeval.metrics.agreement import Agreement
from auditeval.metrics.raters import Screened, rater_ceiling, reliability, screened
from auditeval.seed import SEED
from auditeval.text import natural, untaken
from auditeval.types import AXES, Axis, EditPair, Undefined

BIN_CENTRES = tuple(round(1 + 0.2 * place, 1) for place in range(21))
"""Of the histograms, in points: means of five whole votes are just these."""

SECONDS: dict[str, Callable[[list[float]], float]] = {
    "total": fsum,
    "shortest": min,
    "median": median,
    "longest": max,
}
FIELDS = ("split", "operation", "system")
NAMELESS = "(none)"


class Spread(NamedTuple):
    """Ratings of a group of pairs, in points; `sd` is the sample's, with n - 1."""

    rated: int
    mean: float
    sd: float | Undefined


class Group(NamedTuple):
    """Pairs that have something in common, how many are in each stated split, their ratings."""

    pairs: int
    splits: dict[str, int]
    ratings: dict[Axis, Spread]


class Distribution(NamedTuple):
    """All ratings of an axis: their ends and middle, and how many lie in each of `BIN_CENTRES`."""

    lowest: float
    median: float
    highest: float
    counts: list[int]


class Panel(NamedTuple):
    """The raters of an axis: of how many pairs votes are there, and the fewest, mean and most votes
    of one; see `metrics.raters` for the rest. `raters` is empty where they have no ids."""

    pairs: int
    votes: tuple[int, float, int]
    reliability: dict[str, Agreement]
    ceiling: dict[str, dict[str, Agreement]]
    raters: list[Screened]


class Description(NamedTuple):
    """`by` holds the groups of each of `FIELDS` that some pair has; `crossed` those of systems and
    operations where there are several of both. Without audio there is no `inventory`, and `leaks`
    are by file and source alone.
    """

    manifest: Path
    whole: Group
    by: dict[str, dict[str, Group]]
    crossed: dict[tuple[str, str], Group]
    distributions: dict[Axis, Distribution]
    panels: dict[Axis, Panel]
    inventory: Inventory | None
    leaks: list[Leak]


def describe(
    pairs: Sequence[EditPair],
    manifest: Path,
    clips: Mapping[Path, Clip | AudioError] | None = None,
    resamples: int = 1000,
    seed: int = SEED,
    watch: Callable[[Axis], None] = lambda axis: None,
) -> Description:
    """Describe the pairs of a manifest, whose clips are those of `inventory.read`.

    `watch` is called before the raters of an axis are compared, which takes seconds.
    """
    values = {field: {getattr(pair, field) for pair in pairs} for field in FIELDS}
    none = {field: untaken(NAMELESS, found) for field, found in values.items()}
    by = {
        field: _grouped(pairs, field, none[field]) for field, found in values.items() if any(found)
    }
    crossed: dict[tuple[str, str], Group] = {}
    if all(len(by.get(field, {})) > 1 for field in ("system", "operation")):
        for system in by["system"]:
            of_system = [pair for pair in pairs if (pair.system or none["system"]) == system]
            found = _grouped(of_system, "operation", none["operation"])
            crossed.update({(system, operation): group for operation, group in found.items()})
    panels = {}
    for axis in AXES:
        rated = [pair for pair in pairs if axis in pair.raters]
        if rated:
            watch(axis)
            panels[axis] = _panel(rated, axis, resamples, seed)
    return Description(
        manifest,
        _group(pairs),
        by,
        crossed,
        {
            axis: _distribution(ratings)
            for axis in AXES
            if (ratings := [pair.ratings[axis] for pair in pairs if axis in pair.ratings])
        },
        panels,
        None if clips is None else take_stock(pairs, clips),
        leaks(pairs, clips or {}),
    )


def _grouped(pairs: Sequence[EditPair], field: str, none: str) -> dict[str, Group]:
    """Groups by name, sys2 before sys10; those of pairs without one as `none`."""
    members: dict[str, list[EditPair]] = {}
    for pair in pairs:
        members.setdefault(getattr(pair, field) or none, []).append(pair)
    return {name: _group(members[name]) for name in sorted(members, key=natural)}


def _group(pairs: Sequence[EditPair]) -> Group:
    splits = [pair.split for pair in pairs if pair.split]
    ratings: dict[Axis, Spread] = {}
    for axis in AXES:
        values = [pair.ratings[axis] for pair in pairs if axis in pair.ratings]
        if values:
            few = Undefined("one rating; a standard deviation needs 2")
            sd = few if len(values) == 1 else float(np.std(values, ddof=1))
            ratings[axis] = Spread(len(values), float(np.mean(values)), sd)
    stated: dict[str, int] = {
        name: splits.count(name) for name in ("train", "validation", "test") if name in splits
    }
    return Group(len(pairs), stated, ratings)


def _distribution(ratings: Sequence[float]) -> Distribution:
    # The share of a bin is added, since 1.1 is no binary number and would fall to either side.
    places = np.floor((np.array(ratings) - 0.9) / 0.2 + 1e-9).astype(int)
    counts = np.bincount(places, minlength=len(BIN_CENTRES))
    return Distribution(min(ratings), float(np.median(ratings)), max(ratings), counts.tolist())


def _panel(pairs: Sequence[EditPair], axis: Axis, resamples: int, seed: int) -> Panel:
    votes = [pair.raters[axis] for pair in pairs]
    systems = [pair.system for pair in pairs]
    counts = [len(given) for given in votes]
    return Panel(
        len(pairs),
        (min(counts), float(np.mean(counts)), max(counts)),
        reliability(votes, systems, resamples, seed),
        rater_ceiling(votes, systems, seed=seed),
        screened(votes),
    )


def shown(name: str | Path, made: Description) -> str:
    """A path as the manifest's folder sees it; another name as it is."""
    if isinstance(name, str):
        return name
    return Path(os.path.relpath(name, made.manifest.parent)).as_posix()

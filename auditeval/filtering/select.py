"""Which stage rejects which pair, and what each stage left."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import polars

from auditeval.filtering.recipe import UNSCORED, Recipe, Stage
from auditeval.types import AXES, Axis, UserError

ALL = "all"
NO_OPERATION = "-"  # the group of the pairs that name no operation
BINS = 80


class Cut(NamedTuple):
    """What one stage left :: operation, and ALL -> pairs, and the lowest score among them.

    `lowest` lacks an operation of which nothing was left.
    """

    stage: Stage | None
    name: str
    kept: dict[str, int]
    lowest: dict[str, float]


class Distribution(NamedTuple):
    """Pairs in each of BINS bins of like width between two scores, before and after filtering."""

    before: np.ndarray
    after: np.ndarray


class Outcome(NamedTuple):
    """Counts of a filtered manifest; `cuts` begins with what had scores at all.

    `notes` are sentences on what a reader of the counts should know. `distributions` are of the
    scores between `limits`, by operation and axis; an axis without any score is absent.
    """

    original: dict[str, int]
    cuts: list[Cut]
    notes: list[str]
    distributions: dict[str, dict[Axis, Distribution]]
    limits: tuple[float, float]

    @property
    def operations(self) -> list[str]:
        """The operations of the manifest in alphabetical order, without ALL."""
        return [operation for operation in self.original if operation != ALL]


def select(table: polars.DataFrame, recipe: Recipe) -> polars.Series:
    """The stage that rejects each row, null where it is kept :: rows of Enum(unscored, *stages).

    `table` has the columns id, operation (null or empty: the group "-") and the axes of the recipe.
    A row without a finite score on any of these is rejected as "unscored" before the first stage.
    Raises UserError where the operations of the rows and of a stage's `at_least` differ.
    """
    axes = list(dict.fromkeys(stage.axis for stage in recipe.stages if stage.axis))
    left = table.select("id", grouped(), *axes).with_row_index("row")
    _check_operations(recipe, left["operation"])
    passed = np.zeros(table.height, np.uint8)
    for axis in axes:
        left = left.filter(polars.col(axis).is_finite())
    passed[left["row"].to_numpy()] += 1
    for stage in recipe.stages:
        left = _passing(left, stage)
        passed[left["row"].to_numpy()] += 1
    names = [UNSCORED, *(stage.name for stage in recipe.stages)]
    return polars.Series("rejected_by", [*names, None], polars.Enum(names)).gather(passed)


def grouped() -> polars.Expr:
    """The operation of each row, "-" where it names none."""
    operation = polars.col("operation").replace("", None)
    return operation.fill_null(NO_OPERATION)


def _check_operations(recipe: Recipe, operations: polars.Series) -> None:
    there = sorted(operations.unique())
    if ALL in there:
        raise UserError(f"an operation is called {ALL!r}, as the sum of all is; rename it")
    for number, stage in enumerate(recipe.stages, start=1):
        if not isinstance(stage.at_least, dict):
            continue
        where = f"stage {number} ({stage.name!r}): at_least"
        if unknown := [name for name in stage.at_least if name not in there]:
            raise UserError(
                f"{where} names the operation {unknown[0]!r}, which no pair has (they have: "
                f"{', '.join(there)})"
            )
        if lacking := [name for name in there if name not in stage.at_least]:
            raise UserError(f"{where} has no number for the operation {lacking[0]!r} of some pairs")


def _passing(rows: polars.DataFrame, stage: Stage) -> polars.DataFrame:
    if stage.axis is None:
        # One shuffle for all: by one of its own each operation would draw the same places.
        rows = _shuffled(rows, stage.seed)
    groups = [rows] if stage.per == "all" else rows.partition_by("operation")
    if stage.axis is None:
        kept = [group.head(stage.places(group.height)) for group in groups]
    elif stage.at_least is None:
        kept = [_best(group, stage.axis, stage.places(group.height)) for group in groups]
    else:
        if isinstance(stage.at_least, dict):
            operation = polars.col("operation")
            lowest = operation.replace_strict(stage.at_least, return_dtype=polars.Float64)
        else:
            lowest = polars.lit(stage.at_least)
        kept = [rows.filter(polars.col(stage.axis) >= lowest)]
    return polars.concat([rows.clear(), *kept])


def _shuffled(rows: polars.DataFrame, seed: int | None) -> polars.DataFrame:
    """Rows in a random order that does not depend on the one they come in."""
    return rows.sort("id")[np.random.default_rng(seed).permutation(rows.height)]


def _best(rows: polars.DataFrame, axis: Axis, count: int) -> polars.DataFrame:
    """The `count` rows of the highest scores; of equal scores those of lower id."""
    if count in (0, rows.height):
        return rows.head(count)
    lowest = rows[axis].top_k(count).min()
    better = rows.filter(polars.col(axis) > lowest)
    level = rows.filter(polars.col(axis) == lowest).sort("id")
    return polars.concat([better, level.head(count - better.height)])


def summarize(table: polars.DataFrame, recipe: Recipe, rejected_by: polars.Series) -> Outcome:
    """What each stage left of `table`, which has all AXES, by operation."""
    last = len(recipe.stages) + 1
    rows = table.select(
        grouped(),
        *(polars.when(polars.col(axis).is_finite()).then(axis) for axis in AXES),
        passed=rejected_by.to_physical().cast(polars.UInt32).fill_null(last),
    )
    groups = rows.group_by("operation", "passed").agg(
        polars.len().alias("pairs"), *(polars.col(axis).min() for axis in AXES)
    )
    operations = sorted(groups["operation"].unique())
    cuts = []
    for number, stage in enumerate([None, *recipe.stages], start=1):
        left = groups.filter(polars.col("passed") >= number)
        parts = {name: left.filter(polars.col("operation") == name) for name in operations}
        parts[ALL] = left
        axis = stage.axis if stage else None
        lowest = {name: part[axis].min() for name, part in parts.items()} if axis else {}
        cuts.append(
            Cut(
                stage,
                stage.name if stage else UNSCORED,
                {name: int(part["pairs"].sum()) for name, part in parts.items()},
                {name: float(score) for name, score in lowest.items() if score is not None},  # type: ignore[arg-type]
            )
        )
    sizes = table.select(grouped()).to_series().value_counts().sort("operation")
    original = {**dict(sizes.iter_rows()), ALL: table.height}
    limits = _limits(rows)
    distributions = _distributions(rows, operations, limits, last)
    return Outcome(original, cuts, _notes(cuts), distributions, limits)


def _notes(cuts: Sequence[Cut]) -> list[str]:
    notes = []
    for before, cut in pairwise(cuts):
        if cut.stage is None or cut.stage.keep_top is None:
            continue
        for name, pairs in before.kept.items():
            wanted = cut.stage.keep_top
            if (name == ALL) == (cut.stage.per == "all") and pairs < wanted:
                notes.append(
                    f"{cut.name}: {name} had only {pairs:,} of the {wanted:,} pairs to keep, and "
                    "all of them stayed."
                )
    if not cuts[-1].kept[ALL]:
        notes.append("No pair passed all stages.")
    return notes


def _limits(rows: polars.DataFrame) -> tuple[float, float]:
    """The rating scale, and as much more as the scores need."""
    low, high = (
        rows.select(across(getattr(polars.col(axis), end)() for axis in AXES)).item()
        for across, end in ((polars.min_horizontal, "min"), (polars.max_horizontal, "max"))
    )
    return (1.0, 5.0) if low is None else (min(1.0, low), max(5.0, high))


def _distributions(
    rows: polars.DataFrame, operations: Sequence[str], limits: tuple[float, float], last: int
) -> dict[str, dict[Axis, Distribution]]:
    low, high = limits
    found: dict[str, dict[Axis, Distribution]] = {name: {} for name in operations}
    for axis in AXES:
        place = ((polars.col(axis) - low) / (high - low) * BINS).floor().clip(0, BINS - 1)
        counts = (
            rows.lazy()
            .filter(polars.col(axis).is_not_null())
            .group_by("operation", place.cast(polars.UInt32).alias("bin"))
            .agg(before=polars.len(), after=(polars.col("passed") == last).sum())
            .collect()
        )
        for name in operations:
            of_one = counts.filter(polars.col("operation") == name)
            if of_one.height:
                bars = np.zeros((2, BINS), np.int64)
                bars[:, of_one["bin"].to_numpy()] = of_one.select("before", "after").to_numpy().T
                found[name][axis] = Distribution(*bars)
    return found

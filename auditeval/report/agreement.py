"""Agreement reports: evaluators against ratings, as a table, Markdown, JSON and a plot."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from auditeval.metrics.agreement import (
    LEVELS,
    LOWER_IS_BETTER,
    STATISTICS,
    Agreement,
    Coverage,
    agreement,
    coverage,
    on_rating_scale,
    paired_difference,
)
from auditeval.metrics.raters import rater_ceiling
from auditeval.progress import track
from auditeval.report.leaks import Leaks
from auditeval.seed import SEED
from auditeval.text import counted, natural, untaken
from auditeval.types import AXES, Axis, EditPair, Scores, Undefined, UserError

_NOT_ON_SCALE = Undefined("its values are not ratings on the 1 to 5 scale")
_A_GUESS = Undefined("all predictions of a fold are equal")
_OF_NO_PAIR = Undefined("none of these pairs has a prediction")
_OF_A_SYSTEM = Undefined("its values are of whole systems, not of single pairs")
_UNGROUPED = ("id", "ratings", "raters")  # fields of a pair that make no groups
_SPLITS, _FEWEST_SPLITS = 200, 20  # of the raters into halves; few where few resamples are wanted

NO_VOTES = "no pair comes with two votes"

Levels = Mapping[str, Mapping[str, Agreement]]
"""{"system" | "utterance": {statistic: Agreement}}."""


class Predictions(NamedTuple):
    """What one evaluator says :: pair id -> {axis: value}; an axis it does not rate is absent.

    On an axis that is not `on_rating_scale` (of PESQ, of a distance: none is) a squared error would
    mean nothing; where `of_systems` (a distribution metric) all pairs of a system have one value,
    and where `is_guess` all of a fold: then no correlation says anything.
    """

    evaluator: str
    values: Mapping[str, Mapping[Axis, float]]
    on_rating_scale: Container[Axis] = AXES
    of_systems: bool = False
    intervals: Mapping[str, Mapping[Axis, Sequence[float]]] = MappingProxyType({})
    is_guess: bool = False

    @classmethod
    def from_scores(cls, evaluator: str, scores: Sequence[Scores]) -> Predictions:
        """From a scores table; its error rows have no values. An axis is on the rating scale where
        its values look like ratings (`metrics.agreement.on_rating_scale`)."""
        columns = {
            axis: [row.ratings[axis] for row in scores if axis in row.ratings] for axis in AXES
        }
        return cls(
            evaluator,
            {row.id: row.ratings for row in scores},
            [axis for axis, values in columns.items() if values and on_rating_scale(values)],
            intervals={row.id: row.intervals for row in scores},
        )


class Row(NamedTuple):
    """One evaluator on one axis; `missing` pairs are rated but have no prediction.

    `coverage` is of its intervals, None of an evaluator without.
    """

    axis: Axis
    evaluator: str
    agreement: Levels
    rated: int
    missing: int
    coverage: Coverage | None = None


class Difference(NamedTuple):
    """SRCC of evaluator `first` minus that of `second`, by level, on the pairs that both scored."""

    axis: Axis
    first: str
    second: str
    pairs: int
    srcc: Mapping[str, Agreement]


class Report(NamedTuple):
    """Rows by axis, then in the order of the evaluators; `ratings_from` says who rated.

    `points` are (rating, prediction, system) of the evaluator `plotted`. `ceilings` are of the axes
    that some pairs have votes of, as `metrics.raters.rater_ceiling` makes them; `no_votes` says why
    there are none of the others. `groups` are the same of the pairs with each value of the field
    `by`. `notes` are sentences on what a reader of the table should know of how it came about.
    `split` is the part of a manifest that the pairs are, "" for all of it.
    """

    rows: list[Row]
    ratings_from: str
    plotted: str
    points: dict[Axis, list[tuple[float, float, str | None]]]
    ceilings: Mapping[Axis, Levels] = MappingProxyType({})
    differences: Sequence[Difference] = ()
    leaks: Sequence[Leaks] = ()
    by: str = ""
    groups: Mapping[str, Report] = MappingProxyType({})
    notes: Sequence[str] = ()
    no_votes: str = NO_VOTES
    split: str = ""


def make_report(
    pairs: Sequence[EditPair],
    predictions: Sequence[Predictions],
    ratings_from: str,
    resamples: int = 1000,
    seed: int = SEED,
    plotted: str | None = None,
) -> Report:
    """Agreement of each evaluator with the pairs' ratings, on the axes that both have.

    `points` holds those of the evaluator `plotted`, or of the first.
    """
    plotted = plotted or predictions[0].evaluator
    report = Report([], ratings_from, plotted, {})
    for axis in AXES:
        rated = [pair for pair in pairs if axis in pair.ratings]
        for made in predictions:
            there = [pair for pair in rated if axis in made.values.get(pair.id, {})]
            if not there:
                if rated and any(axis in values for values in made.values.values()):
                    report.rows.append(_unpredicted(axis, made, len(rated)))
                continue
            row = _row(axis, made, there, resamples, seed)
            report.rows.append(row._replace(rated=len(rated), missing=len(rated) - len(there)))
            if made.evaluator == plotted:
                report.points[axis] = [
                    (pair.ratings[axis], made.values[pair.id][axis], pair.system) for pair in there
                ]
    axes = dict.fromkeys(row.axis for row in report.rows)
    splits = min(_SPLITS, max(_FEWEST_SPLITS, resamples))
    ceilings = {axis: found for axis in axes if (found := _ceiling(pairs, axis, splits, seed))}
    return report._replace(ceilings=ceilings)


def _row(
    axis: Axis, made: Predictions, pairs: Sequence[EditPair], resamples: int, seed: int
) -> Row:
    """Of pairs that are rated and have a prediction."""
    predicted = [made.values[pair.id][axis] for pair in pairs]
    ratings = [pair.ratings[axis] for pair in pairs]
    found = agreement(predicted, ratings, [pair.system for pair in pairs], resamples, seed)
    if axis not in made.on_rating_scale:
        for level in LEVELS:
            items = found[level]["MSE"].items
            found[level]["MSE"] = Agreement(_NOT_ON_SCALE, _NOT_ON_SCALE, items)
    if made.of_systems:
        found["utterance"] = {
            name: Agreement(_OF_A_SYSTEM, _OF_A_SYSTEM, value.items)
            for name, value in found["utterance"].items()
        }
    if made.is_guess:
        for values in found.values():
            for name in STATISTICS.keys() - LOWER_IS_BETTER:
                values[name] = Agreement(_A_GUESS, _A_GUESS, values[name].items)
    sure = [pair for pair in pairs if axis in made.intervals.get(pair.id, {})]
    covered = None
    if sure:
        bounds = [made.intervals[pair.id][axis] for pair in sure]
        covered = coverage(bounds, [pair.ratings[axis] for pair in sure])
    return Row(axis, made.evaluator, found, len(pairs), 0, covered)


def _unpredicted(axis: Axis, made: Predictions, rated: int) -> Row:
    """Of an evaluator that rates the axis, but none of these pairs."""
    none = dict.fromkeys(STATISTICS, Agreement(_OF_NO_PAIR, _OF_NO_PAIR, 0))
    return Row(axis, made.evaluator, {level: {**none} for level in LEVELS}, rated, rated, None)


def _ceiling(pairs: Sequence[EditPair], axis: Axis, splits: int, seed: int) -> Levels | None:
    """None where no pair has two votes."""
    voted = [pair for pair in pairs if len(pair.raters.get(axis, ())) > 1]
    if not voted:
        return None
    votes = [pair.raters[axis] for pair in voted]
    return rater_ceiling(votes, [pair.system for pair in voted], splits, seed)


def by_field(
    pairs: Sequence[EditPair],
    predictions: Sequence[Predictions],
    field: str,
    ratings_from: str,
    resamples: int = 1000,
    seed: int = SEED,
) -> dict[str, Report]:
    """The report of the pairs with each value of a field, sorted; pairs without one come last, as
    "not stated", or in parentheses where that is a value.

    Raises UserError for what is no field of a pair and for one that no pair states.
    """
    fields = [name for name in EditPair.model_fields if name not in _UNGROUPED]
    if field not in fields:
        raise UserError(f"by {field!r}: expected one of {', '.join(fields)}")
    groups: dict[str | None, list[EditPair]] = {}
    for pair in pairs:
        value = getattr(pair, field)
        groups.setdefault(None if value is None else str(value), []).append(pair)
    if list(groups) == [None]:
        raise UserError(f"by {field}: none of the {len(pairs)} rated pairs states its {field}")

    none = untaken("not stated", groups)
    made = {}
    order = sorted(groups, key=lambda name: (name is None, natural(name or "")))
    for name in track(order, f"by {field}", transient=True):
        said = none if name is None else name
        title = f"{ratings_from}: {field} {said} ({counted(len(groups[name]), 'pair', 'pairs')})"
        made[said] = make_report(groups[name], predictions, title, resamples, seed)
    return made


def difference(
    pairs: Sequence[EditPair],
    first: Predictions,
    second: Predictions,
    axis: Axis,
    resamples: int = 1000,
    seed: int = SEED,
) -> Difference | None:
    """By how much the first evaluator's SRCC exceeds the second's, on the pairs that both scored.

    None where there is none.
    """
    both = [
        pair
        for pair in pairs
        if axis in pair.ratings
        and all(axis in made.values.get(pair.id, {}) for made in (first, second))
    ]
    if not both:
        return None
    found = paired_difference(
        [first.values[pair.id][axis] for pair in both],
        [second.values[pair.id][axis] for pair in both],
        [pair.ratings[axis] for pair in both],
        [pair.system for pair in both],
        resamples=resamples,
        seed=seed,
    )
    return Difference(axis, first.evaluator, second.evaluator, len(both), found)

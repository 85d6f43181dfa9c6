"""Reports of agreement within each source: how far evaluators order its versions as people do."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from auditeval.atomic import write_text
from auditeval.metrics.within import CORRELATIONS, Within, ceiling_within, within
from auditeval.report.agreement import NO_VOTES, Predictions
from auditeval.report.agreement_table import CEILING, no_ceiling
from auditeval.report.render import plain, to_markdown
from auditeval.seed import SEED
from auditeval.table import Cell, Column, Content, Table
from auditeval.types import AXES, Axis, EditPair, Undefined, UserError

_SPLITS, _FEWEST_SPLITS = 200, 20  # of the raters into halves; few where few resamples are wanted
_FEWEST = 3  # versions of a source, for a correlation


class Row(NamedTuple):
    """One evaluator on one axis; `missing` pairs are rated but have no prediction."""

    axis: Axis
    evaluator: str
    found: Mapping[str, Within]
    rated: int
    missing: int


class Report(NamedTuple):
    """Rows by axis, then in the order of the evaluators; `unit` is what a source is, a song say.

    `ceilings` are of the axes that some pairs have votes of; `no_votes` says why there are none of
    the others.
    """

    rows: list[Row]
    ratings_from: str
    unit: str
    ceilings: Mapping[Axis, Within] = MappingProxyType({})
    no_votes: str = NO_VOTES


def make_report(
    pairs: Sequence[EditPair],
    predictions: Sequence[Predictions],
    ratings_from: str,
    unit: str = "source",
    resamples: int = 1000,
    seed: int = SEED,
) -> Report:
    """Agreement within each `source` of the pairs, on the axes that pairs and evaluators have.

    Raises UserError for a rated pair without a source and where no source has three rated pairs.
    """
    report = Report([], ratings_from, unit)
    check(pairs)
    ceilings: dict[Axis, Within] = {}
    for axis in AXES:
        rated = [pair for pair in pairs if axis in pair.ratings]
        for made in predictions:
            there = [pair for pair in rated if axis in made.values.get(pair.id, {})]
            if there:
                found = within(
                    [made.values[pair.id][axis] for pair in there],
                    [pair.ratings[axis] for pair in there],
                    _sources(there),
                    resamples,
                    seed,
                )
                missing = len(rated) - len(there)
                report.rows.append(Row(axis, made.evaluator, found, len(rated), missing))
        voted = [pair for pair in rated if len(pair.raters.get(axis, ())) > 1]
        if voted and any(row.axis == axis for row in report.rows):
            votes = [pair.raters[axis] for pair in voted]
            splits = min(_SPLITS, max(_FEWEST_SPLITS, resamples))
            ceilings[axis] = ceiling_within(votes, _sources(voted), splits, resamples, seed)
    return report._replace(ceilings=ceilings)


def check(pairs: Sequence[EditPair]) -> None:
    """Raise UserError for pairs that there can be no such report of."""
    most = 0
    for axis in AXES:
        sources = _sources([pair for pair in pairs if axis in pair.ratings])
        most = max([most, *(sources.count(source) for source in set(sources))])
    if most < _FEWEST:
        raise UserError(
            f"no source has {_FEWEST} pairs that are rated on one axis, so that there is no order "
            "within one to agree with"
        )


def _sources(pairs: Sequence[EditPair]) -> list[str]:
    for pair in pairs:
        if pair.source is None:
            raise UserError(f"pair {pair.id!r} is rated and names no source to compare it within")
    return [str(pair.source) for pair in pairs]


def to_table(report: Report) -> Table:
    """A row an evaluator, below those of an axis its rater ceiling; a column a correlation."""
    unit, over = report.unit, f"within a {report.unit}"
    rows: list[list[Content]] = []
    notes = [
        f"Mean over {unit}s of the correlation within each. Brackets: 95 % bootstrap over {unit}s."
    ]
    undefined = []
    for axis in dict.fromkeys(row.axis for row in report.rows):
        of_axis = [row for row in report.rows if row.axis == axis]
        for row in of_axis:
            pairs = f"{row.rated - row.missing}/{row.rated}"
            rows.append([axis, row.evaluator, *_cells(row.found), pairs])
            undefined += _undefined(f"{axis}, {row.evaluator}", row.found["SRCC"])
        if ceiling := report.ceilings.get(axis):
            rows.append([axis, CEILING, *_cells({"SRCC": ceiling}), None])
            undefined += _undefined(f"{axis}, {CEILING}", ceiling)
    if report.ceilings:
        notes.append(
            f"Rater ceiling: what the noise of the votes leaves at most to an evaluator without "
            f"error, from how far halves of the raters agree within a {unit} (root of the "
            "split-half reliability)."
        )
    lacking = [row.axis for row in report.rows if row.axis not in report.ceilings]
    notes += no_ceiling(lacking, report.no_votes)
    if undefined:
        notes.append(f"Without a correlation and in no mean: {'; '.join(undefined)}.")
    if missing := [
        f"{row.axis}, {row.evaluator} {row.missing}" for row in report.rows if row.missing
    ]:
        notes.append(f"Rated pairs without a prediction, left out: {'; '.join(missing)}.")
    return Table(
        title=f"Agreement with {report.ratings_from}",
        columns=[
            Column("axis", label=True),
            Column("evaluator", label=True),
            *(
                Column(name, "higher", over=(over,), form=".3f", bounds=".2f")
                for name in CORRELATIONS
            ),
            Column(f"{unit}s"),
            Column("pairs"),
        ],
        rows=rows,
        notes=notes,
        marked=False,
    )


def _cells(found: Mapping[str, Within]) -> list[Content]:
    """The correlations, None for one that there is not, and of how many sources they are."""
    values = [Cell(*found[name][:2]) if name in found else None for name in CORRELATIONS]
    made = found["SRCC"]
    return [*values, f"{len(made.groups) - len(made.undefined)}/{len(made.groups)}"]


def _undefined(whose: str, found: Within) -> list[str]:
    """A clause for each source that has no correlation."""
    return [f"{name} ({whose}: {why.reason})" for name, why in found.undefined.items()]


def to_json(report: Report) -> dict[str, Any]:
    """The report as plain values, with the correlation of each source: null beside its reason."""
    return {
        "ratings_from": report.ratings_from,
        "unit": report.unit,
        "rows": [
            {
                "axis": row.axis,
                "evaluator": row.evaluator,
                "rated": row.rated,
                "missing": row.missing,
                "within": {name: _plain(found) for name, found in row.found.items()},
            }
            for row in report.rows
        ],
        "rater_ceiling": {axis: {"SRCC": _plain(x)} for axis, x in report.ceilings.items()},
    }


def _plain(found: Within) -> dict[str, Any]:
    """Of the rater ceiling the sources have what halves of its raters correlate by."""
    sources = {
        name: {"value": None, "undefined": value.reason} if isinstance(value, Undefined) else value
        for name, value in found.groups.items()
    }
    return {**plain(found.value, found.interval), "sources": sources}


def write(report: Report, folder: Path) -> None:
    """within.json and within.md in `folder`."""
    write_text(folder / "within.json", json.dumps(to_json(report), indent=1) + "\n")
    write_text(folder / "within.md", to_markdown(to_table(report)))

"""Several runs of `train.py` in one table: a row a model, a column an axis of a test."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, FiniteFloat, ValidationError

from auditeval import reading
from auditeval.atomic import write_text
from auditeval.metrics.agreement import LEVELS, LOWER_IS_BETTER, STATISTICS
from auditeval.report import contrasts
from auditeval.report.agreement_table import CEILING
from auditeval.report.render import to_csv, to_markdown
from auditeval.table import Cell, Column, Content, Table
from auditeval.types import AXES, Axis, UserError, sentence

HELD_OUT, WITHIN = "held-out", "within"


class Run(NamedTuple):
    """A run folder's reports as they were written: {test: JSON}, the held-out part as HELD_OUT."""

    name: str
    models: list[str]
    agreement: dict[str, dict[str, Any]]
    contrasts: dict[str, dict[str, Any]]
    within: dict[str, dict[str, Any]]


class Quantity(NamedTuple):
    """A statistic of an axis at a level, WITHIN each source if not over all pairs; or, at none, the
    share of trials won against a variant."""

    test: str
    of: str
    level: str
    statistic: str

    def __str__(self) -> str:
        return " ".join(filter(None, self))


class Standings(NamedTuple):
    """`rows` :: "run/model" -> {quantity: value}; one that a model lacks is absent.

    Baselines come after the models, under their name alone where all runs agree on them.
    """

    quantities: list[Quantity]
    rows: dict[str, dict[Quantity, float]]


class _Value(BaseModel):
    value: FiniteFloat | None


class _Levels(BaseModel):
    system: dict[str, _Value]
    utterance: dict[str, _Value]


class _Line(_Levels):
    axis: str
    evaluator: str


class _Agreement(BaseModel):
    rows: list[_Line]
    rater_ceiling: dict[str, _Levels] = {}  # older reports have none


class _Variants(BaseModel):
    evaluator: str
    variants: dict[str, _Value]


class _Contrasts(BaseModel):
    title: str
    axis: Axis
    set_sha256: str
    rows: list[_Variants]
    scores: dict[str, dict[str, dict[str, FiniteFloat | None]]]


class _Correlations(BaseModel):
    axis: str
    evaluator: str
    within: dict[str, _Value]


class _Within(BaseModel):
    rows: list[_Correlations]
    rater_ceiling: dict[str, dict[str, _Value]]


_REPORTS: dict[str, type[BaseModel]] = {
    "agreement": _Agreement,
    "contrasts": _Contrasts,
    "within": _Within,
}
"""What is read of the JSON that `report.agreement`, `contrasts` and `within` write."""


def read(folder: Path) -> Run:
    """The reports of a run folder; raises UserError for one that has none."""
    try:
        config = reading.yaml_file(folder / "config.yaml")
        models = [config["name"], *config["compare"]]
    except (UserError, KeyError, TypeError):
        raise UserError(
            f"{folder}: is no run folder of train.py, it has no config.yaml of one"
        ) from None
    if not all(isinstance(model, str) for model in models):
        raise UserError(f"{folder}: its config.yaml names a model that is no word")
    found: dict[str, dict[str, dict[str, Any]]] = {kind: {} for kind in _REPORTS}
    for kind, tests in found.items():
        for path in sorted(filter(Path.is_file, (folder / "report").rglob(f"{kind}.json"))):
            test = path.parent.relative_to(folder / "report").as_posix()
            try:
                made = _REPORTS[kind].model_validate(reading.json_file(path)).model_dump()
            except ValidationError as error:
                raise UserError(f"{path}: {sentence(error, _REPORTS[kind])}") from None
            tests[HELD_OUT if test == "." else test] = made
    if not found["agreement"]:
        raise UserError(f"{folder}: has no report yet; its run was not finished")
    return Run(folder.resolve().name, models, **found)


def standings(
    runs: Sequence[Run],
    statistics: Sequence[str] = ("SRCC",),
    levels: Sequence[str] = ("utterance",),
    baselines: bool = True,
) -> Standings:
    """The statistics of every model of the runs on every test, over its pairs and within its
    sources, and its contrasts.

    With `baselines` those of each test too, the constant and the ceiling of its ratings among them.
    Raises UserError for a statistic or level that is not in a report and for runs of one name.
    """
    for kind, names, known in (
        ("statistic", statistics, tuple(STATISTICS)),
        ("level", levels, LEVELS),
    ):
        if unknown := [name for name in names if name not in known]:
            raise UserError(f"{kind} {unknown[0]!r}: expected one of {', '.join(known)}")
    if twice := [name for name, times in Counter(run.name for run in runs).items() if times > 1]:
        raise UserError(f"two of the runs are called {twice[0]!r}; rename one of the folders")
    rows: dict[str, dict[Quantity, float]] = {}
    others: dict[tuple[str, str], dict[str, dict[Quantity, float]]] = {}
    for run in runs:
        for test, evaluator, cells in _cells(run, statistics, levels):
            if _of_model(run, evaluator):
                rows.setdefault(f"{run.name}/{evaluator}", {}).update(cells)
            elif cells:
                of_runs = others.setdefault((test, evaluator), {})
                of_runs.setdefault(run.name, {}).update(cells)
    ceilings_last = sorted(others.items(), key=lambda item: item[0][1] == CEILING)
    for (test, evaluator), of_runs in ceilings_last if baselines else ():
        tested = [run for run in runs if test in {*run.agreement, *run.contrasts, *run.within}]
        same = all(cells == of_runs[next(iter(of_runs))] for cells in of_runs.values())
        for name, cells in of_runs.items():
            alone = same and len(of_runs) == len(tested) > 1
            rows.setdefault(evaluator if alone else f"{name}/{evaluator}", {}).update(cells)
    there = dict.fromkeys(quantity for row in rows.values() for quantity in row)
    tests = list(dict.fromkeys(quantity.test for quantity in there))
    order = {name: place for place, name in enumerate((*AXES, *levels, WITHIN, *statistics))}
    quantities = sorted(
        there, key=lambda q: (tests.index(q.test), *(order.get(part, 99) for part in q[1:]))
    )
    return Standings(quantities, rows)


def _cells(
    run: Run, statistics: Sequence[str], levels: Sequence[str]
) -> Iterator[tuple[str, str, dict[Quantity, float]]]:
    """Test, evaluator and the values that are defined, of each line of the run's reports."""
    for test, report in run.agreement.items():
        lines = [(line["axis"], line["evaluator"], line) for line in report["rows"]]
        for axis, found in report["rater_ceiling"].items():
            lines.append((axis, CEILING, found))
        for axis, evaluator, line in lines:
            yield (
                test,
                evaluator,
                {
                    Quantity(test, axis, level, name): found["value"]
                    for level in levels
                    for name in statistics
                    if (found := line[level].get(name)) and found["value"] is not None
                },
            )
    for test, report in run.contrasts.items():
        for line in report["rows"]:
            variants = line["variants"].items()
            values = {name: found["value"] for name, found in variants}
            cells = {
                Quantity(test, k, "", "accuracy"): v for k, v in values.items() if v is not None
            }
            yield test, line["evaluator"], cells

    for test, report in run.within.items():
        lines = [(line["axis"], line["evaluator"], line["within"]) for line in report["rows"]]
        lines += [(axis, CEILING, found) for axis, found in report["rater_ceiling"].items()]
        for axis, evaluator, found in lines:
            values = {name: found[name]["value"] for name in statistics if name in found}
            yield (
                test,
                evaluator,
                {Quantity(test, axis, WITHIN, k): v for k, v in values.items() if v is not None},
            )


def pool(runs: Sequence[Run]) -> dict[str, contrasts.Report]:
    """The contrast sets of runs that are folds of one: each test over the trials of all of them.

    Raises UserError where a run has not the contrast sets of the first, and where two were tested
    on one.
    """
    for run in runs:
        if not run.contrasts or run.contrasts.keys() != runs[0].contrasts.keys():
            raise UserError(f"{run.name}: lacks the contrast sets of the others; nothing to pool")
    if len({run.name for run in runs}) < len(runs):
        raise UserError("two of the runs have one name; rename one of the folders")
    pooled = {}
    for test in dict.fromkeys(test for run in runs for test in run.contrasts):
        reports = {run.name: _read_contrasts(run.contrasts[test]) for run in runs}
        pooled[test] = contrasts.pool(reports)
    return pooled


def _read_contrasts(plain: dict[str, Any]) -> contrasts.Report:
    made = contrasts.of_scores(plain["title"], plain["axis"], plain["scores"])
    return made._replace(set_sha256=plain["set_sha256"])


def to_table(made: Standings) -> Table:
    """A row a model, a column a quantity."""
    rows: list[list[Content]] = []
    for name, values in made.rows.items():
        ranked = not name.endswith(CEILING)
        found = (values.get(quantity) for quantity in made.quantities)
        rows.append([name, *(None if x is None else Cell(x, ranked=ranked) for x in found)])
    columns = [
        Column(
            quantity.statistic,
            "lower" if quantity.statistic in LOWER_IS_BETTER else "higher",
            over=tuple(filter(None, quantity[:-1])),
            form=".3f",
        )
        for quantity in made.quantities
    ]
    return Table(
        title="Runs compared",
        columns=[Column("run/model", label=True), *columns],
        rows=rows,
        notes=[
            "Empty: undefined, or not tested. A baseline without a run is the same in all of them."
        ],
    )


def to_json(made: Standings) -> dict[str, Any]:
    """{"rows": {run/model: {"test of level statistic": value}}}."""
    return {
        "rows": {
            row: {str(quantity): value for quantity, value in values.items()}
            for row, values in made.rows.items()
        }
    }


def write(tables: Sequence[Table], plain: Any, path: Path) -> None:
    """The tables to a file ending in .md or .csv, or what they were made from, as plain values, to
    one ending in .json; raises UserError for another."""
    if path.suffix == ".json":
        write_text(path, json.dumps(plain, indent=1) + "\n")
    elif path.suffix in _WRITTEN:
        write_text(path, "\n".join(map(_WRITTEN[path.suffix], tables)))
    else:
        raise UserError(f"{path}: expected a file ending in .md, .csv or .json")


_WRITTEN = {".md": to_markdown, ".csv": to_csv}


def _of_model(run: Run, evaluator: str) -> bool:
    """Whether this is a model of the run, or one fold of it, and no baseline."""
    return any(evaluator == name or evaluator.startswith(f"{name}/") for name in run.models)

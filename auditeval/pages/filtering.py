"""The page of a filter run: what each stage kept and lost, and the pairs before and after."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from auditeval import manifest, reading, scores_table
from auditeval.filtering.recipe import UNSCORED
from auditeval.filtering.run import files
from auditeval.outputs import inputs_of
from auditeval.pages.choice import Choice, of_values
from auditeval.pages.page import Page
from auditeval.pages.rows import Rows, add_pairs, of_scores
from auditeval.pages.scores import of_rows
from auditeval.table import Column, Content, Table
from auditeval.types import EditPair, Scores, UserError

_KEPT = "kept"
_STAGE = "stage"


def is_kept(path: Path) -> bool:
    """Whether it is the manifest that a record beside it says was kept."""
    record = path.with_name(f"{path.stem}.filter.json")
    if not record.is_file():
        return False
    found = reading.json_file(record)
    return isinstance(found, dict) and found.get("kept_in") == path.name


def of_filter(record_path: Path, most: int, seed: int) -> Page:
    """Of KEPT.filter.json, the kept and the rejected pairs beside it, and their scores where they
    lie where they did."""
    record = reading.json_file(record_path)
    try:
        kept = files(record_path.with_name(record["kept_in"]))
        stages = _stages(record)
    except (LookupError, TypeError, AttributeError):
        raise UserError(f"{record_path}: is no record of `auditeval filter`") from None
    pairs = [*manifest.read(kept.kept), *manifest.read(kept.rejected)]
    made_from = inputs_of(kept.kept)
    scored_in = next((path for path in made_from if path.name == record["scores"]), None)
    remarks = list(record["notes"])
    if scored_in is None or not scored_in.is_file():
        remarks.append(f"No scores: {record['scores']} is not where it was.")
        rows = Rows([pair.id for pair in pairs])
        add_pairs(rows, pairs)
        scored_in = None
    else:
        rows = _scored(scored_in, pairs)
    stage_of = [f"rejected by {pair.rejected_by}" if pair.rejected_by else _KEPT for pair in pairs]
    rows.words.pop("rejected by", None)
    rows.words = {_STAGE: stage_of, **rows.words}  # what distributions are shown by at first
    rows.listed = [_STAGE, *(name for name in rows.listed if name != "rejected by")]
    page = of_rows("", rows, most, seed)
    names = ("recipe", "manifest", "scores")
    return replace(
        page,
        title=f"{record['manifest']}, filtered by {record['recipe']}",
        facts={**{name: record[name] for name in names}, **page.facts},
        sections={"Stages": stages, **page.sections},
        choices=[*_choices(rows, most), *page.choices] if rows.scales else page.choices,
        remarks=[*remarks, *page.remarks],
        scored_in=scored_in,
    )


def _scored(path: Path, pairs: list[EditPair]) -> Rows:
    table = {row.id: row for row in scores_table.read(path)}
    unscored = [pair.id for pair in pairs if pair.id not in table]
    if len(unscored) == len(pairs):
        raise UserError(f"{path}: has a row for none of the {len(pairs):,} pairs")
    found = [table.get(pair.id, Scores(pair.id, status="error", reason=UNSCORED)) for pair in pairs]
    return of_scores({path.stem: found}, pairs)


def _choices(rows: Rows, most: int) -> list[Choice]:
    """On both sides of the line: the worst that was kept, the best that was not."""
    mean, is_kept = rows.mean(), [stage == _KEPT for stage in rows.words[_STAGE]]

    def of(kept: bool, sign: int) -> list[float | None]:
        return [sign * x if k is kept else None for x, k in zip(mean, is_kept, strict=True)]

    made = [
        of_values("Worst kept", "lowest mean score first", of(True, 1), most),
        of_values("Best rejected", "highest mean score first", of(False, -1), most),
    ]
    return [choice for choice in made if choice.rows]


def _stages(record: dict[str, Any]) -> list[Table]:
    """Counts in the layout of the paper's Tables 5 and 6, what each stage lost, and the lowest
    score that it kept."""
    operations = list(record["original"])
    before = dict(record["original"])
    counts: list[list[Content]] = [["Original number", *(before[name] for name in operations)]]
    lost: list[list[Content]] = []
    lowest: list[list[Content]] = []
    if any(record[UNSCORED].values()):
        before = {name: before[name] - record[UNSCORED][name] for name in operations}
        counts.append(["With scores", *(before[name] for name in operations)])
        lost.append([UNSCORED, *(record[UNSCORED][name] for name in operations)])
    for stage in record["stages"]:
        kept = stage["kept"]
        counts.append([f"After {stage['name']}", *(kept[name] for name in operations)])
        lost.append([stage["name"], *(before[name] - kept[name] for name in operations)])
        if any(value is not None for value in stage["lowest"].values()):
            lowest.append([stage["name"], *(stage["lowest"][name] for name in operations)])
        before = kept
    made = [
        ("Pairs kept", "Selection stage", counts),
        ("Pairs lost", "rejected by", lost),
        ("Lowest score that each stage kept", "stage", lowest),
    ]
    return [
        Table(
            title=title,
            columns=[Column(label, label=True), *(Column(x, form=".3f") for x in operations)],
            rows=rows,
            marked=False,
        )
        for title, label, rows in made
        if rows
    ]

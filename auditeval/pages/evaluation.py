"""Pages of agreement with ratings: what `auditeval evaluate`, `compare`, `train.py` wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from auditeval import manifest, reading, scores_table
from auditeval.outputs import changed_inputs, inputs_of
from auditeval.pages import losses
from auditeval.pages.page import Page
from auditeval.pages.rows import Rows
from auditeval.pages.scores import of_rows, of_tables
from auditeval.report import agreement_files, contrasts, runs
from auditeval.report.agreement_table import remarks, tables
from auditeval.table import Column, Table
from auditeval.types import UserError

REPORT = "agreement.json"


def of_report(folder: Path, against: Path | None, most: int, seed: int) -> Page:
    """Of the folder of `auditeval evaluate`; its pairs too where scores and ratings lie where they
    did."""
    found = _read(folder / REPORT)
    made_from = inputs_of(folder)
    scores, rated = made_from[:-1], against or made_from[-1] if made_from else None
    lacking = [path for path in (*scores, rated) if path is not None and not path.is_file()]
    if not scores or rated is None or lacking:
        gone = ", ".join(str(path) for path in lacking)
        why = f"{gone} is not there" if gone else "it is not known from what the report was made"
        page = Page(
            f"Agreement with {found.ratings_from}", {}, {}, Rows([]), remarks=[f"No pairs: {why}."]
        )
    else:
        page = of_tables(scores, rated, most, seed, found.split)
        if changed := [path for path in changed_inputs(folder) if path in (*scores, rated)]:
            names = ", ".join(map(str, changed))
            said = f"Changed since the agreement was computed, and shown as of now: {names}."
            page = replace(page, remarks=[said, *page.remarks])
    return replace(
        page,
        title=f"Agreement with {found.ratings_from}",
        sections={"Agreement": tables(found), **page.sections},
        remarks=[*remarks(found), *page.remarks],
    )


def of_run(folder: Path, most: int, seed: int) -> Page:
    """Of a run folder of `train.py`: agreement on its held-out part and on each further test,
    its losses, and the held-out pairs with what every model says of them."""
    run = runs.read(folder)
    sections: dict[str, Sequence[Table]] = {}
    said: list[str] = []
    for test in run.agreement:
        place = folder / "report" / ("" if test == runs.HELD_OUT else test)
        found = _read(place / REPORT)
        sections["Agreement" if test == runs.HELD_OUT else f"Agreement: {test}"] = tables(found)
        said += remarks(found)
    if run.contrasts or run.within:
        others = run._replace(agreement={})
        made = runs.standings([others], ["SRCC"], ["utterance"])
        sections["Contrasts, and within sources"] = [runs.to_table(made)]
    scores = [path for model in run.models if (path := folder / model / "scores.csv").is_file()]
    page = _of_models(folder, scores, most, seed)
    facts = {"run": run.name, "models": ", ".join(run.models), **page.facts}
    fell = losses.read(folder, run.models)
    if not fell:
        said.append(
            "No losses of the training: they are in no fold's metrics.csv, as with logger=wandb "
            "or where nothing was trained by epochs."
        )
    return replace(
        page,
        title=f"Training run {run.name}",
        facts=facts,
        sections={**sections, **page.sections},
        losses=fell,
        remarks=[*said, *page.remarks],
    )


def _of_models(folder: Path, scores: Sequence[Path], most: int, seed: int) -> Page:
    """The held-out rows, by the name of each model and not of its table."""
    from auditeval.pages.rows import of_scores

    pairs_path = folder / "held_out.jsonl"
    if not scores or not pairs_path.is_file():
        return Page("", {}, {}, Rows([]), remarks=["No pairs: the run keeps no scores of them."])
    tables_of = {
        path.parent.name: list(scores_table.of_frame(scores_table.read_table(path)))
        for path in scores
    }
    rows = of_scores(tables_of, manifest.read(pairs_path))
    return replace(of_rows("", rows, most, seed), scored_in=scores[0])


def of_comparison(path: Path) -> Page:
    """Of the JSON that `auditeval compare` wrote: a row a model, a column a quantity; with --pool
    the contrast sets."""
    plain = reading.json_file(path)
    try:
        made = [_compared(plain)] if "rows" in plain else [*map(_pooled, plain.values())]
    except (LookupError, TypeError, AttributeError, ValueError):
        made = []
    if not made:
        raise UserError(f"{path}: is no comparison of `auditeval compare`")
    return Page(f"Runs compared: {path.name}", {}, {"Runs": made}, Rows([]))


def _compared(plain: Any) -> Table:
    rows: Mapping[str, Mapping[str, float]] = plain["rows"]
    names = list(dict.fromkeys(name for values in rows.values() for name in values))
    contents = [[label, *(values.get(name) for name in names)] for label, values in rows.items()]
    columns = [Column("run/model", label=True), *(Column(name, form=".3f") for name in names)]
    return Table(title="Runs compared", columns=columns, rows=contents)


def _pooled(plain: Any) -> Table:
    found = contrasts.of_scores(plain["title"], plain["axis"], plain["scores"])
    return contrasts.to_table(found)


def _read(path: Path) -> Any:
    try:
        return agreement_files.of_json(reading.json_file(path))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{path}: is no report of `auditeval evaluate`") from None

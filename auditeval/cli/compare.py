"""`auditeval compare`: run folders of train.py in one table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from auditeval.cli.options import Force
from auditeval.text import say


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Run folders of train.py.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write: .md, .csv or .json.")
    ] = None,
    statistic: Annotated[
        list[str] | None,
        typer.Option(
            "--statistic", "-s", help="SRCC (default), LCC, KTAU or MSE; several allowed."
        ),
    ] = None,
    level: Annotated[
        list[str] | None,
        typer.Option("--level", "-l", help="utterance (default) or system; both allowed."),
    ] = None,
    baselines: Annotated[
        bool,
        typer.Option(help="Rows of what the models had to beat, and the rater ceiling."),
    ] = True,
    pool: Annotated[
        bool,
        typer.Option("--pool", help="The runs are folds of one: pool the trials of contrast sets."),
    ] = False,
    force: Force = False,
) -> None:
    """One table of several runs: a row a model or baseline, a column an axis of each test.

    Examples:

        auditeval compare runs/first runs/second -s SRCC -s LCC -o ablation.md

        auditeval compare runs/first runs/second -l system -l utterance --no-baselines
    """
    from auditeval.outputs import writing
    from auditeval.report import contrasts
    from auditeval.report import runs as reports
    from auditeval.report.render import show
    from auditeval.types import UserError

    if pool and (statistic or level or not baselines):
        raise UserError(
            "--pool makes the table of contrast sets, and takes no --statistic, --level or "
            "--no-baselines"
        )
    with writing(output, "auditeval compare", force=force):
        found = [reports.read(run) for run in runs]
        if pool:
            pooled = reports.pool(found)
            tables = list(map(contrasts.to_table, pooled.values()))
            plain = {test: contrasts.to_json(report) for test, report in pooled.items()}
        else:
            made = reports.standings(
                found, statistic or ["SRCC"], level or ["utterance"], baselines
            )
            tables, plain = [reports.to_table(made)], reports.to_json(made)
        show(*tables)
        if output is not None:
            reports.write(tables, plain, output)
            say(f"table: {output}")

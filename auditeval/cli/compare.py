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
        Path | None, typer.Option("--output", "-o", help="File to write: .md or .json.")
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

        auditeval compare runs/melstats runs/offline -s SRCC -s LCC -o ablation.md

        auditeval compare runs/melstats runs/offline -l system -l utterance --no-baselines
    """
    from auditeval.outputs import writing
    from auditeval.report import contrasts
    from auditeval.report import runs as reports
    from auditeval.report.agreement import print_whole

    with writing(output, "auditeval compare", force=force):
        found = [reports.read(run) for run in runs]
        if pool:
            pooled = reports.pool(found)
            for report in pooled.values():
                print_whole(contrasts.render_table(report))
            made: reports.Comparison | dict[str, contrasts.Report] = pooled
        else:
            made = reports.compare(found, statistic or ["SRCC"], level or ["utterance"], baselines)
            print_whole(reports.render_table(made))
        if output is not None:
            reports.write(made, output)
            say(f"table: {output}")

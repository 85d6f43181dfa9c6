"""`auditeval filter`: the best pairs of a manifest by their predicted scores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from auditeval.cli.options import Force, Html, path
from auditeval.cli.report import check_page, page_of
from auditeval.text import cell, counted, say


def filter_(
    manifest: Annotated[
        Path,
        typer.Argument(help="Pairs: .jsonl, .csv or .parquet.", show_default=False, parser=path),
    ],
    scores: Annotated[
        Path,
        typer.Argument(
            help="Their scores, from `auditeval score`.", show_default=False, parser=path
        ),
    ],
    recipe: Annotated[
        Path, typer.Option(help="YAML file of stages; see recipes/filter.", parser=path)
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Kept pairs: .jsonl, .csv or .parquet.", parser=path),
    ],
    html: Html = None,
    force: Force = False,
) -> None:
    """Keep the best pairs, stage by stage, and say what each stage cost.

    Beside KEPT.jsonl come KEPT.rejected.jsonl, which names the stage that rejected each pair, and
    KEPT.filter.json, .md and .png: counts and lowest scores by operation, the distributions of the
    scores before and after, and what all of it was made from. Pairs without scores are rejected as
    "unscored". The same command gives the same bytes. Of the manifest only ids, operations and, for
    another folder, paths are read: `auditeval score` checks the rest.

    Examples:

        auditeval filter pairs.jsonl scores.csv --recipe recipes/filter/ssl.yaml -o kept.jsonl

        auditeval filter pairs.parquet scores.parquet --recipe my.yaml -o best/kept.parquet
    """
    from concurrent.futures import ThreadPoolExecutor
    from importlib import import_module

    from rich.console import Console

    from auditeval.filtering.run import filtered
    from auditeval.report import selection
    from auditeval.report.render import show

    check_page(html, force)
    with ThreadPoolExecutor(1) as aside, Console(stderr=True).status("") as status:
        # What the plot is drawn with takes as long to import as the tables to read.
        aside.submit(import_module, "matplotlib.backends.backend_agg")

        def say_doing(doing: str) -> None:
            status.update(cell(doing))

        with filtered(manifest, scores, recipe, output, say_doing, force) as made:
            selection.write(made, made.drafts)
    show(selection.counts(made))
    total, kept = made.outcome.original["all"], made.outcome.cuts[-1].kept["all"]
    say(f"{output}: {kept:,} of {total:,} pairs kept")
    if extra := made.provenance["scores_of_no_pair"]:
        rows = counted(extra, "row is", "rows are")
        say(f"{scores}: {rows} of no pair in {manifest}: left out")
    page_of(output, html, force)

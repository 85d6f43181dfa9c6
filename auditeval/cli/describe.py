"""`auditeval describe`: what a set of pairs is, before anything is trained or reported on it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from auditeval.cli.options import Force, Resamples
from auditeval.seed import SEED
from auditeval.text import say


def describe(
    manifest: Annotated[Path, typer.Argument(help="Pairs: .jsonl, .csv or .parquet.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for JSON, Markdown and the plot.")
    ] = None,
    audio: Annotated[
        bool, typer.Option("--audio/--no-audio", help="Read the clips, or the manifest alone.")
    ] = True,
    workers: Annotated[int, typer.Option(min=1, help="Decoding threads.")] = 2,
    resamples: Resamples = 1000,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the bootstrap and of the split halves.")
    ] = SEED,
    force: Force = False,
) -> None:
    """Describe a set: its pairs, ratings, raters and clips, and what leaks between its splits.

    Prints counts and ratings by split, operation and system; where the votes of raters are there,
    Krippendorff's alpha, ICC, the rater ceiling and each rater against the others; durations,
    rates and channels of the clips, those that are the same sound, and originals on two sides of
    the stated split. A clip that is missing or cannot be rated is named, and the exit status is 1.

    Examples:

        auditeval describe pairs.jsonl -o description

        auditeval describe pairs.jsonl --no-audio
    """
    from rich.console import Console

    from auditeval import manifest as manifests
    from auditeval.data import inventory
    from auditeval.outputs import writing
    from auditeval.report import description, description_files
    from auditeval.report.description_tables import findings, tables
    from auditeval.report.render import show

    with writing(output, "auditeval describe", description_files.FILES, [manifest], force):
        pairs = manifests.read(manifest)
        clips = inventory.read(pairs, workers) if audio else None
        with Console(stderr=True).status("describing") as status:
            made = description.describe(
                pairs,
                manifest,
                clips,
                resamples,
                seed,
                watch=lambda axis: status.update(f"comparing the raters of {axis}"),
            )
        show(*tables(made))
        for line in findings(made):
            say(line)
        if output is not None:
            description_files.write(made, output)
            say(f"description: {output}")
        if made.inventory and made.inventory.unusable:
            raise typer.Exit(1)

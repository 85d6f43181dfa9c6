"""`auditeval listen simulate`: what a rule of selection would have saved of votes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from auditeval.cli.options import Force, Resamples
from auditeval.seed import SEED
from auditeval.text import say


def simulate(
    manifest: Annotated[Path, typer.Argument(help="Pairs with systems and votes of raters.")],
    scores: Annotated[
        Path | None,
        typer.Option(
            help="Scores with intervals, of an evaluator that has not learnt from these votes."
        ),
    ] = None,
    tests: Annotated[int, typer.Option(min=2, help="Tests that are held with each rule.")] = 100,
    at_once: Annotated[
        int, typer.Option(min=1, help="Raters who hear a pair before a rule is asked again.")
    ] = 8,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace", help="Draw votes again and again, as from more people; twice as many."
        ),
    ] = False,
    resamples: Resamples = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of tests and bootstrap.")] = SEED,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Table to write: .md.")
    ] = None,
    force: Force = False,
) -> None:
    """Hold a listening test again, by each rule of selection, on votes that people gave.

    Prints how many votes random, balanced and uncertain order need until systems are ranked, and
    pairs rated, as by all votes.

    Examples:

        auditeval listen simulate codecs.jsonl -o selection.md

        auditeval listen simulate codecs.jsonl --replace --tests 20
    """
    from auditeval import manifest as manifests
    from auditeval import scores_table
    from auditeval.atomic import write_text
    from auditeval.listening import voting
    from auditeval.outputs import writing
    from auditeval.progress import track
    from auditeval.report.render import show, to_markdown
    from auditeval.types import UserError

    if output is not None and output.suffix != ".md":
        raise UserError(f"{output}: expected a name that ends in .md")
    inputs = [manifest] if scores is None else [manifest, scores]
    with writing(output, "auditeval listen simulate", inputs=inputs, force=force):
        pairs = manifests.read(manifest)
        known = {row.id: row for row in scores_table.read(scores)} if scores else {}
        if scores and not any(known[pair.id].intervals for pair in pairs if pair.id in known):
            raise UserError(f"{scores}: has no intervals for pairs of {manifest}")
        table = voting.simulate(
            pairs,
            known,
            tests=tests,
            at_once=at_once,
            replace=replace,
            resamples=resamples,
            seed=seed,
            name=manifest.stem,
            watch=lambda numbers: track(numbers, "tests", tests),
        )
        show(table)
        if output is not None:
            write_text(output, to_markdown(table))
            say(f"table: {output}")

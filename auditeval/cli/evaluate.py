"""`auditeval evaluate`: a scores table against the ratings of a manifest."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer


def evaluate(
    scores: Annotated[
        list[Path], typer.Argument(help="Scores tables; several are compared on the same pairs.")
    ],
    against: Annotated[Path, typer.Option(help="The manifest that holds the ratings.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for JSON, Markdown and the plot.")
    ] = None,
    resamples: Annotated[int, typer.Option(min=0, help="Bootstrap draws of the intervals.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 1984,
) -> None:
    """Agreement with ratings: MSE, LCC, SRCC, KTAU at system and utterance level, with intervals.

    Example:

        auditeval evaluate scores.csv --against pairs.jsonl -o report
    """
    from auditeval import manifest, scores_table
    from auditeval.report import agreement
    from auditeval.types import AXES, UserError

    pairs = [pair for pair in manifest.read(against) if pair.ratings]
    if not pairs:
        raise UserError(f"{against}: no pair has ratings to compare with")
    predictions = []
    for path in scores:
        rows = list(scores_table.read(path))
        twice = [name for name, times in Counter(row.id for row in rows).items() if times > 1]
        if twice:
            raise UserError(f"{path}: id {twice[0]!r} stands in more than one row")
        made = agreement.Predictions.from_scores(path.stem, rows)
        if not any(pair.ratings.keys() & made.values.get(pair.id, {}).keys() for pair in pairs):
            raise UserError(f"{path}: has a score for none of the {len(pairs)} rated pairs")
        predictions.append(made)
    found = agreement.make_report(
        pairs, predictions, f"the ratings of {against.name}", resamples, seed
    )
    agreement.print_table(found)
    for axis in AXES:
        for other in predictions[1:]:
            line = agreement.compare(pairs, predictions[0], other, axis, resamples, seed)
            if line:
                print(line)
    if output is not None:
        try:
            agreement.write(found, output)
        except OSError as error:
            raise UserError(f"{output}: cannot be written ({error.strerror})") from None
        print(f"report: {output}")

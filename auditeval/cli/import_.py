"""`auditeval import`: other layouts to a manifest, other evaluators' results to a scores table."""

from __future__ import annotations

from collections import Counter
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from auditeval.cli.options import Force
from auditeval.text import counted, say


class Layout(str, Enum):
    """Layouts that can be read: those of `data.importers.IMPORTERS`, and results."""

    auditscore = "auditscore"
    ms_swift = "ms-swift"
    p808 = "p808"
    p835 = "p835"
    mushra_codecs = "mushra-codecs"
    webmushra = "webmushra"
    pick_the_best = "pick-the-best"
    pick_the_best_voice = "pick-the-best-voice"
    omni_results = "omni-results"


_NAMES = ", ".join(layout.value for layout in Layout)  # the column of types cuts them anywhere


def import_(
    layout: Annotated[Layout, typer.Argument(help=f"What the folder holds: {_NAMES}.")],
    folder: Annotated[
        Path, typer.Argument(help="The folder (ms-swift, omni-results: or the .jsonl file).")
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Manifest to write (omni-results: scores table): .jsonl, .csv or .parquet.",
        ),
    ],
    force: Force = False,
) -> None:
    """Turn another layout into a manifest. Audio stays where it is.

    pick-the-best: separated voices beside the mixture, which is made of voice and accompaniment and
    written to mixtures/ beside the manifest; pick-the-best-voice: the same beside the true voice.

    System, operation and source of AuditScore and ms-swift come from the authors' file names, where
    an AuditScore record does not say them itself.

    webmushra: the folder of webMUSHRA, with results/ and configs/. p808: what the P.808 toolkit
    made (*_votes_per_worker*.csv), its rating_clips.csv with references, and the clips.

    omni-results: what AuditEval-llm answered (the result file of `swift infer`) becomes a scores
    table. Its ids are those of `import ms-swift` of the same file, and of the file that the
    inference was on where each edited file has a name of its own. A line without a readable
    answer gets a row with its reason, and the exit status is 1.

    Examples:

        auditeval import auditscore AuditScore/dataset -o auditscore.jsonl

        auditeval import ms-swift test.jsonl -o pairs.jsonl

        auditeval import webmushra webMUSHRA -o rated.jsonl

        auditeval import omni-results test_res.jsonl -o auditeval_llm.csv

        auditeval evaluate auditeval_llm.csv --against pairs.jsonl
    """
    from auditeval.data.importers import import_omni_results
    from auditeval.outputs import writing
    from auditeval.types import UserError

    if not folder.exists():
        raise UserError(f"{folder}: no such file or folder")
    with writing(output, f"auditeval import {layout.value}", inputs=[folder], force=force):
        if layout is Layout.omni_results:
            rows, errors = import_omni_results(folder, output)
            said = counted(errors, "error", "errors")
            say(f"{output}: {rows - errors:,} scored, {said}")
            if errors:
                raise typer.Exit(1)
            return
        count, rated = _import_pairs(layout, folder, output)
    say(f"{output}: {counted(count, 'pair', 'pairs')}, {rated:,} with ratings")


def _import_pairs(layout: Layout, folder: Path, output: Path) -> tuple[int, int]:
    """How many pairs were written, and how many of them have ratings."""
    from auditeval import manifest
    from auditeval.data.importers import IMPORTERS
    from auditeval.types import UserError

    manifest.check_suffix(output)  # before clips are made
    pairs = IMPORTERS[layout.value](folder, output.parent)
    if not pairs:
        raise UserError(f"{folder}: holds no pairs")
    twice = [name for name, times in Counter(pair.id for pair in pairs).items() if times > 1]
    if twice:
        raise UserError(f"{folder}: id {twice[0]!r} stands in more than one record")
    return manifest.write(pairs, output), sum(bool(pair.ratings) for pair in pairs)

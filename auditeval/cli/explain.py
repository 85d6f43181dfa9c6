"""`auditeval explain`: where in a clip the scores of a pair come from, as JSON and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from auditeval.cli.options import (
    CacheDir,
    Checkpoint,
    Device,
    Edited,
    Force,
    Instruction,
    Original,
    OriginalCaption,
    TargetCaption,
)
from auditeval.cli.score import one_pair, said_by_manifest
from auditeval.text import say

if TYPE_CHECKING:
    from auditeval.types import EditPair


def explain(
    manifest: Annotated[
        Path | None,
        typer.Argument(help="Pairs: .jsonl, .csv or .parquet; with --id.", show_default=False),
    ] = None,
    id: Annotated[str | None, typer.Option(help="Which pair of the MANIFEST.")] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for explanation.json and .png.")
    ] = Path("explanation"),
    checkpoint: Checkpoint = None,
    original: Original = None,
    edited: Edited = None,
    original_caption: OriginalCaption = "",
    target_caption: TargetCaption = "",
    instruction: Instruction = "",
    device: Device = "auto",
    cache_dir: CacheDir = None,
    force: Force = False,
) -> None:
    """Explain the scores of one edit: a curve for each axis, and where the clips differ.

    Prints the scores, the stretch in which each is lowest and the stretch that changed most;
    explanation.json holds the curves, explanation.png shows them under both spectrograms.

    Examples:

        auditeval explain --original a.wav --edited b.wav --original-caption "Rain."
        --target-caption "Rain, with a dog barking." -o why

        auditeval explain pairs.jsonl --id 0012_add -o why
    """
    from auditeval.explaining import explain as explained
    from auditeval.outputs import writing
    from auditeval.report import explanation as report
    from auditeval.scoring import load
    from auditeval.types import UserError

    single = original is not None or edited is not None
    if single == (manifest is not None):
        raise UserError(
            "give either a MANIFEST with --id, or --original and --edited with captions or an "
            "instruction"
        )
    if manifest is not None:
        said_by_manifest(original_caption, target_caption, instruction)
        pair = _find(manifest, id)
    elif id is not None:
        raise UserError("--id is the pair of a MANIFEST; --original and --edited are one already")
    else:
        pair = one_pair(original, edited, original_caption, target_caption, instruction)
    inputs = [pair.original, pair.edited, *([manifest] if manifest else [])]
    with writing(output, "auditeval explain", report.FILES, inputs, force):
        made = explained(load(checkpoint, device, cache_dir), pair)
        report.write(made, output)
    for line in report.to_lines(made):
        say(line)
    say(f"{output / 'explanation.json'}, {output / 'explanation.png'}")


def _find(path: Path, id: str | None) -> EditPair:
    from auditeval import manifest
    from auditeval.types import UserError

    if id is None:
        raise UserError("a MANIFEST needs --id, the id of the pair to explain")
    if not path.exists():
        raise UserError(f"{path}: no such manifest")
    for pair in manifest.iterate(path):
        if pair.id == id:
            return pair
    raise UserError(f"{path}: has no pair with the id {id!r}")

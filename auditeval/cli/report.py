"""`auditeval report`: what a command wrote, as one page to look at and listen to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from auditeval.cli.options import CacheDir, Device, Force, page_path
from auditeval.seed import SEED
from auditeval.text import counted, say

if TYPE_CHECKING:
    from auditeval.pages.page import Page
    from auditeval.pages.sound import Mode


def report(
    what: Annotated[
        list[Path],
        typer.Argument(help="Scores tables, or a file or folder that a command wrote."),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="The page: a file .html.", callback=page_path),
    ],
    manifest: Annotated[
        Path | None,
        typer.Option(help="Pairs of the scores; default: as their JSON beside them has it."),
    ] = None,
    audio: Annotated[
        str,
        typer.Option(
            help="embed (in the page), copy (beside it), link (where they are, all rows), or none."
        ),
    ] = "embed",
    pairs: Annotated[int, typer.Option(min=0, help="Pairs to hear of each kind.")] = 4,
    explain: Annotated[
        bool, typer.Option(help="Curves over time of the pairs to hear, by their evaluator.")
    ] = True,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            "--checkpoint",
            "-c",
            help="Checkpoint folder or model hub id for the curves; default: what made the scores.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the pairs that are drawn.")] = SEED,
    device: Device = "auto",
    cache_dir: CacheDir = None,
    force: Force = False,
) -> None:
    """Make one page of a result: tables, plots, the pairs worth hearing with both clips, all rows.

    It opens from disk and loads nothing from elsewhere. In it are the clips of the pairs to hear,
    as FLAC, whose size is said before it is written; --audio link leaves all clips where they are.

    Examples:

        auditeval report scores.csv --manifest pairs.jsonl -o report.html

        auditeval report ours.csv theirs.csv --manifest pairs.jsonl --audio link -o report.html
    """
    from auditeval import pages
    from auditeval.pages import sound
    from auditeval.types import UserError

    mode = next((known for known in sound.MODES if known == audio), None)
    if mode is None:
        raise UserError(f"--audio {audio!r}: expected one of {', '.join(sound.MODES)}")
    if checkpoint is not None and (not explain or mode == "none"):
        why = "--no-explain" if not explain else "--audio none"
        raise UserError(f"-c {checkpoint} is for curves over time; leave out {why}")
    made = pages.read(what, manifest, pairs, seed)
    if explain and mode != "none":
        made = pages.explained(made, checkpoint, device, cache_dir)
    inputs = [path for path in (*what, manifest) if path is not None and path.is_file()]
    _write(made, mode, output, inputs, force)


def check_page(output: Path | None, force: bool = False) -> None:
    """Raises UserError where the page of --html may not be written, before the work for it."""
    if output is not None:
        from auditeval.outputs import check_file
        from auditeval.pages import MADE_BY

        check_file(output, MADE_BY, force)


def page_of(what: Path, output: Path | None, force: bool = False) -> None:
    """The page of what a command has just written, for its --html; nothing without an output."""
    if output is None:  # what makes pages takes a second to import
        return
    from auditeval import pages

    inputs = [what] if what.is_file() else []
    _write(pages.explained(pages.read([what])), "embed", output, inputs, force)


def _write(page: Page, mode: Mode, output: Path, inputs: list[Path], force: bool) -> None:
    """Say how much sound goes into it, then write it."""
    from auditeval import pages

    def told(clips: int, size: int, where: str) -> None:
        say(f"{counted(clips, 'clip', 'clips')}, {size / 1e6:.1f} MB as FLAC, {where}")

    pages.write(page, mode, output, inputs, force, told)
    say(f"page: {output}, {output.stat().st_size / 1e6:.1f} MB")

"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Checkpoint = Annotated[
    str | None,
    typer.Option(
        "--checkpoint", "-c", help="Checkpoint folder or model hub id; default: the shipped one."
    ),
]
Original = Annotated[Path | None, typer.Option(help="One pair: the original clip.")]
Edited = Annotated[Path | None, typer.Option(help="One pair: the edited clip.")]
OriginalCaption = Annotated[str, typer.Option(help="One pair: what the original holds.")]
TargetCaption = Annotated[str, typer.Option(help="One pair: what was asked for.")]
Workers = Annotated[
    int, typer.Option(min=0, help="Decoding and encoding threads; 0: none of their own.")
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:N or mps.")]
CacheDir = Annotated[
    Path | None, typer.Option(help="Cache; default $AUDITEVAL_CACHE or the user's.")
]
Resamples = Annotated[int, typer.Option(min=0, help="Bootstrap draws of the intervals.")]
Force = Annotated[
    bool, typer.Option("--force", help="Overwrite files that are there and not this command's.")
]

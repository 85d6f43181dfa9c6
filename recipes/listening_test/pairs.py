"""Five edits of each scene by systems with known faults: WORK/edits.jsonl and their clips.

    python pairs.py WORK SECONDS SCENES [ESC10]

SECONDS is the length of a clip, ESC10 a folder of recordings in place of synthesised sounds. What
the simulated panel would say of each edit goes to WORK/panel.json, for the simulated raters.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from auditeval import manifest
from auditeval.data.simulation.build import build


def main(
    work: Path,
    seconds: float,
    scenes: int,
    esc10: Annotated[str | None, typer.Argument()] = None,
) -> None:
    recordings = {"esc10": esc10}
    made = build(work / "edits", scenes, seconds, seed=5, unedited=0.0, recordings=recordings)
    pairs = manifest.read(made)
    heard = {pair.id: pair.ratings for pair in pairs}
    (work / "panel.json").write_text(json.dumps(heard))
    plain = [pair.model_copy(update={"ratings": {}, "raters": {}}) for pair in pairs]
    manifest.write(plain, work / "edits.jsonl")


if __name__ == "__main__":
    typer.run(main)

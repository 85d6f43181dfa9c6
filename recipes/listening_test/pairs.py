"""Edits of scenes by five systems with known faults each: WORK/edits.jsonl and their clips.

    python pairs.py WORK SCENES SECONDS [ESC10]

SECONDS is the length of a clip, ESC10 a folder of recordings in place of synthesised sounds. What
the simulated panel would say of each edit goes to WORK/panel.json, for the simulated raters.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from auditeval import manifest
from auditeval.data.simulation.build import build


def main(work: Path, scenes: int, seconds: float, esc10: str | None) -> None:
    made = build(work / "edits", scenes=scenes, seconds=seconds, seed=5, unedited=0.0, esc10=esc10)
    pairs = manifest.read(made)
    heard = {pair.id: pair.ratings for pair in pairs}
    (work / "panel.json").write_text(json.dumps(heard))
    plain = [pair.model_copy(update={"ratings": {}, "raters": {}}) for pair in pairs]
    manifest.write(plain, work / "edits.jsonl")


if __name__ == "__main__":
    work, scenes, seconds, *recordings = sys.argv[1:]
    main(Path(work), int(scenes), float(seconds), recordings[0] if recordings else None)

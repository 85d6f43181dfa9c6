"""Five edits of each scene by systems with known faults: WORK/edits.jsonl and their clips.

    python pairs.py WORK SECONDS SCENES [ESC10]

SECONDS is the length of a clip, ESC10 a folder of recordings in place of synthesised sounds. What
the simulated panel would say of each edit goes to WORK/panel.json, for the simulated raters.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from auditeval import manifest
from auditeval.data.simulation.build import build


def main(work: Path, seconds: float, scenes: int, esc10: str | None) -> None:
    recordings = {"esc10": esc10}
    made = build(work / "edits", scenes, seconds, seed=5, unedited=0.0, recordings=recordings)
    pairs = manifest.read(made)
    heard = {pair.id: pair.ratings for pair in pairs}
    (work / "panel.json").write_text(json.dumps(heard))
    plain = [pair.model_copy(update={"ratings": {}, "raters": {}}) for pair in pairs]
    manifest.write(plain, work / "edits.jsonl")


if __name__ == "__main__":
    work, seconds, scenes, *esc10 = sys.argv[1:]
    main(Path(work), float(seconds), int(scenes), esc10[0] if esc10 else None)

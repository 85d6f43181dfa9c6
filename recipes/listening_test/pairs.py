"""Twenty edits of four scenes by systems with known faults: WORK/edits.jsonl and their clips.

    python pairs.py WORK SECONDS [ESC10]

SECONDS is the length of a clip, ESC10 a folder of recordings in place of synthesised sounds. What
the simulated panel would say of each edit goes to WORK/panel.json, for the simulated raters.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from auditeval import manifest
from auditeval.data.simulation.build import build


def main(work: Path, seconds: float, esc10: str | None) -> None:
    made = build(work / "edits", scenes=4, seconds=seconds, seed=5, unedited=0.0, esc10=esc10)
    pairs = manifest.read(made)
    heard = {pair.id: pair.ratings for pair in pairs}
    (work / "panel.json").write_text(json.dumps(heard))
    plain = [pair.model_copy(update={"ratings": {}, "raters": {}}) for pair in pairs]
    manifest.write(plain, work / "edits.jsonl")


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None)

"""python left_out.py [FOLDER]: what a file of written/ is taken for by a fit without it.

Writes left_out.md into FOLDER, by default results/ beside this file. Ten minutes; what ships is not
touched.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import numpy as np
import run
import typer

from auditeval.atomic import write_text
from auditeval.data.change_words.vocabulary import OPPOSITES
from auditeval.features.changes.polarity import said_apart
from auditeval.features.changes.words import ChangeWords
from auditeval.seed import SEED
from auditeval.text import say


def main(folder: Annotated[Path, typer.Argument()] = Path(__file__).parent / "results") -> None:
    lines = ["# Texts of hands that nothing was learnt from", ""]
    lines += ["| file | texts | right | taken for the opposite |", "|---|--:|--:|--:|"]
    for path in run.written():
        asked = dict(reversed(one) for one in run.filled(path, np.random.default_rng(SEED), (), 1))
        seen = {said_apart(text) for text in asked}
        others = [other for other in run.written() if other != path]
        learned = run.texts(held_out=False, files=others)
        with tempfile.TemporaryDirectory() as scratch:
            weights = Path(scratch) / "words.safetensors"
            fitted = run.fit({text: c for text, c in learned.items() if text not in seen})
            run.write(weights, *fitted)
            found = run.answers(ChangeWords(weights=weights), asked)
        right = np.mean([one.asked == one.taken for one in found])
        opposite = np.mean([OPPOSITES.get(one.asked) == one.taken for one in found])
        lines.append(f"| {path.stem} | {len(found)} | {right:.3f} | {opposite:.3f} |")
        say(lines[-1])
    write_text(folder / "left_out.md", "\n".join(lines) + "\n")


if __name__ == "__main__":
    typer.run(main)

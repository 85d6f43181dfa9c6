"""Manifests with the votes of real panels and of the simulated one, for run.sh.

python votes.py P835 CODECS WORK writes p835.jsonl, codecs.jsonl and simulated.jsonl to WORK.
"""

from __future__ import annotations

import csv
from functools import cache
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
import typer

from auditeval import manifest
from auditeval.data.importers.listening_tests import import_mushra_codecs, import_p835
from auditeval.data.simulation.build import build
from auditeval.seed import SEED
from auditeval.types import EditPair, UserError

GRADES = range(1, 6)
NAMES = {"quality": "ovrl", "faithfulness": "sig"}
SCENES, SECONDS = 24, 1.5


@cache
def all_panels(count: int) -> np.ndarray:
    """Whatever `count` people can vote, in order of votes :: (panels, count)."""
    return np.array(list(combinations_with_replacement(GRADES, count)))


def panels(count: int, mean: float, deviation: float) -> np.ndarray:
    """Those that have this mean and deviation, given with four decimals :: (panels, count)."""
    votes = all_panels(count)
    near = np.abs(votes.mean(axis=1) - mean) < 1e-4
    return votes[near & (np.abs(votes.std(axis=1, ddof=1) - deviation) < 1e-4)]


def p835(folder: Path) -> list[EditPair]:
    """The table has no votes, but their number, mean and deviation, which most panels have alone.

    Where several have them one is drawn. Which vote of the one axis is by the rater of which vote
    of the other is not known: they are paired at random.
    """
    rng = np.random.default_rng(SEED)
    made, several, total = [], 0, 0
    with (folder / "labels.csv").open(encoding="utf-8", newline="") as file:
        table = {row["edited"]: row for row in csv.DictReader(file)}
    for pair in import_p835(folder):
        row = table[pair.edited.relative_to(folder).as_posix()]
        raters = {}
        for axis, name in NAMES.items():
            count, mean = int(row["n_votes"]), float(row[f"mos_{name}"])
            fitting = panels(count, mean, float(row[f"std_{name}"]))
            if not len(fitting):
                raise UserError(f"{row['edited']}: no {count} votes have the {name} of labels.csv")
            several, total = several + (len(fitting) > 1), total + 1
            votes = fitting[rng.integers(len(fitting))]
            raters[axis] = rng.permutation(votes).astype(float).tolist()
        given = pair.model_dump(exclude_none=True) | {"ratings": {}, "raters": raters}
        made.append(EditPair.model_validate(given))
    print(f"P.835: {total - several} of {total} panels are known, of {several} one was drawn")
    return made


def codecs(folder: Path) -> list[EditPair]:
    """MUSHRA has one vote, which the importer takes for two axes: here it counts once."""
    made = []
    for pair in import_mushra_codecs(folder):
        votes = {"ratings": {}, "raters": {"quality": pair.raters["quality"]}}
        made.append(EditPair.model_validate(pair.model_dump(exclude_none=True) | votes))
    return made


def main(tables: Path, mushra: Path, work: Path) -> None:
    manifest.write(p835(tables), work / "p835.jsonl")
    manifest.write(codecs(mushra), work / "codecs.jsonl")
    simulated = manifest.read(build(work / "simulated", SCENES, SECONDS, SEED))
    manifest.write(simulated, work / "simulated.jsonl")


if __name__ == "__main__":
    typer.run(main)

"""What people say of the clip that the evaluator picks as the best of N versions of one original.

The versions are those of listening tests, the scores those of evaluators that were trained without
the test (`recipes/train_default/results/*_scores.csv`), the ratings people's. The mean over all
draws of N versions of an original, exactly, then over originals; in brackets the 95 % bootstrap
over these. "By people" is what the best of all has, and all that a pick could reach.

Run by hand: python tests/performance/best_of.py DATA
(DATA holds p835/ and neural_codecs/ and, where it is there, pick_the_best/, as
recipes/train_default/README.md says)
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import comb
from pathlib import Path

import numpy as np
from results import keep

from auditeval import scores_table
from auditeval.data.importers.listening_tests import import_mushra_codecs, import_p835
from auditeval.data.importers.pick_the_best import import_pick_the_best_voice
from auditeval.types import Axis, EditPair

SCORES = Path(__file__).parents[2] / "recipes" / "train_default" / "results"
VOICES = "pick_the_best", import_pick_the_best_voice, "removal_voice"
TESTS = (
    ("noisy speech (P.835)", "p835", import_p835, "p835", ("quality", "faithfulness")),
    ("neural codecs", "neural_codecs", import_mushra_codecs, "codecs", ("quality",)),
    ("separated voices", *VOICES, ("quality",)),
)
HEADS = ("one at random", "best of 2", "best of 4", "best of all", "by people")
RESAMPLES = 1000


def best_of(predicted: Sequence[float], rated: Sequence[float], n: int) -> float:
    """The mean rating of the version with the highest prediction, over all draws of n versions.

    >>> best_of([3.0, 1.0, 2.0], [5.0, 1.0, 3.0], 1)
    3.0
    >>> best_of([3.0, 1.0, 2.0], [5.0, 1.0, 3.0], 3)
    5.0
    """
    order = np.argsort(-np.asarray(predicted), kind="stable")
    total = len(order)
    chosen = [comb(total - 1 - rank, n - 1) / comb(total, n) for rank in range(total)]
    return float(np.asarray(rated)[order] @ np.array(chosen))


def row(name: str, pairs: Sequence[EditPair], scores: Path, axis: Axis) -> dict[str, str]:
    said = {row.id: row.ratings[axis] for row in scores_table.read(scores)}
    versions: dict[str | None, list[EditPair]] = defaultdict(list)
    for pair in pairs:
        if axis in pair.ratings and pair.id in said:
            versions[pair.source].append(pair)
    values = np.array([_of_one(group, said, axis) for group in versions.values()])
    rng = np.random.default_rng(1984)
    drawn = values[rng.integers(len(values), size=(RESAMPLES, len(values)))].mean(axis=1)
    ends = np.percentile(drawn, (2.5, 97.5), axis=0)
    numbers = np.stack([values.mean(axis=0), *ends], axis=1)
    cells = [f"{mean:.2f} [{low:.2f} {high:.2f}]" for mean, low, high in numbers]
    return {
        "listening test": name,
        "axis": axis,
        "originals": str(len(values)),
        "versions": str(max(map(len, versions.values()))),
        **dict(zip(HEADS, cells, strict=True)),
    }


def _of_one(group: Sequence[EditPair], said: Mapping[str, float], axis: Axis) -> list[float]:
    rated = [pair.ratings[axis] for pair in group]
    predicted = [said[pair.id] for pair in group]
    counts = (min(n, len(group)) for n in (1, 2, 4, len(group)))
    return [*(best_of(predicted, rated, n) for n in counts), max(rated)]


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    data = parser.parse_args(arguments).data
    rows = [
        row(name, read(data / folder), SCORES / f"{scores}_scores.csv", axis)
        for name, folder, read, scores, axes in TESTS
        if (data / folder).is_dir()
        for axis in axes
    ]
    keep("best_of", "Human ratings of the best of N versions, picked by an evaluator", rows)


if __name__ == "__main__":
    main(sys.argv[1:])

"""The held-out part of a run as a manifest, and what each model says of it as a scores table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from auditeval import checkpoint_files, manifest, scores_table
from auditeval.atomic import write_text
from auditeval.data.splits import Fold
from auditeval.digests import sha256
from auditeval.report.agreement import Predictions
from auditeval.types import EditPair, Scores
from auditeval.version import __version__

MANIFEST, SCORES = "held_out.jsonl", "scores.csv"


def write_manifest(pairs: Sequence[EditPair], folder: Path) -> None:
    """held_out.jsonl: the pairs that were held out, each in the split `test`."""
    held = (pair.model_copy(update={"split": "test"}) for pair in pairs)
    manifest.write(held, folder / MANIFEST)


def write_scores(
    made: Predictions, pairs: Sequence[EditPair], folds: Sequence[Fold], folder: Path
) -> None:
    """MODEL/scores.csv of a model on these pairs, with a record as `auditeval score` writes one.

    It names the checkpoint by its path from there, and none where each of several folds had one.
    """
    output = folder / made.evaluator / SCORES
    scores_table.write((_row(made, pair.id) for pair in pairs), output)
    record: dict[str, Any] = {"evaluator": made.evaluator}
    if len(folds) == 1:
        weights = Path(folds[0].name, "checkpoint")
        record["checkpoint"] = weights.as_posix()
        record["checkpoint_sha256"] = checkpoint_files.digest(output.parent / weights)
    table = folder / MANIFEST
    record |= {
        "auditeval": __version__,
        "manifest": table.name,
        "manifest_sha256": sha256(table),
        "rows": len(pairs),
    }
    write_text(output.with_name(f"{output.name}.json"), json.dumps(record, indent=2) + "\n")


def write_test(made: Predictions, pairs: Sequence[EditPair], output: Path) -> None:
    """What a model said of a further test, for `auditeval evaluate` to report again."""
    scores_table.write((_row(made, pair.id) for pair in pairs), output)


def _row(made: Predictions, id: str) -> Scores:
    ratings: dict[str, Any] = {axis: round(x, 6) for axis, x in made.values[id].items()}
    intervals = {
        axis: (round(low, 6), round(high, 6))
        for axis, (low, high) in made.intervals.get(id, {}).items()
    }
    return Scores(id, **ratings, intervals=intervals)

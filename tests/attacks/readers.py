"""Every kind of file that a command reads, one of each whole, and the command that reads it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from commands import row_of, write_rows, write_scores

from auditeval.types import AXES, EditPair, Scores

SCRIPT = {"id": "1", "content": [{"speaker": "A", "text": "x"}], "language": "en", "scene": "x"}
RECIPE = {"stages": [{"name": "a", "axis": "quality", "keep_share": 0.5}]}
RATED = dict.fromkeys(AXES, 3.0)
SCORE = ("score", "pairs.jsonl", "-c", "checkpoint", "--device", "cpu", "-o", "out.csv")
EVALUATE = ("evaluate", "scores.csv", "--against", "pairs.jsonl", "--resamples", 0, "-o", "report")
FILTER = ("filter", "pairs.jsonl", "scores.csv", "--recipe", "recipe.yaml", "-o", "kept.jsonl")
SWAN = ("bench", "swanbench", "scripts.jsonl", "--baselines", "--backends", "backends.yaml")
SWAN = (*SWAN, "-o", "report")
IMPORT = ("import", "auditscore", "auditscore", "-o", "imported.jsonl")

READ: dict[str, tuple[str, tuple[Any, ...]]] = {
    "a manifest to score": ("pairs.jsonl", SCORE),
    "a manifest in CSV": ("pairs.csv", ("score", "pairs.csv", *SCORE[2:])),
    "a manifest in Parquet": ("pairs.parquet", ("score", "pairs.parquet", *SCORE[2:])),
    "a manifest to evaluate against": ("pairs.jsonl", EVALUATE),
    "a manifest to filter": ("pairs.jsonl", FILTER),
    "a manifest to describe": ("pairs.jsonl", ("describe", "pairs.jsonl", "-o", "report")),
    "a manifest to measure": ("pairs.jsonl", ("metrics", "pairs.jsonl", "-o", "report")),
    "a recipe": ("recipe.yaml", FILTER),
    "backends": ("backends.yaml", SWAN),
    "scripts": ("scripts.jsonl", SWAN),
    "timings": ("outputs/timings.jsonl", (*SWAN, "-s", "mine=outputs")),
    "answers of a judge": ("answers.jsonl", (*SWAN, "--judge", "answers.jsonl")),
    "MMAE's list": ("meta.json", ("bench", "mmae", "meta.json", "--baselines", "-o", "report")),
    "a checkpoint's configuration": ("checkpoint/config.json", SCORE),
    "a run's configuration": ("run/config.yaml", ("compare", "run")),
    "a run's report": ("run/report/agreement.json", ("compare", "run")),
    "records of AuditScore": ("auditscore/train_meta.json", IMPORT),
    "a table of P.835": ("p835/labels.csv", ("import", "p835", "p835", "-o", "imported.jsonl")),
    "a table of codecs": (
        "codecs/ratings_formated_filtered.csv",
        ("import", "mushra-codecs", "codecs", "-o", "imported.jsonl"),
    ),
    "choices of the best": (
        "votes/results/dataset.csv",
        ("import", "pick-the-best", "votes", "-o", "imported.jsonl"),
    ),
    "results of ms-swift": (
        "results.jsonl",
        ("import", "ms-swift", "results.jsonl", "-o", "imported.csv"),
    ),
    "a list of clips": (
        "clips.csv",
        ("build", "--clips", "clips.csv", "--backgrounds", "clips.csv", "-o", "mixed"),
    ),
    "prompts": ("prompts.csv", ("generate", "prompts.csv", "-o", "made")),
}


def lay_out(room: Path, good: list[EditPair], checkpoint: Path, clip_list: Path) -> Path:
    """Whole files for all of `READ` that need others beside the one that a test spoils."""
    write_rows(room / "pairs.jsonl", [row_of(pair, raters={}, ratings=RATED) for pair in good])
    write_scores(room / "scores.csv", [Scores(p.id, 3.0, 3.0, 3.0) for p in good])
    (room / "scores.csv.json").write_text("{}")
    (room / "recipe.yaml").write_text(yaml.safe_dump(RECIPE))
    (room / "backends.yaml").write_text("pitch: null\n")
    write_rows(room / "scripts.jsonl", [SCRIPT])
    shutil.copytree(checkpoint, room / "checkpoint")
    shutil.copy(clip_list, room / "clips.csv")
    (room / "outputs").mkdir()
    (room / "run" / "report").mkdir(parents=True)
    (room / "run" / "config.yaml").write_text("name: a\ncompare: {}\n")
    (room / "run" / "report" / "agreement.json").write_text('{"rows": []}')
    (room / "codecs").mkdir()
    (room / "votes" / "results").mkdir(parents=True)
    (room / "auditscore").mkdir()
    (room / "p835").mkdir()
    return room


def spoil(path: Path, make: Callable[[Path], Any]) -> None:
    path.unlink(missing_ok=True)
    make(path)

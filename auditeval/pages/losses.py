"""How the losses of a training run fell, by what its folds logged."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from auditeval import reading
from auditeval.types import AXES, UserError

_PARTS = {"training": "train/mse", "validation": "val/mse"}


def read(run: Path, models: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """The mean squared error after each epoch by axis: {axis: [{model, fold, part, course}]}, a
    course of (epoch, value) from 1 on.

    They stand in MODEL/FOLD/metrics.csv, and up to an interruption in metrics-1.csv and so on. An
    axis that nobody logged is absent: all are where a model was fitted in closed form, or logger is
    wandb. Raises UserError for what is no such table.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for model in models:
        for fold in sorted({path.parent for path in (run / model).glob("*/metrics.csv")}):
            rows = [row for path in _in_time(fold) for row in _rows(path)]
            for axis in AXES:
                for part, name in _PARTS.items():
                    course = {  # of an epoch that was gone through again, the second time
                        int(row["epoch"]) + 1: float(f"{value:.4g}")
                        for row in rows
                        if math.isfinite(value := row.get(f"{name}/{axis}", math.nan))
                    }
                    if course:
                        line = {"model": model, "fold": fold.name, "part": part}
                        found.setdefault(axis, []).append({**line, "course": [*course.items()]})
    return found


def _in_time(fold: Path) -> list[Path]:
    before = fold.glob("metrics-*.csv")
    return [*sorted(before, key=lambda path: (len(path.name), path.name)), fold / "metrics.csv"]


def _rows(path: Path) -> Iterator[dict[str, float]]:
    names: list[str] = []
    for _, cells in reading.csv_rows(path):
        if not names:
            names = cells
            continue
        try:
            yield {name: float(cell) for name, cell in zip(names, cells, strict=True) if cell}
        except ValueError:
            raise UserError(f"{path}: is no table of numbers that a logger wrote") from None

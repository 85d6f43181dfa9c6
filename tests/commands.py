"""What the tests of bad input share: the command, and files made to be wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import soundfile

from auditeval.types import AXES, EditPair, Scores

RATE_HZ = 32000


class Ended(NamedTuple):
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """What stands behind "auditeval: " on the last line of stderr, which is all it says."""
        last = self.err.rstrip().splitlines()[-1]
        assert last.startswith("auditeval: "), self.err
        assert "Traceback" not in self.err
        return last.removeprefix("auditeval: ")


Run = Callable[..., Ended]


def start(*arguments: object, **environment: str) -> subprocess.Popen[str]:
    """The command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", "from auditeval.cli import main; main()", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def row_of(pair: EditPair, **change: Any) -> dict[str, Any]:
    return {**pair.model_dump(mode="json", exclude_none=True), **change}


def write_rows(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(f"{r if isinstance(r, str) else json.dumps(r)}\n" for r in rows))
    return path


def noise(samples: int = RATE_HZ) -> np.ndarray:
    return np.random.default_rng(0).uniform(-0.3, 0.3, samples).astype(np.float32)


def sound(path: Path, samples: np.ndarray, subtype: str = "FLOAT") -> Path:
    soundfile.write(path, samples, RATE_HZ, subtype=subtype)
    return path


def content(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def folder(path: Path) -> Path:
    path.mkdir()
    return path


def every_file(folder: Path) -> dict[str, bytes]:
    """What is in the files below a folder, by their paths from there."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def write_scores(path: Path, rows: list[Scores]) -> Path:
    lines = [",".join(["id", *AXES, "status", "reason"])]
    for row in rows:
        cells = ["" if getattr(row, axis) is None else str(getattr(row, axis)) for axis in AXES]
        lines.append(",".join([row.id, *cells, row.status, row.reason]))
    path.write_text("\n".join(lines) + "\n")
    return path

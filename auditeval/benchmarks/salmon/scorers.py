"""What stands for M [arXiv:2409.07437, eq. 1]: likelihoods, an evaluator, two baselines.

A scorer is a system whose output for a pair is `PairScores`, or Undefined where it has nothing to
say of such a part by design.
"""

from __future__ import annotations

import hashlib
import math
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from auditeval import audio, jsonl
from auditeval.audio import AudioError, files
from auditeval.audio.waveform import quantised
from auditeval.benchmarks.salmon.samples import ALIGNMENT, PARTS, Pair
from auditeval.reading import BEGINNING, csv_rows
from auditeval.seed import SEED
from auditeval.types import EditPair, Undefined, UserError

if TYPE_CHECKING:
    from auditeval.scoring import Evaluator  # with it comes torch

Score = float | Undefined
Original = Literal["halves", "positive"]

_CAPTION = "A person speaking."


class PairScores(NamedTuple):
    """What a scorer gives the clips of a pair: higher is more likely; undefined with a reason."""

    positive: Score
    negative: Score


class Likelihoods:
    """A table of likelihoods of single clips; see `read_likelihoods`."""

    def __init__(self, name: str, scores: Mapping[str, Score]) -> None:
        self.name, self._scores = name, scores

    @property
    def settings(self) -> dict[str, Any]:
        lines = (f"{clip}\t{score!r}\n" for clip, score in sorted(self._scores.items()))
        digest = hashlib.sha256("".join(lines).encode()).hexdigest()
        return {"scorer": "likelihoods", "likelihoods_sha256": digest}

    def output(self, pair: Pair) -> PairScores:
        absent = Undefined("the table has no likelihood of it")
        return PairScores(*(self._scores.get(_key(path), absent) for path in pair[2:]))


class EvaluatorScorer:
    """The faithfulness that an evaluator of edits predicts; it needs an original to each clip.

    `halves`: the first half of the clip is the original and the second the edit, so that, as eq. 1
    asks, each clip is scored alone: is the rest like the beginning? `positive`: the positive of the
    pair is the original of both. Then the scorer sees the answer: it tells whether a change is
    heard at all, is not SALMon's protocol, and is named apart. Captions are equal, so what the
    words mean is not heard and the alignment parts are undefined.
    """

    def __init__(self, evaluator: Evaluator, original: Original = "halves") -> None:
        self.name = f"{evaluator.name} ({_NAMED[original]})"
        self._evaluator, self._original = evaluator, original
        self._lock = threading.Lock()

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "scorer": "evaluator",
            "checkpoint_sha256": self._evaluator.checkpoint.digest,
            "original": self._original,
        }

    def output(self, pair: Pair) -> PairScores | Undefined:
        """Raises UserError for an evaluator that was not trained on faithfulness."""
        if pair.part in ALIGNMENT:
            return Undefined("an evaluator of edits does not hear what the words mean")
        with TemporaryDirectory() as folder:
            try:
                pairs = edits(pair, self._original, Path(folder))
            except AudioError as error:
                unread = Undefined(_without_folders(str(error), pair, folder))
                return PairScores(unread, unread)
            except OSError as error:
                raise UserError(
                    f"{folder}: temporary files cannot be written ({error.strerror}); set TMPDIR "
                    "to a folder with more space"
                ) from None
            with self._lock:
                rows = self._evaluator.score(pairs)
        scores: list[Score] = []
        for row in rows:
            if row.status == "ok" and row.faithfulness is None:
                raise UserError(f"{self._evaluator.name}: was not trained to rate faithfulness")
            reason = _without_folders(row.reason, pair, folder)
            scores.append(Undefined(reason) if row.faithfulness is None else row.faithfulness)
        return PairScores(*scores)


def edits(pair: Pair, original: Original, folder: Path) -> list[EditPair]:
    """The positive and the negative as edits; see EvaluatorScorer. Halves are written to `folder`.

    Raises AudioError for a clip that cannot be halved.
    """
    found = []
    for clip in pair[2:]:
        sides = (pair.positive, clip) if original == "positive" else _halves(clip, folder)
        found.append(
            EditPair(
                id=f"{pair.id}: {clip.name}",
                original=sides[0],
                edited=sides[1],
                original_caption=_CAPTION,
                target_caption=_CAPTION,
            )
        )
    return found


class ConstantScorer:
    """Gives every clip the same likelihood: exactly 50 %."""

    name = "constant"

    @property
    def settings(self) -> dict[str, Any]:
        return {"baseline": self.name}

    def output(self, pair: Pair) -> PairScores:
        return PairScores(0.0, 0.0)


class NoiseScorer:
    """Gives each clip a random likelihood, by its name and the seed alone."""

    name = "noise"

    def __init__(self, seed: int = SEED) -> None:
        self._seed = seed

    @property
    def settings(self) -> dict[str, Any]:
        return {"baseline": self.name, "seed": self._seed}

    def output(self, pair: Pair) -> PairScores:
        return PairScores(*(self._score(path) for path in pair[2:]))

    def _score(self, path: Path) -> float:
        digest = hashlib.sha256(f"{self._seed}\n{_key(path)}".encode()).digest()
        return round(float(np.random.default_rng(list(digest)).random()), 6)


_NAMED: dict[Original, str] = {"halves": "halves", "positive": "original = positive, not SALMon"}


def read_likelihoods(path: Path, pairs: Sequence[Pair]) -> Likelihoods:
    """CSV or JSONL with `file` and `score`, and `part` unless file is <part>/sample_<i>_<j>.wav.

    An empty, null or NaN score is a clip that the model gave none: it is reported. Other columns
    are ignored, and so are rows of clips that were not selected. Raises UserError with file and
    line for what is no number, a clip that is not there or stands twice, and a table that has none
    of them.
    """
    known = {_key(clip) for pair in pairs for clip in pair[2:]}
    parts = {pair.part: pair.positive.parent for pair in pairs}
    scores: dict[str, Score] = {}
    for where, row in _rows(path):
        clip = _clip(where, row)
        part, name = clip.split("/")
        if part not in parts:
            continue
        if clip not in known:
            # Path.is_file raises for a name that is too long.
            if not os.path.isfile(parts[part] / name):  # noqa: PTH113
                raise UserError(f"{where}: {clip} is no clip of the benchmark")
            continue
        if clip in scores:
            raise UserError(f"{where}: {clip} stands twice")
        scores[clip] = _score(where, row.get("score"))
    if not scores:
        raise UserError(f"{path}: holds no likelihood of any clip of {', '.join(sorted(parts))}")
    return Likelihoods(path.stem, scores)


def _without_folders(reason: str, pair: Pair, temporary: str) -> str:
    """The same words wherever the samples and the halves lie."""
    for folder in (temporary, *(str(path.parent) for path in pair[2:])):
        reason = reason.replace(f"{folder}/", "")
    return reason


def _key(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def _halves(path: Path, folder: Path) -> tuple[Path, Path]:
    clip = audio.decode(path)
    half = len(clip.samples) // 2
    stem = f"{path.parent.name}_{path.stem}"
    written = (folder / f"{stem}_first.wav", folder / f"{stem}_second.wav")
    for part, samples in zip(written, (clip.samples[:half], clip.samples[half:]), strict=True):
        files.write(part, quantised(samples), clip.rate_hz)
    return written


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """("FILE:LINE", its cells)."""
    if path.suffix == ".jsonl":
        for where, row in jsonl.objects(path):
            if not {"file", "score"} <= set(row):
                raise UserError(f"{where}: expected an object with file and score")
            yield where, row
    elif path.suffix == ".csv":
        yield from _cells(path)
    else:
        raise UserError(f"{path}: expected .csv or .jsonl")


def _cells(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        rows = csv_rows(path)
        _, names = next(rows, (BEGINNING, []))
        if not {"file", "score"} <= set(names):
            raise UserError(
                f"{path}:1: expected the columns file and score, and part or a path in file"
            )
        for (line, _), cells in rows:
            yield f"{path}:{line}", dict(zip(names, cells, strict=True))
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None


def _clip(where: str, row: Mapping[str, Any]) -> str:
    place = Path(str(row["file"]))
    home = place.parent.name
    part = row.get("part") or home
    if part not in PARTS:
        raise UserError(f"{where}: no part of SALMon: {part!r} (known: {', '.join(PARTS)})")
    if home in PARTS and home != part:
        raise UserError(f"{where}: part is {part}, file one of {home}: {place}; which is it?")
    return f"{part}/{place.name}"


def _score(where: str, value: Any) -> Score:
    if value is None or value == "":
        return Undefined("its likelihood is empty")
    try:
        # These Python would take for numbers.
        if isinstance(value, bool) or "_" in str(value):
            raise ValueError
        score = float(value)
    except (TypeError, ValueError, OverflowError):
        raise UserError(f"{where}: score is {str(value)[:80]!r}; expected a number") from None
    # -inf is the logarithm of a likelihood of 0; no likelihood has the others.
    if math.isnan(score) or score == math.inf:
        return Undefined(f"its likelihood is {score}")
    return score

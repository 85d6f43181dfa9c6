"""What scoring has made so far of a block: rows in any order, with the state of their clips.

A line is a checksum and a row of a JSONL scores table with two more keys: its number in the
manifest, and size and time of its two clips when they were about to be read. The last line of a row
counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
import xxhash

from auditeval import audio
from auditeval.blocks import Block
from auditeval.scores_table import cells_of, of_cells
from auditeval.types import EditPair, Scores

_ROW, _CLIPS = "row", "clips"


def states(pair: EditPair) -> list[int]:
    """Size and time of original and edited clip, as `audio.state` has them :: 4 numbers."""
    return [*audio.state(pair.original), *audio.state(pair.edited)]


class Held(NamedTuple):
    """What is known of the rows of a block: whether they are there, their ids, their clips' states.

    Takes 41 bytes a row, and can be sent to another process.
    """

    there: np.ndarray
    ids: np.ndarray
    states: np.ndarray

    @classmethod
    def nothing(cls, rows: int) -> Held:
        """Of a block that nothing was made of."""
        return cls(np.zeros(rows, bool), np.zeros(rows, np.uint64), np.zeros((rows, 4), np.int64))

    def holds(self, row: int, pair: EditPair) -> bool:
        """Whether there are scores of this pair, whatever became of its clips."""
        return bool(self.there[row] and self.ids[row] == _hash(pair.id))

    def is_current(self, row: int, found: Sequence[int]) -> bool:
        """Whether the clips of a row that it holds have still these `states`."""
        return bool(self.states[row].tolist() == list(found))


class ScoresLog:
    """The rows of a `block` in `path`, which is made where it is not there.

    A line that is none (torn or damaged by a crash) is as if it had not been written. Memory grows
    with the rows of the block.
    """

    def __init__(self, path: Path, block: Block) -> None:
        self._first = block.first
        self._offsets = np.full(block.rows, -1, np.int64)
        self._errors = np.zeros(block.rows, bool)
        self.held = Held.nothing(block.rows)
        self._file = path.open("a+b")
        self._file.seek(0)
        end = 0
        for line in self._file:
            if not line.endswith(b"\n"):
                self._file.truncate(end)
                break
            self._index(line, end)
            end += len(line)
        self._file.seek(0, 2)

    def __enter__(self) -> ScoresLog:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._file.close()

    @property
    def errors(self) -> int:
        """How many rows have an error."""
        return int(self._errors[self.held.there].sum())

    def add(self, first: int, scores: Sequence[Scores], found: Sequence[Sequence[int]]) -> None:
        """Write rows, of the manifest's number `first` and on, with the `states` of their clips."""
        lines = [
            _line({_ROW: first + i, _CLIPS: list(clips), **cells_of(row)})
            for i, (row, clips) in enumerate(zip(scores, found, strict=True))
        ]
        offset = self._file.tell()
        self._file.writelines(lines)
        self._file.flush()
        for line in lines:
            self._index(line, offset)
            offset += len(line)

    def scores(self) -> Iterator[Scores]:
        """All rows in the order of the manifest. Raises ValueError where one is missing."""
        for row, offset in enumerate(self._offsets.tolist(), start=self._first):
            if offset < 0:
                raise ValueError(f"row {row} has not been scored")
            self._file.seek(offset)
            found = _row(self._file.readline())
            del found[_ROW], found[_CLIPS]
            yield of_cells(found)

    def _index(self, line: bytes, offset: int) -> None:
        try:
            found = _row(line)
            row, clips = found.pop(_ROW), found.pop(_CLIPS)
            scores = of_cells(found)
            row -= self._first
            if not (isinstance(row, int) and 0 <= row < len(self._offsets)):
                return
            self.held.states[row] = clips
            self.held.ids[row] = _hash(scores.id)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            return
        self._offsets[row], self._errors[row] = offset, scores.status == "error"
        self.held.there[row] = True


def _line(row: dict[str, Any]) -> bytes:
    text = json.dumps(row).encode()
    return b"%s %s\n" % (_checksum(text), text)


def _row(line: bytes) -> dict[str, Any]:
    """Raises ValueError for a line that is not as it was written."""
    checksum, _, text = line.rstrip(b"\n").partition(b" ")
    if checksum != _checksum(text):
        raise ValueError("damaged")
    row: dict[str, Any] = json.loads(text)
    return row


def _checksum(text: bytes) -> bytes:
    return xxhash.xxh64_hexdigest(text).encode()


def _hash(id: str) -> int:
    return xxhash.xxh64_intdigest(id.encode())

"""Scoring of a block of a manifest, in whatever process: what goes to a worker, what comes back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from auditeval import manifest_blocks, storage
from auditeval.manifest_blocks import ManifestBlock
from auditeval.scores_log import Held, states
from auditeval.types import EditPair, Scores, UserError


@dataclass(frozen=True)
class ScoringBlock(ManifestBlock):
    """Rows to be scored, and which of them an earlier run has scored."""

    held: Held | None


class Scored(NamedTuple):
    """A batch, from the row `first` on: its scores and the `states` of its clips.

    `changed` are the ids of those that an earlier run had scored, of other clips. `rows` is empty
    where `kept` rows of it stand as they are.
    """

    first: int
    rows: list[Scores]
    found: list[list[int]]
    kept: int = 0
    changed: tuple[str, ...] = ()


class ScoringWorker:
    """Scores blocks of a manifest, a batch at a time, as far as they are not held of today's clips.

    A batch is scored as a whole, so that its rows come out to the last bit as in a run from
    nothing.
    """

    def __init__(
        self,
        score: Callable[[Sequence[EditPair]], list[Scores]],
        manifest_path: Path,
        batch_size: int,
    ) -> None:
        self._score, self._path, self._batch_size = score, manifest_path, batch_size

    def __call__(self, block: ScoringBlock, failed: Mapping[int, str]) -> Iterator[Scored]:
        """See `blocks.Worker`. Raises UserError where the manifest is another by now."""
        rows = manifest_blocks.read(self._path, block)
        held = block.held or Held.nothing(block.rows)
        first = block.first
        following = list(islice(rows, self._batch_size))
        while pairs := following:
            at = first - block.first
            following = list(islice(rows, self._batch_size))
            storage.seen(_clips(pairs))
            # What is next is fetched while this is encoded.
            next_row = at + len(pairs)
            storage.ahead(
                clip
                for row, pair in enumerate(following, start=next_row)
                if not held.holds(row, pair)
                for clip in _clips([pair])
            )
            found = [states(pair) for pair in pairs]
            old = [held.holds(at + i, pair) for i, pair in enumerate(pairs)]
            changed = tuple(
                pair.id
                for i, pair in enumerate(pairs)
                if old[i] and not held.is_current(at + i, found[i])
            )
            if all(old) and not changed:
                yield Scored(first, [], [], len(pairs))
            else:
                whole = {first + i: pair for i, pair in enumerate(pairs)}
                made = iter(self._score([whole[row] for row in whole if row not in failed]))
                scores = [
                    Scores(pair.id, status="error", reason=failed[row])
                    if row in failed
                    else next(made)
                    for row, pair in whole.items()
                ]
                yield Scored(first, scores, found, 0, changed)
            first += len(pairs)
        if first != block.first + block.rows:
            raise UserError(
                f"{self._path}: was changed while it was scored; give the command again with "
                "--fresh"
            )


def _clips(pairs: Sequence[EditPair]) -> Iterator[Path]:
    for pair in pairs:
        yield from (pair.original, pair.edited)

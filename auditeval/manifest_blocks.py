"""Blocks of a manifest: where each begins, so that a worker reads its own rows and no others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from auditeval import blocks, manifest, reading
from auditeval.reading import BEGINNING, Start
from auditeval.types import EditPair, UserError


@dataclass(frozen=True)
class ManifestBlock(blocks.Block):
    """Rows of a manifest and where they start: of Parquet that is a row, else a line and byte."""

    start: Start


def cut(path: Path, total: int, rows: int) -> Iterator[ManifestBlock]:
    """Blocks of `rows` pairs of a manifest, which has `total` of them and was checked.

    One pass that looks for the ends of rows alone; none of a Parquet file.
    """
    starts = _STARTS.get(path.suffix.lower())
    found = iter(()) if starts is None else islice(starts(path), 0, None, rows)
    for block in blocks.cut(total, rows):
        try:
            start = Start(block.first, 0) if starts is None else next(found)
        except OSError as error:
            raise UserError(f"{path}: cannot be read ({error.strerror or error})") from None
        except StopIteration:
            raise UserError(f"{path}: was changed while it was read; start over") from None
        yield ManifestBlock(block.number, block.first, block.rows, start)


def read(path: Path, block: ManifestBlock) -> Iterator[EditPair]:
    """The pairs of a block, as `manifest.iterate` has them."""
    return islice(manifest.iterate(path, block.start), block.rows)


def _starts_of_jsonl(path: Path) -> Iterator[Start]:
    byte = 0
    for number, line in enumerate(reading.lines(path)):
        if line.strip():
            yield Start(number, byte)
        byte += len(line)


def _starts_of_csv(path: Path) -> Iterator[Start]:
    """A row begins where the one before it ends, empty lines between them included."""
    before = BEGINNING
    for after, _ in reading.csv_rows(path):
        if before.byte:
            yield before
        before = after


_STARTS = {".jsonl": _starts_of_jsonl, ".csv": _starts_of_csv}

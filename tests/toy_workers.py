"""Workers of a few lines, which a cluster imports: for what an engine does with blocks."""

from __future__ import annotations

import errno
import logging
import os
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from auditeval.blocks import Block


class Squares:
    """The square of each row's number. `kills` ends the process, as a codec with a fault would."""

    def __init__(self, kills: int = -1) -> None:
        self._kills = kills

    def __call__(self, block: Block, failed: Mapping[int, str]) -> Iterator[tuple[int, object]]:
        for row in block.numbers():
            if row == self._kills and row not in failed:
                os.kill(os.getpid(), signal.SIGKILL)
            yield row, failed.get(row, row * row)


class Uneven(Squares):
    """The same, later blocks sooner."""

    def __call__(self, block: Block, failed: Mapping[int, str]) -> Iterator[tuple[int, object]]:
        time.sleep(0.3 if block.number % 2 == 0 else 0.0)
        yield from super().__call__(block, failed)


class FullDisk:
    """Finds no space on the disk, each time, or warns of a cache that has none."""

    def __init__(self, folder: Path, times: int) -> None:
        self._tally, self._times = folder / "tally", times

    def __call__(self, block: Block, failed: Mapping[int, str]) -> Iterator[int]:
        with self._tally.open("a") as file:
            file.write("x")
        if self._tally.stat().st_size <= self._times:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/scratch/part-7")
        logging.getLogger("auditeval.toy").warning("the cache cannot be written")
        yield block.number

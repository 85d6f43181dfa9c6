"""Folders and buckets kept to a size by several processes, none of which counts for all."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

from auditeval.types import UserError

_LOOK_SHARE, _LEFT_SHARE = 0.02, 0.9
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([KMGT]?)(I?)B|([KMGT]))", re.IGNORECASE)


class Kept(NamedTuple):
    """Something that takes `size` bytes, and was last used at that time (as `time.time`)."""

    used: float
    size: int
    name: str


class Bound:
    """Removes what was not used for the longest time when there is more than `most` bytes.

    A process looks with its first addition and whenever it has added a fiftieth since; it leaves
    nine tenths. So the bound is exceeded for a while, by that fiftieth for each process. What was
    used in the last `grace` seconds stays in any case.
    """

    def __init__(
        self,
        most: int,
        found: Callable[[], Iterable[Kept]],
        remove: Callable[[str], None],
        grace: float = 0.0,
    ) -> None:
        self._most, self._found, self._remove, self._grace = most, found, remove, grace
        self._added = most
        self._lock, self._looking = threading.Lock(), threading.Lock()

    def added(self, size: int) -> None:
        """So many bytes were added; raises OSError where what is there cannot be listed."""
        with self._lock:
            self._added += size
        # Who looks does so again for what others add meanwhile, who do not wait.
        while self._added >= self._most * _LOOK_SHARE and self._looking.acquire(blocking=False):
            try:
                with self._lock:
                    self._added = 0
                self._trim()
            finally:
                self._looking.release()

    def _trim(self) -> None:
        kept = sorted(self._found())
        total = sum(one.size for one in kept)
        if total <= self._most:
            return
        latest = time.time() - self._grace
        for one in kept:
            if total <= self._most * _LEFT_SHARE or one.used > latest:
                return
            self._remove(one.name)
            total -= one.size


def bytes_of(size: str | None) -> int | None:
    """A size that a user wrote, in bytes; None for no bound.

    Raises UserError for what is none.

    >>> bytes_of("20GB"), bytes_of("1.5 GiB"), bytes_of(None)
    (20000000000, 1610612736, None)
    """
    if not size:
        return None
    found = _SIZE.fullmatch(size.strip())
    if found is not None:
        letter = (found[2] or found[4] or "").upper()
        unit = 1024 ** [*_UNITS].index(letter) if found[3] else _UNITS[letter]
        if most := round(float(found[1]) * unit):
            return most
    raise UserError(f"size {size!r}: expected a number and kB, MB, GB or TB, as in 20GB")

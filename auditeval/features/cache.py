"""What extractors made of clips and texts, kept on disk by content, and made once at a time.

Each extractor has a folder of its own, named by its revision and by the device that it is on when
the cache is opened: another one beside it, or another revision of it, costs the others nothing. An
entry is one of `auditeval.entries`, in the form of safetensors: several processes may share one
cache.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
from safetensors.numpy import load, save

from auditeval import storage
from auditeval.entries import Entries, bounded
from auditeval.features.extractor import Extractor
from auditeval.types import UserError

Arrays = dict[str, np.ndarray]

_OF_EXTRACTORS = "*@*"  # folders, see `Extractor.made_by`


class FeatureCache:
    """Entries by extractor, below `folder` (default: `storage.cache_dir`), which may be a URL.

    It is kept to `size` (default `$AUDITEVAL_CACHE_SIZE`, or no bound), see `entries.bounded`. One
    on a full disk, or that cannot be written or read, costs a warning; raises UserError where it is
    no folder.
    """

    def __init__(
        self,
        extractors: Mapping[str, Extractor],
        folder: str | os.PathLike[str] | None = None,
        size: str | None = None,
    ) -> None:
        self._free = threading.Condition()
        self._claimed: set[str] = set()
        folder = storage.path(folder or storage.cache_dir())
        most = storage.bytes_of(size or os.environ.get("AUDITEVAL_CACHE_SIZE"))
        # Beside it lie answers that judges were paid for; they are not to go.
        self._bound = None if most is None else bounded(folder, most, _OF_EXTRACTORS)
        self._folder, self._beside = folder, list[Entries]()
        self._entries = {name: self._called(x.made_by) for name, x in extractors.items()}
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise UserError(
                f"{folder}: the feature cache cannot be made ({error.strerror}); set "
                "AUDITEVAL_CACHE to a folder you can write to"
            ) from None
        except OSError:
            pass  # the first entry says so

    @property
    def damaged(self) -> int:
        """Entries so far that were not what had been written; they were made again."""
        return sum(entries.damaged for entries in [*self._entries.values(), *self._beside])

    def beside(self, name: str, of: Iterable[str]) -> Entries:
        """Entries called `name` that were made of what `of` says, under the same bound."""
        digest = hashlib.sha256("\n".join(of).encode()).hexdigest()[:16]
        self._beside.append(self._called(f"{name}@{digest}"))
        return self._beside[-1]

    def _called(self, name: str) -> Entries:
        return Entries(self._folder / name, name, bound=self._bound)

    def entries(
        self,
        kind: str,
        keys: Sequence[str],
        by: Sequence[frozenset[str]],
        compute: Callable[[Mapping[str, list[int]]], Iterable[list[Arrays]]],
        passing: Collection[str] = (),
    ) -> list[dict[str, Arrays]]:
        """The entries of these keys, by extractor: of those that `by` names for each.

        `compute` is told of which rows each extractor has none, and makes them in this order. What
        it makes of the keys that are `passing` is not written.
        """
        names = [f"{kind}/{key[:2]}/{key}" for key in keys]
        rows = {name: row for row, name in enumerate(names)}
        with self._claim(set(names)):
            entries: dict[str, dict[str, Arrays]] = {name: {} for name in rows}
            missing: dict[str, list[int]] = {}
            wanted = {name: frozenset[str]() for name in rows}
            for name, extractors in zip(names, by, strict=True):
                wanted[name] |= extractors
            for extractor in self._entries:
                asked = [name for name in rows if extractor in wanted[name]]
                for name, data in zip(asked, self._entries[extractor].read_all(asked), strict=True):
                    if data is None:
                        missing.setdefault(extractor, []).append(rows[name])
                    else:
                        entries[name][extractor] = load(data)
            for of, computed in zip(missing, compute(missing) if missing else (), strict=True):
                made = {names[row]: one for row, one in zip(missing[of], computed, strict=True)}
                self._entries[of].write_all(
                    (name, _saved(one))
                    for name, one in made.items()
                    if keys[rows[name]] not in passing
                )
                for name, one in made.items():
                    entries[name][of] = one
        return [
            {of: entries[name][of] for of in self._entries if of in wanted[name]} for name in names
        ]

    @contextmanager
    def _claim(self, names: set[str]) -> Iterator[None]:
        """Waits while another thread has any of these: files of equal content are encoded once."""
        with self._free:
            self._free.wait_for(lambda: self._claimed.isdisjoint(names))
            self._claimed |= names
        try:
            yield
        finally:
            with self._free:
                self._claimed -= names
                self._free.notify_all()


def _saved(entry: Arrays) -> bytes:
    return save({key: np.ascontiguousarray(value) for key, value in entry.items()})

"""Entries of a cache: files, or objects of a store, that say what they are, and are believed only
where that is true.

Names follow from contents, and an entry is there whole or not at all. So whoever writes it writes
the same, and it may be removed at any time: threads, processes and nodes share a folder or bucket
and need no lock.
"""

from __future__ import annotations

import errno
import logging
import os
import struct
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path

import xxhash

from auditeval.atomic import replacing
from auditeval.reading import opened
from auditeval.storage import Bound, StorageError, UrlPath, copies, objects
from auditeval.storage.bound import Kept

log = logging.getLogger(__name__)

_HEAD = struct.Struct("<8sQ16s")  # what it is, bytes of the content, xxh3_128 of name and content
_MAGIC = b"aeentry1"
_SUFFIX = ".entry"
_USED_SECONDS = 60.0  # how old the time of the last use may be


def bounded(folder: Path, most: int, names: str = "*") -> Bound:
    """What keeps all `Entries` of a folder to some `most` bytes: the least recently used go first.

    Of its folders those count that are called like `names`. A store does not say when an object was
    read; there, those go first that were written first.
    """

    def files() -> Iterator[Kept]:
        of_these = sorted(path for path in folder.glob(names) if path.is_dir())
        for parent, _, files in chain.from_iterable(map(os.walk, of_these)):
            for name in files:
                if name.endswith(_SUFFIX):
                    path = os.path.join(parent, name)  # noqa: PTH118  (a million of them)
                    try:
                        found = os.stat(path)  # noqa: PTH116
                    except FileNotFoundError:
                        continue
                    yield Kept(found.st_mtime, found.st_size, path)

    def remote() -> Iterator[Kept]:
        for url, found in objects.below(str(folder)).items():
            place = url.removeprefix(str(folder)).strip("/").partition("/")[0]
            if url.endswith(_SUFFIX) and fnmatchcase(place, names):
                yield Kept(found.modified, found.size, url)

    if isinstance(folder, UrlPath):
        return Bound(most, remote, objects.remove)
    return Bound(most, files, lambda name: Path(name).unlink(missing_ok=True))


class Entries:
    """A folder of entries by name, which threads and processes share, kept to a `bound`.

    `of` says what the names are names of: an entry that was moved here from elsewhere is no more
    believed than a damaged one. `damaged` counts these; they are as if they were not there, and the
    next `write` replaces them. A folder that cannot be read or written costs a warning, the first
    time, and keeps nothing. A store that does not answer raises StorageError: without it, most that
    is computed would be lost.

    A `durable` entry takes some 5 ms to write, and outlasts a failure of power. Of the others such
    a failure may leave damaged ones, of the last half minute.
    """

    def __init__(
        self, folder: Path, of: str, durable: bool = False, bound: Bound | None = None
    ) -> None:
        self.damaged = 0
        self._folder, self._of, self._durable, self._bound = folder, of, durable, bound
        self._warned = False
        self._lock = threading.Lock()

    def read_all(self, names: Sequence[str]) -> Iterable[bytes | None]:
        """`read` of each; of a store, several at a time."""
        read_at = copies.pool().map if isinstance(self._folder, UrlPath) else map
        return read_at(self.read, names)

    def write_all(self, entries: Iterable[tuple[str, bytes]]) -> None:
        """`write` of each; to a store, several at a time."""
        write_at = copies.pool().map if isinstance(self._folder, UrlPath) else map
        for _ in write_at(lambda entry: self.write(*entry), entries):
            pass

    def read(self, name: str) -> bytes | None:
        """The content that was written under `name`, a path without suffix; None if not whole."""
        path = self._path(name)
        try:
            if isinstance(path, UrlPath):
                whole = objects.read(str(path))
                content = whole[_HEAD.size :]
                if whole[: _HEAD.size] == self._head(name, content):
                    return content
                raise ValueError
            with opened(path) as file:
                found = os.fstat(file.fileno())
                if self._bound is not None and found.st_mtime < time.time() - _USED_SECONDS:
                    with suppress(OSError):  # it may be another user's, who lets us read
                        os.utime(file.fileno())
                size = found.st_size - _HEAD.size
                if size >= 0:
                    magic, length, seal = _HEAD.unpack(file.read(_HEAD.size))
                    # Looked at before the rest: a sparse file may have a terabyte of it.
                    if magic == _MAGIC and length == size:
                        content = file.read(length)
                        if self._seal(name, content) == seal:
                            return content
        except FileNotFoundError:
            return None
        except OSError as error:
            self._warn("read", error)
            return None
        except (MemoryError, ValueError):
            pass  # forged: what was written had room
        with self._lock:
            self.damaged += 1
        return None

    def write(self, name: str, content: bytes) -> None:
        """Keep `content` under `name`, whole or not at all."""
        head, path = self._head(name, content), self._path(name)
        try:
            if isinstance(path, UrlPath):
                objects.write(str(path), head + content)
            else:
                with replacing(path) as temporary, temporary.open("wb") as file:
                    file.write(head)
                    file.write(content)
                    if self._durable:
                        file.flush()
                        os.fsync(file.fileno())
            if self._bound is not None:
                self._bound.added(len(head) + len(content))
        except OSError as error:
            self._warn("written", error)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}{_SUFFIX}"

    def _head(self, name: str, content: bytes) -> bytes:
        return _HEAD.pack(_MAGIC, len(content), self._seal(name, content))

    def _seal(self, name: str, content: bytes) -> bytes:
        digest = xxhash.xxh3_128(f"{self._of}/{name}\n".encode())
        digest.update(content)
        return digest.digest()

    def _warn(self, what: str, error: OSError) -> None:
        if isinstance(error, StorageError) and error.errno != errno.EACCES:
            raise error
        with self._lock:
            warned, self._warned = self._warned, True
        if not warned:
            log.warning(
                "%s: the cache cannot be %s (%s); what is not kept there is computed again",
                self._folder,
                what,
                error.strerror or error,
            )

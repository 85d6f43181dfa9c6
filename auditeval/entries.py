"""Entries of a cache: files that say what they are, and are believed only where that is true."""

from __future__ import annotations

import logging
import os
import struct
import threading
from pathlib import Path

import xxhash

from auditeval.atomic import replacing
from auditeval.reading import opened

log = logging.getLogger(__name__)

_HEAD = struct.Struct("<8sQ16s")  # what it is, bytes of the content, xxh3_128 of name and content
_MAGIC = b"aeentry1"


class Entries:
    """A folder of entries by name, which threads and processes share.

    `of` says what the names are names of: an entry that was moved here from elsewhere is no more
    believed than a damaged one. `damaged` counts these; they are as if they were not there, and the
    next `write` replaces them. A folder that cannot be read or written costs a warning, the first
    time, and keeps nothing.

    A `durable` entry takes some 5 ms to write, and outlasts a failure of power. Of the others such
    a failure may leave damaged ones, of the last half minute.
    """

    def __init__(self, folder: Path, of: str, durable: bool = False) -> None:
        self.damaged = 0
        self._folder, self._of, self._durable = folder, of, durable
        self._warned = False
        self._lock = threading.Lock()

    def read(self, name: str) -> bytes | None:
        """The content that was written under `name`, a path without suffix; None if not whole."""
        try:
            with opened(self._path(name)) as file:
                size = os.fstat(file.fileno()).st_size - _HEAD.size
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
        except MemoryError:
            pass  # forged: what was written had room
        with self._lock:
            self.damaged += 1
        return None

    def write(self, name: str, content: bytes) -> None:
        """Keep `content` under `name`, whole or not at all."""
        head = _HEAD.pack(_MAGIC, len(content), self._seal(name, content))
        try:
            with replacing(self._path(name)) as temporary, temporary.open("wb") as file:
                file.write(head)
                file.write(content)
                if self._durable:
                    file.flush()
                    os.fsync(file.fileno())
        except OSError as error:
            self._warn("written", error)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.entry"

    def _seal(self, name: str, content: bytes) -> bytes:
        digest = xxhash.xxh3_128(f"{self._of}/{name}\n".encode())
        digest.update(content)
        return digest.digest()

    def _warn(self, what: str, error: OSError) -> None:
        with self._lock:
            warned, self._warned = self._warned, True
        if not warned:
            log.warning(
                "%s: the cache cannot be %s (%s); what is not kept there is computed again",
                self._folder,
                what,
                error.strerror or error,
            )

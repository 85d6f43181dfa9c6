"""S3 and Google Cloud Storage as a file system of fsspec, by obstore.

Not by obstore's own, which is asynchronous: its threads may still want the interpreter when that
ends, and abort it (one process in ten or so, obstore 0.12.1).
"""

from __future__ import annotations

from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

import obstore
from fsspec import AbstractFileSystem
from obstore.store import from_url

_PIECE_BYTES = 8 << 20
_CLIENT: Any = {
    "allow_http": True,  # an endpoint by http:// is one that the user has named
    "connect_timeout": timedelta(seconds=10),
    "read_timeout": timedelta(seconds=30),
    "timeout": timedelta(hours=1),
}


class Buckets(AbstractFileSystem):
    """All buckets of a `scheme`; a request that fails is repeated for so many seconds."""

    cachable = False

    def __init__(self, scheme: str, seconds: float) -> None:
        super().__init__()
        pauses = {
            "init_backoff": timedelta(seconds=0.1),
            "max_backoff": timedelta(seconds=5),
            "base": 2,
        }
        retries: Any = {
            "max_retries": 1000,
            "retry_timeout": timedelta(seconds=seconds),
            "backoff": pauses,
        }
        self._store = lru_cache(
            lambda bucket: from_url(
                f"{scheme}://{bucket}", client_options=_CLIENT, retry_config=retries
            )
        )

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """A folder is there where an object is below it."""
        store, key = self._found(path)
        if key:
            try:
                return {**obstore.head(store, key), "type": "file"}
            except FileNotFoundError:
                pass
        if any(obstore.list(store, key or None, chunk_size=1)):
            return {"size": 0, "type": "directory"}
        raise FileNotFoundError(path)

    def cat_file(self, path: str, *_: Any, **__: Any) -> bytes:
        """The content."""
        return bytes(obstore.get(*self._found(path)).bytes())

    def get_file(self, rpath: str, lpath: str, *_: Any, **__: Any) -> None:
        """Piece by piece, each a request that can be repeated."""
        store, key = self._found(rpath)
        size, at = obstore.head(store, key)["size"], 0
        with Path(lpath).open("wb") as file:
            while at < size:
                end = min(at + _PIECE_BYTES, size)
                file.write(obstore.get_range(store, key, start=at, end=end))
                at = end

    def pipe_file(self, path: str, value: bytes, *_: Any, **__: Any) -> None:
        """Whole or not at all."""
        obstore.put(*self._found(path), value)

    def put_file(self, lpath: str, rpath: str, *_: Any, **__: Any) -> None:
        """Whole or not at all; of a large file in parts."""
        obstore.put(*self._found(rpath), Path(lpath))

    def find(self, path: str, *_: Any, **__: Any) -> dict[str, dict[str, Any]]:
        """All objects below, with details."""
        store, key = self._found(path)
        bucket = path.partition("://")[2].partition("/")[0]
        return {
            f"{bucket}/{one['path']}": {**one, "type": "file"}
            for some in obstore.list(store, key or None)
            for one in some
        }

    def rm_file(self, path: str) -> None:
        """Remove an object."""
        obstore.delete(*self._found(path))

    def _found(self, url: str) -> tuple[Any, str]:
        bucket, _, key = url.partition("://")[2].partition("/")
        return self._store(bucket), key

"""Objects of a store by their URL, through fsspec (of S3 and Google by `buckets`).

A request that fails for the network's or the server's sake is sent again with growing pauses, by
the library, for `$AUDITEVAL_STORAGE_SECONDS` (60). What then still fails raises `StorageError`, an
OSError that names the URL, and so does access that is refused: neither says anything about the
object, so neither may be taken for a property of it. What is not there is FileNotFoundError.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import xxhash

from auditeval.types import UserError

SCHEMES = ("s3", "gs", "memory")
_OF_OBSTORE = ("s3", "gs")
_SECONDS = "AUDITEVAL_STORAGE_SECONDS"
_AT_ONCE_BYTES = 8 << 20  # of a larger object the content is not held in memory
_VERSIONS = ("e_tag", "last_modified", "created")  # of obstore, and of the memory of fsspec
_MODIFIED = ("last_modified", "created")
_REFUSED = ("PermissionDeniedError", "UnauthenticatedError")
_MOST_WORDS = 200


class StorageError(OSError):
    """A store that does not answer or refuses access, a bucket that is not there, or a disk of this
    machine that takes no copy."""


class Info(NamedTuple):
    """What is known of an object; a `version` is another when its content is.

    A folder, which is there where objects are below it, has neither size nor version.
    """

    size: int
    version: int
    modified: float
    is_folder: bool = False


def info(url: str) -> Info | None:
    """None where nothing is there."""
    with _told(url):
        try:
            return _info(_filesystem(url).info(url))
        except FileNotFoundError:
            return None


def read(url: str) -> bytes:
    """The content."""
    with _told(url):
        return bytes(_filesystem(url).cat_file(url))


def write(url: str, content: bytes) -> None:
    """Put the content there, whole or not at all."""
    with _told(url):
        _filesystem(url).pipe_file(url, content)


def get(url: str, target: Path, size: int) -> None:
    """Copy an object of that size to a file."""
    if size <= _AT_ONCE_BYTES:
        target.write_bytes(read(url))
    else:
        with _told(url):
            _filesystem(url).get_file(url, str(target))


def put(source: Path, url: str) -> None:
    """Copy a file to an object, whole or not at all."""
    with _told(url):
        _filesystem(url).put_file(str(source), url)


def below(url: str) -> dict[str, Info]:
    """All objects in a folder and the folders in it, by URL."""
    scheme, _, rest = url.partition("://")
    with _told(url):
        try:
            found = _filesystem(url).find(url, detail=True)
        except FileNotFoundError:
            return {}
    inside = rest.strip("/") + "/"
    named = ((name.lstrip("/"), about) for name, about in found.items())
    return {f"{scheme}://{name}": _info(about) for name, about in named if name.startswith(inside)}


def remove(url: str) -> None:
    """Remove an object; one that is not there is as well."""
    with _told(url):
        try:
            _filesystem(url).rm_file(url)
        except FileNotFoundError:
            return


def _info(about: dict[str, Any]) -> Info:
    if about["type"] == "directory":
        return Info(0, 0, 0.0, is_folder=True)
    version = next((str(about[key]) for key in _VERSIONS if about.get(key)), "")
    time = next((about[key] for key in _MODIFIED if about.get(key)), 0.0)
    modified = time.timestamp() if isinstance(time, datetime) else float(time)
    number = xxhash.xxh64_intdigest(f"{about['size']} {version}".encode()) >> 1  # fits an int64
    return Info(int(about["size"]), number, modified)


@contextmanager
def _told(url: str) -> Iterator[None]:
    """What a store's library raises, as OSError with a clause and the URL."""
    try:
        yield
    except (UserError, StorageError):
        raise
    except Exception as error:  # each library has its own
        said = str(error)
        if "NoSuchBucket" in said:
            raise StorageError(errno.ENOENT, "no such bucket", url) from None
        if isinstance(error, FileNotFoundError):
            raise FileNotFoundError(errno.ENOENT, "no such object", url) from None
        if isinstance(error, PermissionError) or type(error).__name__ in _REFUSED:
            raise StorageError(errno.EACCES, "access is refused", url) from None
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise  # of this machine
        first = (said.splitlines() or [""])[0] or type(error).__name__
        reason = f"the request failed ({first.rpartition(' - ')[2][:_MOST_WORDS]})"
        raise StorageError(errno.EIO, reason, url) from None


def _filesystem(url: str) -> Any:
    scheme = url.partition("://")[0]
    return _made(scheme, float(os.environ.get(_SECONDS) or 60))


@lru_cache
def _made(scheme: str, seconds: float) -> Any:
    if scheme not in _OF_OBSTORE:
        import fsspec

        return fsspec.filesystem(scheme)
    try:
        from auditeval.storage.buckets import Buckets
    except ImportError:
        raise UserError(
            f"{scheme}:// needs obstore: pip install -c constraints.txt '.[s3]'"
        ) from None
    return Buckets(scheme, seconds)

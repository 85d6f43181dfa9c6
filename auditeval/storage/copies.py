"""Copies of objects on this machine: each fetched once, for all of its processes.

They lie in `fetched` of the cache folder, by URL and version, and take some
`$AUDITEVAL_FETCHED_SIZE` (4GB); the least recently used leave first. What an object is gets asked
once in `_LOOK_SECONDS`, so a change of it shows up to that much later.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path

import platformdirs
import xxhash
from filelock import FileLock

from auditeval.storage import objects
from auditeval.storage.bound import Bound, Kept, bytes_of
from auditeval.storage.objects import Info, StorageError
from auditeval.types import UserError

_LOOK_SECONDS = 30.0
_MOST_SEEN = 200_000
_THREADS = 16
_LARGE_BYTES = 8 << 20  # processes wait for each other before they fetch this much twice
_GRACE_SECONDS = 60.0

_lock = threading.Lock()
_seen: dict[str, tuple[float, Info | None]] = {}
_coming: dict[str, Future[Path]] = {}


def digest_of(text: str) -> str:
    """A name for a file here."""
    return xxhash.xxh3_128_hexdigest(text.encode())


def cache_dir() -> Path:
    """`$AUDITEVAL_CACHE`, or the user's cache folder; raises UserError for a URL, which is no place
    for copies."""
    folder = os.environ.get("AUDITEVAL_CACHE") or platformdirs.user_cache_dir("auditeval")
    if "://" in folder:
        raise UserError(
            f"AUDITEVAL_CACHE is {folder}, expected a folder of this machine; name a cache in a "
            "store with --cache-dir"
        )
    return Path(folder)


def seen(url: str) -> Info | None:
    """What is there, as it was at most `_LOOK_SECONDS` ago."""
    now = time.monotonic()
    with _lock:
        asked, found = _seen.get(url, (-_LOOK_SECONDS, None))
    if now < asked + _LOOK_SECONDS:
        return found
    found = objects.info(url)
    note(url, found)
    return found


def note(url: str, found: Info | None) -> None:
    """This is there now."""
    with _lock:
        if len(_seen) >= _MOST_SEEN:
            _seen.clear()
        _seen[url] = time.monotonic(), found


def forget(url: str) -> None:
    """It was changed here."""
    with _lock:
        _seen.pop(url, None)


def take(url: str) -> Path:
    """The copy of an object; raises OSError."""
    with _lock:
        coming = _coming.get(url)
    copy = coming.result() if coming is not None else _fetched(url)
    # One that is forced out between here and the reader would have to be used in no other minute.
    return copy if copy.exists() else _fetched(url)


def start(urls: Iterable[str]) -> None:
    """Begin to fetch these, several at a time; `take` waits for its own, and raises its error."""
    for url in urls:
        with _lock:
            if url in _coming:
                continue
            coming = _coming[url] = pool().submit(_fetched, url)
        coming.add_done_callback(partial(_arrived, url))


def look(url: str) -> None:
    """Ask for it; what fails is asked, and told, again by whom it concerns."""
    with suppress(OSError):
        seen(url)


def keep(file: Path, url: str) -> None:
    """Make a file that was put to a URL its copy."""
    found = objects.info(url)
    note(url, found)
    if found is not None and not found.is_folder and found.size == file.stat().st_size:
        copy = _place(url, found)
        copy.parent.mkdir(parents=True, exist_ok=True)
        file.replace(copy)
        _bound().added(found.size)


@lru_cache
def pool() -> ThreadPoolExecutor:
    """Threads that wait for stores."""
    return ThreadPoolExecutor(_THREADS, "storage")


def _arrived(url: str, _: Future[Path]) -> None:
    with _lock:
        _coming.pop(url, None)


def _fetched(url: str) -> Path:
    found = seen(url)
    if found is None or found.is_folder:
        raise FileNotFoundError(errno.ENOENT, "no such object", url)
    copy = _place(url, found)
    try:
        if not _used(copy):
            copy.parent.mkdir(parents=True, exist_ok=True)
            if found.size > _LARGE_BYTES:
                with FileLock(copy.parent.parent / f"{copy.stem[:2]}.lock"):
                    if not _used(copy):
                        _fetch(url, found, copy)
            else:
                _fetch(url, found, copy)
    except (StorageError, FileNotFoundError):
        raise
    except OSError as error:  # of this machine, which says nothing about the object either
        said = f"cannot be copied to {copy.parent.parent} ({error.strerror or error})"
        raise StorageError(error.errno, said, url) from None
    return copy


def _fetch(url: str, found: Info, copy: Path) -> None:
    temporary = copy.with_name(f"{copy.name}.{os.getpid()}-{threading.get_ident()}")
    try:
        objects.get(url, temporary, found.size)
        if temporary.stat().st_size != found.size:
            forget(url)
            raise StorageError(errno.EIO, "was changed while it was read", url)
        temporary.replace(copy)
    finally:
        temporary.unlink(missing_ok=True)
    _bound().added(found.size)


def _used(copy: Path) -> bool:
    """Whether it is there; it counts as used now."""
    try:
        os.utime(copy)
    except FileNotFoundError:
        return False
    return True


def _place(url: str, found: Info) -> Path:
    digest = digest_of(f"{url}\n{found.version}")
    return cache_dir() / "fetched" / digest[:2] / f"{digest}{Path(url).suffix}"


def _bound() -> Bound:
    return _bound_of(cache_dir() / "fetched", os.environ.get("AUDITEVAL_FETCHED_SIZE") or "4GB")


@lru_cache
def _bound_of(folder: Path, size: str) -> Bound:
    most = bytes_of(size)
    assert most is not None

    def found() -> Iterator[Kept]:
        for path in folder.glob("??/*"):
            try:
                about = path.stat()
            except FileNotFoundError:
                continue
            yield Kept(about.st_mtime, about.st_size, str(path))

    return Bound(most, found, lambda name: Path(name).unlink(missing_ok=True), _GRACE_SECONDS)

"""URLs of objects as paths, and files of either kind by one name."""

from __future__ import annotations

import errno
import os
import posixpath
import re
import shutil
import stat
import tempfile
import threading
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

import xxhash

from auditeval.storage import copies, objects
from auditeval.types import UserError

if TYPE_CHECKING:
    _Base = Path
else:
    _Base = type(Path())

_URL = re.compile(r"([a-z][a-z0-9+.-]+)://(.*)", re.DOTALL)


class _Stat(NamedTuple):
    """What `os.stat_result` says of an object; `st_ino` is of its URL."""

    st_mode: int
    st_size: int
    st_mtime: float
    st_mtime_ns: int
    st_ino: int
    st_dev: int = 0


class UrlPath(_Base):
    """s3://BUCKET/KEY. Names behave as in any path, folders are what objects are in.

    It is read as a copy on this machine. To write one, see `atomic.replacing`. Raises OSError with
    a clause and the URL, also where pathlib has another.
    """

    __slots__ = ()

    def __str__(self) -> str:
        return super().__str__().replace(":/", "://", 1)

    def stat(self, *, follow_symlinks: bool = True) -> Any:
        """As it was a short while ago, see `copies.seen`."""
        found = copies.seen(str(self))
        if found is None:
            raise FileNotFoundError(errno.ENOENT, "no such object", str(self))
        kind = stat.S_IFDIR if found.is_folder else stat.S_IFREG
        time_ns = round(found.modified * 1e9)
        number = xxhash.xxh64_intdigest(str(self).encode())
        return _Stat(kind | 0o600, found.size, found.modified, time_ns, number)

    def exists(self, **_: Any) -> bool:
        """Whether there is an object or a folder, now."""
        return self._now() is not None

    def is_file(self, **_: Any) -> bool:
        """Whether there is an object, now."""
        found = self._now()
        return found is not None and not found.is_folder

    def is_dir(self, **_: Any) -> bool:
        """Whether there are objects below, now."""
        found = self._now()
        return found is not None and found.is_folder

    def is_symlink(self) -> bool:
        """Never."""
        return False

    def open(self, mode: str = "r", *arguments: Any, **named: Any) -> IO[Any]:  # type: ignore[override]
        """Its copy, to read."""
        if set(mode) & set("wax+"):
            raise OSError(errno.EROFS, "can be replaced only as a whole", str(self))
        return local(self).open(mode, *arguments, **named)

    def iterdir(self) -> Generator[UrlPath, None, None]:
        """What is in a folder, by name."""
        depth = len(self.parts)
        yield from sorted({self / one.parts[depth] for one in self._below()})

    def glob(self, pattern: str, **_: Any) -> Iterator[UrlPath]:  # type: ignore[override]
        """What is in a folder and has a name like `pattern`, which names no other folder."""
        return (one for one in self.iterdir() if fnmatchcase(one.name, pattern))

    def rglob(self, pattern: str, **_: Any) -> Iterator[UrlPath]:  # type: ignore[override]
        """The objects below with a name like `pattern`."""
        return (one for one in self._below() if fnmatchcase(one.name, pattern))

    def mkdir(self, *_: Any, **__: Any) -> None:
        """Nothing: a folder is there with what is in it."""

    rmdir = mkdir

    def unlink(self, missing_ok: bool = False) -> None:
        """Remove the object."""
        objects.remove(str(self))
        copies.forget(str(self))

    def samefile(self, other: Any) -> bool:
        """Whether it is the same URL."""
        return str(self) == os.fspath(other)

    def resolve(self, strict: bool = False) -> UrlPath:
        """Itself."""
        return self

    def absolute(self) -> UrlPath:
        """Itself."""
        return self

    def _now(self) -> objects.Info | None:
        found = objects.info(str(self))
        copies.note(str(self), found)
        return found

    def _below(self) -> list[UrlPath]:
        return [UrlPath(url) for url in sorted(objects.below(str(self)))]


def path(name: str | os.PathLike[str]) -> Path:
    """The path that a user or a file means: a URL where it is one.

    Raises UserError for a URL of another kind, or without a bucket.
    """
    if isinstance(name, Path):
        return name
    found = _URL.fullmatch(text := os.fspath(name))
    if found is None:
        return Path(text)
    scheme, rest = found.groups()
    if scheme == "file":
        return Path("/" + unquote(rest).partition("/")[2])
    if scheme not in objects.SCHEMES:
        known = ", ".join(f"{one}://" for one in ("file", *objects.SCHEMES[:-1]))
        raise UserError(f"{text}: no such storage; known are {known}")
    key = posixpath.normpath(rest)
    if key.startswith(("/", ".")):
        raise UserError(f"{text}: names no bucket, as in {scheme}://BUCKET/NAME")
    return UrlPath(f"{scheme}://{key}")


def joined(folder: Path, name: str) -> Path:
    """What a file in `folder` means by a name: a path from there, one of its own, or a URL."""
    if "://" in name and _URL.fullmatch(name):
        return path(name)
    if not isinstance(folder, UrlPath):
        return folder / name
    return Path(name) if name.startswith("/") else path(f"{folder}/{name}")


def relative(name: str, folder: Path) -> str | None:
    """A name for `joined` from another: None where that is a matter of local paths alone."""
    url = _URL.fullmatch(name)
    if url is None:
        return str(Path(name).absolute()) if isinstance(folder, UrlPath) else None
    scheme, _, bucket, *_ = f"{folder}/".split("/") if isinstance(folder, UrlPath) else [""] * 3
    if not name.startswith(f"{scheme}//{bucket}/"):
        return name
    return posixpath.relpath(name, str(folder))


def local(path: Path) -> Path:
    """A path that any library can read: itself, or the copy of an object. Raises OSError."""
    return copies.take(str(path)) if isinstance(path, UrlPath) else path


def local_folder(folder: UrlPath, patterns: Sequence[str]) -> Path:
    """A copy of the objects directly in a folder whose names fit one of the patterns.

    Objects of other content make another copy. Raises OSError.
    """
    found = {
        name: url
        for url in sorted(objects.below(str(folder)))
        if "/" not in (name := url.removeprefix(f"{folder}/"))
        and any(fnmatchcase(name, pattern) for pattern in patterns)
    }
    if not found:
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(folder))
    copies.start(found.values())
    files = {name: copies.take(url) for name, url in found.items()}
    versions = "\n".join(file.name for file in files.values())
    target = workplace(folder) / copies.digest_of(versions)
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix="draft-"))
        for name, file in files.items():
            shutil.copyfile(file, temporary / name)
        with suppress(OSError):  # another process was first
            temporary.replace(target)
        shutil.rmtree(temporary, ignore_errors=True)
    return target


def ahead(paths: Iterable[Path]) -> None:
    """Begin to fetch the objects among these, which are soon to be read."""
    if urls := [str(path) for path in paths if isinstance(path, UrlPath)]:
        copies.start(urls)


def seen(paths: Iterable[Path]) -> None:
    """Ask for the objects among these at once, so that `stat` need not for each."""
    if urls := {str(path) for path in paths if isinstance(path, UrlPath)}:
        list(copies.pool().map(copies.look, urls))


def version(path: UrlPath) -> tuple[int, int]:
    """Size in bytes and version of an object, a number; -1, -1 where there is none."""
    found = copies.seen(str(path))
    return (found.size, found.version) if found is not None and not found.is_folder else (-1, -1)


@contextmanager
def draft(path: UrlPath) -> Iterator[Path]:
    """A file of this machine, which is put to `path` when the block ends without an error."""
    temporary = workplace(path) / f"draft-{os.getpid()}-{threading.get_ident()}{path.suffix}"
    temporary.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield temporary
        copies.forget(str(path))
        objects.put(temporary, str(path))
        copies.keep(temporary, str(path))
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def draft_folder(path: UrlPath) -> Iterator[Path]:
    """As `draft`, a folder. It is not put as one: what it lacks of an older one is removed last."""
    temporary = workplace(path) / f"draft-{os.getpid()}-{threading.get_ident()}"
    temporary.mkdir(parents=True)
    try:
        yield temporary
        files = sorted(one for one in temporary.rglob("*") if one.is_file())
        urls = [str(path / one.relative_to(temporary).as_posix()) for one in files]
        list(copies.pool().map(objects.put, files, urls))
        for url in {*objects.below(str(path))} - {*urls}:
            objects.remove(url)
        for url in urls:
            copies.forget(url)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def appended(path: Path, of: str) -> Iterator[Path]:
    """A file that is added to: `path`, or of an object a working copy, put when the block ends.

    The copy stays for the next time, and for a process that goes on where this one was killed;
    `of` says what both work on, so that nobody goes on with what another work left here.
    """
    if not isinstance(path, UrlPath):
        yield path
        return
    copy = workplace(path.parent) / of / path.name
    copy.parent.mkdir(parents=True, exist_ok=True)
    before = _size(copy)
    if before is None and path.exists():
        shutil.copyfile(local(path), copy)
        before = _size(copy)
    try:
        yield copy
    finally:
        if _size(copy) not in (None, before):
            objects.put(copy, str(path))


def names(folder: Path, of: str) -> set[str]:
    """Of the files in a folder, and of those that `appended` has here."""
    here = workplace(folder) / of if isinstance(folder, UrlPath) else None
    own = here.iterdir() if here is not None and here.is_dir() else ()
    return {path.name for path in (*folder.iterdir(), *own)}


def remove(path: Path) -> None:
    """Remove a file, or folder with all that is in it; one that is not there is as well."""
    if isinstance(path, UrlPath):
        list(copies.pool().map(objects.remove, [str(path), *objects.below(str(path))]))
        copies.forget(str(path))
        shutil.rmtree(workplace(path), ignore_errors=True)
    elif path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def workplace(path: UrlPath) -> Path:
    """A folder of this machine for what is being made of `path`."""
    return copies.cache_dir() / "unfinished" / copies.digest_of(str(path))


def _size(file: Path) -> int | None:
    return file.stat().st_size if file.exists() else None

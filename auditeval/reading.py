"""Files that others made, read within bounds: regular files, no line or whole too large to hold,
JSON and YAML that nest no deeper than a reader can follow and expand to no more than they show.
"""

from __future__ import annotations

import csv
import errno
import json
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import yaml

from auditeval import storage
from auditeval.types import UserError

MIB = 1 << 20
CONFIG_BYTES = MIB // 4
"""Most of a configuration in YAML; nobody writes more by hand, and its reader is slow."""
RECORD_BYTES = 64 * MIB
"""Most of a JSON file."""
LINE_BYTES = 16 * MIB
"""Most of a line of a JSONL or CSV file, which may be of any length itself."""
DEEPEST = 64
"""Most lists and objects within one another."""
MOST_VALUES = 100_000
"""Most values of a configuration, those counted again that stand behind an alias."""


class Start(NamedTuple):
    """Where a row of a file begins: so many lines, and bytes, are before it."""

    line: int
    byte: int


BEGINNING = Start(0, 0)


def opened(path: Path) -> BinaryIO:
    """A regular file, open to read. Raises OSError, also for a pipe or device, without waiting."""
    descriptor = os.open(storage.local(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        kind = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(kind):
            raise OSError(errno.EINVAL, "is no regular file", str(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def regular(path: Path) -> Path:
    """The path itself, or that of a copy, for a reader of its own; raises OSError as `opened`."""
    path = storage.local(path)
    opened(path).close()
    return path


def content(path: Path, most: int = RECORD_BYTES) -> bytes:
    """The bytes of a file; raises OSError, also for one of more than `most`."""
    with opened(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"is larger than {_size(most)}", str(path))
    return data


def text(path: Path, most: int = RECORD_BYTES) -> str:
    """Its content as UTF-8, with or without a mark of that. Raises OSError and ValueError."""
    return content(path, most).decode("utf-8-sig")


def lines(path: Path, byte: int = 0) -> Iterator[bytes]:
    """The lines of a file from a `byte` on with their ends; raises OSError, also for one over
    `LINE_BYTES`."""
    with opened(path) as file:
        file.seek(byte)
        while line := file.readline(LINE_BYTES + 1):
            if len(line) > LINE_BYTES:
                said = f"has a line of more than {_size(LINE_BYTES)}"
                raise OSError(errno.EFBIG, said, str(path))
            yield line


def csv_rows(
    path: Path, start: Start = BEGINNING, width: int | None = None
) -> Iterator[tuple[Start, list[str]]]:
    """Each row of a CSV file from `start` on, with where the next begins: all have as many cells.

    The first of the file are the names of the columns, each there once; a reader that starts behind
    them says how many they are (`width`). Raises OSError and UserError, which names the line that
    the row begins on where a quote has no end, or words stand behind it.
    """
    line, byte = start

    def counted() -> Iterator[str]:
        nonlocal byte
        for data in lines(path, start.byte):
            text = data.decode("utf-8" if byte else "utf-8-sig")
            byte += len(data)
            yield text

    csv.field_size_limit(LINE_BYTES)  # of this process; its own, 128 KiB, is less than a caption
    reader = csv.reader(counted(), strict=True)  # else a quote without an end swallows rows
    try:
        for cells in reader:
            line = start.line + reader.line_num
            if width is None:
                width = len(cells)
                if len(set(cells)) < width:
                    raise UserError(f"{path}:1: a column stands twice in {', '.join(cells)}")
            elif not cells:
                continue
            elif len(cells) != width:
                raise UserError(f"{path}:{line}: expected {width} cells, found {len(cells)}")
            elif not any(cells):  # as a spreadsheet leaves behind the last row
                raise UserError(f"{path}:{line}: all cells are empty; delete the row")
            yield Start(line, byte), cells
    except csv.Error as error:
        raise UserError(f"{path}:{line + 1}: is not CSV ({error})") from None
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path}:{line + 1}: is not CSV in UTF-8 ({error}); a spreadsheet saves it so as "
            '"CSV UTF-8"'
        ) from None


def json_object(line: bytes, where: str) -> dict[str, Any]:
    """A line that holds an object; raises UserError, which begins with `where`, for another."""
    try:
        found = from_json(line)
    except ValueError as error:
        raise UserError(f"{where}: {error}") from None
    if not isinstance(found, dict):
        raise UserError(f"{where}: expected a JSON object, found {type(found).__name__}")
    return found


def json_file(path: Path) -> Any:
    """The value of a JSON file; raises UserError for what `content` or `from_json` refuse, and
    StorageError where that cannot be known."""
    try:
        return from_json(content(path))
    except storage.StorageError:
        raise
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror or error})") from None
    except ValueError as error:
        raise UserError(f"{path}: {error}") from None


def from_json(data: bytes | str) -> Any:
    """The value that stands there.

    Raises ValueError, which says what "is not JSON" or nests deeper than `DEEPEST`, that a key
    stands twice, or that text is none (half a surrogate pair).
    """
    try:
        value = json.loads(data, object_pairs_hook=unique_keys)
        if _SURROGATE.search(data if isinstance(data, bytes) else data.encode()):
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except UnicodeEncodeError:
        raise ValueError("holds half of a surrogate pair") from None
    except ValueError as error:
        raise ValueError(f"is not JSON ({error})") from None
    brackets = [b"[", b"{"] if isinstance(data, bytes) else ["[", "{"]
    if sum(map(data.count, brackets)) > DEEPEST:  # type: ignore[arg-type]
        _check_bounds(value)
    return value


_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]")
_TOO_DEEP = f"nests deeper than {DEEPEST} levels"


def unique_keys(items: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these items, a hook for `json`; raises ValueError for a key that is twice."""
    value = dict(items)
    if len(value) < len(items):
        twice = next(key for key, count in Counter(key for key, _ in items).items() if count > 1)
        raise ValueError(f"key {twice!r} stands twice")
    return value


def _check_bounds(value: Any, most: float = inf) -> None:
    """Raises ValueError for what nests too deep, or holds more values than `most`."""
    waiting, seen = [(value, 0)], 0
    while waiting:
        one, depth = waiting.pop()
        if isinstance(one, (dict, list)):
            seen += len(one)
            if seen > most:
                raise ValueError(f"holds more than {most:,} values")
            if depth == DEEPEST:
                raise ValueError(_TOO_DEEP)
            parts = one.values() if isinstance(one, dict) else one
            waiting.extend((part, depth + 1) for part in parts)


def yaml_file(path: Path) -> Any:
    """The value of a configuration in YAML: numbers, words, lists and mappings, nothing else.

    Aliases count with all that they stand for, so that nine lines cannot mean a billion values.
    Raises UserError, which names the line if there is one, for what is no such file.
    """
    try:
        written = text(path, CONFIG_BYTES)
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror or error})") from None
    except ValueError as error:
        raise UserError(f"{path}: is not UTF-8 ({error})") from None
    try:
        value = yaml.load(written, _Loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise UserError(f"{path}:{line}: is not YAML ({error.problem})") from None
    except RecursionError:
        raise UserError(f"{path}: {_TOO_DEEP}") from None
    # The others are of a value that is not of the type of its tag: `!!bool maybe`.
    except (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise UserError(f"{path}: is not YAML ({str(error).splitlines()[0]})") from None
    try:
        _check_bounds(value, MOST_VALUES)
    except ValueError as error:
        raise UserError(f"{path}: {error}") from None
    return value


class _Loader(yaml.SafeLoader):
    """The safe one, which reads no dates and no merged mappings, and no key twice."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        for key, _ in node.value:
            if key.tag == "tag:yaml.org,2002:merge":  # multiplies like an alias, before any count
                raise yaml.constructor.ConstructorError(
                    None, None, "keys cannot be merged with <<", key.start_mark
                )
        super().flatten_mapping(node)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        value: dict[Any, Any] = super().construct_mapping(node, deep)
        if len(value) < len(node.value):
            keys: set[Any] = set()
            for key, _ in node.value:
                name = self.construct_object(key)
                if name in keys:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"key {name!r} stands twice", key.start_mark
                    )
                keys.add(name)
        return value


_PLAIN = {
    f"tag:yaml.org,2002:{kind}" for kind in ("null", "bool", "int", "float", "str", "seq", "map")
}
_Loader.yaml_constructors = {
    tag: make for tag, make in yaml.SafeLoader.yaml_constructors.items() if tag in {*_PLAIN, None}
}
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in known if tag != "tag:yaml.org,2002:timestamp"]
    for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
# YAML 1.1 takes 1e-3 for words; Hydra, which reads the other configurations, for a number.
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?\d+(?:\.\d*)?[eE][-+]?\d+$"), list("-+0123456789")
)


def _size(count: int) -> str:
    return f"{count // MIB} MiB" if count >= MIB else f"{count // 1024} KiB"

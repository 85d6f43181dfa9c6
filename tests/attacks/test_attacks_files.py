"""Files that no reader ends with: pipes, devices, bombs of YAML, sizes without bound.

One way to read what others made (`auditeval.reading`), tried through every command that reads.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import Run
from outcomes import refused
from readers import FILTER, READ, spoil

from auditeval import reading

HUGE = 1 << 43  # bytes, of which none is on the disk


def huge(path: Path) -> None:
    path.touch()
    os.truncate(path, HUGE)


NO_FILES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a pipe": (os.mkfifo, r"is no regular file|no such|has no (config|report)|expected"),
    "a device": (
        lambda path: path.symlink_to("/dev/zero"),
        r"is no regular file|no such|has no|expected",
    ),
    "a circle of links": (
        lambda path: path.symlink_to(path),
        r"Too many levels|[Ss]ymlink loop|no such|has no|holds no|expected",
    ),
    "without end": (
        huge,
        r"larger than|a line of more than|is not|expected|holds no|has no config",
    ),
}


@pytest.mark.parametrize("kind", NO_FILES)
@pytest.mark.parametrize("what", READ)
def test_what_is_no_file_is_one_sentence(what: str, kind: str, room: Path, cli: Run) -> None:
    name, command = READ[what]
    make, said = NO_FILES[kind]
    spoil(room / name, make)
    refused(cli(*command), said)


DEEP = 100_000
BOMB = "".join(
    ["a0: &a0 [x, x, x, x, x, x, x, x, x]\n"]
    + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10)]
)
MAPS = "".join(
    ["a0: &a0 {x: 1, y: 2}\n"]
    + [f"a{n}: &a{n} {{{', '.join(f'k{i}: *a{n - 1}' for i in range(9))}}}\n" for n in range(1, 10)]
)
MERGES = "".join(
    ["a0: &a0 {x: 1}\n"]
    + [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 10)]
)
YAMLS: dict[str, tuple[str, str]] = {
    "a billion values": (BOMB, r"holds more than 100,000 values"),
    "a billion keys": (MAPS, r"holds more than 100,000 values"),
    "a billion keys by merging": (MERGES, r":2: is not YAML \(keys cannot be merged with <<\)"),
    "a long list many times": (
        f"a: &a [{'x,' * 50_000}]\nb: [{'*a,' * 5_000}]\n",
        "holds more than 100,000 values",
    ),
    "a list that holds itself": ("a: &a [*a]\n", "nests deeper than 64 levels"),
    "a mapping that holds itself": ("a: &a {b: *a}\n", "nests deeper than 64 levels"),
    "a mapping that is its own key": ("&a {*a : 1}\n", "is not YAML"),
    "deep lists": ("[" * DEEP, "nests deeper than 64 levels"),
    "deep mappings": ("{a: " * 50_000, "nests deeper than 64 levels"),
    "deep blocks": ("- " * DEEP, "nests deeper than 64 levels"),
    "deep questions": ("? " * DEEP, "nests deeper than 64 levels"),
    "a key twice": ("stages: 1\nstages: 2\n", r":2: is not YAML \(key 'stages' stands twice\)"),
    "an object of Python's": ("!!python/object/apply:os.system [ls]", r":1: is not YAML \(could"),
    "a module of Python's": ("a: !!python/module:os", r":1: is not YAML \(could"),
    "its name by a directive": (
        "%TAG ! tag:yaml.org,2002:python/\n--- !object/apply:os.system [ls]\n",
        r":2: is not YAML \(could",
    ),
    "a tag of another's": ("!mine x", r":1: is not YAML \(could not determine a constructor"),
    "a set": ("!!set {a, b}", r":1: is not YAML \(could"),
    "bytes": ("!!binary aGk=", r":1: is not YAML \(could"),
    "a bool that is none": ("a: !!bool maybe", r"is not YAML \('maybe'\)"),
    "a number that is none": ("a: !!int abc", r"is not YAML \(invalid literal"),
    "an empty number": ("a: !!int ''", r"is not YAML \(string index"),
    "a number of 5000 digits": (f"a: {'9' * 5000}", r"is not YAML \(Exceeds the limit"),
    "two documents": ("a: 1\n---\nb: 2\n", r":2: is not YAML \(but found another document\)"),
    "another version": ("%YAML 9.9\n---\na: 1\n", "is not YAML"),
    "an alias of nothing": ("a: *b", r":1: is not YAML \(found undefined alias"),
    "a tab": ("a:\n\tb: 1\n", "is not YAML"),
    "a NUL": ("a: \0", "is not YAML"),
    "blanks without number": (" " * (1 << 20), r"cannot be read \(is larger than 256 KiB\)"),
}


@pytest.mark.parametrize(("text", "said"), YAMLS.values(), ids=YAMLS)
def test_a_bomb_of_yaml_is_one_sentence(text: str, said: str, room: Path, cli: Run) -> None:
    (room / "recipe.yaml").write_text(text)
    refused(cli(*FILTER), rf"recipe\.yaml.*{said}")


def test_aliases_within_bounds_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: &a {x: [1, 2.5, 1e-3, yes, ~, 2024-01-01, null]}\nb: *a\n")
    value = reading.yaml_file(path)
    assert value["a"] == {"x": [1, 2.5, 0.001, True, None, "2024-01-01", None]}
    assert value["a"] is value["b"]

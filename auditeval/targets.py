"""The classes that a configuration may name under `_target_`; no other is imported or called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from auditeval.types import UserError

TARGET = "_target_"
GROUP = "auditeval.backends"
"""Of the entry points by which an installed package lets its classes be named."""


def find(name: Any, packages: Sequence[str]) -> type:
    """The class of that full name: a public one that a module of one of these packages defines, or
    one that an installed package registers in the group `GROUP`.

    Nothing is imported but that module. Raises UserError for anything else: a function, a class
    that the module has from elsewhere, another package's.
    """
    words = str(name)
    for entry in entry_points(group=GROUP):
        if words == f"{entry.module}.{entry.attr}":
            return _checked(words, entry.load())
    module, _, kind = words.rpartition(".")
    if not any(f"{module}.".startswith(f"{package}.") for package in packages):
        raise _refused(words)
    try:
        found = getattr(import_module(module), kind, None)
    except (ImportError, ValueError):  # no such module, or a name with two dots in a row
        raise _refused(words) from None
    if kind.startswith("_") or f"{module}.{kind}" != _full_name(found):
        raise _refused(words)
    return _checked(words, found)


def named(node: Any) -> Iterator[Any]:
    """What stands under `_target_`, wherever in a configuration of plain values."""
    if isinstance(node, dict):
        if TARGET in node:
            yield node[TARGET]
        node = list(node.values())
    if isinstance(node, list):
        for part in node:
            yield from named(part)


def _full_name(found: Any) -> str:
    return f"{getattr(found, '__module__', '')}.{getattr(found, '__qualname__', '')}"


def _checked(name: str, found: Any) -> type:
    if not isinstance(found, type):
        raise _refused(name)
    return found


def _refused(name: str) -> UserError:
    return UserError(
        f"{TARGET}: {name!r} is refused: expected a class of auditeval that this file may name, or "
        f"one that an installed package registers as an entry point ({GROUP})"
    )

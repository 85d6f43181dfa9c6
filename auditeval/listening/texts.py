"""Every text that raters read: one JSON file a language; a user's own has the keys of `en.json`."""

from __future__ import annotations

from pathlib import Path
from string import Formatter
from typing import Any

from auditeval.reading import json_file
from auditeval.types import UserError

_FOLDER = Path(__file__).parent / "texts"
_OF_ANY_LENGTH = ("consent.about", "consent.how", "trial.keys")  # a paragraph or a line each


def languages() -> list[str]:
    """Those that come with the package."""
    return sorted(path.stem for path in _FOLDER.glob("*.json"))


def read(language: str) -> dict[str, Any]:
    """The texts of a language that comes with the package, or of a JSON file of one's own.

    Raises UserError where there are none, or where they lack a key of the English ones.
    """
    path = _FOLDER / f"{language}.json" if language in languages() else Path(language)
    if path.suffix != ".json":
        raise UserError(
            f"{language}: no such language; those at hand are {', '.join(languages())}, others are "
            "a .json file like auditeval/listening/texts/en.json"
        )
    found: dict[str, Any] = json_file(path)
    if missing := _missing(json_file(_FOLDER / "en.json"), found):
        raise UserError(f"{path}: lacks {missing}, which en.json has in that form")
    return found


def _missing(wanted: Any, found: Any, where: str = "") -> str | None:
    """The first key of `wanted` that `found` has not, or in another form."""
    if type(wanted) is not type(found):
        return where or "its object"
    if isinstance(wanted, str) and (places := _places(wanted)):
        try:
            found.format(**dict.fromkeys(places, 1))
        except (AttributeError, IndexError, KeyError, ValueError):
            return f"{where} with no other places than {{{'} {'.join(sorted(places))}}}"
    if isinstance(wanted, dict):
        for key in wanted:
            name = f"{where}.{key}" if where else key
            if key not in found:
                return name
            if missing := _missing(wanted[key], found[key], name):
                return missing
    if isinstance(wanted, list):
        if len(found) != len(wanted) and where not in _OF_ANY_LENGTH:
            return f"{where} with {len(wanted)} texts"
        for number, one in enumerate(found):
            like = wanted[min(number, len(wanted) - 1)]
            if missing := _missing(like, one, f"{where}[{number}]"):
                return missing
    return None


def _places(text: str) -> set[str]:
    """The names in braces, which a page puts numbers in place of."""
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}

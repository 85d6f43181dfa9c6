"""Frozen extractors beside each other, and the store that runs each once per clip."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, cast

from auditeval.features.encoder import Encoder
from auditeval.features.extractor import Extractor
from auditeval.types import UserError

EXTRACTORS = tuple(
    sorted(module.name for module in iter_modules([str(Path(__file__).parent / "extractors")]))
)
"""The extractors that a configuration or checkpoint may name: the modules of `extractors`.

One is imported when it is used: laion_clap, msclap and audiobox need packages that may be absent or
clash with ours.
"""

_RENAMED = {"melstats": "spectrum", "offline": "events, spectrum and words"}


def find_extractor(name: str) -> type[Extractor]:
    """The class in the module of that name, which is one of EXTRACTORS, that has this name too."""
    members = vars(import_module(f"{__name__}.extractors.{name}")).values()
    (kind,) = (kind for kind in members if getattr(kind, "name", None) == name)
    return cast(type[Extractor], kind)


def make_extractor(name: str, **arguments: Any) -> Extractor:
    """Build the extractor of that name; raises UserError for another or unfit arguments."""
    if name in _RENAMED:
        raise UserError(f"no extractor is called {name!r}: it is {_RENAMED[name]} now")
    if name not in EXTRACTORS:
        raise UserError(f"no extractor is called {name!r}; known: {', '.join(EXTRACTORS)}")
    try:
        return find_extractor(name)(**arguments)
    except TypeError as error:
        raise UserError(f"extractor {name!r} cannot be made with its arguments ({error})") from None


def make_encoder(features: Mapping[str, Mapping[str, Any]]) -> Encoder:
    """Build extractors, {name: arguments}, in this order; raises UserError."""
    if isinstance(features.get("name"), str):
        raise UserError(
            f"features.name={features['name']}: features are a list of extractors now, each with "
            "arguments of its own: features=clap features.clap.model=..."
        )
    if not features:
        raise UserError("features: expected at least one extractor, such as features=[spectrum]")
    for name, arguments in features.items():
        if not isinstance(arguments, Mapping):
            raise UserError(
                f"features.{name}={arguments}: expected its arguments by name; see "
                f"configs/features/{name}.yaml"
            )
    return Encoder(make_extractor(name, **arguments) for name, arguments in features.items())

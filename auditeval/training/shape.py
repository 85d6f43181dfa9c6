"""What a configuration has to hold before anything in it is called."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from reprlib import repr as shortened
from typing import Any, get_type_hints

import pytorch_lightning as lightning
from hydra.utils import get_object
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PydanticSchemaGenerationError,
    TypeAdapter,
    ValidationError,
)

from auditeval.features import EXTRACTORS, find_extractor
from auditeval.models import MODELS
from auditeval.targets import TARGET, named
from auditeval.types import UserError

_CALLED, _BY_NAME = "a node with a _target_", "settings by name, {name: value}"
_EXPECTED = {
    "_Called": _CALLED,
    "_Model": "the settings of a model",
    "string_type": "a text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "list_type": "a list",
    "dict_type": _BY_NAME,
    "_Data": _BY_NAME,
    "_Base": _BY_NAME,
}
"""By the class that a value is not of, or pydantic's type of the error."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)


class _Called(_Part):
    target: str = Field(alias="_target_", min_length=1)
    partial: bool = Field(False, alias="_partial_")


class _Model(_Part):
    name: str


class _Data(_Part):
    manifest: _Called
    split: _Called
    ratings_from: Any


class _Base(_Part):
    make: _Called | None = None


class _Shape(_Part):
    """Of configs/train.yaml; what is `Any` here is looked at elsewhere. An older run may not know
    what has a default."""

    name: Any
    seed: Any
    run_dir: Any
    workers: Any
    resamples: Any
    cache_dir: str | None
    html: bool = False
    data: _Data
    base: _Base = _Base()
    features: dict[str, Any]
    model: _Model
    compare: dict[str, _Model]
    fit: _Called
    optimizer: _Called
    scheduler: _Called
    trainer: dict[str, Any]
    logger: _Called
    callbacks: dict[str, _Called] = {}
    baselines: dict[str, _Called] = {}
    tests: dict[str, _Called] = {}


def check(settings: Mapping[str, Any]) -> None:
    """Raises UserError, which names the key, where a resolved configuration lacks what every run
    has, or has something else in its place."""
    try:
        _Shape.model_validate(settings)
    except ValidationError as error:
        raise _refused("", settings, error) from None


def check_kinds(settings: Mapping[str, Any]) -> None:
    """Raises UserError, which names the key, for a value of another kind than what is called with
    it takes by its annotations; `settings` were checked.

    A text is no truth value: `no`, which YAML once took for one, would count as true.
    """
    for key, function, arguments in _calls(settings):
        for name, hint in _hints(function).items():
            if name in arguments and not any(named(arguments[name])):
                _check_kind(f"{key}.{name}", arguments[name], hint)


def _calls(settings: Mapping[str, Any]) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """(Its key, what is called, with which arguments), of all that is called."""
    models = {"model": settings["model"]}
    models |= {f"compare.{name}": model for name, model in settings["compare"].items()}
    for key, model in models.items():
        if model["name"] in MODELS:  # or `find_model` says so
            yield key, MODELS[model["name"]], {k: v for k, v in model.items() if k != "name"}
    for name, arguments in settings["features"].items():
        if name in EXTRACTORS and isinstance(arguments, dict):
            yield f"features.{name}", find_extractor(name), arguments
    yield "trainer", lightning.Trainer, settings["trainer"]
    for group in _Shape.model_fields:
        yield from _nodes(settings.get(group), group)


def _nodes(node: Any, key: str) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    if isinstance(node, list):
        node = dict(enumerate(node))
    if not isinstance(node, dict):
        return
    for name, part in node.items():
        yield from _nodes(part, f"{key}.{name}")
    if isinstance(node.get(TARGET), str):
        with suppress(ImportError):  # which Hydra tells of
            yield key, get_object(node[TARGET]), node


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """What a function, or the making of a class, says that its arguments are."""
    try:
        return get_type_hints(function.__init__ if inspect.isclass(function) else function)
    except (NameError, TypeError):  # of names that only type checkers import; of what has none
        return {}


def _check_kind(key: str, value: Any, hint: Any) -> None:
    try:
        # As JSON, where a list is a tuple and a text a path as well.
        TypeAdapter(hint).validate_json(json.dumps(value), strict=True)
    except PydanticSchemaGenerationError:
        return
    except ValidationError as error:
        raise _refused(key, value, error) from None


def _refused(key: str, value: Any, error: ValidationError) -> UserError:
    errors = error.errors(include_url=False)
    place = [key] if key else []
    for part in errors[0]["loc"]:  # which in a union goes on with the member that was tried
        if part in value if isinstance(value, dict) else isinstance(part, int):
            value = value[part]
            place.append(str(part))
        elif errors[0]["type"] == "missing" and part != TARGET:
            return UserError(f"{'.'.join([*place, str(part)])} is missing; see configs/")
    expected = " or ".join(dict.fromkeys(map(_expected, errors)))
    return UserError(f"{'.'.join(place)} {shortened(value)}: expected {expected}; see configs/")


def _expected(error: Any) -> str:
    if error["type"] == "missing":
        return _CALLED
    kind = error.get("ctx", {}).get("class_name", error["type"])
    return _EXPECTED.get(kind, error["msg"].removeprefix("Input should be "))

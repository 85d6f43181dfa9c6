"""Recipes: the stages that a pair has to pass, from a small YAML file."""

from __future__ import annotations

import os
from decimal import ROUND_HALF_UP, Decimal
from math import isfinite
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from auditeval import storage
from auditeval.reading import yaml_file
from auditeval.types import Axis, UserError, sentence

UNSCORED = "unscored"
RULES = ("at_least", "keep_share", "keep_top")


def share_of(share: float, rows: int) -> int:
    """How many of `rows` a share of them (0 to 1) is, half a row counting as one.

    In decimal arithmetic, as the share is written:

    >>> share_of(0.3, 198_000), share_of(0.15, 10)
    (59400, 2)
    """
    return int((Decimal(repr(share)) * rows).quantize(Decimal(1), ROUND_HALF_UP))


class Stage(BaseModel):
    """One cut by the scores of one axis, or at random, under exactly one rule.

    `at_least` is the lowest score that stays, one for all pairs or one for each operation.
    `keep_share` (above 0, at most 1) and `keep_top` (a count) keep the best of what is left, of
    each operation or, with `per: all`, of all pairs together; among equal scores the lower id is
    the better one. With a `seed` instead of an `axis` the pairs to keep are drawn: what a selection
    has to be compared with.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: str = Field(min_length=1)
    axis: Axis | None = None
    seed: int | None = Field(default=None, ge=0)
    at_least: float | dict[str, float] | None = None
    keep_share: float | None = Field(default=None, gt=0, le=1)
    keep_top: int | None = Field(default=None, gt=0)
    per: Literal["operation", "all"] = "operation"

    @field_validator("at_least", mode="before")
    @classmethod
    def _is_a_number_or_numbers(cls, value: Any) -> Any:
        if value == {}:
            raise ValueError("expected a number for each operation, found none")
        for one in value.values() if isinstance(value, dict) else [value]:
            number = isinstance(one, (int, float)) and not isinstance(one, bool)
            if not number or not isfinite(one):
                raise ValueError(
                    f"expected a number, or a number for each operation, found {one!r}"
                )
        return value

    @model_validator(mode="after")
    def _has_one_rule(self) -> Stage:
        given = [rule for rule in RULES if getattr(self, rule) is not None]
        if len(given) != 1:
            raise ValueError(
                f"expected exactly one of {', '.join(RULES)}, found {' and '.join(given) or 'none'}"
            )
        if (self.axis is None) == (self.seed is None):
            raise ValueError("expected an axis, or a seed to draw at random")
        if self.axis is None and self.at_least is not None:
            raise ValueError("a seed is of keep_share and keep_top; at_least needs an axis")
        if self.per == "all" and self.at_least is not None:
            raise ValueError("per: all is of keep_share and keep_top; at_least ranks nothing")
        return self

    def places(self, rows: int) -> int:
        """How many of `rows` pairs a ranking rule keeps."""
        if self.keep_top is not None:
            return min(self.keep_top, rows)
        assert self.keep_share is not None
        return share_of(self.keep_share, rows)

    @property
    def rule(self) -> str:
        """The rule as the recipe has it: "keep_share 0.3"."""
        (name,) = (rule for rule in RULES if getattr(self, rule) is not None)
        value = getattr(self, name)
        if isinstance(value, dict):
            value = ", ".join(f"{operation} {number}" for operation, number in value.items())
        return f"{name} {value}{' of all' if self.per == 'all' else ''}"


class Recipe(BaseModel):
    """Stages in the order in which a pair passes them; no two have one name."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    stages: list[Stage] = Field(min_length=1, max_length=200)

    @model_validator(mode="after")
    def _names_differ(self) -> Recipe:
        names = [UNSCORED, *(stage.name for stage in self.stages)]
        for number, name in enumerate(names):
            if name in names[:number]:
                raise ValueError(
                    f"stage {number} is called {name!r}, as pairs without scores are"
                    if name == UNSCORED
                    else f"stages {names.index(name)} and {number} are both called {name!r}"
                )
        return self


def read_recipe(path: str | os.PathLike[str]) -> Recipe:
    """A recipe from YAML; raises UserError with file and stage for what is none."""
    path = storage.path(path)
    plain = yaml_file(path)
    if not isinstance(plain, dict):
        raise UserError(f"{path}: expected the key stages and a list of stages under it")
    try:
        return Recipe.model_validate(plain)
    except ValidationError as error:
        raise UserError(f"{path}: {_complaint(error, plain)}") from None


def _complaint(error: ValidationError, plain: dict[Any, Any]) -> str:
    """`stage 2 ('quality'): keep_share: ...`."""
    first = error.errors(include_url=False)[0]
    if first["loc"][:1] != ("stages",) or len(first["loc"]) < 2:
        return sentence(error, Recipe)
    number = int(first["loc"][1])
    stage = plain["stages"][number]
    name = f" ({stage['name']!r})" if isinstance(stage, dict) and "name" in stage else ""
    where, _, said = sentence(error, Stage).partition(": ")
    field = where.removeprefix(f"stages.{number}").removeprefix(".")
    return f"stage {number + 1}{name}: {f'{field}: ' if field else ''}{said}"

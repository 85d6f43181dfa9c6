"""What a listening test is: a file in YAML, checked; kept in the votes' database, never changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from auditeval.reading import yaml_file
from auditeval.seed import SEED
from auditeval.types import UserError, sentence

Order = Literal["williams", "random"]
Select = Literal["balanced", "random", "uncertain"]
Goal = Literal["ranking", "training"]


class Settings(BaseModel):
    """The settings of one test.

    `title` is what raters read, and the `listening_test` of the pairs that are exported. A pair is
    given out until it has `raters_per_pair`; a place that its rater left is free again after
    `hours_held`. Pairs come in blocks of `block` with pauses between. Under the `order` "williams"
    blocks are the same for all, and their pairs stand in an order balanced for position and for
    what comes before what [Williams 1949]; under "random" each rater has an own seeded order, and
    pairs are picked by `select` for a `goal` (see `selection.order`), which "balanced" does evenly.
    `attention_share` and `repeat_share` are items with a known answer and hidden repeats, as shares
    of the rated pairs. A rater is given no more than `most_trials`, and no new one after
    `most_minutes` of listening. Grades go from 1 to 5 by `step`.
    """

    # As kept in JSON, which has no infinity: it would be null, and no longer the same setting.
    # Strict, or YAML's `yes` would be 1.
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, strict=True)

    title: str = Field("Listening test", min_length=1, max_length=200)
    raters_per_pair: int = Field(5, ge=1, le=1000)
    block: int = Field(10, ge=2, le=200)
    order: Order = "williams"
    select: Select = "balanced"
    goal: Goal = "ranking"
    step: float = 1
    attention_share: float = Field(0.1, ge=0, le=0.5)
    repeat_share: float = Field(0.1, ge=0, le=0.5)
    training: bool = True
    headphone_check: bool = True
    most_trials: int | None = Field(None, ge=1)
    most_minutes: float | None = Field(None, gt=0)
    hours_held: float = Field(24.0, gt=0)
    seed: int = Field(SEED, ge=0)

    @field_validator("step")
    @classmethod
    def _step_is_whole_or_half(cls, step: float) -> float:
        if step not in (1, 0.5):
            raise ValueError(f"expected 1 or 0.5, found {step}")
        return step

    @model_validator(mode="before")
    @classmethod
    def _order_follows_select(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("select", "balanced") != "balanced":
            if data.get("order") == "williams":
                raise ValueError("order williams has fixed blocks and needs select balanced")
            return {**data, "order": "random"}
        return data


def read(path: Path | None, **given: Any) -> Settings:
    """The settings of a YAML file, or the defaults, under those that a command was `given`.

    Raises UserError that names the file and the key.
    """
    found = {} if path is None else yaml_file(path)
    if found is None:
        found = {}
    if not isinstance(found, dict):
        raise UserError(f"{path}: expected settings as in `raters_per_pair: 5`")
    try:
        return Settings.model_validate({**found, **given})
    except ValidationError as error:
        where = "" if path is None else f"{path}: "
        raise UserError(f"{where}{sentence(error, Settings)}") from None

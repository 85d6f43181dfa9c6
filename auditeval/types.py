"""The words of the project: axes, edit pairs, scores, undefined values, user errors."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import fsum
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    field_validator,
    model_validator,
)

Axis = Literal["quality", "relevance", "faithfulness"]
AXES: tuple[Axis, ...] = ("quality", "relevance", "faithfulness")

Rating = Annotated[float, Field(ge=1.0, le=5.0, allow_inf_nan=False)]


def _rater_id(name: str) -> str:
    if not name or set(name) & set(";="):
        raise ValueError(
            "a rater's id is not empty and holds neither ; nor = (CSV cells join by them)"
        )
    return name


def _form(votes: Any) -> str | None:
    return "[list]" if isinstance(votes, list) else "[by id]" if isinstance(votes, dict) else None


_URL = re.compile("[a-z][a-z0-9+.-]+://")
# Not halves of surrogate pairs, as a shell's bytes leave them: asked for a length, pydantic looks.
Text = Annotated[str, Field(min_length=0)]
# An empty one says as little as an empty cell of CSV, which is none.
Stated = Annotated[Text | None, AfterValidator(lambda text: text or None)]
RaterId = Annotated[str, AfterValidator(_rater_id)]
Votes = Annotated[
    Annotated[list[Rating], Tag("[list]")] | Annotated[dict[RaterId, Rating], Tag("[by id]")],
    Discriminator(
        _form,
        custom_error_type="votes",
        custom_error_message='expected votes as in [3, 4] or {"r1": 3, "r2": 4}',
    ),
]
"""What raters said of one axis of a pair: a list, or {rater: vote} where they are known by id."""


class EditPair(BaseModel):
    """One original clip, what an editor made of it, and what it was asked to make.

    Ratings are on the scale of the paper's Appendix A: 1 (worst) to 5 (best). An axis that nobody
    rated is absent from `ratings`. Where individual raters are given, the rating is their mean;
    they are a list of votes or, where raters are known by id, {rater: vote}. Captions may be empty
    (an instruction then says what was asked); of the other fields an empty text is none.

    Two fields keep a split honest: rows of one `source` (the recording the original was made from)
    or one `talker` never stand on both sides. `split` is a publisher's fixed split, where there is
    one. `listening_test` names the test that the ratings are of, where there are several: what a
    number means is a matter of each. `rejected_by` is the stage of `auditeval filter` that a pair
    did not pass.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    id: str = Field(min_length=1)
    original: Path = Field(strict=False)
    edited: Path = Field(strict=False)
    original_caption: Text
    target_caption: Text
    instruction: Stated = None
    operation: Stated = None
    system: Stated = None
    source: Stated = None
    talker: Stated = None
    split: Literal["train", "validation", "test"] | None = None
    listening_test: Stated = None
    rejected_by: Stated = None
    ratings: dict[Axis, Rating] = {}
    raters: dict[Axis, Votes] = {}

    @field_validator("original", "edited", mode="before")
    @classmethod
    def _path_is_not_empty(cls, value: Any) -> Any:
        if not isinstance(value, (str, Path)) or value == "":
            raise ValueError("expected the path of an audio file")
        if isinstance(value, str) and _URL.match(value):  # a Path has one slash for two
            raise ValueError(f"is a URL; give auditeval.storage.path({value!r})")
        return value

    @model_validator(mode="before")
    @classmethod
    def _average_raters(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        # null is none, as of every other field that may be absent
        data = {k: v for k, v in data.items() if v is not None or k not in ("ratings", "raters")}
        raters, ratings = data.get("raters"), data.get("ratings", {})
        if not isinstance(raters, dict) or not isinstance(ratings, dict):
            return data
        means: dict[str, Any] = {}
        for axis, given in raters.items():
            known = axis in AXES and _form(given) is not None
            votes = list(given.values()) if isinstance(given, dict) else given
            if not known or not all(_is_on_scale(v) for v in [*votes, ratings.get(axis, 1)]):
                return data  # the field's own check says what is wrong
            if not votes:
                raise ValueError(f"raters.{axis} is empty: leave out an axis that nobody rated")
            means[axis] = fsum(votes) / len(votes)  # the same in whatever order they stand
            if axis in ratings and abs(ratings[axis] - means[axis]) > 0.01:
                raise ValueError(
                    f"ratings.{axis} is {ratings[axis]} but its raters average {means[axis]:.3f}"
                )
        return {**data, "ratings": {**means, **ratings}}


def _is_on_scale(value: Any) -> bool:
    return isinstance(value, (int, float)) and 1.0 <= value <= 5.0


Interval = tuple[float, float]
"""Low and high end."""


@dataclass(frozen=True)
class Scores:
    """Predicted ratings of one pair, or the reason why there are none (`status` "error").

    `intervals` are those of an evaluator that was calibrated, by axis.
    """

    id: str
    quality: float | None = None
    relevance: float | None = None
    faithfulness: float | None = None
    status: Literal["ok", "error"] = "ok"
    reason: str = ""
    intervals: Mapping[Axis, Interval] = field(default_factory=dict)

    @property
    def ratings(self) -> dict[Axis, float]:
        """By axis, of those that the evaluator was trained on."""
        values = zip(AXES, (self.quality, self.relevance, self.faithfulness), strict=True)
        return {axis: value for axis, value in values if value is not None}

    def interval(self, axis: Axis) -> Interval | None:
        """That of an axis, None where there is none."""
        return self.intervals.get(axis)


@dataclass(frozen=True)
class Undefined:
    """A value that does not exist, and why: never NaN, 0 or -1; a table shows its `mark`."""

    mark: ClassVar[str] = "–"

    reason: str


class UserError(ValueError):
    """A mistake that the user can mend; its one sentence says where and how.

    Commands print it without a traceback and exit with status 2.
    """


def whole(name: str, value: Any, least: int = 1) -> None:
    """Raises UserError for what is no whole number, or less than `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        bound = f" above {least - 1}" if least else ", 0 at least"
        raise UserError(f"{name} {value!r}: expected a whole number{bound}")


def absent(key: str) -> str:
    """What is said of a key that has to be there."""
    empty = "; it may be empty where there is an instruction" if key.endswith("_caption") else ""
    return f"is missing{empty}"


_NO_FIELDS = ("[key]", "[list]", "[by id]")


def sentence(error: ValidationError, model: type[BaseModel] = EditPair) -> str:
    """The first of pydantic's complaints on a `model` as one clause: `ratings.quality: ...`."""
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"] if part not in _NO_FIELDS)
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        message = f"unknown key (known: {', '.join(model.model_fields)})"
    elif first["type"] == "missing":
        message = absent(where)
    elif first["type"] not in ("value_error",):
        message = f"{message[0].lower()}{message[1:]}, found {reprlib.repr(first['input'])}"
    return f"{where}: {message}" if where else message

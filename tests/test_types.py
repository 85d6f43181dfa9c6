"""Laws of EditPair: ratings on the scale, raters averaged, mistakes named by their field."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from auditeval import storage
from auditeval.types import AXES, EditPair, sentence

PAIR: dict[str, Any] = {
    "id": "a",
    "original": "a.wav",
    "edited": "b.wav",
    "original_caption": "Rain.",
    "target_caption": "Rain, with a bell.",
}


@pytest.mark.parametrize("axis", AXES)
def test_a_rating_is_the_mean_of_its_raters(axis: str) -> None:
    votes = np.random.default_rng(0).integers(1, 6, 7).astype(float).tolist()
    pair = EditPair(**PAIR, raters={axis: votes})
    assert pair.ratings == {axis: pytest.approx(np.mean(votes))}


def test_a_rating_is_the_same_in_whatever_order_its_votes_stand() -> None:
    """Of MUSHRA, 0 to 100, which are no binary fractions."""
    votes = [1 + score / 25 for score in (38, 45, 61, 100)]
    orders = [EditPair(**PAIR, raters={"quality": [*order]}) for order in permutations(votes)]
    assert len({pair.ratings["quality"] for pair in orders}) == 1


def test_a_url_is_not_taken_for_a_path() -> None:
    """Of which there would be s3:/bucket/a.wav, no such file."""
    with pytest.raises(ValidationError, match=r"give auditeval\.storage\.path\('s3://bucket/a"):
        EditPair(**{**PAIR, "original": "s3://bucket/a.wav"})
    url = storage.path("s3://bucket/a.wav")
    assert str(EditPair(**{**PAIR, "original": url}).original) == "s3://bucket/a.wav"


def test_raters_may_have_ids() -> None:
    raters = {"quality": {"r1": 3, "r2": 4}, "faithfulness": [1, 2]}
    pair = EditPair(**PAIR, raters=raters)
    assert pair.raters == raters
    assert pair.ratings == {"quality": 3.5, "faithfulness": 1.5}
    assert EditPair(**pair.model_dump()) == pair


def test_null_is_none_of_every_field_that_may_be_absent() -> None:
    absent = dict.fromkeys(EditPair.model_fields.keys() - PAIR.keys())
    assert EditPair(**PAIR, **absent) == EditPair(**PAIR)
    votes = {"quality": [3, 4]}
    assert EditPair(**PAIR, ratings=None, raters=votes).ratings == {"quality": 3.5}  # type: ignore[arg-type]
    assert EditPair(**PAIR, ratings={"quality": 2}, raters=None).raters == {}  # type: ignore[arg-type]


def test_axes_without_raters_keep_their_ratings() -> None:
    pair = EditPair(**PAIR, ratings={"quality": 2.5}, raters={"relevance": [4, 5]})
    assert pair.ratings == {"quality": 2.5, "relevance": 4.5}


def test_a_rating_that_agrees_with_its_raters_is_kept_as_it_was_written() -> None:
    pair = EditPair(**PAIR, ratings={"quality": 3.67}, raters={"quality": [3, 4, 4]})
    assert pair.ratings["quality"] == 3.67


@pytest.mark.parametrize("rating", [1, 1.0, 5, 5.0])
def test_the_ends_of_the_scale_are_on_it(rating: float) -> None:
    assert EditPair(**PAIR, ratings={"quality": rating}).ratings["quality"] == rating


BAD: list[tuple[dict[str, Any], str]] = [
    ({"ratings": {"quality": 0.99}}, "ratings.quality: "),
    ({"ratings": {"quality": 5.01}}, "ratings.quality: "),
    ({"ratings": {"quality": float("nan")}}, "ratings.quality: "),
    ({"ratings": {"quality": float("inf")}}, "ratings.quality: "),
    ({"ratings": {"quality": "4"}}, "ratings.quality: "),
    ({"ratings": {"quality": True}}, "ratings.quality: "),
    ({"ratings": {"quality": None}}, "ratings.quality: "),
    ({"ratings": {"quality": 10**400}}, "ratings.quality: "),
    ({"ratings": {"beauty": 4}}, "ratings.beauty: "),
    ({"ratings": [4]}, "ratings: "),
    ({"raters": {"quality": []}}, "raters.quality is empty"),
    ({"raters": {"quality": 4}}, "raters.quality: expected votes as in [3, 4] or {"),
    ({"raters": {"quality": {}}}, "raters.quality is empty"),
    ({"raters": {"quality": {"r1": 6}}}, "raters.quality.r1: "),
    ({"raters": {"quality": {"r1": "4"}}}, "raters.quality.r1: "),
    ({"raters": {"quality": {"r1": None}}}, "raters.quality.r1: "),
    ({"raters": {"quality": {1: 4}}}, "raters.quality.1: "),
    ({"raters": {"quality": {"": 4}}}, "raters.quality.: a rater's id"),
    ({"raters": {"quality": {"a;b": 4}}}, "raters.quality.a;b: a rater's id"),
    ({"raters": {"quality": {"a=b": 4}}}, "raters.quality.a=b: a rater's id"),
    ({"ratings": {"quality": 4}, "raters": {"quality": {"a": 1}}}, "ratings.quality is 4 but"),
    ({"raters": {"quality": [4, 6]}}, "raters.quality.1: "),
    ({"raters": {"quality": [4, "5"]}}, "raters.quality.1: "),
    ({"raters": {"quality": [float("nan")]}}, "raters.quality.0: "),
    ({"raters": {"quality": [10**400]}}, "raters.quality.0: "),
    ({"raters": {"beauty": [4]}}, "raters.beauty: "),
    ({"ratings": {"quality": 4}, "raters": {"quality": [1, 2]}}, "ratings.quality is 4 but"),
    ({"ratings": {"quality": "4"}, "raters": {"quality": [4]}}, "ratings.quality: "),
    ({"id": ""}, "id: "),
    ({"id": 7}, "id: "),
    ({"original": ""}, "original: "),
    ({"edited": 3}, "edited: "),
    ({"original_caption": None}, "original_caption: "),
    ({"split": "dev"}, "split: "),
    ({"colour": "red"}, "colour: unknown key"),
]


@pytest.mark.parametrize(("change", "said"), BAD, ids=[str(change)[:60] for change, _ in BAD])
def test_a_mistake_is_named_by_its_field_in_one_short_line(
    change: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        EditPair.model_validate({**PAIR, **change})
    found = sentence(caught.value)
    assert found.startswith(said)
    assert "\n" not in found
    assert len(found) < 250


@pytest.mark.parametrize("field", sorted(PAIR))
def test_a_missing_field_is_named(field: str) -> None:
    rest = {key: value for key, value in PAIR.items() if key != field}
    with pytest.raises(ValidationError) as caught:
        EditPair.model_validate(rest)
    found = sentence(caught.value)
    assert found.startswith(f"{field}: is missing")
    assert ("may be empty" in found) is field.endswith("_caption")


def test_paths_are_paths() -> None:
    assert EditPair(**PAIR).original == Path("a.wav")

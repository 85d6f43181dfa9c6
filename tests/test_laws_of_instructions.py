"""Laws of edits that an instruction alone tells: captions that differ could say no more.

Mixtures of the sound bank. `pytest tests/test_laws_of_instructions.py -s` prints the means.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from edited_clips import Edit, pairs, synthetic, with_event

import auditeval
from auditeval.types import AXES, Scores

BACKGROUNDS = {"sea_waves": "waves roll in", "helicopter": "a helicopter hovers"}
EVENTS = {"dog_bark": ("a dog barks", "dog"), "rooster_crow": ("a rooster crows", "rooster")}
Ratings = dict[tuple[str, str], list[Scores]]
"""By way and what tells so, of each mixture in turn."""
WAYS = ("right", "the other one gone", "both nearly gone", "untouched")


@pytest.fixture(scope="module")
def ratings(tmp_path_factory: pytest.TempPathFactory) -> Ratings:
    """Of edits that are to take an event from a background."""
    made: dict[str, Edit] = {}
    for (background, there), (event, (said, _)), seed in product(
        BACKGROUNDS.items(), EVENTS.items(), range(3)
    ):
        stays = synthetic(background, seed, there).samples
        both = with_event(stays, synthetic(event, seed, said).samples, 0.3, 2.0)
        edits = (stays, both - stays, 0.01 * both, both)
        for way, edited in zip(WAYS, edits, strict=True):
            words = f"{there.capitalize()} while {said}.", f"{there.capitalize()}."
            made[f"{way}|{event}|{background}|{seed}"] = Edit(both, edited, *words)
    folder = tmp_path_factory.mktemp("instructions")
    by_captions = pairs(folder, made)
    told = {"original_caption": "", "target_caption": ""}
    instructed = [
        pair.model_copy(update={"instruction": f"Remove the {EVENTS[pair.id.split('|')[1]][1]}."})
        for pair in by_captions
    ]
    sets = {
        "captions": by_captions,
        "instruction": [
            pair.model_copy(update={"target_caption": pair.original_caption}) for pair in instructed
        ],
        "instruction alone": [pair.model_copy(update=told) for pair in instructed],
    }
    evaluator = auditeval.load(device="cpu", cache_dir=folder / "cache")
    found: Ratings = {}
    for how, rows in sets.items():
        for pair, scores in zip(rows, evaluator.score(rows), strict=True):
            found.setdefault((pair.id.split("|")[0], how), []).append(scores)
    for key, scores in found.items():
        print(*key, *(f"{of(axis, scores).mean():.2f}" for axis in AXES))
    return found


def of(axis: str, scores: list[Scores]) -> np.ndarray:
    return np.array([getattr(row, axis) for row in scores])


@pytest.mark.parametrize("way", WAYS)
def test_an_instruction_says_what_is_to_stay_as_captions_do(ratings: Ratings, way: str) -> None:
    captions, instruction = (ratings[way, how] for how in ("captions", "instruction"))
    for axis in ("quality", "faithfulness"):
        apart = of(axis, captions) - of(axis, instruction)
        assert abs(apart.mean()) < 0.15, axis


@pytest.mark.parametrize("how", ["captions", "instruction"])
@pytest.mark.parametrize("way", ["the other one gone", "both nearly gone"])
def test_what_went_instead_costs_faithfulness(ratings: Ratings, way: str, how: str) -> None:
    right, wrong = (of("faithfulness", ratings[x, how]) for x in ("right", way))
    assert (right > wrong + 0.5).all()


@pytest.mark.parametrize("how", ["captions", "instruction", "instruction alone"])
def test_an_untouched_clip_is_no_edit(ratings: Ratings, how: str) -> None:
    right, untouched = (of("relevance", ratings[x, how]) for x in ("right", "untouched"))
    assert (right > untouched).all()
    assert untouched.mean() < 1.5

"""Laws of edits that an instruction alone tells, of mixtures of the sound bank.

What is to go, where captions that differ could say no more, and the level of one of two sounds.
`pytest tests/test_laws_of_instructions.py -s` prints the means.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from edited_clips import Edit, pairs, synthetic, with_event

import auditeval
from auditeval.types import AXES, Scores

BACKGROUNDS = {
    "sea_waves": ("waves roll in", "waves"),
    "helicopter": ("a helicopter hovers", "helicopter"),
}
EVENTS = {"dog_bark": ("a dog barks", "dog"), "rooster_crow": ("a rooster crows", "rooster")}
Ratings = dict[tuple[str, str], list[Scores]]
"""By way and what tells so, of each mixture in turn."""
WAYS = ("right", "the other one gone", "both nearly gone", "untouched")


@pytest.fixture(scope="module")
def ratings(tmp_path_factory: pytest.TempPathFactory) -> Ratings:
    """Of edits that are to take an event from a background."""
    made: dict[str, Edit] = {}
    for (background, (there, _)), (event, (said, _)), seed in product(
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


DB_10 = 10 ** (10 / 20)
DONE = ("right", "the other one", "the other way", "both", "untouched")


@pytest.fixture(scope="module")
def levels(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str, str], np.ndarray]:
    """Relevance of mixtures, one of whose sounds is to be louder or quieter by 10 dB."""
    made: dict[str, Edit] = {}
    told: dict[str, str] = {}
    for (background, (there, rest)), (event, (said, name)), seed in product(
        BACKGROUNDS.items(), EVENTS.items(), range(3)
    ):
        stays = synthetic(background, seed, there).samples / 2
        comes = with_event(stays, synthetic(event, seed, said).samples, 0.3, 1.5) - stays
        words = f"{there.capitalize()} while {said}."
        for one, way in product(("event", "background"), ("louder", "quieter")):
            gain = DB_10 if way == "louder" else 1 / DB_10
            gains = ((gain, 1), (1, gain), (1 / gain, 1), (gain, gain), (1, 1))
            for done, (mine, other) in zip(DONE, gains, strict=True):
                of_event, of_rest = (mine, other) if one == "event" else (other, mine)
                id = f"{one}|{way}|{done}|{event}|{background}|{seed}"
                edited = of_event * comes + of_rest * stays
                made[id] = Edit(stays + comes, edited, words, words)
                told[id] = f"Make the {name if one == 'event' else rest} {way}."
    folder = tmp_path_factory.mktemp("levels")
    rows = [x.model_copy(update={"instruction": told[x.id]}) for x in pairs(folder, made)]
    evaluator = auditeval.load(device="cpu", cache_dir=folder / "cache")
    found: dict[tuple[str, str, str], list[float]] = {}
    for pair, scores in zip(rows, evaluator.score(rows), strict=True):
        one, way, done, *_ = pair.id.split("|")
        assert scores.relevance is not None
        found.setdefault((one, way, done), []).append(scores.relevance)
    for key, relevance in found.items():
        print(*key, f"{np.mean(relevance):.2f}")
    return {key: np.array(relevance) for key, relevance in found.items()}


@pytest.mark.parametrize("way", ["louder", "quieter"])
@pytest.mark.parametrize("one", ["event", "background"])
def test_the_level_of_one_of_two_sounds_is_that_of_the_one_named(
    levels: dict[tuple[str, str, str], np.ndarray], one: str, way: str
) -> None:
    right = levels[one, way, "right"]
    for done in ("the other one", "the other way", "untouched"):
        assert (right > levels[one, way, done]).mean() >= 0.9, done
    assert right.mean() > levels[one, way, "both"].mean() - 0.1


@pytest.mark.parametrize("how", ["instruction", "captions"])
def test_levels_that_are_to_change_places(tmp_path: Path, how: str) -> None:
    """One of two sounds louder and the other quieter, by an instruction or by captions."""
    done = {
        "right": (DB_10, 1 / DB_10),
        "one alone": (DB_10, 1),
        "the other way": (1 / DB_10, DB_10),
        "both louder": (DB_10, DB_10),
        "untouched": (1, 1),
    }
    made: dict[str, Edit] = {}
    told: dict[str, dict[str, str]] = {}
    for (background, (there, rest)), (event, (said, name)) in product(
        BACKGROUNDS.items(), EVENTS.items()
    ):
        stays = synthetic(background, 1, there).samples / 4
        comes = with_event(stays, synthetic(event, 1, said).samples, 0.3, 1.5) - stays
        words = f"{there.capitalize()} while {said}."
        by_captions = {
            "original_caption": f"{there.capitalize()} loudly while {said} quietly.",
            "target_caption": f"{there.capitalize()} quietly while {said} loudly.",
        }
        instruction = {"instruction": f"Make the {name} louder and the {rest} quieter."}
        for way, (mine, other) in done.items():
            id = f"{way}|{event}|{background}"
            made[id] = Edit(stays + comes, mine * comes + other * stays, words, words)
            told[id] = by_captions if how == "captions" else instruction
    rows = [pair.model_copy(update=told[pair.id]) for pair in pairs(tmp_path, made)]
    found: dict[str, list[Scores]] = {}
    evaluator = auditeval.load(device="cpu", cache_dir=tmp_path / "cache")
    for pair, scores in zip(rows, evaluator.score(rows), strict=True):
        found.setdefault(pair.id.split("|")[0], []).append(scores)
    relevance = {way: of("relevance", scores) for way, scores in found.items()}
    print(how, {way: f"{values.mean():.2f}" for way, values in relevance.items()})
    assert (relevance["right"] >= relevance["one alone"]).all()
    for way in ("the other way", "both louder", "untouched"):
        assert (relevance["one alone"] > relevance[way] + 1).all(), way


ASKED = (
    *("", "Make it louder.", "Turn the volume up by 6 dB.", "Raise the pitch.", "Slow it down."),
    *("Put it in a large hall.", "Add an echo.", "Distort it.", "Make it muffled."),
    *("Lower the pitch by two semitones.", "Say it angrily.", "Whisper it."),
)


def test_the_quality_of_an_untouched_clip_is_one_whatever_is_asked(tmp_path: Path) -> None:
    """But for a fault that is to be taken away, which is then expected in it."""
    clips = [synthetic("rain", 1, "it rains").samples, synthetic("dog_bark", 2, "a dog").samples]
    rows = [
        pair.model_copy(update={"id": f"{number} {asked}", "instruction": asked or None})
        for number, clip in enumerate(clips)
        for pair in pairs(tmp_path / f"{number}", {"one": Edit(clip, clip, "A sound.", "A sound.")})
        for asked in ASKED
    ]
    evaluator = auditeval.load(device="cpu", cache_dir=tmp_path / "cache")
    quality = of("quality", list(evaluator.score(rows))).reshape(len(clips), len(ASKED))
    print(quality.round(2))
    assert (np.ptp(quality, axis=1) < 0.35).all()

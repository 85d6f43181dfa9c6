"""Laws of the words for sounds: many wordings, each naming what is heard, in its order if told."""

from __future__ import annotations

import numpy as np
import pytest

from auditeval.data.simulation import captions
from auditeval.data.simulation.captions import Phrase
from auditeval.data.simulation.edits import word
from auditeval.data.simulation.material import Material
from auditeval.data.simulation.scenes import Scene, make_scene
from auditeval.data.simulation.vocabulary import ALIASES, alike, known
from auditeval.data.simulation.words import WORDS
from auditeval.data.soundbank import EVENTS
from auditeval.types import UserError

RAIN, DOG = Phrase("rain falls", "rain falling"), Phrase("a dog barks", "a dog barking")


def test_there_are_words_for_every_sound_of_the_bank_and_over_60_classes() -> None:
    assert set(EVENTS) < set(WORDS)
    assert len(WORDS) > 60


@pytest.mark.parametrize("name", WORDS)
def test_words_are_whole_and_differ(name: str) -> None:
    clauses, names = WORDS[name]
    for subject, verb, participle in clauses:
        assert verb != participle
        for part in (subject, verb, participle):
            assert part == part.strip()
            assert part
    assert len(set(names)) == len(names) >= 2
    rng = np.random.default_rng(0)
    drawn = {captions.phrase(name, rng) for _ in range(60)}
    assert len({phrase.thing for phrase in drawn}) >= len(clauses) + len(names) - 1


@pytest.mark.parametrize("centre", [0.1, 0.5, 0.9])
def test_a_caption_names_both_sounds_once_as_one_sentence(centre: float) -> None:
    rng = np.random.default_rng(1)
    made = [captions.together(RAIN, DOG, centre, 1.0, rng) for _ in range(300)]
    assert len({text for text, _ in made}) > 12
    for text, _ in made:
        assert text.count("ain fall") == 1
        assert text.lower().count("a dog bark") == 1
        assert text[0].isupper()
        assert text.endswith(".")
        assert not set("{}") & set(text)
        assert "  " not in text


def test_a_told_place_is_the_right_one() -> None:
    rng = np.random.default_rng(2)
    for centre, first in ((0.1, "dog"), (0.9, "rain")):
        made = [captions.together(RAIN, DOG, centre, 1.0, rng) for _ in range(200)]
        told = [text.lower() for text, told in made if told]
        assert 80 < len(told) < 160
        for text in told:
            dog, rain = text.index("dog"), text.index("rain")
            in_order = (dog < rain) == (first == "dog")
            assert in_order != (" after " in text)  # "b after a" is the other way round
    assert not any(captions.together(RAIN, DOG, 0.5, 1.0, rng)[1] for _ in range(100))


def test_one_sound_alone_is_a_sentence_about_it() -> None:
    rng = np.random.default_rng(3)
    made = {captions.alone(DOG, rng) for _ in range(50)}
    assert made == {"A dog barks.", "A dog barking.", "The sound of a dog barking."}


def test_classes_are_known_by_the_names_of_other_collections() -> None:
    assert known(["Clock Tick", "dog_bark", "person_sneeze"]) == [
        *("clock_ticking", "dog_bark", "sneeze")
    ]
    assert set(ALIASES.values()) <= set(WORDS)
    with pytest.raises(UserError, match="no class of sound 'unicorn'"):
        known(["unicorn"])


def test_likeness_is_of_both_sides() -> None:
    for one in WORDS:
        assert alike(one, one)
        for other in WORDS:
            assert alike(one, other) == alike(other, one)
    assert alike("cough", "sneeze")
    assert not alike("dog_bark", "rain")


def test_what_is_taken_from_a_mixture_may_have_no_name_and_nothing_else_may() -> None:
    made = [
        make_scene(Material({}), 0, (2.0, 2.0), np.random.default_rng([2, s])) for s in range(20)
    ]
    unnamed = {"delete": [], "replace": []}
    for scene in (scene for scene in made if scene.is_mixture):
        for operation, found in unnamed.items():
            words = [word(scene, operation, {}, np.random.default_rng(n)) for n in range(40)]
            found += [not named(row.original, scene, "B") for row in words]
            assert all(named(row.target, scene, "C") for row in words if operation == "replace")
    assert 0.2 < np.mean(unnamed["delete"]) < 0.4
    assert not any(unnamed["replace"])
    event = next(scene for scene in made if not scene.is_mixture)
    words = [word(event, "delete", {}, np.random.default_rng(n)) for n in range(40)]
    assert all(named(row.original, event, "B") for row in words)


def named(caption: str, scene: Scene, slot: str) -> bool:
    """Whether a caption has words for an event of the scene."""
    return any(part in caption.lower() for part in map(str.lower, scene.events[slot].words))


def test_whether_a_name_is_left_out_moves_no_draw_of_what_is_heard() -> None:
    made = (
        make_scene(Material({}), 0, (2.0, 2.0), np.random.default_rng([2, s])) for s in range(20)
    )
    scene = next(scene for scene in made if scene.is_mixture)
    wordings = set()
    for seed in range(20):
        said, later = set(), set()
        for others in range(6):
            rng = np.random.default_rng(seed)
            rng.spawn(others)  # other words from the same draws
            said.add(word(scene, "delete", {}, rng).original)
            later.add(rng.random())
        wordings.add(len(said))
        assert len(later) == 1
    assert max(wordings) > 1

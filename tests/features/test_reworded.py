"""A sound that is called otherwise stays; what comes and goes is what is left."""

from __future__ import annotations

import random
from functools import partial
from itertools import combinations

import numpy as np
import pytest

from auditeval.data.simulation.words import WORDS
from auditeval.features import label_bridge
from auditeval.features.asked import asked
from auditeval.features.minilm import shared
from auditeval.features.named import stems


@pytest.fixture(scope="module")
def alike() -> partial[float]:
    return partial(label_bridge.alike, shared(None))


@pytest.mark.parametrize(
    ("original", "target", "added", "removed"),
    [
        # What comes and what goes, beside what is called otherwise alone.
        ("It is raining.", "Raindrops patter as a dog barks.", "dog bark", ""),
        ("Rain falls.", "Falling rain and a dog barking.", "dog bark", ""),
        ("An infant wails while rain falls.", "Raindrops patter.", "", "infant wail"),
        ("A breeze blows past and birds chirp.", "Wind noise, a siren.", "siren", "bird chirp"),
        ("A person talks.", "The sound of speech, a phone ringing.", "phone ring", ""),
        ("A man speaking.", "A telephone rings as a male voice talks.", "telephone ring", ""),
        ("Waves crash on a shore.", "Gulls crying, the ocean surf.", "gull cry", ""),
        ("A helicopter is flying.", "A helicopter flying with gunfire.", "gunfire", ""),
        # Lists name one sound, or two.
        ("Baby cry, infant cry with wind.", "Wind, a bell.", "bell", "baby infant cry"),
        # Alike in meaning, and the other of two; unlike.
        ("A man speaks and rain falls.", "A woman speaks and rain falls.", "woman", "man"),
        ("A man speaks.", "A woman speaks and rain falls.", "woman rain fall", "man"),
        ("A baby cries.", "A woman cries and a dog barks.", "woman dog bark", "baby"),
        ("A violin plays.", "A guitar plays and a dog barks.", "guitar dog bark", "violin"),
        ("A phone rings and rain falls.", "Rain and a doorbell.", "doorbell", "phone ring"),
        # Of the last difference one asks, however alike.
        ("It is raining.", "Raindrops patter.", "raindrop patter", "it rain"),
        ("A dog barks and rain falls.", "A big dog barks and rain falls.", "big", ""),
        # How one is to sound, and what is not there, stay as they are said.
        (
            "Music plays.",
            "Loud distorted music plays and a dog barks.",
            "loud distort dog bark",
            "",
        ),
        ("Music with vocals.", "Music without vocals.", "", "vocal"),
        ("A voice.", "Whispered speech and rain.", "whisper rain", ""),
    ],
)
def test_only_what_comes_or_goes_is_asked_for(
    original: str, target: str, added: str, removed: str, alike: partial[float]
) -> None:
    found = asked(original, target, "", alike)

    for words, wanted in ((found.added, added), (found.removed, removed)):
        assert stems(wanted) - {"voice"} <= stems(words), found
        assert stems(words) - stems(wanted) <= {"voice", "whil", "as", "play"}, found


@pytest.mark.parametrize("unnamed", ["other noises", "background noise", "some other sounds"])
@pytest.mark.parametrize("said", ["A man speaking", "A man speaks", "A person talking"])
def test_a_sound_of_no_kind_comes_and_goes_too(
    unnamed: str, said: str, alike: partial[float]
) -> None:
    for link in ("over", "with"):
        whole = f"A man speaking {link} {unnamed}."
        assert asked(whole, f"{said}.", "", alike)[2:] == ("", f"{link} {unnamed}")
        assert asked(f"{said}.", whole, "", alike)[2:] == (f"{link} {unnamed}", "")


def test_captions_in_other_words_leave_it_to_the_instruction(alike: partial[float]) -> None:
    found = asked("A dog barks over rain.", "Dog barking over rain.", "Remove the dog.", alike)

    assert (found.added, found.removed) == ("", "the dog")


@pytest.mark.parametrize("likeness", [0.0, 0.5, 1.0])
def test_links_that_join_nothing_are_read(likeness: float) -> None:
    pieces = [*("a dog", "noise", "other noises", "rain falls", "speech", "the", "of", "while")]
    pieces += [*("and", "with", "over", ",", ", ", "as", "then", "  ", ".", "near", "noise,")]
    draw = random.Random(0)
    for _ in range(5000):
        first, second = (" ".join(draw.choices(pieces, k=draw.randint(1, 7))) for _ in range(2))
        asked(first, second, "", lambda *_: likeness)


@pytest.mark.parametrize("kind", ["sounds", "names of one"])
def test_many_sounds_and_many_names_are_not_compared(kind: str) -> None:
    sounds = " and ".join(f"{subject} {verb}" for ((subject, verb, _), *_), _ in WORDS.values())
    caption = {"sounds": sounds, "names of one": ", ".join(["car horn", "honking"] * 40)}[kind]
    compared: list[tuple[str, ...]] = []

    def alike(*names: str) -> float:
        compared.append(names)
        return 0.0

    assert asked("It is raining.", caption, "", alike).target_caption == caption
    assert len(compared) < 100


def test_phrases_of_one_class_are_alike_and_of_two_are_not(alike: partial[float]) -> None:
    said = [
        [*(f"{subject} {verb}" for subject, verb, _ in clauses), *names]
        for clauses, names in WORDS.values()
    ]
    same = [alike(x, y) for phrases in said for x, y in combinations(phrases, 2)]
    other = [alike(p[0], q[-1]) for p, q in combinations(said, 2)]

    assert np.mean(np.array(same) >= 0.35) > 0.75
    assert np.mean(np.array(other) >= 0.35) < 0.01

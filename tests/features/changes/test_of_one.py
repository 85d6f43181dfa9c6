"""The level of one of several sounds, in words and in frames."""

from __future__ import annotations

import numpy as np
import pytest

from auditeval.features.alignment import align
from auditeval.features.changes.made import HEARD
from auditeval.features.changes.of_one import exchanged, levels, one_of, steps_of_one
from auditeval.features.turning import Turn

RAIN = "Rain falls while a dog barks."
SONG = "A man speaks over background music."
PATCH, HOP = 96, 48  # frames


@pytest.mark.parametrize(
    ("caption", "instruction", "one"),
    [
        (RAIN, "Make the dog louder.", "a dog barks"),
        (RAIN, "Turn down the rain.", "Rain falls"),
        (RAIN, "Turn the barking up a bit.", "a dog barks"),
        (RAIN, "Make the dog softer than the rain.", "a dog barks"),
        (RAIN, "Reduce the rain so the dog can be heard.", "Rain falls"),
        (RAIN, "Make the dog louder without touching the rain.", "a dog barks"),
        (RAIN, "Make it louder.", None),
        (RAIN, "Make the dog louder and the rain quieter.", None),
        ("A dog barks.", "Make the dog louder.", None),
        (SONG, "Turn the music down.", "background music"),
        (SONG, "Make the man's voice louder.", "A man speaks"),
    ],
)
def test_which_sound_is_meant(caption: str, instruction: str, one: str | None) -> None:
    found = one_of((caption, caption, instruction))
    assert (found and found[0]) == one


def test_captions_that_differ_in_one_sound_mean_it() -> None:
    loud = "Rain falls while a dog barks loudly."
    assert one_of((RAIN, loud, "")) == ("a dog barks", "Rain falls")
    for other in ("Rain falls while a cat meows.", "Rain falls."):
        assert one_of((RAIN, other, "")) is None


def way(text: str) -> int:
    """A stand-in for what the regression makes of a text."""
    up = any(word in text for word in ("loud", "up", "raise", "boost"))
    down = any(word in text for word in ("quiet", "soft", "down", "lower", "reduce"))
    return up - down


@pytest.mark.parametrize(
    ("caption", "instruction", "found"),
    [
        (RAIN, "Make the dog louder and the rain softer.", ("a dog barks", "Rain falls")),
        (RAIN, "Turn the rain up and the dog down.", ("Rain falls", "a dog barks")),
        (RAIN, "Raise the dog, lower the rain.", ("a dog barks", "Rain falls")),
        (RAIN, "The rain softer, the barking louder.", ("a dog barks", "Rain falls")),
        (
            SONG,
            "Make the vocals louder and the music softer.",
            ("A man speaks", "background music"),
        ),
        (RAIN, "Make the dog louder and the rain louder.", None),
        (RAIN, "Make the dog louder than the rain.", None),
        (RAIN, "Make it louder and softer.", ("", "")),
        (RAIN, "Make the cat louder and the bird softer.", ("", "")),
        ("Music plays.", "Make the drums louder and the bass softer.", ("", "")),
    ],
)
def test_levels_that_change_places(
    caption: str, instruction: str, found: tuple[str, str] | None
) -> None:
    assert exchanged((caption, caption, instruction), way) == found


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("Loud rain, soft dog.", "Soft rain, loud dog.", ("soft dog", "Loud rain")),
        (
            "Heavy rain and a quiet dog.",
            "Light rain and a loud dog.",
            ("a quiet dog", "Heavy rain"),
        ),
        ("Loud rain, soft dog.", "Soft rain, soft dog.", None),
        ("Loud rain, soft dog.", "Loud dog.", None),
        ("Loud rain, soft dog.", "Soft rain, loud cat.", None),
    ],
)
def test_captions_whose_levels_change_places(
    before: str, after: str, found: tuple[str, str] | None
) -> None:
    assert exchanged((before, after, ""), way) == found


def frames(event_db: float, bed_db: float) -> np.ndarray:
    """5 s of a bed, and an event of 0.8 s in half of the bands :: dB (500, 64)."""
    power = np.full((500, 64), 10 ** ((bed_db - 40) / 10))
    power[200:280, :32] += 10 ** ((event_db - 30) / 10)
    texture = np.random.default_rng(1).uniform(-1, 1, power.shape)
    return (10 * np.log10(power) + texture).astype(np.float32)


@pytest.mark.parametrize(("event_db", "bed_db"), [(8, 0), (-8, 0), (0, 8), (0, -8), (6, 6)])
def test_each_sound_has_the_level_that_it_was_given(event_db: float, bed_db: float) -> None:
    starts = np.arange(0, 500 - PATCH + 1, HOP)
    there = np.array([min(280, x + PATCH) - max(200, x) > 0 for x in starts], np.float32)
    original = {
        "joint": np.stack([5 * there, 3 - there], axis=1),
        "span": np.stack([starts, starts + PATCH], axis=1),
    }
    alignment = align(frames(0, 0), frames(event_db, bed_db))
    event, bed = np.eye(2, dtype=np.float32)
    found = levels(original, alignment, event, bed)
    # Where both sound neither is heard alone: an event that sinks into its bed falls less.
    assert found == pytest.approx((event_db, bed_db), abs=2.5)
    assert levels(original, alignment, bed, event) == pytest.approx(found[::-1] if found else None)
    # Of a clip of twice that length, which was to be as fast as this and is.
    longer = {**original, "span": 2 * original["span"]}
    faster = alignment._replace(turn=Turn(octaves=1.0))
    assert levels(longer, faster, event, bed) == found


def test_where_no_time_tells_them_apart_nothing_is_known() -> None:
    starts = np.arange(0, 500 - PATCH + 1, HOP)
    same = {
        "joint": np.ones((len(starts), 2), np.float32),
        "span": np.stack([starts, starts + PATCH], axis=1),
    }
    short = {name: rows[:3] for name, rows in same.items()}
    event, bed = np.eye(2, dtype=np.float32)
    steady = np.tile(np.linspace(-40, -20, 64, dtype=np.float32), (500, 1))
    tilted = steady + np.linspace(0, 9, 64, dtype=np.float32)
    assert levels(same, align(steady, tilted), event, bed) is None
    assert levels(short, align(steady, tilted), event, bed) is None


def test_what_is_done_to_all_is_half_of_it_and_to_the_other_less_than_nothing() -> None:
    made = np.ones(len(HEARD), np.float32)
    louder, noisier = HEARD.index("louder"), HEARD.index("noisier")
    alone, both, other = (steps_of_one(made, *x) for x in ((9.0, 0.0), (9.0, 9.0), (0.0, 9.0)))
    assert alone[louder] == 3.0
    assert both[louder] == 1.5
    assert other[louder] == -1.5
    assert alone[noisier] == 0.0
    quieter = steps_of_one(made, -9.0, 0.0)
    assert quieter[HEARD.index("softer")] == 3.0


def test_where_levels_are_to_change_places_each_of_them_is_half() -> None:
    made = np.ones(len(HEARD), np.float32)
    louder, softer = HEARD.index("louder"), HEARD.index("softer")
    right, one, both, other = (
        steps_of_one(made, *x, apart=True)[[louder, softer]]
        for x in ((9.0, -9.0), (9.0, 0.0), (9.0, 9.0), (-9.0, 9.0))
    )
    assert right.tolist() == [3.0, -3.0]
    assert one.tolist() == [1.5, -1.5]
    assert both.tolist() == [0.0, 0.0]
    assert other.tolist() == [-3.0, 3.0]

"""What an edit leaves of the sounds that a caption names."""

from __future__ import annotations

import time

import pytest

from auditeval.features.asked import Asked, asked

TWO = "A dog barks while rain falls."


@pytest.mark.parametrize(
    ("caption", "instruction", "target"),
    [
        (TWO, "Remove the dog.", "rain falls"),
        (TWO, "Remove the rain.", "A dog barks"),
        (TWO, "Remove the dog and the rain.", "silence"),
        (TWO, "Keep only the rain.", "rain falls"),
        (TWO, "Replace the dog with a cat.", "rain falls and a cat"),
        (TWO, "Add a siren.", "A dog barks while rain falls and a siren"),
        ("A dog barks. Rain falls.", "Remove the dog.", "Rain falls"),
        ("Rain; dog barking", "Remove the dog", "Rain"),
        (TWO, '"Remove the dog."', "rain falls"),
        (TWO, "Replace the dog w/ a cat w/o changing the rain", "rain falls and a cat"),
        ("Rain.", "Add music to make it sound happier.", "Rain and music"),
        ("Rain; an aeroplane", "Remove the airplanes", "Rain"),
        ("rain + dog", "Remove the dog", "rain"),
        ("Rain, loud thunder", "Remove the thunder", "Rain"),
        ("A low, loud voice and rain.", "Remove the rain.", "A low, loud voice"),
        ("A fast and loud engine.", "Add rain.", "A fast and loud engine and rain"),
        ("Music plays in the background as a man speaks.", "Remove the music.", "a man speaks"),
        (
            "Music plays in the background as a man speaks.",
            "Remove the speech.",
            "Music plays in the background",
        ),
        ("A woman speaks over loud traffic noise.", "Remove the traffic noise.", "A woman speaks"),
        ("A woman speaks over loud traffic noise.", "Mute the woman.", "loud traffic noise"),
        ("A woman sings over an acoustic guitar", "Remove the guitar", "A woman sings"),
        ("A woman sings with a piano", "Keep only the singing", "A woman sings"),
        ("A woman sings with joy", "Add a piano", "A woman sings with joy and a piano"),
        ("Thunder rumbles during heavy rain.", "Remove the thunder.", "heavy rain"),
        ("Thunder rumbles during heavy rain.", "Remove the rain.", "Thunder rumbles"),
        ("An engine idles near a barking dog.", "Remove the engine.", "a barking dog"),
        ("A baby cries loudly in a quiet room.", "Remove the baby.", "silence"),
        ("A dog barks in the distance", "Remove the dog", "silence"),
        (
            "Footsteps on gravel, birds singing, distant traffic.",
            "Remove the traffic.",
            "Footsteps on gravel and birds singing",
        ),
        ("Vehicle horn, car horn, honking", "Remove the horn.", "silence"),
        ("A crowd cheers as fireworks explode.", "Change the fireworks to thunder.",
         "A crowd cheers and thunder"),
        ("A man and a woman are talking.", "Remove the woman.", "A man"),
        ("Guitar and vocals", "Remove vocals", "Guitar"),
    ],
)  # fmt: skip
def test_an_instruction_leaves_the_other_sounds(
    caption: str, instruction: str, target: str
) -> None:
    read = asked(caption, caption, instruction)
    assert " ".join(read.target_caption.split()) == target
    assert read.original_caption == caption.strip(".")


def test_what_the_caption_does_not_name_is_in_the_original_all_the_same() -> None:
    read = asked("Music.", "Music.", "Remove the dog and add a cat.")
    assert read == Asked("Music and the dog", "Music and a cat", "a cat", "the dog")
    hum = asked("A voice.", "A voice.", "Remove the hum in the voice.")
    assert hum.target_caption == "A voice"


@pytest.mark.parametrize(
    ("captions", "instruction", "read"),
    [
        (("", ""), "Add a dog.", ("audio", "audio and a dog")),
        (("Rain.", "  "), "Add a dog.", ("Rain", "Rain and a dog")),
        (("", "Rain."), "Add a dog.", ("audio", "audio and a dog")),
        (("", ""), "Make it louder.", ("audio", "audio")),
        (("Rain.", "Rain."), "Make it louder.", ("Rain.", "Rain.")),
        (("", "Rain."), "", ("", "Rain.")),
        (("Rain.", "Rain and a cat."), "Add a dog.", ("Rain.", "Rain and a cat.")),
    ],
)
def test_where_an_instruction_stands_for_captions(
    captions: tuple[str, str], instruction: str, read: tuple[str, str]
) -> None:
    assert asked(*captions, instruction)[:2] == read


def test_a_long_caption_takes_no_time() -> None:
    started = time.perf_counter()
    for caption in ("a dog, " * 20_000, "a " * 50_000, "a, b c d e" * 9_000):
        asked(caption, caption, "Remove the dog.")
    assert time.perf_counter() - started < 10

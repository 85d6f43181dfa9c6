"""Which sounds an edit is to add and to take away, by captions and by an instruction alone."""

from __future__ import annotations

import pytest

from auditeval.features.asked import asked_words

CAPTION = "Rain falls on a roof."


@pytest.mark.parametrize(
    ("instruction", "added", "removed"),
    [
        ("Add a dog barking.", "a dog barking", ""),
        ("Insert the sound of church bells at the end of the clip", "church bells", ""),
        ("Can you mix in some birdsong?", "some birdsong", ""),
        ("Overlay a siren onto the recording", "a siren", ""),
        ("Remove the music.", "", "the music"),
        ("Get rid of the dog barking in the background!", "", "the dog barking"),
        ("delete the sound of rain from this audio", "", "rain"),
        ("Please take out the siren", "", "the siren"),
        ("Mute the crowd.", "", "the crowd"),
        ("Replace the dog barking with a cat meowing.", "a cat meowing", "the dog barking"),
        ("Swap the piano for a violin", "a violin", "the piano"),
        ("Change the rain to hail", "hail", "the rain"),
        ("Put a trumpet instead of the flute.", "a trumpet", "the flute"),
        ("Remove the siren and add a bell.", "a bell", "the siren"),
        ("Make it louder.", "", ""),
        ("Slow down the speech.", "", ""),
        ("Whisper it.", "", ""),
        ("", "", ""),
    ],
)
def test_sounds_of_an_instruction(instruction: str, added: str, removed: str) -> None:
    assert asked_words(CAPTION, CAPTION, instruction) == (added, removed)


def test_captions_that_differ_say_it_alone() -> None:
    asked = asked_words(CAPTION, f"{CAPTION[:-1]} and a dog barks.", "Add a cat.")
    assert asked == ("and a dog barks", "")

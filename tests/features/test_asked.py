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
        ("Take the dog barking out of the recording", "", "the dog barking"),
        ("Filter the hum out", "", "the hum"),
        ("I want you to remove the dog", "", "the dog"),
        ("Add rain, then remove the dog", "rain", "the dog"),
        ("Add a dog barking without removing the rain.", "a dog barking", ""),
        ("Add a dog barking. Do not remove the rain.", "a dog barking", ""),
        ("Keep the rain and delete the dog", "", "the dog"),
        ("Delete: dog bark", "", "dog bark"),
        ("After the thunder add a bell", "a bell", ""),
        ("From 2 to 4 s add a beep", "a beep", ""),
        ("Before the dog barks, remove the rain", "", "the rain"),
        ("REPLACE: dog bark with a meow", "a meow", "dog bark"),
        ("Add siren; remove dog.", "siren", "dog"),
        ("Remove the dog. Add a cat.", "a cat", "the dog"),
        ("Remove the dog. Make the rain louder.", "", "the dog"),
        ("Remove the dog and make the rain louder", "", "the dog"),
        ("Add a dog barking but remove the rain", "a dog barking", "the rain"),
        ("Substitute a rooster for the dog bark", "a rooster", "the dog bark"),
        ("Add water drops falling on a tin roof.", "water drops falling on a tin roof", ""),
        ("Add a bass drop at the end", "a bass drop", ""),
        ("Make the water drops louder", "", ""),
        ("Remove everything except the dog", "", ""),
        ("Turn the volume down by half.", "", ""),
        ("Turn down the volume by 6 dB.", "", ""),
        ("Drop the pitch by two semitones", "", ""),
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

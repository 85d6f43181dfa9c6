"""Which sounds an edit is to add and to take away, by captions and by an instruction alone."""

from __future__ import annotations

import pytest

from auditeval.features.asked import asked, asked_words

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
        ("Let a cat meow instead of the flute.", "a cat meow", "the flute"),
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
        ("Drop the pitch an octave", "", ""),
        ("Reomve the dog, add siren + lower the pitch", "siren", "the dog"),
        ("Make it louder.", "", ""),
        ("Slow down the speech.", "", ""),
        ("Whisper it.", "", ""),
        ("", "", ""),
    ],
)
def test_sounds_of_an_instruction(instruction: str, added: str, removed: str) -> None:
    assert asked_words(CAPTION, CAPTION, instruction) == (added, removed)


@pytest.mark.parametrize(
    ("before", "after", "added", "removed"),
    [
        ("Music with vocals.", "Music without vocals.", "", "with vocals"),
        ("Music without vocals.", "Music with vocals.", "with vocals", ""),
        ("A dog barks, no rain.", "A dog barks, rain.", "rain", ""),
        ("A dog barks.", "A dog barks, and no rain.", "", "rain"),
        ("A dog barks, no rain.", "A dog barks.", "", ""),
        ("No rain, a dog barks.", "A dog barks, no rain.", "", ""),
        ("A child laughs and a man talks", "A man talks, no child", "", "a child laughs and"),
        (
            "Street noise with a car horn",
            "Street noise without the car horn",
            "",
            "with a car horn",
        ),
        ("A man says yes.", "A man says no.", "no", "yes"),
        ("A dog barks.", "A dog barks without echo.", "without echo", ""),
    ],
)
def test_what_a_caption_denies_is_not_there(
    before: str, after: str, added: str, removed: str
) -> None:
    assert asked_words(before, after, "") == (added, removed)


def test_captions_that_differ_say_it_alone() -> None:
    asked = asked_words(CAPTION, f"{CAPTION[:-1]} and a dog barks.", "Add a cat.")
    assert asked == ("and a dog barks", "")


THREE = "Rain falls while a dog barks and a car passes by."


@pytest.mark.parametrize(
    ("instruction", "added", "removed"),
    [
        # Several orders, or several of each.
        *(
            (text, "a cat and wind", "the dog and the rain")
            for text in (
                "Replace the dog with a cat and the rain with wind.",
                "Swap the dog for a cat, and the rain for wind",
                "Substitute a cat for the dog and wind for the rain",
                "Replace the dog with a cat. Replace the rain by wind.",
                "the dog -> a cat, the rain -> wind",
            )
        ),
        (
            *("Change the dog to a bird, the car to a bike and the rain to wind",),
            *("a bird and a bike and wind", "the dog and the car and the rain"),
        ),
        ("Replace the dog with a puppy and a kitten", "a puppy and a kitten", "the dog"),
        ("Replace the dog with a man and a woman talking", "a man and a woman talking", "the dog"),
        ("Remove the dog. Also remove the car. Then add a bell.", "a bell", "the dog and the car"),
        ("Remove the rain and replace it with a stream", "a stream", "the rain"),
        *(
            (text, "a bell", "the dog")
            for text in (
                "First remove the dog, second add a bell",
                "1. Remove the dog. 2. Add a bell.",
                "(1) remove the dog (2) add a bell",
                "Remove the dog & add a bell",
                "Remove the dog / add a bell",
            )
        ),
        # What is not meant.
        ("Remove the dog, not the rain.", "", "the dog"),
        ("Remove the car but not the dog", "", "the car"),
        ("Add a bell but not a horn", "a bell", ""),
        ("Add nothing, remove nothing", "", ""),
        ("Keep the dog but not the rain.", "", "the rain"),
        ("Remove half of the rain", "", ""),
        ("Cut the rain by half", "", ""),
        # What is there, and what is to come beside it.
        ("Swap the dog and the cat.", "the cat", "the dog"),
        ("Swap the dog and the rain.", "", ""),
        ("Put the dog in a big hall.", "", ""),
        ("Add thunder after the dog barks", "thunder", ""),
        ("Add wind to the rain.", "wind", ""),
        ("Add a bell at the start and a siren at the end.", "a bell and a siren", ""),
        ("[remove] the dog", "", "the dog"),
        ("Make the dog howl instead of bark", "the dog howl", "bark"),
        ("Make the dog louder instead of quieter", "", ""),
        ('Cut "faster" out of the sentence', "", "faster"),
        ("Remove the rain, replace with a stream", "a stream", "the rain"),
        ("Remove the second sound", "", "a dog barks"),
        ("Remove the last sound", "", "a car passes by"),
        (
            "Replace the whole thing with a forest",
            "a forest",
            "rain falls and a dog barks and a car passes by",
        ),
        ("Substitute the dog for a cat", "a cat", "the dog"),
        ("Sub the dog with a cat", "a cat", "the dog"),
        ("Add, in the background, a cheering crowd", "a cheering crowd", ""),
        ("There is nothing to add here", "", ""),
        ("Please don't remove anything, just loop it", "", ""),
        ("Take the edge off", "", ""),
        ("Imagine he is far away", "", ""),
        ("Change everything to mono", "", ""),
        ("Put the dog a little further away", "", ""),
        # What was named before.
        ("I can hear a dog, please get rid of it", "", "a dog"),
        ("The dog is distracting, please take it out", "", "the dog"),
        ("There's a car passing by; I don't want it.", "", "a car passing by"),
        ("Separate out the dog and remove it", "", "the dog"),
        ("Change the animal from a dog to a cat", "a cat", "a dog"),
        ("Change it from a dog to a cat", "a cat", "a dog"),
        ("Bring in thunder, drop the dog", "thunder", "the dog"),
        ("Add thunder in the background and birds chirping", "thunder and birds chirping", ""),
        ("Add thunder in the background and touch nothing", "thunder", ""),
        ("Add thunder and fade it out", "thunder", ""),
        ("Add thunder, pull the dog", "thunder", ""),
        ("Replace it with a cat", "", ""),
        # When it is to be.
        ("Fade out at the end", "", ""),
        ("Cut out before the thunder", "", ""),
        ("Swap out after the thunder", "", ""),
        ("Lose by the end", "", ""),
        ("Lose the rain at the end", "", "the rain"),
        ("Add a gunshot between 3 and 5 seconds", "a gunshot", ""),
        ("Drop in a door slam at 3 seconds", "a door slam", ""),
        ("Insert a bell at 0:03", "a bell", ""),
        ("Mute the dog from 1 s to 2 s", "", "the dog"),
        ("Stop the rain after two seconds.", "", "the rain"),
        ("The car should drop out halfway", "", "the car"),
        # Wishes.
        ("What if there were thunder?", "thunder", ""),
        ("Imagine a train in the distance", "a train", ""),
        ("What would it sound like without the rain?", "", "the rain"),
        ("Edit the audio so the dog is gone", "", "the dog"),
        ("The dog stops barking", "", "the dog"),
        ("The dog should no longer be audible", "", "the dog"),
        ("can't stand the dog", "", "the dog"),
        ("- dog", "", "dog"),
        ("What if instead of the dog we had a cat?", "a cat", "the dog"),
        ("Couldn't there be thunder?", "thunder", ""),
        ("A gunshot should follow the barking", "a gunshot", ""),
        ("Could an owl hoot somewhere in the middle?", "an owl", ""),
        ("There is a dog, ditch it.", "", "a dog"),
        ("Change the pitch from low to high", "", ""),
        ("Change the key from C major to A minor", "", ""),
        ("Fade in over three seconds.", "", ""),
        ("Dog gone. Birds in.", "birds", "dog"),
        ("Rain gone, the dog stays", "", "rain"),
        ("Dog yes, rain no.", "", "rain"),
        ("Fade out.", "", ""),
        ("Take the rain off", "", "the rain"),
        ("Can you hear that dog? Please remove it", "", "that dog"),
        ("The dog is annoying, nuke it", "", "the dog"),
        ("dont want the dog", "", "the dog"),
        ("+thunder, -dog", "thunder", "dog"),
        ("A bit of thunder would help", "a bit of thunder", ""),
        ("Give me a version with thunder and no dog", "thunder", "dog"),
        ("can u remove the dog pls", "", "the dog"),
        ("After the car passes, a horn should honk", "a horn", ""),
        ("Thunder at the end, please", "thunder", ""),
        ("Rain in the background", "", ""),
        ("Fill the silence with crickets", "crickets", ""),
        ("+thunder", "thunder", ""),
        ("- dog + cat", "cat", "dog"),
        ("Dog out, bird in.", "bird", "dog"),
        ("car off", "", "car"),
        ("Make the dog a bird.", "a bird", "the dog"),
        ("I'd like the car to be a truck", "a truck", "the car"),
        ("Let the rain turn into hail", "hail", "the rain"),
        ("A cat rather than a dog", "a cat", "a dog"),
        ("Put the sound of waves where the rain was", "waves", "the rain"),
        ("Where there is rain, put waves", "waves", "rain"),
        ("Let a bird take the place of the dog", "a bird", "the dog"),
        ("Everything should stay the same except that the dog is gone", "", "the dog"),
        # All but one.
        ("Delete everything that is not rain", "", "a dog barks and a car passes by"),
        ("Strip everything away but the dog", "", "rain falls and a car passes by"),
        ("Extract: the dog", "", "rain falls and a car passes by"),
        ("Keep the dog. Everything else can go.", "", "rain falls and a car passes by"),
        ("Make it just the dog", "", "rain falls and a car passes by"),
        ("Too much going on. Dog only.", "", "rain falls and a car passes by"),
    ],
)
def test_orders_and_wishes_of_three_sounds(instruction: str, added: str, removed: str) -> None:
    assert asked_words(THREE, THREE, instruction) == (added, removed)


@pytest.mark.parametrize(
    ("caption", "instruction", "added", "removed"),
    [
        ("A dog barks.", "Replace it with a cat.", "a cat", "a dog barks"),
        ("A dog barks.", "Turn it into a wolf howling", "a wolf howling", "a dog barks"),
        ("A hen clucks in a barn.", "Swap that for a duck", "a duck", "a hen clucks in a barn"),
        ("A toilet flushes.", "Make that a waterfall instead", "a waterfall", "a toilet flushes"),
        ("A drill.", "Replace with: ocean waves", "ocean waves", "a drill"),
        ("A dog barks.", "Swap it to the other channel", "", ""),
        ("A dog barks.", "Turn it into a loop", "", ""),
        ("A dog barks.", "Turn it into a whisper", "", ""),
        ("Piano music.", "Replace it with a violin", "a violin", "piano music"),
        ("A plane takes off.", "Turn it into a rocket", "a rocket", "a plane takes off"),
        # How it sounds as much as what.
        ("Piano music.", "Turn it into a lullaby", "", ""),
        ("A man speaks.", "Turn it into a phone call", "", ""),
    ],
)
def test_the_only_sound_of_a_caption_is_meant_by_it(
    caption: str, instruction: str, added: str, removed: str
) -> None:
    assert asked_words(caption, caption, instruction) == (added, removed)


@pytest.mark.parametrize(
    ("instruction", "added", "removed"),
    [
        ("Have a violin play the saxophone's part", "a violin", "the saxophone"),
        ("Give the saxophone part to a clarinet", "a clarinet", "the saxophone"),
        ("Remove every instrument except the drums", "", "bass and a saxophone"),
    ],
)
def test_parts_of_a_band(instruction: str, added: str, removed: str) -> None:
    caption = "A band plays with drums, bass and a saxophone."
    assert asked_words(caption, caption, instruction) == (added, removed)


@pytest.mark.parametrize(
    "instruction",
    [
        "I hear clipping, please remove it",
        "There's an echo. Remove it.",
        "The voice is too loud. Cut it down a bit.",
        "A woman should speak slower",
        "I want the piano to be a little brighter",
        "Make the piano a bit quieter",
        "Make the woman a man",
        "Make the recording a bit drier",
        "Make the recording sound like it is in a cathedral",
        "Piano louder at the end",
        "Softly in the background",
        "A faster pace should help",
        "+3 dB",
        "-3 dB at 2 s",
        "Have the piano play the line faster",
        "Cut off the end",
        "fade in, fade out",
    ],
)
def test_how_it_sounds_is_no_sound(instruction: str) -> None:
    caption = "A woman speaks softly while a piano plays in a room."
    assert asked_words(caption, caption, instruction) == ("", "")


def test_what_one_key_or_tempo_differs_in_is_not_one_sound_in_other_words() -> None:
    for before, after, added in (
        ("Drums at 100 bpm.", "Drums at 120 bpm.", "at 1.2 times the speed"),
        ("A waltz in C major.", "A waltz in D major.", "transposed up by 2 semitones"),
    ):
        assert asked(before, after, "", alike=lambda *_: 1.0)[1:] == (after, added, "")

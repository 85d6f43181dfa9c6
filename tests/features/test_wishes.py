"""What is wished here, away, or in the place of another, however it is said."""

from __future__ import annotations

import time

import pytest

from auditeval.features.asked import asked_words
from auditeval.features.wishes import wished, wishes_event

ONE, TWO = "Rain falls on a roof.", "Rain falls while a dog barks."


@pytest.mark.parametrize(
    ("instruction", "new"),
    [
        ("I would like to hear a dog barking in the background", "a dog barking"),
        ("There should be a dog barking", "a dog barking"),
        ("Generate a dog barking", "a dog barking"),
        ("Give me a dog barking", "a dog barking"),
        ("Let there be a dog barking", "a dog barking"),
        ("I want a dog to bark", "a dog bark"),
        ("Could you possibly add a siren?", "a siren"),
        ("I was wondering if you could bring in a church bell.", "a church bell"),
        ("Would you be so kind as to include some birdsong?", "some birdsong"),
        ("Would you mind adding a dog barking?", "a dog barking"),
        ("How about adding some thunder?", "some thunder"),
        ("How about a dog barking at the end?", "a dog barking"),
        ("What about some birdsong?", "some birdsong"),
        ("Can we have a siren in the background?", "a siren"),
        ("Can we get some applause at the end?", "some applause"),
        ("Could I have a cat meowing, please?", "a cat meowing"),
        ("Why not have a bell ring?", "a bell ring"),
        ("Let's add a train passing.", "a train passing"),
        ("Let's have some thunder.", "some thunder"),
        ("Let me hear a cat meowing.", "a cat meowing"),
        ("A dog barking should be added.", "a dog barking"),
        ("A siren should be heard in the background.", "a siren"),
        ("Could a dog barking be added?", "a dog barking"),
        ("A bell needs to be inserted at the beginning", "a bell"),
        ("It needs some thunder.", "some thunder"),
        ("This recording could use a bit of birdsong.", "a bit of birdsong"),
        ("The clip should contain a car horn.", "a car horn"),
        ("I'd love to hear crickets.", "crickets"),
        ("We need a doorbell in there.", "a doorbell"),
        ("I want a man to cough.", "a man cough"),
        ("I'd like a dog barking added.", "a dog barking"),
        ("I'd like to have a siren added to this.", "a siren"),
        ("We should hear footsteps.", "footsteps"),
        ("Sprinkle in some birdsong.", "some birdsong"),
        ("Sprinkle some birdsong over the rain", "some birdsong"),
        ("Layer a choir over the rain.", "a choir"),
        ("Overlay crickets on top of the rain", "crickets"),
        ("Mix some thunder in.", "some thunder"),
        ("Bring a helicopter in at the end", "a helicopter"),
        ("Put in a doorbell.", "a doorbell"),
        ("Put some thunder in the background.", "some thunder"),
        ("Drop in a cash register sound.", "a cash register sound"),
        ("Throw in a gunshot", "a gunshot"),
        ("Superimpose a siren.", "a siren"),
        ("Introduce a crying baby halfway through.", "a crying baby halfway through"),
        ("Adding a duck quacking would be nice.", "a duck quacking"),
        ("Blend in some applause.", "some applause"),
        ("Is it possible to have a train horn?", "a train horn"),
        ("Create the sound of breaking glass.", "breaking glass"),
        ("Please insert: a dog barking.", "a dog barking"),
        ("Could there be a dog barking?", "a dog barking"),
        ("Make sure there is a dog barking.", "a dog barking"),
        ("Let a dog bark.", "a dog bark"),
        ("The same thing, but with a dog barking.", "a dog barking"),
        ("I just want a siren.", "a siren"),
    ],
)
def test_a_sound_is_to_come(instruction: str, new: str) -> None:
    assert asked_words(ONE, ONE, instruction) == (new, "")


@pytest.mark.parametrize(
    ("instruction", "gone"),
    [
        ("I don't want to hear the rain", "the rain"),
        ("There should be no rain", "rain"),
        ("without the rain", "the rain"),
        ("No more rain, please", "rain"),
        ("Could you get rid of the dog?", "the dog"),
        ("Would you mind removing the rain?", "the rain"),
        ("How about removing the dog?", "the dog"),
        ("Lose the rain.", "the rain"),
        ("Can we lose the dog barking?", "the dog barking"),
        ("Kill the rain.", "the rain"),
        ("Drop the dog.", "the dog"),
        ("Strip the rain from the recording.", "the rain"),
        ("Strip away the rain", "the rain"),
        ("Clean out the rain.", "the rain"),
        ("Clean the rain out of the recording", "the rain"),
        ("Silence the dog.", "the dog"),
        ("Mute that dog, please.", "that dog"),
        ("The dog should be removed.", "the dog"),
        ("The rain has to go.", "the rain"),
        ("The dog barking needs to be cut.", "the dog barking"),
        ("Can the rain be taken out?", "the rain"),
        ("I'd like the rain gone.", "the rain"),
        ("I want the dog removed.", "the dog"),
        ("I need the dog out.", "the dog"),
        ("Make the rain stop.", "the rain"),
        ("Make the dog disappear.", "the dog"),
        ("Have the rain removed.", "the rain"),
        ("Could you play it without the dog?", "the dog"),
        ("I'd like the same clip with no rain.", "rain"),
        ("I can't stand the dog barking.", "the dog barking"),
        ("Enough of the rain.", "the rain"),
        ("The dog, delete it.", "the dog"),
        ("The rain shouldn't be audible.", "the rain"),
        ("There shouldn't be any rain.", "rain"),
        ("Turn the dog off.", "the dog"),
        ("Do away with the rain.", "the rain"),
        ("Edit out the barking.", "the barking"),
        ("Stop the dog barking", "the dog barking"),
        ("Eliminating the rain is what I want.", "the rain"),
        ("I'd rather not hear the dog.", "the dog"),
        ("We no longer want the rain", "the rain"),
        ("I don't want any dog barking in this.", "dog barking"),
        ("No barking!", "barking"),
        ("I don't want the dog to bark.", "the dog bark"),
        ("I just want the dog gone.", "the dog"),
        ("Keep everything except the dog.", "the dog"),
        ("Leave everything as it is, except the dog.", "the dog"),
        ("I want to hear everything but the dog.", "the dog"),
        ("Everything but the dog.", "the dog"),
        ("Everything except the dog should stay.", "the dog"),
        ("All sounds other than the dog must be kept.", "the dog"),
        ("Dog barking: remove.", "dog barking"),
        ("The same, but without the dog.", "the dog"),
        ("Give me the rain without the dog.", "the dog"),
        ("Make sure there's no dog.", "dog"),
        ("Make the dog stop barking.", "the dog"),
    ],
)
def test_a_sound_is_to_go(instruction: str, gone: str) -> None:
    assert asked_words(TWO, TWO, instruction) == ("", gone)


@pytest.mark.parametrize(
    ("instruction", "new", "gone"),
    [
        ("Swap the dog for a cat.", "a cat", "the dog"),
        ("Swap out the dog for a cat", "a cat", "the dog"),
        ("Trade the rain for wind", "wind", "the rain"),
        ("Switch the dog to a cat", "a cat", "the dog"),
        ("Turn the dog into a cat.", "a cat", "the dog"),
        ("In place of the dog, put a cat.", "a cat", "the dog"),
        ("Instead of the dog, a cat.", "a cat", "the dog"),
        ("Instead of the rain I want to hear a river.", "a river", "the rain"),
        ("I want a cat instead of the dog.", "a cat", "the dog"),
        ("Use a cat meowing in place of the dog", "a cat meowing", "the dog"),
        ("Could we have a cat rather than the dog?", "a cat", "the dog"),
        ("There should be a cat instead of the dog.", "a cat", "the dog"),
        ("The dog should be replaced with a cat.", "a cat", "the dog"),
        ("Can the dog be swapped for a cat?", "a cat", "the dog"),
        ("How about replacing the dog with a cat?", "a cat", "the dog"),
        ("Let the dog turn into a cat.", "a cat", "the dog"),
        ("I'd prefer a cat to the dog.", "a cat", "the dog"),
        ("Let's swap the dog for a cat", "a cat", "the dog"),
        ("Lose the dog and bring in a cat.", "a cat", "the dog"),
        ("No dog, but a cat should be heard.", "a cat", "dog"),
        ("There should be no dog, add a cat.", "a cat", "dog"),
        ("Kill the rain and add thunder", "thunder", "the rain"),
        ("Add a cat. There should be no dog.", "a cat", "dog"),
        ("Make it a cat instead of a dog.", "a cat", "a dog"),
        ("I don't want the dog, I want a cat.", "a cat", "the dog"),
        ("The same clip, but with a cat in place of the dog.", "a cat", "the dog"),
        ("A cat should replace the dog.", "a cat", "the dog"),
        ("Could a cat replace the dog?", "a cat", "the dog"),
        ("dog barking -> cat meowing", "cat meowing", "dog barking"),
        ("Change dog → cat", "cat", "dog"),
        ("Replace the sound of the dog with that of a cat.", "a cat", "the dog"),
    ],
)
def test_one_is_to_take_the_place_of_another(instruction: str, new: str, gone: str) -> None:
    assert asked_words(TWO, TWO, instruction) == (new, gone)


@pytest.mark.parametrize(
    "instruction",
    [
        "Make the dog louder.",
        "I want the dog louder.",
        "There should be more reverb.",
        "I would like a deeper voice.",
        "Give the dog a higher voice.",
        "I don't want it so loud.",
        "I don't want the dog to sound so far away.",
        "Can we have it slower?",
        "Let there be no echo.",
        "How about a bit more bass?",
        "It needs a larger hall.",
        "The volume should be cut.",
        "No change.",
        "No, make it louder.",
        "I don't want to remove the rain.",
        "Do not add anything.",
        "I want to hear a dog from far away.",
        "The rain should stop being so loud.",
        "Stop whispering.",
        "The dog must not be removed.",
        "There should be a dog.",
        "Make it go away from the microphone.",
        "Just the same but louder.",
        "The rain should become hail.",
        "I want the voice without the reverb.",
        "Make sure there is no clipping.",
        "Ensure there are no changes to the rain.",
        "Could there be more bass?",
        "Make everything but the dog quieter.",
        "Everything but the dog should be louder.",
        "Change nothing but the dog.",
        "Let a man say hello.",
        "The same with a higher pitch.",
        "The rain should stop after two seconds.",
        'Make it "blue" rather than "red".',
    ],
)
def test_how_a_sound_sounds_is_no_sound(instruction: str) -> None:
    assert asked_words(TWO, TWO, instruction) == ("", "")


def test_what_sounds_already_is_not_to_come() -> None:
    assert wished("There should be a dog barking.", "A dog barks.") is None
    assert wished("There should be another dog barking.", "A dog barks.") is not None


def test_a_wish_of_how_it_is_to_sound_is_no_mere_event() -> None:
    assert wishes_event("i would like to hear a dog barking")
    assert not wishes_event("i would like to hear a dog barking far away")


@pytest.mark.parametrize(
    "unit", ["I want a ", "there should be no ", "the dog should ", "instead of a ", "overlay a "]
)
def test_long_texts_take_no_time(unit: str) -> None:
    text = (unit * 50_000)[:100_000]
    start = time.process_time()
    asked_words("Rain.", "Rain.", text)
    wishes_event(text[:2000])
    assert time.process_time() - start < 2

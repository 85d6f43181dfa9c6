"""What is to stay alone, and what of a caption is then to go."""

from __future__ import annotations

import time

import pytest

from auditeval.features.asked import asked_words
from auditeval.features.changes.plain import in_plain_words, told_outright
from auditeval.features.described import others
from auditeval.features.kept import kept_alone

TWO = "Rain falls while a dog barks."


@pytest.mark.parametrize(
    "instruction",
    [
        "Keep only the dog",
        "Please keep just the dog barking.",
        "Isolate the dog.",
        "Could you isolate the dog barking?",
        "Extract the dog barking from the recording.",
        "Solo the dog",
        "Remove everything except the dog",
        "Delete all but the dog",
        "Mute everything apart from the dog barking.",
        "Get rid of all sounds other than the dog.",
        "Everything except the dog should go.",
        "Keep the dog and remove everything else.",
        "Keep the dog, mute the rest.",
        "Remove everything else, just keep the dog.",
        "I only want to hear the dog.",
        "I want to hear nothing but the dog.",
        "Only the dog should be heard.",
        "Just the dog, nothing else.",
        "The dog alone, please.",
        "Make the dog the only sound.",
        "Give me only the dog.",
        "I just want the dog.",
        "I just need the dog barking.",
        "The dog only.",
        "Only barking.",
        "Pull the dog out on its own.",
        "Get the dog by itself.",
        "Separate the dog from the rest.",
        "Clean it up so that only the dog is left.",
        "All you should hear is the dog.",
        "The only thing I want to hear is the dog.",
    ],
)
def test_all_but_one_sound_is_to_go(instruction: str) -> None:
    assert asked_words(TWO, TWO, instruction) == ("", "rain falls")


@pytest.mark.parametrize(
    ("caption", "instruction"),
    [
        ("A dog barks.", "Keep only the dog."),
        ("A dog barks and growls.", "Isolate the dog."),
        (TWO, "Keep only the cat."),
        (TWO, "Keep only the dog and the rain."),
        (TWO, "Remove all other sounds."),
        (TWO, "Keep only the first two seconds."),
        (TWO, "Only the dog should be louder."),
        (TWO, "Leave the dog alone."),
        (TWO, "I just want the dog louder."),
        (TWO, "I just want the dog to be quieter."),
        (TWO, "Just louder."),
        (TWO, "Only the first half."),
        (TWO, "Separate the words more clearly."),
        (TWO, "Only the voice, deeper."),
    ],
)
def test_nothing_is_guessed(caption: str, instruction: str) -> None:
    assert asked_words(caption, caption, instruction) == ("", "")


@pytest.mark.parametrize(
    ("caption", "kept", "gone"),
    [
        ("A man speaks over background noise.", "the speech", "background noise"),
        ("Speech with music in the background", "the voice", "music"),
        ("A man talks while a woman laughs", "the man", "a woman laughs"),
        ("Music plays, a man speaks, and a dog barks", "the man and the dog", "music plays"),
        ("A dog barking followed by a siren and thunder", "the siren", "a dog barking and thunder"),
        ("Birds chirp and water runs", "the water", "birds chirp"),
        ("Someone cuts wood with a chainsaw", "the chainsaw", ""),
        ("Wood burns and pops", "the wood", ""),
        ("A car accelerates as it passes", "the car", ""),
        ("A bell rings before fading out", "the bell", ""),
        ("Vehicle horn, car horn, honking", "the horn", ""),
        ("", "the dog", ""),
    ],
)
def test_sounds_of_a_caption(caption: str, kept: str, gone: str) -> None:
    assert others(caption, kept) == gone


@pytest.mark.parametrize(
    "text",
    ["isolate the speech", "extract the speech", "keep only the voice", "solo the whispering man"],
)
def test_what_is_kept_is_no_change_of_it(text: str) -> None:
    assert told_outright(in_plain_words(text)) == "event"


def test_out_of_noise_is_cleaner() -> None:
    told = in_plain_words("isolate the voice from the background noise")
    assert told == "remove the background noise from the voice"


@pytest.mark.parametrize("text", ["remove the dog", "keep the dog", "make the dog louder", ""])
def test_what_keeps_nothing_alone(text: str) -> None:
    assert kept_alone(text) == ""


@pytest.mark.parametrize(
    "unit",
    [
        *("keep the dog and ", "everything but ", "only ", "a ", "rain, a ", "make it "),
        *("it is noisy, ", "there is noise. ", "fix the noisy ", "please ", "she is older "),
    ],
)
def test_long_texts_take_no_time(unit: str) -> None:
    text = (unit * 50_000)[:100_000]
    start = time.process_time()
    asked_words("Rain.", "Rain.", text)
    others(text, "the dog")
    in_plain_words(text)
    assert time.process_time() - start < 2

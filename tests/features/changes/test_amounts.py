"""By how much a change is asked for, as people write amounts."""

from __future__ import annotations

import pytest

from auditeval.features.changes.amounts import find_amount

AMOUNTS = {
    "raise the pitch by two semitones": (2, "semitones"),
    "half a semitone higher": (0.5, "semitones"),
    "one and a half semitones up": (1.5, "semitones"),
    "a semitone and a half lower": (1.5, "semitones"),
    "a 3-semitone shift": (3, "semitones"),
    "up an octave": (12, "semitones"),
    "two octaves down": (24, "semitones"),
    "half an octave": (6, "semitones"),
    "transpose it up a fifth": (7, "semitones"),
    "150 cents flat": (1.5, "semitones"),
    "a whole tone higher": (2, "semitones"),
    "twice as fast": (2, "ratio"),
    "double the speed of the song": (2, "ratio"),
    "play it at 1.5x speed": (1.5, "ratio"),
    "1.3 times as fast": (1.3, "ratio"),
    "three times faster": (3, "ratio"),
    "speed it up by 50 percent": (1.5, "ratio"),
    "20% slower": (0.8, "ratio"),
    "slow down by a third": (2 / 3, "ratio"),
    "half as fast": (0.5, "ratio"),
    "half the speed": (0.5, "ratio"),
    "twice as slow": (0.5, "ratio"),
    "play it at 80% of the speed": (0.8, "ratio"),
    "make it twice as long": (0.5, "ratio"),
    "make it 50% as loud": (0.5, "ratio"),
    "half the length": (2, "ratio"),
    "seventy-five percent faster": (1.75, "ratio"),
    "6 dB louder": (6, "decibels"),
    "turn it down by -6 dB": (6, "decibels"),
    "shift the pitch by -3 semitones": (3, "semitones"),
    "change the speed by -20%": (0.8, "ratio"),
    "ten decibels quieter": (10, "decibels"),
    "a 20% speed increase": (1.2, "ratio"),
    "150 percent volume": (1.5, "ratio"),
    "0.8 speed": (0.8, "ratio"),
    "reduce the speed to a third": (1 / 3, "ratio"),
    "three quarters of the speed": (0.75, "ratio"),
    "the tempo should go from 90 to 120 bpm": (4 / 3, "ratio"),
    "the fundamental frequency goes from 220 Hz to 440 Hz": (12, "semitones"),
    "only what is from 300 to 3400 Hz": None,
    "half a step down": (1, "semitones"),
    "a tone and a half higher": (3, "semitones"),
    "a third of an octave lower": (4, "semitones"),
    "a major third lower": (4, "semitones"),
    "up a minor second": (1, "semitones"),
    "a dB and a half louder": (1.5, "decibels"),
    "raise the level by half": (1.5, "ratio"),
    "slower by a quarter": (0.75, "ratio"),
    "reduce the volume to a third": (1 / 3, "ratio"),
    "a third louder": (4 / 3, "ratio"),
    "play it at .5 speed": (0.5, "ratio"),
    "slow it down from 120 to 96": (0.8, "ratio"),
    "speed it up from 10 to 15 seconds": None,
    "fade it from 100% to 0%": None,
    "make the third car faster": None,
    "set it to -24 dBFS instead of -12": None,
    "pitch up 2": None,
    "make it louder": None,
    "a dog barks three times": None,
    "add a double bass and two dogs": None,
    "remove the fifth word": None,
    'say "two semitones"': None,
    "reduce it by 100%": None,
    "tempo -10%": (0.9, "ratio"),
    "+10% speed": (1.1, "ratio"),
    "volume -50%": (0.5, "ratio"),
    "slow it down by 20% of its speed": (0.8, "ratio"),
    "reduce the speed by a third of the original": (2 / 3, "ratio"),
}


@pytest.mark.parametrize("text", AMOUNTS)
def test_amounts(text: str) -> None:
    found, expected = find_amount(text), AMOUNTS[text]
    if expected is None:
        assert found is None
    else:
        assert found is not None
        assert found == (pytest.approx(expected[0], abs=1e-5), expected[1])

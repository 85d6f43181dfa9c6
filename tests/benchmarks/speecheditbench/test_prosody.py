"""Speed, pitch and stress: known changes of length, f0 and level come out as they were made."""

from __future__ import annotations

import numpy as np
import pytest

from auditeval.audio import Waveform
from auditeval.backends.backend import PitchTrack, Word
from auditeval.benchmarks.speecheditbench.prosody import (
    duration_ratio,
    f0_shift_semitones,
    pitch_succeeds,
    prominence_gain,
    prominences,
    speed_succeeds,
    stress_succeeds,
)
from auditeval.types import Undefined

RATE_HZ = 16000


def clip(seconds: float) -> Waveform:
    return Waveform(np.ones(round(seconds * RATE_HZ), np.float32), RATE_HZ)


@pytest.mark.parametrize(
    ("seconds", "faster", "slower"),
    [(9.0, True, False), (9.5, True, False), (9.6, False, False), (10.5, False, True)],
)
def test_speed(seconds: float, faster: bool, slower: bool) -> None:
    ratio = duration_ratio(clip(10), clip(seconds))
    assert ratio == pytest.approx(seconds / 10)
    assert (speed_succeeds(ratio, "faster"), speed_succeeds(ratio, "slower")) == (faster, slower)


def test_a_length_does_not_depend_on_the_rate() -> None:
    assert duration_ratio(Waveform(np.ones(8000), 8000), clip(1.0)) == 1.0


def track(*f0_hz: float | None) -> PitchTrack:
    return PitchTrack(0.016, f0_hz)


@pytest.mark.parametrize("semitones", [-12.0, -0.3, 0.0, 0.3, 1.0])
def test_a_shift_is_that_of_the_median(semitones: float) -> None:
    source = track(100, None, 110, 400)
    output = track(*(None if f is None else f * 2 ** (semitones / 12) for f in source.f0_hz), None)
    shift = f0_shift_semitones(source, output)
    assert isinstance(shift, float)
    assert shift == pytest.approx(semitones, abs=1e-9)
    assert pitch_succeeds(shift, "higher") == (semitones >= 0.3)  # an exact 0.3 passes
    assert pitch_succeeds(shift, "lower") == (semitones <= -0.3)
    assert not pitch_succeeds(0.299 * np.sign(semitones), "higher")


@pytest.mark.parametrize(
    ("source", "output", "which"),
    [(track(100), track(None), "output"), (track(None), track(100), "source")],
)
def test_no_voice_has_no_pitch_and_never_succeeds(
    source: PitchTrack, output: PitchTrack, which: str
) -> None:
    shift = f0_shift_semitones(source, output)
    assert isinstance(shift, Undefined)
    assert which in shift.reason
    assert not pitch_succeeds(shift, "higher")
    assert not pitch_succeeds(shift, "lower")


def utterance(
    words: list[tuple[float, float, float]], pause: float = 0.1
) -> tuple[Waveform, list[Word], PitchTrack]:
    """Sines of (seconds, amplitude, Hz) with silence between."""
    samples, places, f0, now = [], [], [], 0.0
    for seconds, amplitude, hz in words:
        time = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
        samples += [np.zeros(round(pause * RATE_HZ)), amplitude * np.sin(2 * np.pi * hz * time)]
        places.append(Word("word", now + pause, now + pause + seconds))
        f0 += [None] * round(pause / 0.01) + [hz] * round(seconds / 0.01)
        now += pause + seconds
    waveform = Waveform(np.concatenate(samples).astype(np.float32), RATE_HZ)
    return waveform, places, PitchTrack(0.01, tuple(f0))


def test_words_alike_have_no_prominence() -> None:
    found = prominences(*utterance([(0.3, 0.2, 100)] * 3))
    assert found == pytest.approx([0, 0, 0], abs=1e-3)


LOUDER, HIGHER, LONGER = (0.3, 0.4, 100.0), (0.3, 0.2, 200.0), (0.6, 0.2, 100.0)


@pytest.mark.parametrize(
    ("word", "means"),
    [(LOUDER, (0.3, 0.3, 100)), (HIGHER, (0.3, 0.2, 150)), (LONGER, (0.45, 0.2, 100))],
)
def test_the_formula(word: tuple[float, float, float], means: tuple[float, ...]) -> None:
    _, stressed = prominences(*utterance([(0.3, 0.2, 100), word]))
    seconds, amplitude, hz = np.array(word) / means
    assert stressed == pytest.approx(
        0.5 * np.log(amplitude) + 0.3 * np.log2(hz) + 0.2 * np.log(seconds), abs=2e-3
    )


def test_neither_gain_nor_pauses_count() -> None:
    words = [(0.3, 0.1, 100.0), (0.4, 0.2, 130.0)]
    waveform, places, pitch = utterance(words)
    louder = Waveform(waveform.samples * 4, RATE_HZ)
    expected = pytest.approx(prominences(waveform, places, pitch), abs=1e-3)
    assert prominences(louder, places, pitch) == expected
    assert prominences(*utterance(words, pause=0.5)) == expected


def test_a_word_that_cannot_be_measured_is_undefined() -> None:
    waveform, places, pitch = utterance([(0.3, 0.2, 100), (0.3, 0.2, 100)])
    unvoiced = PitchTrack(0.01, tuple(f if k < 45 else None for k, f in enumerate(pitch.f0_hz)))
    good, bad = prominences(waveform, places, unvoiced)
    assert good == pytest.approx(0, abs=1e-3)
    assert isinstance(bad, Undefined)
    assert "voiced" in bad.reason
    outside = Word("late", waveform.seconds + 1, waveform.seconds + 2)
    silent = Word("pause", 0.0, 0.09)
    for word in (outside, silent):
        assert isinstance(prominences(waveform, [word, *places], pitch)[0], Undefined)
    nothing = PitchTrack(0.01, (None,) * len(pitch.f0_hz))
    assert all(isinstance(p, Undefined) for p in prominences(waveform, places, nothing))
    assert prominences(waveform, [], pitch) == []


def test_gain_of_a_target() -> None:
    missing = Undefined("'word' has no voiced frame")
    assert prominence_gain([0.1, 0.3], [0.5, 0.5]) == pytest.approx(0.3)
    assert isinstance(prominence_gain([0.1], []), Undefined)  # not heard in the output
    assert isinstance(prominence_gain([], [0.1]), Undefined)
    gone = prominence_gain([0.1, 0.1], [9.0, missing])
    assert isinstance(gone, Undefined)
    assert gone.reason == "output: 'word' has no voiced frame"
    assert stress_succeeds([0.1, 0.01])
    for gains in ([], [0.1, 0.0], [0.1, -0.1], [0.1, gone]):
        assert not stress_succeeds(gains)

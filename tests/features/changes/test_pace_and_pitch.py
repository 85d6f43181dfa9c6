"""How much faster and higher: by processors that it has nothing to do with, of many sounds."""

from __future__ import annotations

import librosa
import numpy as np
import pytest

from auditeval.audio import Waveform, resample
from auditeval.data.soundbank import synthesize
from auditeval.features.changes.pace_and_pitch import BINS, RATE_HZ, tones, turned

SOUNDS = ("speech", "piano_notes", "bird_chirp")


@pytest.fixture(scope="module", params=SOUNDS)
def clip(request: pytest.FixtureRequest) -> np.ndarray:
    return (0.3 * synthesize(request.param, 3, 4.0, RATE_HZ)).astype(np.float32)


@pytest.mark.parametrize("semitones", [-5.0, -2.0, 1.0, 4.0])
def test_pitch_is_in_semitones(clip: np.ndarray, semitones: float) -> None:
    made = librosa.effects.pitch_shift(clip, sr=RATE_HZ, n_steps=semitones)
    found = turned(tones(clip), tones(made))
    assert found.semitones == pytest.approx(semitones, abs=0.3)
    assert found.semitones_sure > 0.3
    assert found.pace == pytest.approx(1.0, abs=0.04)


@pytest.mark.parametrize("factor", [0.6, 0.8, 1.25, 1.6])
def test_pace_is_a_ratio(clip: np.ndarray, factor: float) -> None:
    made = librosa.effects.time_stretch(clip, rate=factor)
    found = turned(tones(clip), tones(made))
    assert found.pace == pytest.approx(factor, rel=0.05)
    assert found.pace_sure > 0.5
    assert found.semitones == pytest.approx(0.0, abs=0.3)


@pytest.mark.parametrize("factor", [0.75, 1.3])
def test_a_tape_that_runs_faster_is_both(clip: np.ndarray, factor: float) -> None:
    made = resample(Waveform(clip, RATE_HZ), round(RATE_HZ / factor))
    found = turned(tones(clip), tones(made))
    assert found.pace == pytest.approx(factor, rel=0.06)
    assert found.semitones == pytest.approx(12 * np.log2(factor), abs=0.5)


def test_equal_clips_level_noise_and_silence_turn_nothing(clip: np.ndarray) -> None:
    noise = 0.1 * clip.std() * np.random.default_rng(0).standard_normal(len(clip))
    padded = np.pad(clip, (8000, 3000))
    for made in (clip, 0.2 * clip, (clip + noise).astype(np.float32), padded):
        found = turned(tones(clip), tones(made))
        assert found.pace == pytest.approx(1.0, abs=0.03)
        assert found.semitones == 0.0


def test_of_noise_no_pitch_is_told() -> None:
    first, second = (
        np.random.default_rng(seed).standard_normal(3 * RATE_HZ).astype(np.float32)
        for seed in (0, 1)
    )
    assert turned(tones(first), tones(second)).semitones_sure < 0.2


@pytest.mark.parametrize("length", [1, 50, 4000])
def test_short_clips_and_silence_have_numbers(length: int) -> None:
    for samples in (np.zeros(length), np.random.default_rng(0).standard_normal(length)):
        frames = tones(samples.astype(np.float32))
        assert frames.shape == (-(-length // 320), BINS)
        assert np.isfinite(np.array(turned(frames, frames), float)).all()

"""Pitch trackers on tones and on speech whose pitch is known or was moved."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, TimeoutError
from pathlib import Path

import numpy as np
import pytest

from auditeval.audio import Waveform, decode, resample
from auditeval.backends.backend import Backend, PitchTrack
from auditeval.backends.pitch import Pyin, SwiftF0, compiling
from auditeval.benchmarks.speecheditbench.prosody import f0_shift_semitones, pitch_succeeds
from auditeval.types import Undefined

RATE_HZ = 16000


@pytest.fixture(scope="module", params=[Pyin, SwiftF0])
def tracker(request: pytest.FixtureRequest) -> Backend:
    pytest.importorskip("librosa")
    pytest.importorskip("swift_f0")
    return request.param()


def voice(f0_hz: float, rate_hz: int = RATE_HZ) -> Waveform:
    """A second of glottal pulses, harmonics that fall by 12 dB an octave, between silences."""
    times = np.arange(rate_hz) / rate_hz
    harmonics = np.arange(1, int(3500 / f0_hz))[:, None]
    pulses = (np.sin(2 * np.pi * f0_hz * harmonics * times) / harmonics**2).sum(axis=0)
    pause = np.zeros(rate_hz // 2)
    return Waveform(np.concatenate([pause, 0.2 * pulses, pause]).astype(np.float32), rate_hz)


@pytest.mark.parametrize("f0_hz", [95.0, 220.0])
def test_a_tone_has_its_pitch_and_silence_none(tracker: Backend, f0_hz: float) -> None:
    track = tracker(voice(f0_hz))
    frames = [round(seconds / track.hop_seconds) for seconds in (0.2, 0.6, 1.4, 1.8)]
    voiced = track.f0_hz[frames[1] : frames[2]]
    assert [12 * np.log2(f / f0_hz) for f in voiced] == pytest.approx([0] * len(voiced), abs=0.15)
    assert set(track.f0_hz[: frames[0]] + track.f0_hz[frames[3] :]) == {None}


@pytest.mark.parametrize("semitones", [-1, 1])
def test_a_shift_of_a_tone(tracker: Backend, semitones: int) -> None:
    moved = tracker(voice(120 * 2 ** (semitones / 12), 44100))
    assert f0_shift_semitones(tracker(voice(120)), moved) == pytest.approx(semitones, abs=0.1)


@pytest.fixture(scope="module", params=[4, 5])
def sentence(request: pytest.FixtureRequest, shared_data: Path) -> np.ndarray:
    path = sorted((shared_data / "librispeech10").glob("*.flac"))[request.param]
    return resample(decode(path), RATE_HZ)


def test_a_shift_of_speech(tracker: Backend, sentence: np.ndarray) -> None:
    """Exact where it is played faster; the phase vocoder also moves where speech counts as voiced,
    by which the median of two seconds of speech moves too."""
    import librosa

    source = tracker(Waveform(sentence, RATE_HZ))
    for semitones in (-1, 1):
        played = tracker(Waveform(sentence, round(RATE_HZ * 2 ** (semitones / 12))))
        assert f0_shift_semitones(source, played) == pytest.approx(semitones, abs=0.1)
        moved = librosa.effects.pitch_shift(sentence, sr=RATE_HZ, n_steps=semitones)
        shift = f0_shift_semitones(source, tracker(Waveform(moved.astype(np.float32), RATE_HZ)))
        assert pitch_succeeds(shift, "higher") == (semitones > 0)
        assert pitch_succeeds(shift, "lower") == (semitones < 0)


def test_silence_has_no_pitch(tracker: Backend) -> None:
    for length in (800, RATE_HZ):
        track = tracker(Waveform(np.zeros(length, np.float32), RATE_HZ))
        assert isinstance(f0_shift_semitones(track, track), Undefined)


def test_noise_has_no_pitch() -> None:
    """For SwiftF0; pYIN finds some near the lowest that it may find."""
    noise = 0.1 * np.random.default_rng(0).standard_normal(RATE_HZ)
    assert set(SwiftF0()(Waveform(noise.astype(np.float32), RATE_HZ)).f0_hz) == {None}


def test_a_track_is_a_function_of_the_clip(tracker: Backend) -> None:
    clips = [voice(f0_hz) for f0_hz in (100, 130)]
    alone = [tracker(clip) for clip in clips]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(tracker, clips)) == alone
    assert all(isinstance(track, PitchTrack) for track in alone)
    assert all(f is None or type(f) is float for track in alone for f in track.f0_hz)


def test_settings_are_part_of_the_revision() -> None:
    assert Pyin(50, 500).revision == Pyin().revision != Pyin(75, 500).revision
    assert SwiftF0(50, 500).revision == SwiftF0().revision != SwiftF0(75, 500).revision


def test_the_first_pitch_of_a_process_waits_for_those_that_compile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    librosa, tracker = pytest.importorskip("librosa"), Pyin()
    expected = tracker(voice(220.0))
    with ThreadPoolExecutor(1) as pool:
        with compiling(librosa):
            assert pool.submit(tracker, voice(220.0)).result() == expected
            monkeypatch.setattr(Pyin, "compiled", False)
            waiting = pool.submit(tracker, voice(220.0))
            with pytest.raises(TimeoutError):
                waiting.result(timeout=1.0)
        assert waiting.result() == expected
    assert Pyin.compiled

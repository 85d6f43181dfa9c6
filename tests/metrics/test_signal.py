"""Signal measures: best for identity, worse with noise, blind to a lag."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import signal

from auditeval import audio
from auditeval.data.soundbank import synthesize
from auditeval.metrics.signal import negative_log_spectral_distance, pesq_wideband, stoi
from auditeval.types import Undefined

RATE_HZ = 16000
SNRS_DB = (40, 30, 20, 10, 0)


def wave(samples: np.ndarray, rate_hz: int = RATE_HZ) -> audio.Waveform:
    return audio.Waveform(samples.astype(np.float32), rate_hz)


@pytest.fixture(scope="module")
def clip() -> np.ndarray:
    return synthesize("dog_bark", seed=3, seconds=2.0, rate_hz=RATE_HZ).astype(np.float64)


def at_snr(clip: np.ndarray, snr_db: float) -> audio.Waveform:
    noise = np.random.default_rng(0).standard_normal(len(clip))
    scale = np.sqrt(np.mean(clip**2) / np.mean(noise**2)) * 10 ** (-snr_db / 20)
    return wave(clip + scale * noise)


def test_lsd_of_identity_is_zero_and_a_sign_does_not_count(clip: np.ndarray) -> None:
    assert negative_log_spectral_distance(wave(clip), wave(clip)) == 0.0
    assert negative_log_spectral_distance(wave(clip), wave(-clip)) == 0.0


def test_lsd_falls_with_noise(clip: np.ndarray) -> None:
    values = [negative_log_spectral_distance(wave(clip), at_snr(clip, snr)) for snr in SNRS_DB]
    assert values == sorted(values, reverse=True)
    assert values[0] < 0
    assert values[-1] < values[0] - 5


def test_lsd_of_a_gain_is_the_gain() -> None:
    noise = 0.1 * np.random.default_rng(1).standard_normal(RATE_HZ)
    found = negative_log_spectral_distance(wave(noise), wave(0.5 * noise))
    assert found == pytest.approx(-20 * np.log10(2), abs=1e-3)


@pytest.mark.parametrize("lag", [1, 37, 1600, 8000])
def test_lsd_does_not_see_a_lag(clip: np.ndarray, lag: int) -> None:
    padded = np.concatenate([np.zeros(lag), clip])
    for pair in ((clip, padded), (padded, clip)):
        assert negative_log_spectral_distance(*map(wave, pair)) == pytest.approx(0, abs=1e-4)


def test_lsd_matches_the_formula_written_out(clip: np.ndarray) -> None:
    edited = at_snr(clip, 15)
    powers = []
    for x in (clip.astype(np.float32), edited.samples):
        padded = np.pad(x.astype(np.float64), 256)
        padded = np.pad(padded, (0, -(len(padded) - 512) % 256))
        frames = np.lib.stride_tricks.sliding_window_view(padded, 512)[::256]
        window = signal.get_window("hann", 512)
        powers.append(np.abs(np.fft.rfft(frames * window) / window.sum()) ** 2)
    floor = 1e-8 * max(power.max() for power in powers)
    a, b = (10 * np.log10(np.maximum(power, floor)) for power in powers)
    expected = -np.sqrt(((a - b) ** 2).mean(axis=1)).mean()
    found = negative_log_spectral_distance(wave(clip), edited)
    assert found == pytest.approx(expected, rel=1e-6)


def test_lsd_of_clips_without_an_overlap_is_undefined() -> None:
    impulse = np.zeros(800)
    first, last = impulse.copy(), impulse.copy()
    first[0], last[-1] = 1, 1
    found = negative_log_spectral_distance(wave(first), wave(last))
    assert isinstance(found, Undefined)


def test_pesq_is_best_for_identity_and_falls_with_noise(shared_data: Path) -> None:
    pytest.importorskip("pesq")
    files = sorted((shared_data / "librispeech10").rglob("*.flac"))
    assert files, f"no speech in {shared_data / 'librispeech10'}"
    speech = audio.resample(audio.decode(files[0]), RATE_HZ)[: 4 * RATE_HZ].astype(np.float64)
    identity = pesq_wideband(wave(speech), wave(speech))
    assert identity == pytest.approx(4.644, abs=0.001)  # the end of the scale of P.862.2
    values = [pesq_wideband(wave(speech), at_snr(speech, snr)) for snr in SNRS_DB]
    assert [identity, *values] == sorted([identity, *values], reverse=True)
    assert values[-1] < 1.3


def test_pesq_resamples_what_is_not_at_16_khz(shared_data: Path) -> None:
    pytest.importorskip("pesq")
    files = sorted((shared_data / "librispeech10").rglob("*.flac"))
    speech = audio.resample(audio.decode(files[0]), RATE_HZ)[: 3 * RATE_HZ]
    at_48k = wave(audio.resample(wave(speech), 48000), 48000)
    assert pesq_wideband(wave(speech), at_48k) > 4.5


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of pesq, dividing by the peak
def test_pesq_without_speech_is_undefined() -> None:
    pytest.importorskip("pesq")
    silence = np.zeros(RATE_HZ)
    assert isinstance(pesq_wideband(wave(silence), wave(silence)), Undefined)


def test_pesq_of_silence_in_place_of_speech_is_undefined(clip: np.ndarray) -> None:
    pytest.importorskip("pesq")
    assert isinstance(pesq_wideband(wave(clip), wave(np.zeros(RATE_HZ))), Undefined)


@pytest.mark.parametrize("count", [1, 300, 409, 799])
def test_stoi_of_less_than_its_frames_is_undefined(clip: np.ndarray, count: int) -> None:
    pytest.importorskip("pystoi")
    assert isinstance(stoi(wave(clip), wave(clip[:count])), Undefined)


def test_stoi_of_a_silent_original_is_undefined(clip: np.ndarray) -> None:
    pytest.importorskip("pystoi")
    silence = wave(np.zeros(len(clip)))
    assert all(isinstance(stoi(silence, edited), Undefined) for edited in (silence, wave(clip)))
    assert stoi(wave(clip), silence) == 0  # of its speech nothing is left

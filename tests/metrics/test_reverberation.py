"""Reverberation time of synthetic decays, of simulated rooms through a source, and of speech."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import signal

from auditeval.audio import Waveform, decode, resample
from auditeval.metrics.reverberation import (
    impulse_response,
    rt60,
    rt60_blind,
    rt60_succeeds,
)
from auditeval.types import Undefined

RATE_HZ = 16000
TARGETS = (0.3, 0.6, 1.0)


def wave(samples: np.ndarray, rate_hz: int = RATE_HZ) -> Waveform:
    return Waveform(samples.astype(np.float32), rate_hz)


@pytest.fixture(scope="module")
def rooms() -> dict[float, np.ndarray]:
    """Responses of shoe boxes, their time by Sabine's formula -> samples at 16 kHz."""
    import pyroomacoustics

    made = {}
    for target in TARGETS:
        size = [5.0, 4.0, 3.0] if target < 0.9 else [7.0, 5.5, 3.2]
        absorption, order = pyroomacoustics.inverse_sabine(target, size)
        pyroomacoustics.random.seed(0)
        room = pyroomacoustics.ShoeBox(
            size,
            fs=RATE_HZ,
            materials=pyroomacoustics.Material(absorption),
            max_order=min(order, 60),
            use_rand_ism=True,
            max_rand_disp=0.05,
        )
        room.add_source([0.3 * size[0], 0.4 * size[1], 0.5 * size[2]])
        room.add_microphone([0.7 * size[0], 0.65 * size[1], 0.45 * size[2]])
        room.compute_rir()
        made[target] = room.rir[0][0]
    return made


@pytest.fixture(scope="module")
def sentences(shared_data: Path) -> list[np.ndarray]:
    paths = sorted((shared_data / "librispeech10").glob("*.flac"))[:4]
    return [resample(decode(path), RATE_HZ) for path in paths]


def true_rt60(room: np.ndarray) -> float:
    from pyroomacoustics.experimental import measure_rt60

    return float(measure_rt60(room[np.argmax(np.abs(room)) :], RATE_HZ, decay_db=20))


@pytest.mark.parametrize("rate_hz", [16000, 44100])
@pytest.mark.parametrize("seconds", [0.1, 0.3, 0.5, 1.0])
def test_an_exponential_decay_is_exact(seconds: float, rate_hz: int) -> None:
    times = np.arange(2 * rate_hz) / rate_hz
    decay = 10 ** (-3 * times / seconds)
    assert rt60(Waveform(decay, rate_hz)) == pytest.approx(seconds, rel=1e-4)
    late = Waveform(np.concatenate([np.zeros(rate_hz), -0.01 * decay]), rate_hz)
    assert rt60(late) == pytest.approx(seconds, rel=1e-4)


def test_noise_under_a_decay_is_taken_off() -> None:
    generator = np.random.default_rng(0)
    decay = generator.standard_normal(2 * RATE_HZ) * 10 ** (
        -3 * np.arange(2 * RATE_HZ) / RATE_HZ / 0.5
    )
    decay[0] = 5
    noise = 0.01 * generator.standard_normal(3 * RATE_HZ)
    noisy = np.concatenate([np.zeros(RATE_HZ), decay]) + noise
    assert rt60(wave(noisy)) == pytest.approx(0.5, rel=0.05)
    assert rt60(wave(noisy[RATE_HZ:])) > 0.8  # type: ignore[operator]  # nothing tells the noise


def test_on_a_room_s_response_it_is_what_another_library_measures(
    rooms: dict[float, np.ndarray],
) -> None:
    for room in rooms.values():
        assert rt60(wave(room)) == pytest.approx(true_rt60(room), rel=0.03)


@pytest.mark.parametrize("target", TARGETS)
def test_rooms_through_speech(
    target: float, rooms: dict[float, np.ndarray], sentences: list[np.ndarray]
) -> None:
    room = rooms[target]
    for sentence in sentences:
        wet = signal.fftconvolve(sentence, room)
        late = np.concatenate([np.zeros(1234), wet])
        early = wet[500 : len(sentence)]  # starts before its source does, and ends with it
        for output in (wet, 0.1 * late, early):
            measured = rt60(impulse_response(wave(sentence), wave(output)))
            assert measured == pytest.approx(true_rt60(room), rel=0.15)


def test_rooms_through_speech_at_40_db(
    rooms: dict[float, np.ndarray], sentences: list[np.ndarray]
) -> None:
    wet = signal.fftconvolve(sentences[0], rooms[0.6])
    noise = np.random.default_rng(0).standard_normal(len(wet)) * wet.std() / 100
    measured = rt60(impulse_response(wave(sentences[0]), wave(wet + noise)))
    assert measured == pytest.approx(true_rt60(rooms[0.6]), rel=0.15)


@pytest.mark.parametrize("seconds", [0.12, 0.3, 0.7])
@pytest.mark.parametrize("snr_db", [30, 15])
def test_noise_makes_no_room_larger(
    seconds: float, snr_db: int, sentences: list[np.ndarray]
) -> None:
    """A small room at 30 dB was one of 4.5 s where the response stood out of its noise less than
    the decay was followed."""
    found = []
    for sentence in sentences:
        generator = np.random.default_rng(0)
        times = np.arange(round(1.5 * seconds * RATE_HZ)) / RATE_HZ
        room = 0.3 * generator.standard_normal(len(times)) * 10 ** (-3 * times / seconds)
        room[0] += 1
        wet = signal.fftconvolve(sentence, room)[: len(sentence)]
        noise = generator.standard_normal(len(wet)) * wet.std() * 10 ** (-snr_db / 20)
        found.append(rt60(impulse_response(wave(sentence), wave(wet + noise))))
    defined = [value for value in found if not isinstance(value, Undefined)]
    assert defined == pytest.approx([seconds] * len(defined), rel=0.2, abs=0.04)
    assert len(defined) == 4 or snr_db == 15


def test_the_source_itself_has_no_room(sentences: list[np.ndarray]) -> None:
    for sentence in sentences:
        assert rt60(impulse_response(wave(sentence), wave(sentence))) < 0.03  # type: ignore[operator]


def test_an_output_that_no_room_made_is_undefined(sentences: list[np.ndarray]) -> None:
    for source, other in zip(sentences, [*sentences[1:], sentences[0]], strict=True):
        measured = rt60(impulse_response(wave(source), wave(other)))
        assert isinstance(measured, Undefined)
        assert not rt60_succeeds(measured, 0, 100)


def test_silence_has_no_reverberation() -> None:
    silence, tone = wave(np.zeros(RATE_HZ)), wave(np.sin(np.arange(RATE_HZ) / 3))
    for response in (
        impulse_response(tone, silence),
        impulse_response(silence, tone),
        wave(np.zeros(0)),
    ):
        assert isinstance(rt60(response), Undefined)
    for clip in (silence, tone, wave(np.ones(800))):
        assert isinstance(rt60_blind(clip), Undefined)


def test_a_response_that_does_not_decay_is_undefined() -> None:
    assert isinstance(rt60(wave(np.array([1.0, 0.9]))), Undefined)
    assert isinstance(rt60(wave(np.array([1.0]))), Undefined)


def test_what_rises_once_its_noise_is_taken_off_has_no_time() -> None:
    noise = np.full(2 * RATE_HZ, np.sqrt(2e-6))
    click, echo = [1.0], [np.sqrt(0.35), 0.0, 0.0]
    measured = rt60(wave(np.concatenate([noise, click, np.zeros(RATE_HZ), echo])))
    assert isinstance(measured, Undefined), f"{measured} s"


def test_the_blind_estimate(rooms: dict[float, np.ndarray], sentences: list[np.ndarray]) -> None:
    """Bars: what was measured over ten sentences (in its docstring), and a tenth."""
    estimates = {
        target: [rt60_blind(wave(signal.fftconvolve(s, room)[: len(s)])) for s in sentences]
        for target, room in rooms.items()
    }
    for target, bar in zip(TARGETS, (0.42, 0.15, 0.25), strict=True):
        assert estimates[target] == pytest.approx(
            [true_rt60(rooms[target])] * len(sentences), rel=bar
        )
    for small, middle, large in zip(*estimates.values(), strict=True):
        assert small < middle < large  # type: ignore[operator]


@pytest.mark.parametrize(
    ("measured", "success"),
    [(0.24, True), (0.239, False), (0.6, True), (0.601, False), (Undefined("none"), False)],
)
def test_success(measured: float | Undefined, success: bool) -> None:
    assert rt60_succeeds(measured, 0.3, 0.5) == success

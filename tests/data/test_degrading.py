"""Noise at a level, speech in a room, splices: laws on signals that are known."""

from __future__ import annotations

import numpy as np
import pytest

from auditeval.audio import Waveform
from auditeval.data import degrading
from auditeval.metrics.reverberation import rt60

RATE_HZ = 16000


def noise(seed: int, length: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(length).astype(np.float32)


@pytest.mark.parametrize("snr_db", [0.015, 1.5, 10, -5])
@pytest.mark.parametrize("length", [16000, 5000])
def test_noise_is_as_far_below_the_speech_as_was_asked(snr_db: float, length: int) -> None:
    speech = 0.1 * noise(0, 16000)
    padded = np.concatenate([np.zeros(900), noise(1, 3000), np.zeros(4000)])
    made = degrading.noise_at(snr_db, speech, padded, length)
    assert len(made) == length
    found = 10 * np.log10(np.mean(speech.astype(float) ** 2) / np.mean(made**2))
    assert found == pytest.approx(snr_db, abs=1e-5)
    # The silence that the file was padded with is not looped.
    assert np.abs(made).reshape(-1, 100).max(axis=1).min() > 0


def test_a_room_without_reflections_changes_nothing() -> None:
    speech = 0.1 * noise(0, 8000)
    response = np.zeros(500)
    response[40] = 0.3  # the way to the microphone
    for wet in (0.2, 1.0):
        assert degrading.reverberant(speech, response, wet) == pytest.approx(speech, abs=1e-6)


def test_a_room_keeps_length_and_level_and_rings_as_long_as_its_response() -> None:
    time = np.arange(RATE_HZ) / RATE_HZ
    response = noise(2, RATE_HZ) * 10 ** (-3 * time / 0.4)
    response[0] = 20
    speech = 0.1 * noise(0, 8000)
    made = degrading.reverberant(speech, response)
    assert len(made) == len(speech)
    assert degrading.rms(made) == pytest.approx(degrading.rms(speech))
    click = np.zeros(RATE_HZ)
    click[0] = 1
    rung = degrading.reverberant(click, response)
    assert rt60(Waveform(rung[1:], RATE_HZ)) == pytest.approx(0.4, rel=0.03)


def test_a_splice_is_exactly_the_first_and_then_exactly_the_second() -> None:
    first, second = noise(3, 9000), noise(4, 8000)
    made = degrading.spliced(first, second, 4000, 2500, RATE_HZ)
    fade = round(degrading.FADE_SECONDS * RATE_HZ)
    assert len(made) == 4000 + 8000 - 2500
    assert np.array_equal(made[:4000], first[:4000])
    assert np.array_equal(made[4000 + fade :], second[2500 + fade :])


def test_a_splice_of_a_tone_with_itself_is_the_tone() -> None:
    tone = np.sin(2 * np.pi * 200 * np.arange(9000) / RATE_HZ)
    made = degrading.spliced(tone, tone, 4000, 4000, RATE_HZ)
    assert made == pytest.approx(tone, abs=1e-12)


def test_the_quietest_point_is_found_where_it_was_put_and_only_within_reach() -> None:
    clip = noise(5, 16000)
    clip[9000:9400] = 0
    clip[1000:1400] = 0
    assert degrading.quietest_point(clip, 0.5, 0.15, RATE_HZ) == pytest.approx(9200, abs=60)
    assert degrading.quietest_point(clip, 0.1, 0.05, RATE_HZ) == pytest.approx(1200, abs=60)


def test_one_gain_for_all_and_none_where_none_is_needed() -> None:
    loud, soft = np.array([0.5, -2.0]), np.array([0.1, 0.2])
    clips, gain = degrading.below_ceiling([loud, soft])
    assert np.abs(clips[0]).max() == pytest.approx(degrading.CEILING)
    assert clips[1] == pytest.approx(gain * soft)
    assert degrading.below_ceiling([soft])[1] == 1

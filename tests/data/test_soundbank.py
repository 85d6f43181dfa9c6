"""Laws of the sound bank: level, length, determinism, variety, and classes that differ."""

from __future__ import annotations

import re

import numpy as np
import pytest

from auditeval.data.soundbank import EVENTS, PEAK, synthesize

CATEGORIES = {
    "NaturalSounds",
    "Transportation",
    "IndoorActivities",
    "OutdoorActivities",
    "Animals",
    "Music",
    "Speech",
    "HumanSounds",
}
BACKGROUNDS = [event.name for event in EVENTS.values() if event.role == "background"]
FOREGROUNDS = [event.name for event in EVENTS.values() if event.role == "event"]
RATE_HZ = 16000

# Measured: the least varied class spreads by 0.81 dB, white noise of one kind by 0.42 dB.
LEAST_SPREAD_DB = 0.6
# Measured over four sets of seeds: 0.85 to 0.90.
LEAST_ACCURACY = 0.6


def band_levels(clip: np.ndarray) -> np.ndarray:
    """Mean and spread over time of the log level in 24 bands, evenly spaced in mel."""
    frames = np.lib.stride_tricks.sliding_window_view(clip, 512)[::256] * np.hanning(512)
    power = np.abs(np.fft.rfft(frames)) ** 2
    mels = np.linspace(1127 * np.log(1 + 60 / 700), 1127 * np.log(1 + 7900 / 700), 25)
    edges = np.round(700 * (np.exp(mels / 1127) - 1) * 512 / RATE_HZ).astype(int)
    starts = np.maximum(edges[:-1], np.arange(1, 25))
    levels = 10 * np.log10(np.add.reduceat(power, starts, axis=1) + 1e-5)
    return np.concatenate([levels.mean(0), levels.std(0)])


@pytest.fixture(scope="module")
def clips() -> dict[str, list[np.ndarray]]:
    """For each class, five clips of 1.5 s with different seeds."""
    return {name: [synthesize(name, seed, 1.5, RATE_HZ) for seed in range(5)] for name in EVENTS}


@pytest.fixture(scope="module")
def features(clips: dict[str, list[np.ndarray]]) -> dict[str, np.ndarray]:
    """For each class, the band levels of its five clips, a row each."""
    return {name: np.array([band_levels(clip) for clip in rows]) for name, rows in clips.items()}


def test_there_are_enough_classes_of_each_role() -> None:
    assert len(BACKGROUNDS) >= 8
    assert len(FOREGROUNDS) >= 24
    assert len(BACKGROUNDS) + len(FOREGROUNDS) == len(EVENTS)


def test_events_are_keyed_by_their_names_and_use_known_categories() -> None:
    assert all(name == event.name for name, event in EVENTS.items())
    assert {event.category for event in EVENTS.values()} == CATEGORIES


@pytest.mark.parametrize("name", EVENTS)
def test_captions_fit_the_sentence_templates(name: str) -> None:
    captions = EVENTS[name].captions
    assert len(set(captions)) == len(captions) >= 4
    for caption in captions:
        assert re.fullmatch(r"[a-z]+([ -][a-z]+)*", caption), caption


def test_no_caption_stands_for_two_classes() -> None:
    captions = [caption for event in EVENTS.values() for caption in event.captions]
    assert len(set(captions)) == len(captions)


@pytest.mark.parametrize("name", EVENTS)
def test_clip_is_finite_float32_at_the_set_peak_without_offset(
    name: str, clips: dict[str, list[np.ndarray]]
) -> None:
    for clip in clips[name]:
        assert clip.dtype == np.float32
        assert clip.shape == (24000,)
        assert np.isfinite(clip).all()
        assert np.abs(clip).max() == pytest.approx(PEAK, abs=1e-6)
        assert abs(clip.mean(dtype=np.float64)) < 1e-6


@pytest.mark.parametrize("name", EVENTS)
def test_same_arguments_same_bytes_and_other_seed_other_sound(
    name: str, clips: dict[str, list[np.ndarray]]
) -> None:
    clip, other = clips[name][:2]
    assert synthesize(name, 0, 1.5, RATE_HZ).tobytes() == clip.tobytes()
    likeness = clip @ other / (np.linalg.norm(clip) * np.linalg.norm(other))
    assert abs(likeness) < 0.8


def test_sound_is_the_same_in_every_process() -> None:
    """A fixed fingerprint: it would move with Python's per-process string hash."""
    clip = synthesize("siren", 0, 0.5, RATE_HZ)
    assert clip[[1000, 3000, 5000, 7000]] == pytest.approx(
        [-0.28206, 0.08459, -0.31468, -0.19902], abs=1e-3
    )


@pytest.mark.parametrize(("seconds", "rate_hz"), [(0.1, 8000), (0.3312, 22050), (0.12003, 48000)])
def test_length_is_exact_at_every_rate(seconds: float, rate_hz: int) -> None:
    for name in EVENTS:
        clip = synthesize(name, 1, seconds, rate_hz)
        assert clip.size == round(seconds * rate_hz), name
        assert np.isfinite(clip).all(), name
        assert np.abs(clip).max() == pytest.approx(PEAK, abs=1e-6), name


@pytest.mark.parametrize("name", BACKGROUNDS)
def test_background_is_never_silent_for_half_a_second(name: str) -> None:
    clip = synthesize(name, 0, 5.0, RATE_HZ)
    levels = np.sqrt((clip.reshape(-1, 800) ** 2).mean(1))
    silent = "".join("s" if level < 1e-3 else " " for level in levels)
    assert "s" * 10 not in silent


@pytest.mark.parametrize("name", FOREGROUNDS)
def test_event_starts_early_in_a_short_clip(name: str, clips: dict[str, list[np.ndarray]]) -> None:
    for clip in clips[name]:
        loud = np.flatnonzero(np.abs(clip) > 0.2 * PEAK)
        assert loud[0] < 0.6 * RATE_HZ
        assert np.count_nonzero(np.abs(clip) > 0.02 * PEAK) > 0.02 * RATE_HZ


def test_unknown_name_is_refused_with_the_list_of_names() -> None:
    with pytest.raises(KeyError) as refusal:
        synthesize("kazoo", 0, 1.0)
    sentence = refusal.value.args[0]
    assert "'kazoo'" in sentence
    assert sentence.endswith(".")
    assert all(name in sentence for name in EVENTS)


def test_empty_clip_is_refused() -> None:
    with pytest.raises(ValueError, match="no samples"):
        synthesize("rain", 0, 0.0)


def test_seeds_vary_the_spectrum_and_not_only_the_noise(features: dict[str, np.ndarray]) -> None:
    for name, rows in features.items():
        shapes = rows[:, :24] - rows[:, :24].mean(1, keepdims=True)
        assert shapes.std(0).max() > LEAST_SPREAD_DB, name


def test_nearest_centroid_separates_the_classes(features: dict[str, np.ndarray]) -> None:
    """Centroids of three clips, tried on two others; chance is one in the number of classes."""
    centroids = np.array([rows[:3].mean(0) for rows in features.values()])
    hits = [
        np.linalg.norm(centroids - row, axis=1).argmin() == index
        for index, rows in enumerate(features.values())
        for row in rows[3:]
    ]
    assert np.mean(hits) > LEAST_ACCURACY

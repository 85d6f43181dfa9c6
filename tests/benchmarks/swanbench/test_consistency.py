"""Consistency of long clips: windows, pairwise cosines and the spread of SRMR."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from auditeval.audio import Waveform
from auditeval.backends.backend import Ratings, SpeakerEmbedding, SpeechSpans
from auditeval.benchmarks.speecheditbench.enhancement import enhancement_succeeds
from auditeval.benchmarks.swanbench.consistency import (
    mean_cosine_between,
    mean_pairwise_cosine,
    reverb_consistency,
    speaker_windows,
    speech_share,
    speech_shares,
    timbre_consistency,
)
from auditeval.metrics.speakers import speaker_similarity
from auditeval.types import Undefined


@pytest.mark.parametrize("rate_hz", [16000, 22050, 44100])
@pytest.mark.parametrize(("seconds", "count"), [(2.9, 0), (3, 1), (4.9, 1), (5, 2), (10, 4)])
def test_windows(seconds: float, count: int, rate_hz: int) -> None:
    samples = np.arange(round(seconds * rate_hz), dtype=np.float32)
    found = speaker_windows(Waveform(samples, rate_hz))
    assert [window.samples[0] for window in found] == [2 * rate_hz * i for i in range(count)]
    assert {window.seconds for window in found} <= {3.0}


@pytest.mark.parametrize("count", [2, 3, 10])
def test_the_closed_form_is_the_mean_over_pairs(count: int) -> None:
    rows = np.random.default_rng(count).standard_normal((count, 5)) + 0.3
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    pairs = [float(a @ b) for a, b in itertools.combinations(units, 2)]
    assert mean_pairwise_cosine(rows) == pytest.approx(np.mean(pairs), abs=1e-12)


def test_extremes_of_timbre() -> None:
    steady, opposed = np.ones((4, 3)), np.array([[1.0, 0], [-1, 0]])
    assert mean_pairwise_cosine(steady) == pytest.approx(1)
    assert mean_pairwise_cosine(opposed) == pytest.approx(-1)
    assert mean_pairwise_cosine(np.eye(6)) == pytest.approx(0)
    assert timbre_consistency([steady, opposed]) == pytest.approx(0)
    assert timbre_consistency([steady]) == pytest.approx(1)


@pytest.mark.parametrize("streams", [[], [np.ones((1, 3))], [np.ones((4, 3)), np.ones((0, 3))]])
def test_a_speaker_without_two_windows_leaves_timbre_undefined(streams: list[np.ndarray]) -> None:
    assert isinstance(timbre_consistency(streams), Undefined)


def test_an_embedding_of_zeros_has_no_cosine() -> None:
    rows = np.eye(3) * [[1.0], [0.0], [1.0]]
    for of_rows in (mean_pairwise_cosine, lambda zero: mean_cosine_between(np.eye(3), zero)):
        with pytest.raises(ValueError, match="embedding 1 is zero, and has no direction"):
            of_rows(rows)


def test_share_of_speech() -> None:
    speech = SpeechSpans(((1.0, 2.0), (2.5, 4.0)))
    assert speech_share(speech, 0, 3) == pytest.approx(0.5)
    assert speech_shares(speech, 2) == pytest.approx([0.5, 0.5])  # 0 to 3 s, 2 to 5 s
    assert speech_shares(SpeechSpans(()), 1) == [0]


def test_reverb_spreads_over_windows_of_speech() -> None:
    values = [1.0, 3.0, 100.0, 5.0, Undefined("silence")]
    shares = [1.0, 0.4, 0.39, 0.9, 1.0]  # the third is 61 % non-speech, the second 60 %
    assert reverb_consistency(values, shares) == pytest.approx(np.std([1, 3, 5]))
    assert reverb_consistency(values, shares, ddof=1) == pytest.approx(2)
    assert reverb_consistency([2.0, 2.0], [1, 1]) == 0
    for few in ([], [2.0], [2.0, Undefined("silence")]):
        assert isinstance(reverb_consistency(few, [1.0] * len(few)), Undefined)


def test_similarity_is_the_cosine() -> None:
    a, b = SpeakerEmbedding((0.6, 0.8)), SpeakerEmbedding((0.8, 0.6))
    assert speaker_similarity(a, a) == pytest.approx(1)
    assert speaker_similarity(a, b) == pytest.approx(0.96)


@pytest.mark.parametrize(
    ("ovrl", "bak", "success"),
    [(3.1, 3.1, True), (3.0, 3.0, False), (3.1, 3.0, False), (3.0, 3.1, False), (3.5, 2.9, False)],
)
def test_enhancement_needs_both(ovrl: float, bak: float, success: bool) -> None:
    source = Ratings({"SIG": 3.0, "BAK": 3.0, "OVRL": 3.0})
    assert enhancement_succeeds(source, Ratings({"SIG": 1, "BAK": bak, "OVRL": ovrl})) == success

"""The antiphase test: what ears hear behind headphones, and what loudspeakers leave of it."""

from __future__ import annotations

import io
from itertools import permutations

import numpy as np
import pytest
import soundfile

from auditeval.listening import headphones


def levels(heard: np.ndarray) -> list[float]:
    """Root mean square of the three tones of a signal :: (N,) or (N, 2)."""
    length = (len(heard) - 2 * 22050) // 3
    starts = [place * (length + 22050) for place in range(3)]
    return [float(np.sqrt(np.mean(heard[s : s + length] ** 2))) for s in starts]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_ears_find_the_soft_tone_and_loudspeakers_another(order: tuple[int, int, int]) -> None:
    samples, rate_hz = soundfile.read(io.BytesIO(headphones.clip(order)))
    assert rate_hz == 44100
    plain, soft, antiphase = order
    ears = levels(samples)
    assert int(np.argmin(ears)) == soft
    assert 20 * np.log10(ears[soft] / ears[plain]) == pytest.approx(-6, abs=0.05)
    assert ears[antiphase] == pytest.approx(ears[plain], rel=1e-3)
    room = levels(samples.sum(axis=1))
    assert int(np.argmin(room)) == antiphase
    assert room[antiphase] < 1e-3


def test_five_of_six_pass_and_three_tries_are_all() -> None:
    check = headphones.new([])
    assert sorted(check.orders) == sorted(permutations(range(3)))
    answers = [order[1] for order in check.orders]
    assert check.right(answers) == 6
    check.scores.append(4)
    assert not check.passed
    assert not check.over
    check.scores.append(5)
    assert check.passed
    assert headphones.new([4, 4, 4]).over
    assert not headphones.new([4, 4, 4]).passed

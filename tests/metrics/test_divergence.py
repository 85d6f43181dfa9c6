"""Inception score: its two ends, and its definition by way of entropies."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import entropy

from auditeval.metrics.divergence import inception_score
from auditeval.types import Undefined


def logits(seed: int, clips: int = 60, classes: int = 12, size: float = 3) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, size, (clips, classes))


@pytest.mark.parametrize("classes", [2, 10, 521])
def test_every_class_once_for_certain_is_the_count_of_classes(classes: int) -> None:
    sure = np.tile(1e4 * np.eye(classes), (10, 1))
    assert inception_score(sure, splits=1) == pytest.approx(classes)
    # What only some of the classes are heard in scores their count.
    half = sure[:, : classes // 2][np.arange(len(sure)) % classes < classes // 2]
    expected = pytest.approx(classes // 2)
    assert inception_score(np.pad(half, ((0, 0), (0, classes - classes // 2))), 1) == expected


@pytest.mark.parametrize("splits", [1, 10])
def test_clips_that_all_sound_alike_or_like_anything_score_one(splits: int) -> None:
    assert inception_score(np.zeros((40, 10)), splits) == pytest.approx(1)
    assert inception_score(np.tile(logits(0, clips=1), (40, 1)), splits) == pytest.approx(1)


@pytest.mark.parametrize("size", [0.1, 3, 30, 1e3])
def test_it_is_the_divergence_of_each_from_all(size: float) -> None:
    made = logits(1, size=size)
    p = softmax(made, axis=1)
    expected = np.exp(np.mean([entropy(row, p.mean(axis=0)) for row in p]))
    assert inception_score(made, splits=1) == pytest.approx(expected, rel=1e-9)
    # Salimans et al. 2016: the entropy of all less the mean entropy of each.
    information = entropy(p.mean(axis=0)) - entropy(p, axis=1).mean()
    assert inception_score(made, splits=1) == pytest.approx(np.exp(information), rel=1e-9)
    assert 1 <= expected <= 12


def test_one_split_knows_no_order() -> None:
    made, order = logits(2), np.random.default_rng(0).permutation(60)
    whole = inception_score(made, splits=1)
    assert inception_score(made[order], splits=1) == pytest.approx(whole, rel=1e-12)
    assert inception_score(made, splits=1, seed=5) == pytest.approx(whole, rel=1e-12)
    assert inception_score(made + 7, splits=1) == pytest.approx(whole, rel=1e-12)


def test_splits_are_of_a_seeded_shuffle() -> None:
    made = logits(3)
    made[:30] += [20, *[0] * 11]  # sorted by class: without a shuffle every split is of one
    assert inception_score(made) == inception_score(made)
    assert inception_score(made, seed=1) != inception_score(made, seed=2)
    unshuffled = np.mean([inception_score(part, 1) for part in np.array_split(made, 5)])
    assert inception_score(made, splits=5) > unshuffled + 0.1


def test_splits_are_means_of_equal_parts() -> None:
    """Clips that come in equal parts score as one of these, whatever the order."""
    assert inception_score(np.tile(logits(4, clips=1), (50, 1)), splits=5) == pytest.approx(1)
    made, seed = logits(5), 9
    order = np.random.default_rng(seed).permutation(len(made))
    parts = [inception_score(made[order[start : start + 12]], 1) for start in range(0, 60, 12)]
    assert inception_score(made, splits=5, seed=seed) == pytest.approx(np.mean(parts), rel=1e-12)


def test_below_ten_clips_or_a_clip_a_split_it_is_undefined() -> None:
    assert isinstance(inception_score(logits(6, clips=10), splits=1), float)
    few = inception_score(logits(6, clips=9), splits=1)
    assert few == Undefined("9 clips are too few, 10 are needed")
    assert inception_score(logits(6, clips=0, classes=4), 1) == Undefined(
        "0 clips are too few, 10 are needed"
    )
    assert inception_score(logits(6, clips=19), splits=20) == Undefined(
        "19 clips are too few, 20 are needed"
    )

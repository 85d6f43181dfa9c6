"""Inception score: its ends, its definition by entropies, its stream. KL: scipy's and torch's."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.special import softmax
from scipy.stats import entropy

from auditeval.metrics.divergence import ClassStatistics, inception_score, kl_divergence, lowest_kl
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


def test_below_ten_clips_or_two_a_split_it_is_undefined() -> None:
    assert isinstance(inception_score(logits(6, clips=10), splits=1), float)
    few = inception_score(logits(6, clips=9), splits=1)
    assert few == Undefined("9 clips are too few, 10 are needed")
    assert inception_score(logits(6, clips=0, classes=4), 1) == Undefined(
        "0 clips are too few, 10 are needed"
    )
    assert inception_score(logits(6, clips=20), splits=10) > 1
    for clips in (10, 19):  # of one clip is 1, whatever it is
        few = Undefined(f"{clips} clips are too few, 20 are needed")
        assert inception_score(logits(6, clips=clips), splits=10) == few


@pytest.mark.parametrize("size", [0.1, 3, 1e3])
def test_sums_of_parts_score_as_the_whole(size: float) -> None:
    made = logits(7, size=size)
    expected = pytest.approx(inception_score(made, splits=1), rel=1e-9)
    for parts in (1, 7, 60):
        whole = ClassStatistics()
        for part in np.array_split(made, parts):
            found = ClassStatistics()
            found.update(part)
            whole = whole.merge(found)
        assert whole.count == 60
        assert whole.inception_score() == expected
    assert isinstance(ClassStatistics().inception_score(), Undefined)


def test_divergence_is_that_of_scipy() -> None:
    reference, generated = logits(8, classes=527), logits(9, classes=527)
    p, q = softmax(reference, axis=1), softmax(generated, axis=1)
    found = kl_divergence(reference, generated)
    # scipy divides the floor out again, which is one number for all pairs.
    floor = np.log(1 + 1e-6 * 527)
    np.testing.assert_allclose(found, entropy(p, q + 1e-6, axis=1) - floor, rtol=1e-9)
    assert (found > 0).all()
    flat = (p, np.full_like(p, 1 / 527))
    np.testing.assert_allclose(kl_divergence(*map(np.log, flat)), entropy(*flat, axis=1), atol=1e-3)
    # The reference comes first: the other way round it is another number.
    assert np.abs(found - kl_divergence(generated, reference)).min() > 1e-3


def test_divergence_is_that_of_the_field() -> None:
    """As AudioLDM's evaluation has it in torch: the generated side first, in logarithms."""
    reference, generated = (torch.from_numpy(logits(seed, classes=527)) for seed in (10, 11))
    expected = torch.nn.functional.kl_div(
        (generated.softmax(dim=1) + 1e-6).log(), reference.softmax(dim=1), reduction="sum"
    ) / len(reference)
    found = kl_divergence(reference.numpy(), generated.numpy())
    assert found.mean() == pytest.approx(float(expected), rel=1e-12)


def test_divergence_at_its_ends() -> None:
    made, flat = logits(12), np.zeros((1, 12))
    assert kl_divergence(flat, flat) == pytest.approx(lowest_kl(12), rel=1e-6)
    assert (np.abs(kl_divergence(made, made + 5)) <= -lowest_kl(12)).all()
    # What was sure of one class and is sure of another: the floor is all that is left of it.
    sure = 1e4 * np.eye(2)
    np.testing.assert_allclose(kl_divergence(sure, sure[::-1]), -np.log(1e-6), rtol=1e-6)
    with pytest.raises(ValueError, match=r"logits of \(60, 12\) and \(59, 12\)"):
        kl_divergence(made, made[1:])

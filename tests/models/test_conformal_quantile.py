"""The conformal quantile: that of the literature, of residuals and of groups of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from auditeval.models.conformal import conformal_quantile, widest_quantile


def test_the_quantile_is_that_of_the_literature() -> None:
    """The ceil((n + 1)(1 - alpha)) / n quantile of the empirical distribution."""
    for n in range(9, 120, 7):
        residuals = np.random.default_rng(n).exponential(size=n)
        level = math.ceil((n + 1) * 0.9) / n
        wanted = np.quantile(residuals, level, method="inverted_cdf")
        found = conformal_quantile(torch.from_numpy(residuals), torch.arange(n), 0.9)
        assert found == pytest.approx(wanted)
    assert conformal_quantile(torch.arange(8.0), torch.arange(8), 0.9) == math.inf
    assert conformal_quantile(torch.arange(9.0), torch.arange(9), 0.9) == 8.0
    assert conformal_quantile(torch.empty(0), torch.arange(0), 0.9) == math.inf


def test_the_quantile_of_groups_is_that_of_the_literature() -> None:
    """Smallest q with sum over groups of (share of theirs <= q) / (k + 1) of at least the level."""
    rng = np.random.default_rng(2)
    for k in range(9, 40, 5):
        groups = np.repeat(rng.permutation(k) * 3, rng.integers(1, 8, k))
        order = rng.permutation(len(groups))
        residuals, groups = rng.exponential(size=len(groups)), groups[order]
        shares = [
            np.mean([np.mean(residuals[groups == g] <= q) for g in set(groups)]) * k / (k + 1)
            for q in np.sort(residuals)
        ]
        wanted = np.sort(residuals)[np.argmax(np.array(shares) >= 0.9 - 1e-12)]
        found = conformal_quantile(torch.from_numpy(residuals), torch.from_numpy(groups), 0.9)
        assert found == wanted


def test_clips_that_are_hard_throughout_are_covered_all_the_same() -> None:
    """30 clips of 1 to 20 edits, those of a clip alike: a further one is covered nine times in ten.

    The rank among all edits covers less, since a few clips with many of them decide it.
    """
    rng = np.random.default_rng(3)
    covered = {"groups": [], "rows": []}
    for _ in range(2000):
        hardness = rng.exponential(size=31)
        sizes = np.maximum(np.round(20 / (1 + 5 * hardness[:30])), 1).astype(int)
        residuals = torch.from_numpy(
            np.repeat(hardness[:30], sizes) + 0.01 * rng.random(sizes.sum())
        )
        groups = torch.from_numpy(np.repeat(np.arange(30), sizes))
        new = hardness[30] + 0.01 * rng.random()
        covered["groups"].append(new <= conformal_quantile(residuals, groups, 0.9))
        covered["rows"].append(new <= conformal_quantile(residuals, torch.arange(len(groups)), 0.9))
    assert 0.88 < np.mean(covered["groups"]) < 0.95
    assert np.mean(covered["rows"]) < 0.85


def test_easy_pairs_make_no_interval_narrower_and_few_count_with_all() -> None:
    rng = np.random.default_rng(3)
    hard, easy = rng.exponential(size=100), rng.exponential(size=300) / 10
    residuals = torch.from_numpy(np.concatenate([hard, easy]))
    groups, kinds = torch.arange(400), torch.arange(400) >= 100
    alone = conformal_quantile(residuals[:100], groups[:100], 0.9)
    over_all = conformal_quantile(residuals, groups, 0.9)
    assert over_all < alone
    assert widest_quantile(residuals, groups, kinds, 0.9) == alone
    assert widest_quantile(residuals, groups, torch.zeros(400), 0.9) == over_all
    # Eight of a kind of their own say nothing by themselves, and the least of all has no ninth.
    few = torch.zeros(400)
    few[:8] = 1
    assert widest_quantile(residuals, groups, few, 0.9) >= over_all
    assert widest_quantile(residuals[:8], groups[:8], few[:8], 0.9) == math.inf

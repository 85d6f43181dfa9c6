"""Ratings of people beside simulated ones: a number means something else in each listening test."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from auditeval.types import AXES, EditPair

_SCALES = 0.5, 1.5
"""What the differences between the ratings of a test may be multiplied by."""


def on_one_scale(pairs: Sequence[EditPair], ratings: Tensor, predicted: Tensor) -> Tensor:
    """Ratings (N, 3), those of listening tests as an evaluator that knows none would say them.

    Raters compare what they hear in one test: what they say of two versions of one clip is kept,
    how high they rate a clip as such is not. Of each clip (`source`) of a test the mean becomes
    that of `predicted` :: (N, 3), and one factor for the whole test, within _SCALES, brings the
    spread within clips near to that of the predictions. Where there is no rating there is none
    afterwards, and those of no listening test stay as they are.
    """
    made = ratings.clone()
    for test in sorted({pair.listening_test for pair in pairs if pair.listening_test is not None}):
        rows = torch.tensor([row for row, x in enumerate(pairs) if x.listening_test == test])
        names = [str(pairs[row].source or pairs[row].original) for row in rows.tolist()]
        numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        clips = torch.tensor([numbers[name] for name in names])
        for axis in range(len(AXES)):
            rated = ~ratings[rows, axis].isnan()
            if rated.any():
                where, clip = rows[rated], clips[rated]
                (said, _), (own, mean) = (
                    _centred(x[where, axis], clip) for x in (ratings, predicted)
                )
                factor = own.std(correction=0) / said.std(correction=0).clamp_min(1e-3)
                made[where, axis] = (mean + factor.clamp(*_SCALES) * said).clamp(1, 5)
    return made


def _centred(x: Tensor, groups: Tensor) -> tuple[Tensor, Tensor]:
    """Less the mean of its group, and that mean :: (n,), (n,) -> 2 x (n,)."""
    count = torch.zeros(int(groups.max()) + 1).index_add(0, groups, torch.ones_like(x))
    mean = (torch.zeros_like(count).index_add(0, groups, x) / count)[groups]
    return x - mean, mean

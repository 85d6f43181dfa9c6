"""The parts that heads are made of."""

from __future__ import annotations

import pytest
import torch

from auditeval.models.mlp import UniformDropout
from auditeval.training.process import reseed


@pytest.mark.parametrize("rate", [0.2, 0.5])
def test_so_many_inputs_are_dropped_and_the_mean_stays(rate: float) -> None:
    drop, ones = UniformDropout(rate), torch.ones(1000, 1000)
    torch.manual_seed(1984)
    seen = drop(ones)
    assert seen.unique().tolist() == pytest.approx([0, 1 / (1 - rate)])
    assert (seen == 0).float().mean().item() == pytest.approx(rate, abs=0.002)
    assert (seen.mean(dim=0) - 1).abs().max() < 0.2  # none is dropped for all


def test_nothing_is_dropped_but_in_training() -> None:
    numbers = torch.randn(8, 5)
    assert UniformDropout(0.5).eval()(numbers) is numbers
    assert UniformDropout(0.0)(numbers) is numbers


def test_a_seed_gives_the_numbers_that_torch_gives() -> None:
    torch.manual_seed(7)
    expected = torch.rand(4)
    reseed(torch.device("cpu"), 7)
    assert torch.equal(torch.rand(4), expected)

"""Which epoch of a head is kept; what is written between epochs: often, and never for long."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from auditeval.training import callbacks
from auditeval.training.callbacks import BestHeads, SaveLast
from auditeval.training.module import EvaluatorModule
from auditeval.types import AXES


@pytest.mark.parametrize(
    ("errors", "best"),
    [([0.5, 0.3, float("nan")], 1), ([float("nan"), 0.5, 0.6], 1), ([float("nan")] * 2, None)],
)
def test_a_head_that_diverged_is_never_the_best(errors: list[float], best: int | None) -> None:
    heads = torch.nn.ModuleDict({axis: torch.nn.Linear(1, 1) for axis in AXES})
    module = EvaluatorModule(SimpleNamespace(heads=heads), None, None, {}, seed=0)  # type: ignore[arg-type]
    kept = BestHeads()
    for epoch, error in enumerate(errors):
        for weights in heads.parameters():
            weights.data.fill_(epoch)
        found = {f"val/mse/{axis}": torch.tensor(error) for axis in AXES}
        run: Any = SimpleNamespace(
            sanity_checking=False, current_epoch=epoch, callback_metrics=found
        )
        kept.on_validation_end(run, module)
    kept.on_fit_end(run, module)
    assert kept.best_epochs() == ({} if best is None else dict.fromkeys(AXES, best))
    last = len(errors) - 1
    assert {w.item() for w in heads.parameters()} == {last if best is None else best}


class Clock:
    """Seconds that pass only when something is done."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


class Run:
    """Stands for a trainer whose epochs and checkpoints take the given seconds."""

    def __init__(self, clock: Clock, epoch_seconds: float, write_seconds: float) -> None:
        self.clock = clock
        self.epoch_seconds, self.write_seconds = epoch_seconds, write_seconds
        self.epoch = 0
        self.written: list[int] = []
        self.strategy = self

    def reduce_boolean_decision(self, decision: bool) -> bool:
        return decision

    def save_checkpoint(self, path: Path) -> None:
        self.clock.now += self.write_seconds
        self.written.append(self.epoch)

    def train(self, callback: Any, epochs: int) -> None:
        for self.epoch in range(epochs):
            self.clock.now += self.epoch_seconds
            callback.on_train_epoch_end(self, None)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(callbacks, "time", made)
    return made


def test_every_epoch_is_written_where_writing_is_fast(clock: Clock, tmp_path: Path) -> None:
    run = Run(clock, epoch_seconds=10, write_seconds=0.4)
    run.train(SaveLast(tmp_path / "last.ckpt"), 50)
    assert run.written == list(range(50))


@pytest.mark.parametrize(("epoch_seconds", "write_seconds"), [(1, 1.5), (0.1, 3), (10, 0.6)])
def test_epochs_are_skipped_where_writing_is_slow(
    clock: Clock, tmp_path: Path, epoch_seconds: float, write_seconds: float
) -> None:
    run = Run(clock, epoch_seconds, write_seconds)
    run.train(SaveLast(tmp_path / "last.ckpt"), 2000)
    assert run.written[0] == 0
    assert 3 < len(run.written) < 2000
    # A twentieth of the time, but for the first one that nothing was known before.
    writing = (len(run.written) - 1) * write_seconds
    assert writing <= 0.05 * (clock.now - 100)
    # And no longer without one than that allows.
    waits = [after - before for before, after in pairwise(run.written)]
    assert max(waits) * epoch_seconds < write_seconds / 0.05 + 2 * epoch_seconds


def test_an_unlimited_share_writes_every_epoch(
    clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SaveLast, "SHARE", float("inf"))
    run = Run(clock, epoch_seconds=0.1, write_seconds=30)
    run.train(SaveLast(tmp_path / "last.ckpt"), 9)
    assert run.written == list(range(9))

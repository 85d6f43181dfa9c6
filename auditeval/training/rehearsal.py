"""What would stop a run after hours, said before anything is encoded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol, runtime_checkable

from auditeval.report.agreement import Predictions
from auditeval.training.data import take
from auditeval.training.stages import Plan, built


@runtime_checkable
class Checked(Protocol):
    """A part of a run that a plan may not suit: every way of training, some callbacks."""

    def check(self, plan: Plan) -> None:
        """Raises UserError where the plan would fail in what follows; encodes nothing."""
        ...


def rehearse(
    plan: Plan,
    baselines: Iterable[Mapping[str, Callable[..., Predictions]]],
    callbacks: Iterable[object],
) -> None:
    """Raises UserError for settings that do not go together, and for packages that are missing.

    Whatever is `Checked` looks at the plan. Each baseline is asked about no pairs, whose features
    have the widths that the encoder's will have.
    """
    for part in (plan.fit, *callbacks):
        if isinstance(part, Checked):
            part.check(plan)
    features = plan.fit.stand_in(plan.encoder)
    nothing = None if features is None else take(features, [])
    for group in baselines:
        for name, baseline in group.items():
            built(f"baseline {name!r}", baseline, name, [], nothing)

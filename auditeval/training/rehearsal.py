"""What would stop a run after hours, said before anything is encoded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

from auditeval.training.baselines import Baseline
from auditeval.training.configured import built
from auditeval.training.fit import Plan


@runtime_checkable
class Checked(Protocol):
    """A part of a run that a plan may not suit: every way of training, some callbacks."""

    def check(self, plan: Plan[Any, Any]) -> None:
        """Raises UserError where the plan would fail in what follows; encodes nothing."""
        ...


def rehearse(plan: Plan[Any, Any], baselines: Iterable[Mapping[str, Baseline]]) -> None:
    """Raises UserError for settings that do not go together, and for packages that are missing.

    Whatever is `Checked` looks at the plan. Each baseline is asked about no pairs, whose features
    have the widths that the encoder's will have.
    """
    for part in (plan.fit, *plan.callbacks()):
        if isinstance(part, Checked):
            part.check(plan)
    features = plan.fit.stand_in(plan.encoder)
    nothing = None if features is None else features.take([])
    for group in baselines:
        for name, baseline in group.items():
            built(f"baseline {name!r}", baseline, name, [], nothing)

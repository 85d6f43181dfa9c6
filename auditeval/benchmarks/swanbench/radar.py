"""The scale of SwanBench-Speech's radar charts: 1 to 5, more is better on every axis (G.2)."""

from __future__ import annotations

from collections.abc import Sequence

from auditeval.metrics.resampling import rounding
from auditeval.types import Undefined

LOW, HIGH = 1.0, 5.0
Value = float | Undefined


def shifted_pesq(pesq: Value) -> Value:
    """SQUIM-PESQ, -0.5 to 4.5, half a point up."""
    return pesq if isinstance(pesq, Undefined) else pesq + 0.5


def stretched(value: Value, all_values: Sequence[Value], lower_is_better: bool) -> Value:
    """A value on the line that takes the least of `all_values` to 1 and the greatest to 5.

    The other way round where lower is better. Where all are equal but for the rounding of means
    there is no line: the middle.

    >>> stretched(0.1, [0.1, 0.3, 0.2], lower_is_better=True)
    5.0
    """
    known = [one for one in all_values if not isinstance(one, Undefined)]
    if isinstance(value, Undefined):
        return value
    least, greatest = min(known), max(known)
    if greatest - least <= rounding(max(abs(least), abs(greatest))):
        return (LOW + HIGH) / 2
    share = (value - least) / (greatest - least)
    return LOW + (HIGH - LOW) * (1 - share if lower_is_better else share)

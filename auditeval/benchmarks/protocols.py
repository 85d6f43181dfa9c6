"""Whose rules make the verdicts of a benchmark."""

from __future__ import annotations

from collections.abc import Mapping

from auditeval.types import UserError

PROTOCOLS: Mapping[str, tuple[str, ...]] = {
    "speecheditbench": ("official", "ours", "both"),
    "swanbench": ("paper",),
    "salmon": ("official",),
    "mmae": ("paper",),
}
"""By benchmark, the most comparable first: "official" are the rules of its released evaluation
code, "paper" those of its paper where no code is released, "ours" mended ones, and "both" are
official and ours side by side. In SALMon ours equal the official ones."""


def chosen(benchmark: str, protocol: str | None) -> str:
    """The protocol that is asked for, None for the first; raises UserError for one that is not
    there.

    >>> chosen("salmon", None)
    'official'
    """
    known = PROTOCOLS[benchmark]
    if protocol is not None and protocol not in known:
        raise UserError(f"{benchmark} has no protocol {protocol!r}; it has {', '.join(known)}")
    return protocol or known[0]

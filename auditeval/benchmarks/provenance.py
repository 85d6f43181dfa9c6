"""Whose models gave the figures: a table has the paper's title only if they are the paper's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from auditeval.backends.load import Backends


def stand_ins(backends: Backends, paper: Mapping[str, str]) -> list[str]:
    """A sentence for each role whose model is not the one of the `paper`, in its order.

    `paper` has the name of the model by role; "gemini-*" where it names a family only.
    """
    sentences = []
    for role, theirs in paper.items():
        ours = backends.model(role).name if role in backends else None
        if ours is None:
            sentences.append(f"{role}: none (the paper's is {theirs})")
        elif not fnmatchcase(ours, theirs):
            sentences.append(f"{role}: {ours} stands in for {theirs}")
    return sentences


def title(benchmark: str, table: str, what: str, sentences: Sequence[str]) -> str:
    """The title of a table that follows `table` ("Table 2") of the benchmark's paper.

    >>> title("SALMon", "Table II", "accuracy by part", [])
    'SALMon, Table II: accuracy by part'
    >>> title("SALMon", "Table II", "accuracy by part", ["speaker: ..."])
    "SALMon protocol with stand-ins: accuracy by part (not comparable with the paper's Table II)"
    """
    if not sentences:
        return f"{benchmark}, {table}: {what}"
    return f"{benchmark} protocol with stand-ins: {what} (not comparable with the paper's {table})"

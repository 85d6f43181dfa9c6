"""Whose models gave the figures: a table has the paper's title only if they are the paper's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from auditeval.backends.load import Backends


def stand_ins(backends: Backends, paper: Mapping[str, str]) -> list[str]:
    """A sentence for each role whose model is not the one of the `paper`, in its order.

    `paper` has the name of the model by role; "gemini-*" where it names a family only.
    """
    sentences = []
    for role, theirs in paper.items():
        if role not in backends:
            sentences.append(f"{role}: none (the paper's is {theirs})")
        elif not is_papers(model := backends.model(role), theirs):
            sentences.append(f"{role}: {model_name(model)} stands in for {theirs}")
    return sentences


def model_name(model: Any) -> str:
    """What a judge's endpoint is asked for (`model`), whatever label its user gave it; of all
    others their name."""
    sent = getattr(model, "model", None)
    return sent if isinstance(sent, str) else str(model.name)


def is_papers(model: Any, theirs: str) -> bool:
    """Whether it is the model, or of the family, that the paper names; neither case nor the
    organisation before a "/" counts."""
    return fnmatchcase(model_name(model).rpartition("/")[2].casefold(), theirs.casefold())


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

"""Figures of other models than the paper's never stand under its table's title."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from auditeval.backends.load import Backends
from auditeval.benchmarks.provenance import stand_ins, title

PAPER = {"transcriber_en": "whisper-large-v3", "judge": "gemini-*"}


def backends(**names: str) -> Backends:
    nodes: dict[str, Any] = {role: SimpleNamespace(name=name) for role, name in names.items()}
    return Backends(nodes)


def test_the_papers_own_models_give_its_title() -> None:
    found = stand_ins(backends(transcriber_en="whisper-large-v3", judge="gemini-2.5-pro"), PAPER)
    assert found == []
    assert title("SpeechEditBench", "Table 2", "results", found) == (
        "SpeechEditBench, Table 2: results"
    )


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (
            {"transcriber_en": "whisper-large-v3-turbo", "judge": "gemini-3-pro"},
            "transcriber_en: whisper-large-v3-turbo stands in for whisper-large-v3",
        ),
        ({"transcriber_en": "whisper-large-v3"}, "judge: none (the paper's is gemini-*)"),
    ],
)
def test_any_other_model_is_named_and_takes_the_title_away(
    names: dict[str, str], sentence: str
) -> None:
    found = stand_ins(backends(**names), PAPER)
    assert found == [sentence]
    named = title("SpeechEditBench", "Table 2", "results", found)
    assert named.startswith("SpeechEditBench protocol with stand-ins: results")
    assert "not comparable with the paper's Table 2" in named

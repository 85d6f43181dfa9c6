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


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("GEMINI-3-Pro", True),
        ("google/gemini-3-pro", True),
        ("gemini-fans/other", False),
        ("my-gemini-3", False),
    ],
)
def test_neither_case_nor_organisation_counts(name: str, same: bool) -> None:
    found = stand_ins(backends(transcriber_en="openai/Whisper-Large-v3", judge=name), PAPER)
    assert found == ([] if same else [f"judge: {name} stands in for gemini-*"])


def test_what_a_judge_is_sent_counts_and_not_its_label() -> None:
    def judged(label: str, sent: object) -> list[str]:
        return stand_ins(
            Backends({"judge": SimpleNamespace(name=label, model=sent)}), {"judge": "gemini-*"}
        )

    assert judged("gemini-3-pro", "small-one") == ["judge: small-one stands in for gemini-*"]
    assert judged("mine", "gemini-3-pro-preview") == []
    assert judged("gemini-3-pro", object()) == []  # weights are no name

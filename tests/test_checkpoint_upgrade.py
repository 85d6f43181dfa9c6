"""Checkpoints of the format before: they load, and say what they said."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from auditeval import checkpoint
from auditeval.checkpoint_upgrade import upgraded
from auditeval.features.alignment import ALIGNMENT_NAMES
from auditeval.features.comparison import PATCH_NAMES
from auditeval.features.evidence import CAPTION_NAMES, LABEL_NAMES
from auditeval.types import UserError


@pytest.fixture
def old(spectrum_checkpoint: Path, tmp_path: Path) -> Path:
    """The small checkpoint as version 0.1 wrote it, which kept scales of all inputs."""
    folder = Path(shutil.copytree(spectrum_checkpoint, tmp_path / "old"))
    config = json.loads((folder / checkpoint.CONFIG).read_text())
    del config["model"]["arguments"]["inputs"]
    sizes = {"dim": 640, "text_dim": 0, "joint_dim": 0, "evidence_dim": 0}
    config["model"]["arguments"] |= {**sizes, "alignment_dim": len(ALIGNMENT_NAMES)}
    del config["features"], config["weights"]
    config |= {
        "format": "auditeval-1",
        "encoder": {"name": "melstats", "arguments": {}, "revision": "1"},
    }
    (folder / checkpoint.CONFIG).write_text(json.dumps(config))
    weights = load_file(folder / checkpoint.WEIGHTS)
    weights |= {f"scale_audio.{name}": torch.ones(640) for name in ("mean", "spread")}
    save_file(weights, folder / checkpoint.WEIGHTS)
    return folder


def test_an_older_checkpoint_is_the_same_evaluator(old: Path, spectrum_checkpoint: Path) -> None:
    assert checkpoint.is_checkpoint(old)
    found, expected = checkpoint.load(old), checkpoint.load(spectrum_checkpoint)
    assert found.model.arguments == expected.model.arguments
    assert found.config.features == expected.config.features
    state = found.model.state_dict()
    assert state.keys() == expected.model.state_dict().keys()
    for name, value in expected.model.state_dict().items():
        assert torch.equal(state[name], value)


def test_what_is_missing_beyond_old_scales_is_still_missing(old: Path) -> None:
    weights = load_file(old / checkpoint.WEIGHTS)
    del weights["scale_alignment.mean"]
    save_file(weights, old / checkpoint.WEIGHTS)
    with pytest.raises(UserError, match="scale_alignment"):
        checkpoint.load(old)


def described(name: str, revision: str, arguments: dict[str, Any], **sizes: int) -> dict[str, Any]:
    return {
        "format": "auditeval-1",
        "model": {"name": "pairwise", "arguments": {"rank": 4, **sizes}},
        "encoder": {"name": name, "arguments": arguments, "revision": revision},
    }


def test_the_encoder_that_was_joined_by_hand_is_three_extractors() -> None:
    paths = {"yamnet_path": "a.zip", "minilm_path": None}
    sizes = {"dim": 3209, "text_dim": 905, "joint_dim": 521, "alignment_dim": 65}
    found = upgraded(described("offline", "5-1-3-abc-def", paths, **sizes, evidence_dim=52))
    assert found["features"] == {
        "events": {"arguments": {"yamnet": "a.zip", "minilm": None}, "revision": "5-3-abc-def"},
        "spectrum": {"arguments": {}, "revision": "1"},
        "words": {"arguments": {"minilm": None}, "revision": "def"},
    }
    inputs = found["model"]["arguments"]["inputs"]
    assert (inputs["audio"], inputs["text"], inputs["joint"]) == (3209, 905, [521])
    assert [name.split(".")[1] for name in inputs["alignment"]] == [*ALIGNMENT_NAMES, *PATCH_NAMES]
    assert [name.split(".")[1] for name in inputs["evidence"]] == [*LABEL_NAMES, *CAPTION_NAMES]


def test_a_clap_of_before_is_one_whose_windows_nobody_looks_at() -> None:
    sizes = {"dim": 512, "text_dim": 512, "joint_dim": 512, "alignment_dim": 0}
    found = upgraded(described("clap", "0123", {"model": "x"}, **sizes))
    assert found["features"] == {"clap": {"arguments": {"model": "x"}, "revision": "0123-2"}}
    assert found["model"]["arguments"]["inputs"]["alignment"] == []


@pytest.mark.parametrize("missing", ["encoder", "model"])
def test_a_damaged_one_is_one_sentence(old: Path, missing: str) -> None:
    config = json.loads((old / checkpoint.CONFIG).read_text())
    del config[missing]
    (old / checkpoint.CONFIG).write_text(json.dumps(config))
    with pytest.raises(UserError, match=f"no whole configuration of format auditeval-1.*{missing}"):
        checkpoint.load(old)


def test_anything_else_is_left_to_others() -> None:
    for value in (None, [], {}, {"format": "auditeval-2"}):
        assert upgraded(value) is value

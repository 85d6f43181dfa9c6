"""The feature cache on accelerators, which need none here: whose numbers it holds, what is full."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch
from fake_encoders import FakeClap

from auditeval.data.soundbank import synthesize
from auditeval.features.encoder import Encoder
from auditeval.features.extractor import AudioFeatures
from auditeval.features.pair import PairFeatures
from auditeval.features.store import Failure, FeatureStore
from auditeval.types import EditPair, UserError


class Moving(FakeClap):
    """On whatever device: one that takes clips of a second, and captions of `most_letters`."""

    batch_size = 4
    most_letters = 1000

    def to(self, device: str) -> None:
        self.device = torch.device(device)

    def encode_clip(self, samples: np.ndarray) -> AudioFeatures:
        if len(samples) > self.rate_hz:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return super().encode_clip(samples)

    def encode_text(self, captions: Sequence[str]) -> np.ndarray:
        if max(map(len, captions)) > self.most_letters:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return super().encode_text(captions)


@pytest.fixture
def pairs(tmp_path: Path) -> list[EditPair]:
    """Two pairs of four clips, one of which is long."""
    made = []
    for number, names in enumerate((("rain", "wind"), ("siren", "dog_bark"))):
        paths = [tmp_path / f"{name}.wav" for name in names]
        for name, path in zip(names, paths, strict=True):
            seconds = 1.5 if name == "wind" else 0.5
            soundfile.write(path, synthesize(name, 1, seconds, 16000), 16000, "PCM_16")
        captions = {"original_caption": "Rain.", "target_caption": "Rain and more."}
        made.append(EditPair(id=str(number), original=paths[0], edited=paths[1], **captions))
    return made


def test_devices_do_not_share_what_they_round_otherwise(
    pairs: list[EditPair], tmp_path: Path
) -> None:
    def folders(device: str) -> set[str]:
        encoder = Encoder([Moving()])
        encoder.to(device)
        FeatureStore(encoder, tmp_path / device).pairs(pairs)
        assert encoder.revision == Encoder([Moving()]).revision  # what a checkpoint compares
        return {path.name for path in (tmp_path / device).iterdir()}

    made_by = f"fake_clap@{Moving().revision}"
    assert folders("cpu") == {made_by}
    assert folders("cuda:1") == folders("cuda") == {f"{made_by}-cuda"}


def test_a_clip_that_no_memory_holds_has_a_reason_and_its_neighbours_none(
    pairs: list[EditPair], tmp_path: Path
) -> None:
    encoder = Encoder([Moving()])
    encoder.to("cuda:0")
    first, second = FeatureStore(encoder, tmp_path / "cache").pairs(pairs)
    assert isinstance(second, PairFeatures)
    assert first == Failure(
        f"{pairs[0].edited}: fake_clap: an item does not fit into the memory of cuda:0; another "
        "process may be on it"
    )


def test_a_caption_that_no_memory_holds_is_a_sentence(
    pairs: list[EditPair], tmp_path: Path
) -> None:
    extractor = Moving()
    extractor.most_letters = 3
    with pytest.raises(UserError, match=r"^fake_clap: an item does not fit into the memory of cpu"):
        FeatureStore(Encoder([extractor]), tmp_path / "cache").pairs(pairs)

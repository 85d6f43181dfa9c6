"""Contrast sets: each trial has its right edit, and a set without classes is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditeval import manifest
from auditeval.audio import decode
from auditeval.data.simulation import contrasts
from auditeval.types import EditPair, UserError


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> list[EditPair]:
    folder = tmp_path_factory.mktemp("contrasts")
    return manifest.read(
        contrasts.build(folder, ["dog_bark", "siren", "bird_chirp"], trials=3, seconds=1.5)
    )


def test_a_trial_has_each_variant_once_and_only_the_right_one_is_rated_high(
    pairs: list[EditPair],
) -> None:
    for trial in {pair.source for pair in pairs}:
        variants = {pair.system: pair for pair in pairs if pair.source == trial}
        assert sum(pair.source == trial for pair in pairs) == len(variants)
        lacking = {"opposite"} if variants["right"].operation == "replace" else set()
        assert set(variants) == set(contrasts.VARIANTS) - lacking
        for name, pair in variants.items():
            assert pair.ratings == {"relevance": 5.0 if name == "right" else 1.0}


def test_the_swapped_variant_is_the_right_sound_under_other_words(pairs: list[EditPair]) -> None:
    for trial in {pair.source for pair in pairs}:
        right, swapped = (
            next(p for p in pairs if p.source == trial and p.system == name)
            for name in ("right", "swapped")
        )
        assert (decode(right.edited).samples == decode(swapped.edited).samples).all()
        captions = [(p.original_caption, p.target_caption) for p in (right, swapped)]
        assert captions[0] != captions[1]


def test_a_set_needs_classes(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="needs classes of events"):
        contrasts.build(tmp_path, [])

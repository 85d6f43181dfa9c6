"""Contrast sets: each trial has its right edit, and a test without classes is refused."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auditeval import manifest
from auditeval.audio import decode
from auditeval.data import combining
from auditeval.data.simulation import contrasts
from auditeval.data.simulation.vocabulary import spelled
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
        lacking = "opposite" if variants["right"].operation == "replace" else "halfway"
        assert set(variants) == set(contrasts.VARIANTS) - {lacking}
        for name, pair in variants.items():
            assert pair.ratings == {"relevance": {"right": 5.0, "halfway": 3.0}.get(name, 1.0)}


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


def _made_anew(pairs: list[EditPair]) -> None:
    """Of each trial an edit left undone in a damaged clip, and all in one made anew."""
    trials: dict[str, dict[str, EditPair]] = defaultdict(dict)
    for pair in pairs:
        trials[pair.id.partition("_")[0]][str(pair.system).removeprefix("contrast_")] = pair
    anew = 0
    for trial in trials.values():
        right, untouched, damaged = (trial[x] for x in ("right", "untouched", "damaged_untouched"))
        x, y, z = (decode(p.edited).samples for p in (right, untouched, damaged))
        assert len(z) == len(y)
        assert not np.array_equal(z, y)
        others = {name for name in trial if name.startswith("anew")}
        assert len(others) in (0, 3)
        assert not others or "anew" in others
        for name in others:
            made, anew = decode(trial[name].edited).samples, anew + 1
            size = min(len(made), len(x))
            for clip in (x, y):
                assert abs(np.corrcoef(made[:size], clip[:size])[0, 1]) < 0.9
    assert anew


def _decoded(edits: list[dict[str, Any]]) -> None:
    """Some trials went through a decoder, all variants of one through the same."""
    trials = defaultdict(list)
    for edit in edits:
        decoders = {name: edit["faults"].get(name) for name in contrasts.DECODERS}
        trials[edit["id"].partition("_")[0]].append((edit["id"], decoders))
    with_one = 0
    for variants in trials.values():
        same = [found for name, found in variants if "damaged" not in name]
        assert all(found == same[0] for found in same)
        with_one += any(same[0].values())
    assert 0 < with_one < len(trials)


def test_those_to_learn_from_are_rated_by_the_panel_and_stay_in_their_pools(
    shared_data: Path, tmp_path: Path
) -> None:
    esc10 = shared_data / "esc10"
    path = contrasts.build_rated(tmp_path, 6, seconds=1.5, recordings={"esc10": esc10}, pools=3)
    pairs = manifest.read(path)
    assert {pair.source for pair in pairs} == {"pool00", "pool01", "pool02"}
    recorded = {folder.name for folder in esc10.iterdir() if folder.is_dir()}
    edits = [json.loads(x) for x in path.with_name("edits.jsonl").read_text().splitlines()]
    _decoded(edits)
    for edit in edits:
        assert {*edit["events"]} <= {*map(spelled, recorded)}
        assert {*edit["events"], edit["background"]} <= {*edit["sounds"]}
    for pair in pairs:
        assert pair.ratings.keys() == pair.raters.keys() == {"relevance"}
        done = pair.system in ("contrast_right", "contrast_anew")
        assert (pair.ratings["relevance"] > 4) == done
        assert len(pair.raters["relevance"]) == 5
    _made_anew(pairs)
    heard = manifest.read(combining.without([path], tmp_path / "dry.jsonl", sounds=["rain"]))
    assert 0 < len(heard) < len(pairs)

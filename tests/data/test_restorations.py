"""Simulated restorations: what is left of a fault costs quality, to take it away nothing."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from auditeval import manifest
from auditeval.audio import decode
from auditeval.data.simulation import restorations
from auditeval.data.simulation.faults import FAULTS
from auditeval.types import EditPair


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("restorations")
    return restorations.build(folder, scenes=10, seconds=1.2, workers=1)


def of_scene(path: Path) -> list[dict[str, EditPair]]:
    found: dict[str, dict[str, EditPair]] = defaultdict(dict)
    for pair in manifest.read(path):
        scene, variant = pair.id.split("_", 1)
        found[scene][variant] = pair
    return list(found.values())


def test_the_less_is_left_the_better_it_sounds(path: Path) -> None:
    names = ("right", "half", "untouched", "worse", "damaged")
    quality = np.array([[x[name].ratings["quality"] for name in names] for x in of_scene(path)])
    assert quality[:, 0].min() >= 4.6
    left = quality.mean(axis=0)[:-1]
    assert (np.diff(left) < -0.3).all()
    assert quality[:, -1].mean() < quality[:, 0].mean() - 0.5


def test_what_was_asked_for_costs_no_faithfulness(path: Path) -> None:
    for variants in of_scene(path):
        faithfulness = {name: pair.ratings["faithfulness"] for name, pair in variants.items()}
        assert min(faithfulness["right"], faithfulness["half"]) >= 4.6
        assert faithfulness["unrelated"] < 1.5
        assert faithfulness.get("anew", 1.0) < 3
        assert faithfulness["lost"] <= faithfulness["right"]


def test_relevance_goes_by_what_went(path: Path) -> None:
    for variants in of_scene(path):
        relevance = {name: pair.ratings["relevance"] for name, pair in variants.items()}
        assert max(relevance["untouched"], relevance["worse"], relevance["unrelated"]) <= 1.5
        assert relevance["untouched"] < relevance["half"] < relevance["right"]
        assert len({(x.original_caption, x.instruction) for x in variants.values()}) == 1


def test_what_is_left_of_a_fault_is_of_the_same_make(path: Path) -> None:
    """Noise that is half as loud is that noise, not another."""
    faults = {row["id"]: row["faults"] for row in map(json.loads, _lines(path))}
    seen = 0
    for variants in of_scene(path):
        (name, _), *_ = faults[variants["half"].id].items()
        if not name.startswith("noise"):
            continue
        clean, half, given = (
            decode(file).samples.astype(float)
            for file in (
                variants["right"].edited,
                variants["half"].edited,
                variants["half"].original,
            )
        )
        if len({len(clean), len(half), len(given)}) > 1:  # saved with silence before it
            continue
        left = [np.fft.rfft(x - clean) for x in (half, given)]
        likeness = abs(np.vdot(*left)) / np.prod([np.linalg.norm(x) for x in left])
        seen += likeness > 0.9
    assert seen


def test_every_fault_is_one_of_a_clip_and_has_words(path: Path) -> None:
    assert not restorations._BROKEN.keys() - FAULTS.keys()
    first = {next(iter(json.loads(line)["faults"])) for line in _lines(path)}
    assert first <= restorations._BROKEN.keys()
    assert len(first) > 3


def _lines(path: Path) -> list[str]:
    return path.with_name("edits.jsonl").read_text().splitlines()

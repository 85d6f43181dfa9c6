"""Simulated changes of how a sound sounds: what is made of a scene, and what it is worth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from auditeval import manifest
from auditeval.data.simulation import change_ways, changes, effects
from auditeval.data.simulation.change_ways import WAYS
from auditeval.data.simulation.material import Material
from auditeval.data.simulation.scenes import Scene, make_scene
from auditeval.data.simulation.signals import active_rms
from auditeval.types import EditPair

DAMAGED = 6  # edits more a scene


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> list[EditPair]:
    folder = tmp_path_factory.mktemp("changes")
    path = changes.build(folder, scenes=12, seconds=1.5, workers=1, damaged=DAMAGED)
    return list(manifest.read(path))


def of_scene(pairs: list[EditPair]) -> dict[str, dict[str, EditPair]]:
    found: dict[str, dict[str, EditPair]] = {}
    for pair in pairs:
        scene, variant = pair.id.split("_")
        found.setdefault(scene, {})[variant] = pair
    return found


def test_the_right_change_is_the_most_relevant(built: list[EditPair]) -> None:
    for variants in of_scene(built).values():
        relevance = {
            name: pair.ratings["relevance"]
            for name, pair in variants.items()
            if name != "anew"  # by how much another take was changed nobody can tell
        }
        assert relevance["right"] >= 4.6
        assert relevance["half"] < relevance["right"]
        for wrong in {"untouched", "opposite", "other", "misnamed"} & relevance.keys():
            assert relevance[wrong] <= 1.3
        assert relevance["damaged"] > max(relevance["untouched"], 2.0)


def test_damage_costs_quality_and_an_unasked_change_faithfulness(built: list[EditPair]) -> None:
    rated = [
        [variants[name].ratings[axis] for name in ("right", "damaged", "misnamed", "untouched")]
        for axis in ("quality", "faithfulness")
        for variants in of_scene(built).values()
    ]
    quality, faithfulness = np.array(rated).reshape(2, -1, 4).mean(axis=1)
    assert quality[1] < quality[0] - 0.3
    assert faithfulness[2] < faithfulness[0] - 0.3
    assert faithfulness[3] > 4.8


def test_however_it_was_done_there_are_edits_with_any_damage(built: list[EditPair]) -> None:
    path = built[0].edited.parents[1] / "edits.jsonl"
    faults = {row["id"]: row["faults"] for row in map(json.loads, path.read_text().splitlines())}
    damaged = [pair for pair in built if "_damaged-" in pair.id]
    assert 0 <= 12 * DAMAGED - len(damaged) <= 2  # some have nothing left to hear
    assert all(faults[pair.id] for pair in damaged)
    assert len({name for pair in damaged for name in faults[pair.id]}) >= 12
    quality, relevance = (
        np.array([pair.ratings[axis] for pair in damaged]) for axis in ("quality", "relevance")
    )
    assert quality.std() > 0.7
    assert 0.4 < (relevance > 3.5).mean() < 0.9
    assert (relevance < 1.5).mean() > 0.15


def test_content_that_is_lost_or_another_costs_faithfulness(built: list[EditPair]) -> None:
    for variants in of_scene(built).values():
        faithfulness = {name: pair.ratings["faithfulness"] for name, pair in variants.items()}
        assert faithfulness["unrelated"] < 1.5
        assert faithfulness.get("anew", 1.0) < 3
        assert faithfulness["lost"] <= faithfulness["right"]
        assert variants["unrelated"].ratings["relevance"] < 1.7


def test_what_should_go_and_is_still_there_is_heard() -> None:
    scene = make_scene(Material({}), 0, (2.0, 2.0), np.random.default_rng(3))
    rng, asked = np.random.default_rng(0), changes._Asked("cleaner", 20.0, False)
    noisy = WAYS["cleaner"].make(scene.background, 20.0, scene, rng)
    lost = [
        changes._edited(scene, asked, noisy, ratio, of, "echo", rng)
        for ratio, of in ((1.0, "asked"), (0.5, "asked"), (0.0, "asked"), (1.0, "misnamed"))
    ]
    assert [cost["quality"] for _, cost in lost[:3]] == sorted(x["quality"] for _, x in lost[:3])
    assert lost[0][1]["quality"] == lost[3][1]["quality"] == 0
    assert lost[2][0] is noisy


def test_words_are_the_same_for_all_but_the_misnamed(built: list[EditPair]) -> None:
    for variants in of_scene(built).values():
        said = {
            name: (pair.original_caption, pair.target_caption, pair.instruction)
            for name, pair in variants.items()
        }
        assert len({words for name, words in said.items() if name != "misnamed"}) == 1
        assert said["misnamed"] != said["right"]
        before, after, instruction = said["right"]
        assert instruction or before != after


def test_files_are_heard_and_not_clipped(built: list[EditPair]) -> None:
    for pair in built:
        samples, _ = soundfile.read(pair.edited)
        assert 1e-4 < np.abs(samples).max() < 1.0


def test_other_words_and_further_edits_make_no_other_sounds(
    built: list[EditPair], tmp_path: Path
) -> None:
    path = changes.build(tmp_path, scenes=2, seconds=1.5, workers=1, held_out_words=True)
    others = {pair.id: pair for pair in manifest.read(path)}
    shared = [pair for pair in built if pair.id in others]
    assert len(shared) == len(others) >= 14
    for pair in shared:
        other = others[pair.id]
        assert pair.edited.read_bytes() == other.edited.read_bytes()
    assert any(pair.instruction != others[pair.id].instruction for pair in shared)


def test_edits_are_rated_again_under_words_for_another_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worded, named = changes._words, list[str]()

    def words(scene: Scene, asked: changes._Asked, *rest: Any) -> tuple[str, str, str | None]:
        named.append(asked.change)
        return worded(scene, asked, *rest)

    monkeypatch.setattr(changes, "_words", words)
    path = changes.build(tmp_path, scenes=4, seconds=1.5, workers=1, misnamed=3)
    pairs = list(manifest.read(path))
    again = [pair for pair in pairs if "_misnamed-" in pair.id]
    made = {
        (pair.original, pair.edited): (pair.original_caption, pair.target_caption, pair.instruction)
        for pair in pairs
        if pair.system in ("sim_right", "sim_half", "sim_double", "sim_lost")
    }
    assert len(again) == len({pair.id for pair in again}) == 12
    for pair in again:
        said = pair.original_caption, pair.target_caption, pair.instruction
        assert made[pair.original, pair.edited] != said
        assert pair.ratings.keys() == {"relevance"}
        assert pair.ratings["relevance"] <= 1.3
    for scene in range(0, len(named), 5):  # the change, another, and three more
        change, _, *others = named[scene : scene + 5]
        assert not {change, WAYS[change].opposite} & {*others}
    alone = changes.build(tmp_path, scenes=4, seconds=1.5, workers=1)  # another set
    assert [pair.id for pair in manifest.read(alone)] == [p.id for p in pairs if p not in again]


@pytest.mark.parametrize("told", [True, False])
def test_the_nearer_to_what_was_asked_the_more_relevant(told: bool) -> None:
    below = [changes.relevance(x, told) for x in (-1, 0, 0.2, 0.5, 0.8, 1)]
    above = [changes.relevance(x, told) for x in (1, 1.3, 2, 4)]
    assert below == sorted(below)
    assert above == sorted(above, reverse=True)
    assert (below[0], below[-1]) == (1.0, 5.0)
    assert changes.relevance(2, True) < changes.relevance(2, False)


@pytest.mark.parametrize("name", ["pitch_up", "slower", "narrow"])
def test_what_has_nothing_to_do_with_level_keeps_it(name: str) -> None:
    scene = make_scene(Material({}), 0, (2.0, 2.0), np.random.default_rng(3))
    way, x = WAYS[name], scene.background
    made = way.make(x, float(np.mean(way.span)), scene, np.random.default_rng(0))
    assert active_rms(made) == pytest.approx(active_rms(x), rel=0.01)


def test_opposites_are_opposite_to_each_other() -> None:
    for name, way in change_ways.WAYS.items():
        if way.opposite:
            assert WAYS[way.opposite].opposite == name


@pytest.mark.parametrize("name", ["echo", "tremolo", "chorus", "more_reverb"])
def test_an_effect_is_of_one_character_in_all_edits_of_a_scene(name: str) -> None:
    scene = make_scene(Material({}), 0, (2.0, 2.0), np.random.default_rng(3))

    def made(character: int | None) -> np.ndarray:
        way = WAYS[name]
        heard = scene._replace(character=character)
        return way.make(scene.background, 1.0, heard, np.random.default_rng(0))

    np.testing.assert_array_equal(made(1), made(1))
    assert not np.allclose(made(1), made(2), atol=1e-4)
    usual = effects.apply(
        name.removeprefix("more_"),
        scene.background,
        1.0,
        int(np.random.default_rng(0).integers(2**31)),
    )
    np.testing.assert_array_equal(made(None), usual)

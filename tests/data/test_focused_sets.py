"""Sets of one kind of edit each: what is worse is rated so, and is worse."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from auditeval import manifest
from auditeval.audio import decode, files
from auditeval.audio.waveform import quantised
from auditeval.data.simulation import focused, removals, spoken_anew, strengths, unasked
from auditeval.data.simulation.build import EDITS
from auditeval.data.simulation.edits import Words
from auditeval.data.simulation.effects import EFFECTS
from auditeval.data.simulation.material import Material
from auditeval.data.simulation.scenes import UNEDITED, make_scene
from auditeval.data.simulation.separation import HEARD, separate
from auditeval.data.simulation.signals import RATE_HZ, active_rms, decibels
from auditeval.data.simulation.variants import Variants
from auditeval.data.soundbank import synthesize
from auditeval.types import AXES, EditPair, UserError

SCENES = 9


class Made:
    """A set by scene and variant, and which faults each edit has."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.pairs = manifest.read(path)
        rows = map(json.loads, path.with_name(EDITS).read_text().splitlines())
        self.faults: dict[str, dict[str, float]] = {row["id"]: row["faults"] for row in rows}

    def of(self, variant: str) -> list[EditPair]:
        return [pair for pair in self.pairs if pair.system.endswith(f"_{variant}")]

    def mean(self, variant: str, axis: str) -> float:
        return float(np.mean([pair.ratings[axis] for pair in self.of(variant)]))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Made]:
    folder, sets = tmp_path_factory.mktemp("focused"), dict[str, Made]()

    def of(kind: str) -> Made:
        if kind not in sets:
            sets[kind] = Made(focused.build(folder, kind, SCENES, seconds=1.2, workers=1))
        return sets[kind]

    return of


def heard(path: Path) -> np.ndarray:
    return decode(path).samples.astype(np.float64)


@pytest.mark.parametrize("kind", focused.KINDS)
def test_it_is_the_same_set_each_time(
    kind: str, made: Callable[[str], Made], tmp_path: Path
) -> None:
    again = focused.build(tmp_path, kind, SCENES, seconds=1.2, workers=2)
    for one, other in zip(made(kind).pairs, manifest.read(again), strict=True):
        assert one.id == other.id
        assert one.edited.read_bytes() == other.edited.read_bytes()
        assert one.raters == other.raters
    assert again.with_name(EDITS).read_bytes() == made(kind).path.with_name(EDITS).read_bytes()


RIGHT = {
    **{"lengths": "whole", "strengths": "anew", "removals": "true"},
    **dict.fromkeys(("unasked", "spoken_anew"), "right"),
}


@pytest.mark.parametrize("kind", focused.KINDS)
def test_the_right_edit_loses_least(kind: str, made: Callable[[str], Made]) -> None:
    right = RIGHT[kind]
    found = made(kind).of(right)
    assert len(found) == SCENES
    least = 3.4 if kind == "spoken_anew" else 4.4  # whose voice and words may be any
    assert min(min(pair.ratings.values()) for pair in found) >= least
    for axis in found[0].ratings:
        variants = {pair.system.removeprefix(f"sim_{focused.KINDS[kind].name}_") for pair in found}
        others = [pair.ratings[axis] for pair in made(kind).pairs if pair not in found]
        assert variants == {right}
        assert np.mean(others) < made(kind).mean(right, axis)


def test_each_effect_is_there_and_another_strength_of_it_is_less_faithful(
    made: Callable[[str], Made],
) -> None:
    found = made("strengths")
    assert len(EFFECTS) == SCENES
    anew = found.mean("anew", "faithfulness")
    assert anew > found.mean("weaker", "faithfulness") + 0.5
    assert anew > found.mean("stronger", "faithfulness") + 0.5
    assert anew > found.mean("other", "faithfulness") + 0.5
    assert {*found.faults[found.of("missing")[0].id]} == {"effect_missing"}
    assert all({*found.faults[pair.id]} - {"effect_anew"} for pair in found.of("anew_damaged"))
    for pair in found.of("anew"):  # by another make: not the same samples
        assert not np.array_equal(heard(pair.original), heard(pair.edited))
    assert all(set(pair.ratings) == {"quality", "faithfulness"} for pair in found.pairs)


class Kept(dict[str, np.ndarray]):
    """Stands for `Variants`: what is made, before it is written."""

    def begin(self, original: np.ndarray, words: Words, instruction: str | None = None) -> None:
        self["original"] = original

    def add(self, variant: str, samples: np.ndarray, *_: object) -> None:
        self[variant] = samples


@pytest.mark.parametrize("effect", EFFECTS)
def test_a_weaker_effect_is_nearer_to_none_and_a_stronger_one_further(effect: str) -> None:
    rng, number, kept = np.random.default_rng(1), list(EFFECTS).index(effect), Kept()
    scene = make_scene(Material(None, (), 1), 0, (1.2, 1.2), rng)
    strengths.edit(scene, cast(Variants, kept), number, rng)

    weaker, anew, stronger = (
        np.corrcoef(kept[variant], kept["missing"])[0, 1]
        for variant in ("weaker", "anew", "stronger")
    )
    assert weaker > anew > stronger
    assert anew < 1


def test_the_further_from_its_strength_the_less_faithful(made: Callable[[str], Made]) -> None:
    found = made("strengths")
    for variant in ("weaker", "stronger"):
        pairs = found.of(variant)
        by = [found.faults[pair.id]["effect_strength"] for pair in pairs]
        faithfulness = [pair.ratings["faithfulness"] for pair in pairs]
        assert np.corrcoef(by, faithfulness)[0, 1] < -0.95


def test_a_part_of_a_mixture_that_is_left_costs_relevance_and_no_faithfulness(
    made: Callable[[str], Made],
) -> None:
    found = made("removals")
    for pair in found.of("residue"):
        assert {*found.faults[pair.id]} <= {"separation_leakage"}
        assert pair.ratings["faithfulness"] >= 4.6
    left = [found.faults[pair.id].get("separation_leakage", 0.0) for pair in found.of("residue")]
    relevance = [pair.ratings["relevance"] for pair in found.of("residue")]
    assert np.corrcoef(left, relevance)[0, 1] < -0.9
    assert found.mean("timid", "relevance") < found.mean("separated", "relevance")


@pytest.mark.parametrize("method", HEARD)
def test_what_is_wrong_with_an_estimate_is_measured(method: str) -> None:
    """Of noises in bands of their own, and beside a tone: the mask leaves some of both."""
    rng = np.random.default_rng(0)
    time = np.arange(2 * RATE_HZ) / RATE_HZ
    kept = 0.1 * np.sin(2 * np.pi * 440 * time) * (1 + np.sin(2 * np.pi * 3 * time))
    other = 0.05 * rng.standard_normal(len(time))
    estimate = np.add.reduce([*separate(kept, other, method, rng)])

    assert removals.doses_of(kept, kept, other) == {}
    left = removals.doses_of(kept + other * decibels(-12.0), kept, other)
    assert {*left} == {"separation_leakage"}
    assert left["separation_leakage"].severity == pytest.approx((36 - 12) / (36 - 2), abs=0.02)
    noise = rng.standard_normal(len(time))
    worse = estimate + noise * active_rms(kept) * decibels(-10.0) / active_rms(noise)
    doses, more = (removals.doses_of(x, kept, other) for x in (estimate, worse))
    assert "separation_artefacts" in doses
    assert more["separation_artefacts"].severity > doses["separation_artefacts"].severity


@pytest.mark.parametrize("effect", ["compression", "distortion", "brightness", "darkness"])
def test_an_effect_of_another_character_is_further_off_than_another_make_of_it(effect: str) -> None:
    """By spectra of 30 ms, frame by frame, in which makes of the others swing out of step."""
    scene = make_scene(Material(None, (), 1), 0, (2.0, 2.0), np.random.default_rng(0))
    off: dict[str, list[float]] = {"anew": [], "other": []}
    for seed in range(4):
        made, rng = Kept(), np.random.default_rng([7, seed])
        strengths.edit(scene, cast("Variants", made), list(EFFECTS).index(effect), rng)
        original = log_spectra(made["original"])
        for name, found in off.items():
            found.append(float(np.abs(log_spectra(made[name]) - original).mean()))
    assert np.mean(off["other"]) > 1.5 * np.mean(off["anew"])


def log_spectra(samples: np.ndarray, size: int = 960) -> np.ndarray:
    frames = samples[: len(samples) // size * size].reshape(-1, size)
    return 20 * np.log10(np.abs(np.fft.rfft(frames)) + 1e-3)


def test_what_befell_the_rest_costs_faithfulness_alone(made: Callable[[str], Made]) -> None:
    found = made("unasked")
    assert {pair.operation for pair in found.pairs} == {"add", "delete", "replace"}
    assert all(set(pair.ratings) == {"faithfulness"} for pair in found.pairs)
    for variant, faults in unasked.VARIANTS.items():
        assert found.of(variant), variant
        assert all({*found.faults[pair.id]} == {*faults} for pair in found.of(variant))
    lost = [*found.of("lost"), *found.of("lost_again")]
    shares = [found.faults[pair.id]["background_lost"] for pair in lost]
    assert np.corrcoef(shares, [pair.ratings["faithfulness"] for pair in lost])[0, 1] < -0.9


def test_what_is_spoken_anew_was_asked_for_and_damage_costs_both_axes(
    made: Callable[[str], Made],
) -> None:
    found = made("spoken_anew")
    assert all(set(pair.ratings) == {"quality", "faithfulness"} for pair in found.pairs)
    for pair in found.pairs:
        assert pair.instruction or pair.original_caption != pair.target_caption
        assert not np.array_equal(heard(pair.original), heard(pair.edited))
    for variant in spoken_anew.VARIANTS:
        faults = [found.faults[pair.id] for pair in found.of(variant)]
        assert len(faults) == SCENES
        if variant in ("right", "unrelated"):
            assert {name for of in faults for name in of} <= {"clip_unrelated"}
            assert all(
                of == ({} if variant == "right" else {"clip_unrelated": 1.0}) for of in faults
            )
        else:
            assert all(faults)
            for axis in ("quality", "faithfulness"):
                assert found.mean(variant, axis) < found.mean("right", axis)
    assert found.mean("unrelated", "faithfulness") < 1.5


def test_what_is_too_loud_is_softer_with_all_that_is_made_of_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    scene = make_scene(Material(None, (), 1), 0, (1.2, 1.2), rng)
    variants = Variants(tmp_path, "loud", 0, scene, UNEDITED, "", 1, rng)
    x = scene.background / np.abs(scene.background).max()
    variants.begin(2 * x, Words("A sound.", "A sound.", False))
    for name, gain in (("half", 1.0), ("louder", 3.0)):
        variants.add(name, gain * x, dict.fromkeys(AXES, 5.0), {})
    pairs, rows = variants.made
    original, half, louder = (heard(p) for p in (pairs[0].original, *(y.edited for y in pairs)))
    assert [np.abs(y).max() for y in (original, half, louder)] == pytest.approx(
        [0.99, 0.495, 0.99], abs=0.03
    )
    assert [row["id"] for row in rows] == ["loud00000_half", "loud00000_louder"]


def test_no_clip_is_beyond_full_scale(made: Callable[[str], Made]) -> None:
    for kind in focused.KINDS:
        for pair in made(kind).pairs:
            for path in (pair.original, pair.edited):
                assert np.abs(heard(path)).max() < 0.995, path


def test_where_no_recording_is_said_otherwise_what_is_synthesised_is(tmp_path: Path) -> None:
    """One clip of one talker, and no vocoder: it would be looked for without an end."""
    (tmp_path / "speech").mkdir()
    voice = quantised(synthesize("speech", 1, 1.5, 16000))
    files.write(tmp_path / "speech" / "1-7-0001.wav", voice, 16000)
    recordings = {"librispeech": tmp_path / "speech"}
    path = focused.build(tmp_path, "spoken_anew", 3, 1.2, workers=1, recordings=recordings, pools=1)
    assert len(manifest.read(path)) == 3 * len(spoken_anew.VARIANTS)


def test_a_kind_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="kind 'echoes': expected one of lengths, strengths"):
        focused.build(tmp_path, "echoes")

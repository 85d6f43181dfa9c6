"""Laws of the simulated sets: what is in them, what never is, and that the same call makes them."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from auditeval import audio, manifest
from auditeval.data.simulation import build
from auditeval.data.simulation.build import EDITS_PER_SCENE
from auditeval.data.simulation.material import Material
from auditeval.data.simulation.signals import RATE_HZ
from auditeval.data.simulation.systems import DAMAGER, GENERATIVE
from auditeval.types import AXES, EditPair, UserError


def told(path: Path) -> list[dict[str, Any]]:
    """The lines of the edits.jsonl beside a manifest."""
    return [json.loads(line) for line in (path.parent / "edits.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"scenes": 0}, "scenes (or trials) 0: expected a whole number above 0"),
        ({"seconds": -1.0}, "seconds -1.0: expected a number above 0"),
        ({"seconds": [3.0]}, "seconds [3.0]: expected a number above 0, or two, the least first"),
        ({"seconds": [2.0, 1.0]}, "seconds [2.0, 1.0]: expected"),
        ({"seconds": "4"}, "seconds '4': expected"),
        ({"seconds": 0.01}, "seconds 0.01: no clip under 0.05 s can be rated"),
        ({"seed": -1}, "seed -1: expected a whole number, 0 at least"),
        ({"workers": "2"}, "workers '2': expected a whole number above 0"),
        ({"pools": 0}, "pools 0: expected a whole number above 0"),
        ({"unedited": 2}, "unedited 2: expected a share, from 0 to 1"),
        ({"inverse": -1}, "inverse -1: expected a whole number, 0 at least"),
    ],
    ids=str,
)
def test_numbers_that_make_no_set_are_said(
    wrong: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError) as caught:
        build.build(tmp_path, **{"scenes": 1, "seconds": 1.0, **wrong})
    assert str(caught.value).startswith(said)
    assert not any(tmp_path.iterdir())


def test_the_same_arguments_make_the_same_bytes_with_any_number_of_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "_WORTH_A_PROCESS", 1)
    folders = []
    for workers in (1, 2):
        path = build.build(tmp_path / str(workers), 3, 0.8, seed=5, workers=workers)
        folders.append(path.parent)
    names = [sorted(p.relative_to(f) for p in f.rglob("*") if p.is_file()) for f in folders]
    assert names[0] == names[1]
    assert len(names[0]) > 3 * EDITS_PER_SCENE
    for name in names[0]:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()


def _killed(folder: Path, index: int) -> build.Made:
    os.kill(os.getpid(), signal.SIGKILL)
    return [], []


def test_a_worker_that_is_killed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "_WORTH_A_PROCESS", 1)
    material = Material({}, pools=1)
    with pytest.raises(UserError, match="was killed, most likely for want of memory"):
        build.finished(tmp_path, "simulated", {}, material, 4, 2, _killed)
    assert not [*tmp_path.rglob("manifest.jsonl")]


def test_runs_that_begin_together_share_one_set(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    material, made = Material({}, pools=1), []

    def make(folder: Path, index: int) -> build.Made:
        made.append(folder / "clip")
        made[-1].touch()
        ends = time.monotonic() + 60
        while "another process makes it" not in caplog.text and time.monotonic() < ends:
            time.sleep(0.01)
        return [], []

    def run(_: int) -> Path:
        return build.finished(tmp_path, "simulated", {}, material, 1, 1, make)

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(run, range(2))
    assert first == second
    assert len(made) == 1
    assert made[0].exists()


def test_a_whole_set_is_kept_and_half_a_set_is_made_again(tmp_path: Path) -> None:
    path = build.build(tmp_path, 1, 0.8, seed=5)
    before = path.read_bytes()
    clip = next((path.parent / "audio").iterdir())
    clip.unlink()
    assert build.build(tmp_path, 1, 0.8, seed=5) == path
    assert not clip.exists()  # the manifest is there, so the set counts as whole
    path.unlink()
    assert build.build(tmp_path, 1, 0.8, seed=5).read_bytes() == before
    assert clip.exists()


@pytest.mark.parametrize(
    "change",
    [
        *({"scenes": 2}, {"seconds": 0.9}, {"seed": 6}, {"held_out": ["rain"]}, {"unedited": 0.1}),
        *({"generative": 1}, {"inverse": 1}, {"accompaniment": 1}, {"damaged": 1}),
    ],
)
def test_other_arguments_make_another_folder(tmp_path: Path, change: dict[str, Any]) -> None:
    arguments: dict[str, Any] = {"scenes": 1, "seconds": 0.8, "seed": 5}
    paths = {build.build(tmp_path, **{**arguments, **more}) for more in ({}, change)}
    assert len(paths) == 2


def test_more_scenes_keep_the_first_ones(tmp_path: Path) -> None:
    few, many = (manifest.read(build.build(tmp_path, n, 0.8, seed=5)) for n in (1, 2))
    for pair, again in zip(few, many, strict=False):
        assert pair.ratings == again.ratings
        assert pair.edited.read_bytes() == again.edited.read_bytes()


def test_edits_of_generative_systems_come_beside_the_others(tmp_path: Path) -> None:
    without, given = (build.build(tmp_path, 3, 0.8, seed=5, generative=n) for n in (0, 2))
    pairs, more = (manifest.read(path) for path in (without, given))
    generated = [pair for pair in more if pair.system in GENERATIVE]
    assert len(generated) == 6 == len(more) - len(pairs)
    beside = [pair for pair in more if pair.system not in GENERATIVE]
    for pair, again in zip(pairs, beside, strict=True):
        assert (pair.id, pair.raters) == (again.id, again.raters)
        assert pair.edited.read_bytes() == again.edited.read_bytes()
    faults = {edit["id"]: {*edit["faults"]} for edit in told(given)}
    for pair in generated:
        assert pair.system is not None
        assert faults[pair.id] & {*GENERATIVE[pair.system]}


def test_edits_with_any_damage_come_beside_the_others(tmp_path: Path) -> None:
    without, given = (build.build(tmp_path, 6, 0.8, seed=5, damaged=n) for n in (0, 4))
    pairs, more = (manifest.read(path) for path in (without, given))
    damaged = [pair for pair in more if pair.system == DAMAGER]
    assert len(damaged) == 24 == len(more) - len(pairs)
    beside = [pair for pair in more if pair.system != DAMAGER]
    for pair, again in zip(pairs, beside, strict=True):
        assert (pair.id, pair.raters) == (again.id, again.raters)
        assert pair.edited.read_bytes() == again.edited.read_bytes()
    faults = {edit["id"]: {*edit["faults"]} for edit in told(given)}
    for pair in damaged:
        assert {*pair.ratings} == {*AXES}  # something was asked for
        assert faults[pair.id] - {"edit_absent"}
    undone = [pair for pair in damaged if "edit_absent" in faults[pair.id]]
    assert 0 < len(undone) < 12
    assert all(pair.ratings["relevance"] < 1.5 for pair in undone)


def test_edits_of_what_lies_behind_an_event_come_beside_the_others(tmp_path: Path) -> None:
    without, given = (build.build(tmp_path, 12, 1.2, seed=5, inverse=n) for n in (0, 2))
    pairs, more = (manifest.read(path) for path in (without, given))
    inverse = [pair for pair in more if "_inverse_" in pair.id]
    assert len(more) - len(pairs) == len(inverse)
    assert {*Counter(pair.id.split("_")[0] for pair in inverse).values()} == {3}
    beside = [pair for pair in more if "_inverse_" not in pair.id]
    for pair, again in zip(pairs, beside, strict=True):
        assert (pair.id, pair.raters) == (again.id, again.raters)
        assert pair.edited.read_bytes() == again.edited.read_bytes()
    rows = {edit["id"]: edit for edit in told(given)}
    scenes = {edit["id"].split("_")[0]: edit["background"] for edit in told(without)}
    clean = 0
    replaced = [pair for pair in inverse if pair.operation == "replace"]
    assert len(replaced) == len(inverse) / 3
    for pair in replaced:
        gone, come = rows[pair.id]["events"]
        assert gone == scenes[pair.id.split("_")[0]] != come
    for pair in inverse:
        if pair in replaced:
            continue
        assert pair.operation in ("delete", "add")
        assert rows[pair.id]["events"] == [scenes[pair.id.split("_")[0]]]
        left = audio.decode(pair.edited if pair.operation == "delete" else pair.original).samples
        if pair.operation == "add" or not rows[pair.id]["faults"]:
            clean += 1
            assert (left == 0).mean() > 0.3, pair.id  # the event alone
    assert clean > 2


def test_edits_beside_a_third_sound_come_beside_the_others(tmp_path: Path) -> None:
    """And name the sound that should stay; of a mixture there are none."""
    without, given = (build.build(tmp_path, 12, 1.2, seed=5, accompaniment=n) for n in (0, 2))
    pairs, more = (manifest.read(path) for path in (without, given))
    third = [pair for pair in more if "_accompanied_" in pair.id]
    assert len(more) - len(pairs) == len(third) > 2
    assert {*Counter(pair.id.split("_")[0] for pair in third).values()} == {2}
    beside = [pair for pair in more if "_accompanied_" not in pair.id]
    for pair, again in zip(pairs, beside, strict=True):
        assert (pair.id, pair.raters) == (again.id, again.raters)
        assert pair.edited.read_bytes() == again.edited.read_bytes()
    rows = {edit["id"]: edit for edit in told(given)}
    for pair in third:
        assert pair.operation in ("delete", "add")
        row = rows[pair.id]
        assert len({row["background"], *row["events"]}) < len(row["sounds"])
        assert pair.original.stem.endswith("D")


def test_every_pair_can_be_decoded_and_says_that_it_is_simulated(
    simulated: list[EditPair],
) -> None:
    assert len(simulated) == 12 * EDITS_PER_SCENE
    for pair in simulated:
        assert len(audio.decode(pair.original).samples) == round(1.5 * RATE_HZ)
        assert 1.5 <= audio.decode(pair.edited).seconds < 1.81
        assert pair.system is not None
        assert pair.system.startswith("sim_")
        assert set(pair.ratings) == set(AXES)
        assert pair.original_caption != pair.target_caption


def test_scenes_are_the_groups_that_share_an_original(simulated: list[EditPair]) -> None:
    sources: dict[Path, str | None] = {}
    for pair in simulated:
        assert sources.setdefault(pair.original, pair.source) == pair.source
        assert pair.original.name.startswith(str(pair.source))
    assert len(set(sources.values())) == 12


def test_where_no_edit_was_asked_for_the_captions_are_one_and_relevance_is_unrated(
    tmp_path: Path,
) -> None:
    pairs = manifest.read(build.build(tmp_path, 3, 0.8, seed=5, unedited=1.0))
    same = [pair for pair in pairs if pair.operation == "process"]
    assert len(same) > len(pairs) / 2
    for pair in pairs:
        assert (pair.original_caption == pair.target_caption) == (pair in same)
        assert ("relevance" in pair.ratings) == (pair not in same)


def test_the_manifest_is_json_lines_with_relative_paths(tmp_path: Path) -> None:
    path = build.build(tmp_path, 1, 0.8, seed=5)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["id"] for row in rows] == [edit["id"] for edit in told(path)]
    for row in rows:
        assert not Path(row["edited"]).is_absolute()
        assert (path.parent / row["edited"]).is_file()

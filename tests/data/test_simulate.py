"""Laws of the simulated edits: each fault does to the sound what its name says."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy import signal

from auditeval import audio, manifest
from auditeval.data import simulate
from auditeval.data.listeners import LOSSES
from auditeval.data.simulate import COMMON_SLIPS, RATE_HZ, SYSTEMS, Scene, draw_faults, render
from auditeval.types import AXES, EditPair

SECONDS = 3.0
SEVERITIES = (0.15, 0.5, 1.0)


@pytest.fixture(scope="module")
def scene() -> Scene:
    return simulate.make_scene(SECONDS, np.random.default_rng(3))


def rendered(
    scene: Scene, present: str | None, wanted: str | None, seed: int = 0, **faults: float
) -> np.ndarray:
    return render(scene, present, wanted, faults, np.random.default_rng(seed))


def rms(x: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(x, dtype=np.float64))))


def decibels(ratio: float) -> float:
    return 20 * float(np.log10(ratio))


@pytest.mark.parametrize(
    ("present", "wanted"), [(None, "B"), ("B", None), ("B", "C")], ids=["add", "delete", "replace"]
)
def test_a_faultless_edit_holds_the_background_and_the_wanted_event(
    scene: Scene, present: str | None, wanted: str | None
) -> None:
    expected = scene.background + (scene.events[wanted] if wanted else 0)
    np.testing.assert_allclose(rendered(scene, present, wanted), expected, atol=1e-7)


@pytest.mark.parametrize(("present", "wanted"), [(None, "B"), ("B", None), ("B", "C")])
def test_an_absent_edit_is_the_original(
    scene: Scene, present: str | None, wanted: str | None
) -> None:
    untouched = rendered(scene, None, present)
    assert np.array_equal(rendered(scene, present, wanted, edit_absent=1.0), untouched)


def test_a_wrong_edit_holds_the_third_event(scene: Scene) -> None:
    edited = rendered(scene, "B", "C", edit_wrong=1.0)
    np.testing.assert_allclose(edited - scene.background, scene.events["D"], atol=1e-6)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_a_faint_edit_is_quieter_the_worse_it_is(scene: Scene, severity: float) -> None:
    added = rendered(scene, None, "B", edit_faint=severity) - scene.background
    assert decibels(rms(added) / rms(scene.events["B"])) == pytest.approx(-24 * severity, abs=0.01)
    left = rendered(scene, "B", None, edit_faint=severity) - scene.background
    assert decibels(rms(left) / rms(scene.events["B"])) == pytest.approx(
        21 * severity - 24, abs=0.01
    )


@pytest.mark.parametrize("severity", SEVERITIES)
def test_noise_has_its_ratio_and_is_white(scene: Scene, severity: float) -> None:
    clean = rendered(scene, None, "B")
    noise = rendered(scene, None, "B", noise=severity) - clean
    assert decibels(rms(clean) / rms(noise)) == pytest.approx(35 * (1 - severity), abs=0.1)
    assert abs(np.corrcoef(noise[:-1], noise[1:])[0, 1]) < 0.02
    assert abs(np.corrcoef(noise, clean)[0, 1]) < 0.02


@pytest.mark.parametrize("severity", SEVERITIES)
def test_clipping_cuts_the_peaks_and_only_them(scene: Scene, severity: float) -> None:
    clean = rendered(scene, None, "B")
    clipped = rendered(scene, None, "B", clipping=severity)
    peak = float(np.abs(clean).max())
    threshold = peak * 10 ** (-(4 + 30 * severity) / 20)
    above, below = np.abs(clean) > 1.01 * threshold, np.abs(clean) < 0.99 * threshold
    top = np.abs(clipped).max()
    assert decibels(peak / threshold) == pytest.approx(4 + 30 * severity)
    np.testing.assert_allclose(np.abs(clipped[above]), top, rtol=1e-5)
    np.testing.assert_allclose(clipped[below] / top, clean[below] / threshold, atol=1e-5)
    assert top <= peak


@pytest.mark.parametrize("severity", SEVERITIES)
def test_a_low_pass_keeps_below_its_corner_and_removes_above(severity: float) -> None:
    noise = np.random.default_rng(0).standard_normal(RATE_HZ * 2)
    filtered = simulate._low_pass(noise, severity, np.random.default_rng(0))
    corner_hz = 8000 * 2 ** (-4 * severity)
    frequencies, before = signal.welch(noise, RATE_HZ, nperseg=4096)
    _, after = signal.welch(filtered, RATE_HZ, nperseg=4096)
    kept = frequencies < 0.7 * corner_hz
    removed = frequencies > 1.5 * corner_hz
    assert 10 * np.log10(after[kept].sum() / before[kept].sum()) > -0.5
    assert 10 * np.log10(after[removed].sum() / before[removed].sum()) < -40


@pytest.mark.parametrize("severity", SEVERITIES)
def test_a_lost_background_is_40_db_down_for_its_share(scene: Scene, severity: float) -> None:
    found = rendered(scene, None, None, background_lost=severity)
    lost = np.isclose(found, 0.01 * scene.background, atol=1e-9) & (scene.background != 0)
    kept = found == scene.background
    assert lost.sum() / len(found) == pytest.approx(severity, abs=0.01)
    assert np.all(lost | kept)
    inside = np.flatnonzero(lost)
    assert len(inside) >= 0.99 * (inside[-1] - inside[0])  # in one piece


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("severity", SEVERITIES)
def test_a_reshuffled_background_has_its_blocks_in_another_order(
    scene: Scene, severity: float, seed: int
) -> None:
    found = rendered(scene, None, None, seed, background_reshuffled=severity)
    block = RATE_HZ // 4
    before, after = scene.background.reshape(-1, block), found.reshape(-1, block)
    assert Counter(map(bytes, after)) == Counter(map(bytes, before))
    displaced = sum(not np.array_equal(a, b) for a, b in zip(after, before, strict=True))
    # The last block, which may be short, stays.
    assert displaced == max(2, round(severity * (len(before) - 1)))


@pytest.mark.parametrize("severity", SEVERITIES)
def test_a_shifted_background_is_moved_by_its_seconds(scene: Scene, severity: float) -> None:
    found = rendered(scene, None, None, background_shifted=severity)
    samples = round((0.1 + 1.4 * severity) * RATE_HZ)
    moved = [np.array_equal(np.roll(scene.background, by), found) for by in (samples, -samples)]
    assert any(moved)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_a_regenerated_background_is_the_other_take_for_its_share(
    scene: Scene, severity: float
) -> None:
    found = rendered(scene, None, None, background_regenerated=severity)
    other = (found == scene.other_take) & (scene.other_take != scene.background)
    assert other.sum() / len(found) == pytest.approx(severity, abs=0.01)
    assert np.all(other | (found == scene.background))


@pytest.mark.parametrize("severity", SEVERITIES)
def test_a_changed_level_changes_the_background_alone(scene: Scene, severity: float) -> None:
    found = rendered(scene, None, "B", level_changed=severity) - scene.events["B"]
    change = decibels(rms(found) / rms(scene.background))
    assert abs(change) == pytest.approx(2 + 14 * severity, abs=0.01)
    assert abs(np.corrcoef(found, scene.background)[0, 1]) > 0.99999


def test_every_fault_has_a_sound_and_a_price() -> None:
    made = {*simulate._ON_BACKGROUND, *simulate._ON_CLIP, "edit_absent", "edit_wrong", "edit_faint"}
    assert made == set(LOSSES)
    assert {fault for chances in SYSTEMS.values() for fault in chances} == set(LOSSES)


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_system_commits_its_faults_as_often_as_stated(system: str) -> None:
    rng = np.random.default_rng(0)
    draws = [draw_faults(system, rng) for _ in range(2000)]
    whole = {"edit_absent", "edit_wrong"}
    for fault, chance in {**COMMON_SLIPS, **SYSTEMS[system]}.items():
        free = [d for d in draws if fault != "edit_faint" or not whole & set(d)]
        share = np.mean([fault in drawn for drawn in free])
        assert share == pytest.approx(chance, abs=0.06), fault
    for drawn in draws:
        assert all(0.0 < severity <= 1.0 for severity in drawn.values())
        if whole & set(drawn):  # an edit that was not made cannot be half made
            assert "edit_faint" not in drawn
            assert all(drawn[fault] == 1.0 for fault in whole & set(drawn))


def test_the_same_seed_makes_the_same_bytes_with_any_number_of_workers(tmp_path: Path) -> None:
    folders = []
    for workers in (1, 2):
        path = simulate.build(tmp_path / str(workers), 3, 0.6, seed=5, workers=workers)
        folders.append(path.parent)
    names = [sorted(p.relative_to(f) for p in f.rglob("*") if p.is_file()) for f in folders]
    assert names[0] == names[1]
    assert len(names[0]) == 1 + 3 * (2 + simulate.EDITS_PER_SCENE)
    for name in names[0]:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()


def test_a_whole_set_is_kept_and_half_a_set_is_made_again(tmp_path: Path) -> None:
    path = simulate.build(tmp_path, 1, 0.6, seed=5)
    before = path.read_bytes()
    clip = next((path.parent / "audio").iterdir())
    clip.unlink()
    assert simulate.build(tmp_path, 1, 0.6, seed=5) == path
    assert not clip.exists()  # the manifest is there, so the set counts as whole
    path.unlink()
    assert simulate.build(tmp_path, 1, 0.6, seed=5).read_bytes() == before
    assert clip.exists()


@pytest.mark.parametrize("change", [{"scenes": 2}, {"seconds": 0.7}, {"seed": 6}])
def test_other_arguments_make_another_folder(tmp_path: Path, change: dict[str, float]) -> None:
    arguments = {"scenes": 1, "seconds": 0.6, "seed": 5}
    paths = {simulate.build(tmp_path, **{**arguments, **more}) for more in ({}, change)}
    assert len(paths) == 2


def test_more_scenes_keep_the_first_ones(tmp_path: Path) -> None:
    few, many = (manifest.read(simulate.build(tmp_path, n, 0.6, seed=5)) for n in (1, 2))
    for pair, again in zip(few, many, strict=False):
        assert pair.ratings == again.ratings
        assert np.array_equal(audio.decode(pair.edited).samples, audio.decode(again.edited).samples)


def test_every_pair_can_be_decoded_and_says_that_it_is_simulated(
    simulated: list[EditPair],
) -> None:
    assert len(simulated) == 12 * simulate.EDITS_PER_SCENE
    for pair in simulated:
        lengths = {len(audio.decode(p).samples) for p in (pair.original, pair.edited)}
        assert lengths == {round(1.5 * RATE_HZ)}
        assert pair.system is not None
        assert pair.system.startswith("sim_")
        assert set(pair.ratings) == set(AXES)
        assert pair.original_caption != pair.target_caption


def test_scenes_are_the_groups_that_share_an_original(simulated: list[EditPair]) -> None:
    sources = {}
    for pair in simulated:
        assert sources.setdefault(pair.original, pair.source) == pair.source
        assert pair.original.name.startswith(str(pair.source))
    assert len(set(sources.values())) == 12


def test_operations_start_and_end_with_the_right_clip(simulated: list[EditPair]) -> None:
    captions = {}
    for pair in simulated:
        side = {"add": "A", "delete": "B", "replace": "B"}[str(pair.operation)]
        assert pair.original.stem == f"{pair.source}_{side}"
        captions.setdefault((pair.source, side), set()).add(pair.original_caption)
        if pair.operation == "delete":
            captions.setdefault((pair.source, "A"), set()).add(pair.target_caption)
    assert all(len(found) == 1 for found in captions.values())


def test_the_manifest_is_json_lines_with_relative_paths(tmp_path: Path) -> None:
    path = simulate.build(tmp_path, 1, 0.6, seed=5)
    for line in path.read_text().splitlines():
        row = json.loads(line)
        assert not Path(row["edited"]).is_absolute()
        assert (path.parent / row["edited"]).is_file()

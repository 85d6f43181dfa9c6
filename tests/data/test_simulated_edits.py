"""Laws of one simulated edit: what a fault does to scene and words, where it changed the clip."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from auditeval.data.simulation import systems
from auditeval.data.simulation.edits import original_of, render, word
from auditeval.data.simulation.faults import FAULTS
from auditeval.data.simulation.faults.fault import Dose
from auditeval.data.simulation.material import Material
from auditeval.data.simulation.scenes import OPERATIONS, SLOTS, UNEDITED, Scene, make_scene
from auditeval.data.simulation.signals import RATE_HZ, active_rms
from auditeval.data.simulation.systems import COMMON, SYSTEMS, draw_doses, implied
from auditeval.data.simulation.vocabulary import alike

SECONDS = (2.0, 2.0)


@pytest.fixture(scope="module")
def scenes() -> list[Scene]:
    material = Material({})
    return [make_scene(material, 0, SECONDS, np.random.default_rng(seed)) for seed in range(6)]


@pytest.fixture(scope="module")
def scene(scenes: list[Scene]) -> Scene:
    return next(scene for scene in scenes if not scene.is_speech)


def rendered(scene: Scene, operation: str, seed: int = 0, **faults: float) -> np.ndarray:
    doses = {name: Dose(severity) for name, severity in faults.items()}
    return render(scene, operation, doses, np.random.default_rng(seed))[0]


def rms(x: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(x, dtype=np.float64))))


def db(ratio: float) -> float:
    return 20 * float(np.log10(ratio))


def test_the_sounds_of_a_scene_could_not_be_confused(scenes: list[Scene]) -> None:
    for scene in scenes:
        names = [scene.name, *(e.name for e in scene.events.values()), scene.wrong().name]
        for at, name in enumerate(names):
            assert not any(alike(name, other) for other in names[:at])
        lengths = {
            len(x) for x in (scene.background, scene.spare("other_take"), scene.spare("foreign"))
        }
        assert lengths == {2 * RATE_HZ}
        fullest = original_of(scene, "delete")
        assert -41 < db(active_rms(fullest)) < -14
        assert np.abs(fullest).max() < 0.7
        for event in (*scene.events.values(), scene.wrong()):
            assert not event.samples[: event.span[0]].any()
            assert not event.samples[event.span[1] :].any()


def test_scenes_are_of_many_bandwidths_and_levels() -> None:
    material = Material({})
    made = [make_scene(material, 0, (1.2, 1.2), np.random.default_rng([1, s])) for s in range(30)]
    tops = [active_rms(s.background) for s in made]
    assert db(max(tops)) - db(min(tops)) > 15
    assert 3 <= sum(scene.is_speech for scene in made) <= 16


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_faultless_edit_holds_the_background_and_the_wanted_event(
    scene: Scene, operation: str
) -> None:
    wanted = {"add": "B", "delete": None, "replace": "C"}[operation]
    expected = scene.background + (scene.events[wanted].samples if wanted else 0)
    np.testing.assert_allclose(rendered(scene, operation), expected, atol=1e-6)


@pytest.mark.parametrize("operation", [*OPERATIONS, UNEDITED])
def test_an_absent_edit_and_none_at_all_are_the_original(scene: Scene, operation: str) -> None:
    made = rendered(scene, operation, edit_absent=1.0)
    np.testing.assert_allclose(made, original_of(scene, operation), atol=1e-6)


def test_wrong_edits_do_what_their_names_say(scene: Scene) -> None:
    for operation in ("add", "replace"):
        added = rendered(scene, operation, edit_wrong=1.0) - scene.background
        np.testing.assert_allclose(added, scene.wrong().samples, atol=1e-6)
    wrong = implied({"edit_wrong": Dose(1.0)}, "delete")
    left = rendered(scene, "delete", edit_wrong=1.0, **{n: d.severity for n, d in wrong.items()})
    event = scene.events["B"].samples
    assert rms(left - event) < 0.02 * rms(scene.background)

    start, stop = scene.events["B"].span
    emptied = rendered(scene, "add", edit_opposite=1.0)
    assert rms(emptied[start + 400 : stop - 400]) < 0.05 * rms(scene.background[start:stop])
    twice = rendered(scene, "delete", edit_opposite=1.0) - scene.background
    assert rms(twice) > 1.2 * rms(event)

    hiss = (rendered(scene, "add", edit_hiss=1.0) - scene.background)[start:stop]
    assert active_rms(hiss) == pytest.approx(active_rms(event[start:stop]), rel=0.2)
    assert abs(np.corrcoef(hiss, event[start:stop])[0, 1]) < 0.1

    halves = [rendered(scene, "replace", seed, edit_halfway=1.0) for seed in range(12)]
    both = scene.background + event + scene.events["C"].samples
    kinds = {
        "neither" if np.allclose(half, scene.background, atol=1e-6)
        else "both" if np.allclose(half, both, atol=1e-6)
        else "?" for half in halves
    }  # fmt: skip
    assert kinds == {"neither", "both"}


@pytest.mark.parametrize("severity", [0.1, 0.5, 1.0])
def test_events_and_residues_are_at_their_level(scene: Scene, severity: float) -> None:
    event = scene.events["B"].samples
    for fault, operation, sign in (
        ("edit_faint", "add", -1),
        ("edit_loud", "add", 1),
        ("edit_residue", "delete", -1),
    ):
        made = rendered(scene, operation, **{fault: severity}) - scene.background
        if np.abs(made + scene.background).max() > 0.98:
            continue  # brought below full scale as a whole
        expected = sign * FAULTS[fault].amount(severity)
        assert db(rms(made) / rms(event)) == pytest.approx(expected, abs=0.02)


def test_a_misplaced_event_is_whole_and_elsewhere(scene: Scene) -> None:
    event = scene.events["B"]
    for seed in range(5):
        doses = {"edit_misplaced": Dose(1.0)}
        made, changed = render(scene, "add", doses, np.random.default_rng(seed))
        added = made - scene.background
        (start, stop) = changed[0]
        np.testing.assert_allclose(added[start:stop], event.samples[slice(*event.span)], atol=1e-6)
        room = max(event.span[0], len(added) - event.span[1])
        assert abs(start - event.span[0]) >= 0.49 * room


def test_an_abrupt_edit_has_its_hard_gaps(scene: Scene) -> None:
    for severity, most in ((0.0, 1), (1.0, 5)):
        made = rendered(scene, "add", edit_abrupt=severity)
        silent = np.concatenate([[0], (made == 0).astype(int), [0]])
        starts, stops = (np.flatnonzero(np.diff(silent) == step) for step in (1, -1))
        gaps = np.sum(stops - starts >= 0.009 * RATE_HZ)
        assert 1 <= gaps <= most


CONTENT = ["background_lost", "background_replaced", "background_reordered"]
LOCAL = [name for name, fault in FAULTS.items() if fault.local]


@pytest.mark.parametrize("fault", [*CONTENT, *LOCAL])
@pytest.mark.parametrize("operation", [*OPERATIONS, UNEDITED])
def test_what_changed_lies_in_the_stretches_that_are_told(
    scene: Scene, operation: str, fault: str
) -> None:
    span = (RATE_HZ // 2, RATE_HZ) if fault not in CONTENT else None
    made, changed = render(scene, operation, {fault: Dose(0.4, span)}, np.random.default_rng(4))
    difference = made - original_of(scene, operation)
    inside = np.zeros(len(difference), bool)
    for start, stop in changed:
        inside[start:stop] = True
    assert np.abs(difference[~inside]).max(initial=0) < 1e-6
    assert rms(difference[inside]) > 1e-5
    if span:
        assert inside[slice(*span)].all()
    assert all(a[1] < b[0] for a, b in pairwise(changed))


def test_captions_tell_what_is_heard_and_a_swapped_one_does_not(scene: Scene) -> None:
    def mentions(text: str, name: str) -> bool:
        from auditeval.data.simulation.words import WORDS

        clauses, names = WORDS[name]
        said = [f"{s} {v}" for s, *verbs in clauses for v in verbs]
        return any(form.lower() in text.lower() for form in (*said, *names))

    names = {slot: scene.events[slot].name for slot in "BC"}
    for seed in range(40):
        for operation, (present, wanted) in SLOTS.items():
            rng = np.random.default_rng(seed)
            made = word(scene, operation, {}, rng)
            for text, slot in ((made.original, present), (made.target, wanted)):
                assert mentions(text, scene.name)
                if slot:
                    assert mentions(text, names[slot])
            if operation == UNEDITED:
                assert made.original == made.target
                continue
            swapped = word(
                scene, operation, {"edit_otherwise": Dose(1.0)}, np.random.default_rng(seed)
            )
            if wanted:
                assert swapped.original == made.original
                assert mentions(swapped.target, scene.wrong().name)
            else:
                assert mentions(swapped.original, scene.wrong().name)
                assert not mentions(swapped.original, names["B"])


def test_systems_commit_their_faults_as_often_as_stated_where_they_can() -> None:
    assert len(SYSTEMS) == 10
    assert {fault for chances in (COMMON, *SYSTEMS.values()) for fault in chances} == set(FAULTS)
    rng = np.random.default_rng(0)
    for system in ("sim_noisy", "sim_muffled"):
        count: Counter[str] = Counter()
        for _ in range(1500):
            count.update([*draw_doses(system, "add", 4 * RATE_HZ, 16000, False, rng)])
        for fault in (*LOCAL, "reverberation"):
            chance = (COMMON | SYSTEMS[system])[fault]
            assert count[fault] / 1500 == pytest.approx(chance, abs=0.05), fault


@pytest.mark.parametrize("operation", [*OPERATIONS, UNEDITED])
def test_faults_that_exclude_one_another_are_never_drawn_together(operation: str) -> None:
    rng = np.random.default_rng(1)
    drawn = [draw_doses("sim_rough", operation, 128000, 7000, True, rng) for _ in range(800)]
    drawn += [draw_doses("sim_confused", operation, 128000, 7000, True, rng) for _ in range(800)]
    for faults in drawn:
        whole = [name for name in faults if FAULTS[name].whole]
        edit = [name for name in faults if name.startswith("edit_")]
        assert len(whole) <= 1
        assert edit == whole or not whole
        assert not edit or operation != UNEDITED
        assert not any(name.endswith("_regenerated") for name in faults)  # a talker
        if "low_pass" in faults:
            assert FAULTS["low_pass"].amount(faults["low_pass"].severity) <= 0.71 * 7000
        for name, dose in faults.items():
            if dose.span:
                assert name in LOCAL
                assert 0.09 < dose.share(128000) <= 0.5
    allowed = {"add": "edit_residue", "delete": "edit_faint", "replace": "edit_opposite"}
    assert not any(allowed.get(operation) in faults for faults in drawn)


def test_a_speech_test_has_noise_and_modulated_noise_at_independent_levels() -> None:
    rng = np.random.default_rng(2)
    drawn = [draw_doses("sim_careful", UNEDITED, 64000, 8000, True, rng) for _ in range(1500)]
    both = [
        (f["mnru"].severity, next(f[n].severity for n in systems.NOISES if n in f))
        for f in drawn
        if "mnru" in f and any(n in f for n in systems.NOISES)
    ]
    assert len(both) > 300
    assert abs(np.corrcoef(np.array(both).T)[0, 1]) < 0.15
    assert sum(not faults for faults in drawn) > 200


def test_a_speech_test_is_heard_in_full_or_over_a_line_with_noise_as_without() -> None:
    """A line limits the band and colours at once: one of these faults makes the others likely."""
    rng = np.random.default_rng(3)
    drawn = [draw_doses("sim_careful", UNEDITED, 64000, 8000, True, rng) for _ in range(1500)]
    narrow = [f for f in drawn if "low_pass" in f]
    assert 0.12 < len(narrow) / len(drawn) < 0.28
    assert np.mean(["equalisation" in f for f in narrow]) > 0.6
    assert np.mean(["high_pass" in f for f in narrow]) > 0.5
    wide = [f for f in drawn if "low_pass" not in f]
    assert np.mean(["equalisation" in f for f in wide]) < 0.15
    assert np.mean(["mnru" in f for f in narrow]) > 0.5

"""Laws of one simulated edit: what a fault does to scene and words, where it changed the clip."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from processors_at_hand import AtHand

from auditeval.audio.waveform import quantised
from auditeval.data.simulation import systems
from auditeval.data.simulation.edits import original_of, render, word
from auditeval.data.simulation.faults import FAULTS
from auditeval.data.simulation.faults.fault import Dose
from auditeval.data.simulation.material import Material
from auditeval.data.simulation.processors import Processors
from auditeval.data.simulation.scenes import OPERATIONS, SLOTS, UNEDITED, Scene, make_scene
from auditeval.data.simulation.signals import RATE_HZ, active_rms
from auditeval.data.simulation.systems import COMMON, SYSTEMS, draw_doses, implied
from auditeval.data.simulation.vocabulary import alike

SECONDS = (2.0, 2.0)


@pytest.fixture(scope="module")
def scenes() -> list[Scene]:
    material = Material({}, processors=AtHand())
    return [make_scene(material, 0, SECONDS, np.random.default_rng(seed)) for seed in range(6)]


@pytest.fixture(scope="module")
def scene(scenes: list[Scene]) -> Scene:
    return next(scene for scene in scenes if not scene.is_speech)


@pytest.fixture(scope="module")
def talker(scenes: list[Scene]) -> Scene:
    return next(scene for scene in scenes if scene.is_speech)


def long(scene: Scene, samples: int) -> Scene:
    """As draws see it: of that length."""
    return scene._replace(background=np.zeros(samples, np.float32))


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


@pytest.mark.parametrize("operation", [*OPERATIONS, UNEDITED])
def test_what_is_left_as_it_is_is_the_same_file(scenes: list[Scene], operation: str) -> None:
    """A sample that lies between two steps of 16 bits is rounded alike in both clips."""
    scene = scenes[0]
    half = scene.background.astype(np.float64)
    half[::7] = (np.round(half[::7] * 32768) + 0.5 - 1e-9) / 32768
    scene = scene._replace(background=half)
    made = rendered(scene, operation, edit_absent=1.0)
    np.testing.assert_array_equal(quantised(made), quantised(original_of(scene, operation)))


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
    scene: Scene, talker: Scene, operation: str, fault: str
) -> None:
    scene = talker if FAULTS[fault].speech_only else scene
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


def test_systems_commit_their_faults_as_often_as_stated_where_they_can(
    scene: Scene, talker: Scene
) -> None:
    assert len(SYSTEMS) == 14
    assert {fault for chances in (COMMON, *SYSTEMS.values()) for fault in chances} == set(FAULTS)
    rng = np.random.default_rng(0)
    separated = ("separation_artefacts", "separation_loss", "separation_leakage")
    for system, kind, operation in (
        ("sim_noisy", scene, "add"),
        ("sim_muffled", scene, "add"),
        ("sim_decoder", scene, "add"),
        ("sim_decoder", talker, "add"),
        ("sim_separator", talker, "delete"),
    ):
        clip = long(kind, 4 * RATE_HZ)
        drawn = [draw_doses(system, operation, clip, 16000, rng) for _ in range(1500)]
        edits = [doses for doses in drawn if not any(FAULTS[name].whole for name in doses)]
        for fault in (*LOCAL, "reverberation", *separated):
            chance = (COMMON | SYSTEMS[system])[fault]
            if operation not in FAULTS[fault].operations:
                chance = 0.0
            if FAULTS[fault].speech_only and not kind.is_speech:
                chance = 0.0
            there = drawn if UNEDITED in FAULTS[fault].operations else edits
            share = np.mean([fault in doses for doses in there])
            assert share == pytest.approx(chance, abs=0.05 * (chance > 0)), fault


@pytest.mark.parametrize("operation", [*OPERATIONS, UNEDITED])
def test_faults_that_exclude_one_another_are_never_drawn_together(
    talker: Scene, operation: str
) -> None:
    rng, scene = np.random.default_rng(1), long(talker, 128000)
    drawn = [draw_doses("sim_rough", operation, scene, 7000, rng) for _ in range(800)]
    drawn += [draw_doses("sim_confused", operation, scene, 7000, rng) for _ in range(800)]
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


@pytest.fixture(scope="module")
def processed(talker: Scene) -> list[dict[str, Dose]]:
    """What a careful system does where no edit is asked for: mostly what a listening test has."""
    rng, scene = np.random.default_rng(2), long(talker, 64000)
    return [draw_doses("sim_careful", UNEDITED, scene, 8000, rng) for _ in range(3000)]


def test_a_speech_test_has_noise_and_modulated_noise_at_independent_levels(
    processed: list[dict[str, Dose]],
) -> None:
    both = [
        (f["mnru"].severity, next(f[n].severity for n in systems.NOISES if n in f))
        for f in processed
        if "mnru" in f and any(n in f for n in systems.NOISES)
    ]
    assert len(both) > 400
    assert abs(np.corrcoef(np.array(both).T)[0, 1]) < 0.12
    assert sum(not faults for faults in processed) > 300


def test_a_speech_test_is_heard_in_full_or_over_a_line_with_noise_as_without(
    processed: list[dict[str, Dose]],
) -> None:
    """A line limits the band and colours at once: one of these faults makes the others likely.

    Or one handset does it all, and what is heard over no line may have been at another rate.
    """
    drawn = [f for f in processed if not any(coder in f for coder in CODERS)]
    handset = [f for f in drawn if "handset" in f]
    assert 0.1 < len(handset) / len(drawn) < 0.25
    assert share(handset, "low_pass") < 0.05
    assert share(handset, "mnru") > 0.5
    assert 0.1 < share(drawn, "sampling_rate") < 0.4
    narrow = [f for f in drawn if "low_pass" in f]
    assert 0.08 < len(narrow) / len(drawn) < 0.2
    assert np.mean(["equalisation" in f for f in narrow]) > 0.6
    assert np.mean(["high_pass" in f for f in narrow]) > 0.5
    wide = [f for f in drawn if "low_pass" not in f]
    assert np.mean(["equalisation" in f for f in wide]) < 0.15
    assert np.mean(["mnru" in f for f in narrow]) > 0.5


CODERS = ("neural_codec", "neural_decoder", "speech_vocoded", "opus", "mp3")


def share(drawn: list[dict[str, Dose]], *names: str) -> float:
    """Of the edits that have all of these faults."""
    return float(np.mean([all(name in faults for name in names) for faults in drawn]))


def test_a_test_of_coders_has_one_at_a_time_in_its_band_or_less(
    scene: Scene, processed: list[dict[str, Dose]]
) -> None:
    coded = [f for f in processed if {"neural_codec", "opus", "mp3"} & f.keys()]
    assert 0.08 < len(coded) / len(processed) < 0.25
    for coder in CODERS:
        assert share(processed, coder) > 0.015, coder
    assert np.mean([len(f.keys() & {*CODERS}) == 1 for f in coded]) > 0.95
    assert 0.05 < share(coded, "low_pass") < 0.3
    assert 0.2 < share(coded, "sampling_rate") < 0.5
    assert share(coded, "mnru") < 0.05

    rng, bare = np.random.default_rng(3), long(scene, 64000)._replace(processors=Processors({}))
    drawn = [draw_doses("sim_careful", UNEDITED, bare, 8000, rng) for _ in range(1000)]
    assert {coder for f in drawn for coder in CODERS if coder in f} == {"opus", "mp3"}


def test_a_test_of_enhancers_has_what_they_take_and_leave_and_noise_that_is_left(
    processed: list[dict[str, Dose]],
) -> None:
    lost = [f for f in processed if "separation_loss" in f]
    assert 0.05 < len(lost) / len(processed) < 0.15
    assert share(lost, "separation_artefacts") > 0.6
    assert 0.4 < share(lost, "noise_real") < 0.75
    assert share(processed, "separation_leakage") == 0  # nothing was to be taken out


def test_an_effect_gets_another_strength_and_a_mixture_what_separators_leave() -> None:
    material, rng = Material({}), np.random.default_rng(5)
    made = [make_scene(material, 0, (1.2, 1.2), np.random.default_rng([2, s])) for s in range(40)]
    treated = next(s for s in made if "effect" in s.offers)
    drawn = [draw_doses("sim_careful", UNEDITED, treated, 8000, rng) for _ in range(600)]
    assert share(drawn, "effect_strength") > 0.2

    separated = {"separation_artefacts", "separation_leakage", "separation_loss"}
    for mixture in (True, False):
        scene = next(s for s in made if s.is_mixture == mixture)
        lengths = [stop - start for start, stop in (e.span for e in scene.events.values())]
        assert all((length > 0.6 * len(scene.background)) == mixture for length in lengths)
        drawn = [draw_doses("sim_careful", "delete", scene, 8000, rng) for _ in range(600)]
        alone = np.mean([bool(f) and f.keys() <= separated for f in drawn])
        assert 0.3 < alone < 0.6 if mixture else alone < 0.1

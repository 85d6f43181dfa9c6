"""What holds for each fault: it says what it costs and in which unit, acts, and is drawn."""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise
from pkgutil import iter_modules

import numpy as np
import pytest
from processors_at_hand import AtHand

from auditeval.data.simulation import faults
from auditeval.data.simulation.edits import original_of, render, word
from auditeval.data.simulation.faults import FAULTS
from auditeval.data.simulation.faults.fault import Dose, Edit, Fault, Stage
from auditeval.data.simulation.material import Material
from auditeval.data.simulation.processors import Processors
from auditeval.data.simulation.scenes import SLOTS, Scene, accompanied, inverted, make_scene
from auditeval.data.simulation.signals import active_rms
from auditeval.data.simulation.systems import (
    GENERATIVE,
    LATE,
    draw_accompanied,
    draw_doses,
    draw_generated,
    draw_generative,
    draw_inverted,
    draw_late,
)
from auditeval.types import AXES

LADDER = np.linspace(0, 1, 21)
PAIRS = [(name, operation) for name, fault in FAULTS.items() for operation in fault.operations]


HARDLY_HEARD = {"effect_anew"}
"""Their worst costs less than half a point, by design."""


@pytest.fixture(scope="module")
def scenes() -> list[Scene]:
    """One that is neither speech nor under an effect, a talker, one under an effect, and both."""
    material = Material({}, processors=AtHand())
    found: dict[tuple[bool, bool], Scene] = {}
    for seed in range(60):
        made = make_scene(material, 0, (2.0, 2.0), np.random.default_rng(seed))
        found.setdefault((made.is_speech, "effect" in made.offers), made)
    return [found[kind] for kind in sorted(found)]


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_names_its_unit_and_has_curves_of_rising_points(name: str) -> None:
    fault = FAULTS[name]
    assert fault.name == name
    assert fault.scale.unit
    assert tuple(fault.curves) == AXES
    assert any(fault.curves.values())
    for curve in (fault.scale.span, *fault.curves.values()):
        assert all(a[0] < b[0] for a, b in pairwise(curve))
    assert all(0.0 <= points <= 4.0 for curve in fault.curves.values() for _, points in curve)
    assert {*fault.implies.values()} <= {*FAULTS}


@pytest.mark.parametrize("name", FAULTS)
def test_a_worse_fault_goes_further_and_never_rates_higher(name: str) -> None:
    steps = np.diff([FAULTS[name].amount(severity) for severity in LADDER])
    assert np.all(steps > 0) or np.all(steps < 0)
    losses = np.array([FAULTS[name].lost(severity) for severity in LADDER])
    assert np.all(np.diff(losses, axis=0) >= -1e-12)
    assert (losses[-1].max() > losses[0].max() + 0.5) == (name not in HARDLY_HEARD)
    assert losses[-1].max() > losses[0].max()


@pytest.mark.parametrize(("name", "operation"), PAIRS)
def test_a_fault_changes_the_sound_or_the_words(
    scenes: list[Scene], name: str, operation: str
) -> None:
    able = [*scenes, accompanied(scenes[0], np.random.default_rng(0))]
    scene = next(scene for scene in able if FAULTS[name].can_befall(scene, operation))

    def edited(doses: dict[str, Dose]) -> tuple[np.ndarray, str]:
        words = word(scene, operation, doses, np.random.default_rng(0))
        samples, _ = render(scene, operation, doses, np.random.default_rng(0))
        return samples, words.original + words.target

    (clean, said), (made, said_instead) = edited({}), edited({name: Dose(0.9)})
    assert made.shape == clean.shape
    assert np.isfinite(made).all()
    changed = np.linalg.norm(made - clean) > 0.003 * np.linalg.norm(clean)
    assert changed or said_instead != said


@pytest.mark.parametrize("operation", SLOTS)
def test_each_fault_is_drawn_for_its_operations_alone(scenes: list[Scene], operation: str) -> None:
    rng = np.random.default_rng(4)
    asked = {name: fault for name, fault in FAULTS.items() if operation in fault.operations}
    sound, treated, talker, treated_talker = scenes
    asked = {name: fault for name, fault in asked.items() if fault.needs != "companion"}
    of_sound = {name for name, fault in asked.items() if not fault.speech_only}
    of_speech = {name for name, fault in asked.items() if fault.of_speech}
    without = sound._replace(processors=Processors({}))
    of_effects = {name for name, fault in asked.items() if fault.needs == "effect"}
    for scene, expected in (
        (sound, of_sound - of_effects),
        (treated, of_sound),
        (talker, of_speech - of_effects),
        (treated_talker, of_speech),
        (without, {n for n in of_sound - of_effects if not FAULTS[n].processor}),
    ):
        drawn = [draw_doses("sim_rough", operation, scene, 16000, rng) for _ in range(3000)]
        drawn += [draw_late(operation, scene, {}, 16000, rng) for _ in range(200)]
        drawn += [draw_generated(name, operation, scene, 16000, rng) for name in GENERATIVE]
        assert {name for doses in drawn for name in doses} == expected
        assert all(0.0 <= dose.severity <= 1.0 for doses in drawn for dose in doses.values())


@pytest.mark.parametrize("operation", ["delete", "add"])
def test_of_an_inverted_scene_the_event_stays_and_each_fault_is_heard(
    scenes: list[Scene], operation: str
) -> None:
    rng, scene = np.random.default_rng(8), scenes[0]
    other, both = inverted(scene, rng), original_of(scene, "delete")
    event = scene.events["B"].samples
    assert other.name == scene.events["B"].name
    found = {"delete": original_of(other, "delete"), "add": render(other, "add", {}, rng)[0]}
    assert np.allclose(found[operation], both, atol=1e-6)
    instead, _ = render(other, "replace", {}, np.random.default_rng(0))
    assert np.allclose(instead - event, scene.spare("foreign"), atol=1e-6)
    left, _ = render(other, operation, {}, np.random.default_rng(0))
    assert np.array_equal(left if operation == "delete" else original_of(other, "add"), event)
    drawn = [draw_inverted("sim_rough", operation, other, 16000, rng) for _ in range(1500)]
    assert not any(dose.span for doses in drawn for dose in doses.values())
    shares = {name for name, fault in FAULTS.items() if fault.scale.unit == "share"}
    assert {d[name].severity for d in drawn for name in shares & {*d}} == {1.0}
    for name in {name for doses in drawn for name in doses}:
        made, _ = render(other, operation, {name: Dose(0.9)}, np.random.default_rng(0))
        assert np.isfinite(made).all(), name
        heard = np.linalg.norm(made - left) > 0.003 * np.linalg.norm(left)
        assert heard or name == "edit_otherwise", name


@pytest.mark.parametrize("operation", ["delete", "add"])
def test_of_three_sounds_the_one_that_should_stay_stays_or_goes(
    scenes: list[Scene], operation: str
) -> None:
    """The first and the third are the background's, the second is added or deleted."""
    rng = np.random.default_rng(9)
    scene = next(scene for scene in scenes if not scene.is_mixture)
    other, companion = accompanied(scene, rng), scene.events["C"]
    assert other.companion is not None
    assert other.companion.name == companion.name
    assert other.background - scene.background == pytest.approx(other.companion.samples, abs=1e-6)
    start, stop = other.companion.span
    outside = np.ones(len(other.background), bool)
    outside[start:stop] = False
    assert not other.companion.samples[outside].any()
    assert np.abs(other.companion.samples).max() == np.abs(companion.samples).max()
    words = word(other, operation, {}, np.random.default_rng(0))
    for caption in words[:2]:
        assert " and " in caption
    without, _ = render(scene, operation, {}, rng)
    left, changed = render(other, operation, {"companion_lost": Dose(1.0)}, rng)
    assert left == pytest.approx(without, abs=1e-5)
    assert other.companion.span in changed or len(changed) == 1
    if operation == "delete":
        instead, _ = render(other, operation, {"companion_instead": Dose(1.0)}, rng)
        assert instead == pytest.approx(original_of(scene, "delete"), abs=1e-5)
    drawn = [draw_accompanied("sim_careful", operation, other, 16000, rng) for _ in range(400)]
    wanted = {"delete": ("companion_instead", 0.15), "add": ("event_unasked", 0.2)}
    for name, share in (("companion_lost", 0.1), wanted[operation]):
        assert np.mean([name in doses for doses in drawn]) == pytest.approx(share, abs=0.05)


def test_what_comes_late_spoils_no_other_fault(scenes: list[Scene]) -> None:
    """No whole edit or file gone wrong is joined by another, nor one background put in place of
    another; and each comes about as often as LATE says."""
    rng, sound = np.random.default_rng(5), scenes[0]
    for name, alone in (("edit_absent", set()), ("clip_unrelated", set()), ("mnru", {*LATE})):
        drawn = [draw_late("add", sound, {name: Dose(1.0)}, 16000, rng) for _ in range(500)]
        assert {late for doses in drawn for late in doses} == alone
    beside = {"background_lost": Dose(0.5)}
    drawn = [draw_late("add", sound, beside, 16000, rng) for _ in range(500)]
    assert {late for doses in drawn for late in doses} == {"event_unasked"}
    assert np.mean(["event_unasked" in doses for doses in drawn]) == pytest.approx(0.07, abs=0.03)


def test_a_generative_system_does_what_it_does_in_each_edit(scenes: list[Scene]) -> None:
    """And spoils no more of the background, nor does anything instead of the edit."""
    rng, (sound, _, talker, _) = np.random.default_rng(7), scenes
    for scene, anew in ((sound, "clip_regenerated"), (talker, "speech_otherwise")):
        systems = [draw_generative(scene, rng) for _ in range(300)]
        assert systems.count("sim_generator") == pytest.approx(210, abs=40)
        for operation in SLOTS:
            doses = [draw_generated(name, operation, scene, 16000, rng) for name in systems]
            for name, dose in zip(systems, doses, strict=True):
                own = anew if name == "sim_generator" else "event_unasked"
                assert own in dose
                rest = [FAULTS[fault] for fault in dose if fault != own]
                assert not any(fault.whole for fault in rest)
                stages = {fault.stage for fault in rest}
                assert "background_lost" in dose or Stage.BACKGROUND not in stages
                assert not stages & {Stage.ESTIMATE, Stage.FILE}
                assert operation != "process" or stages <= {Stage.CLIP, Stage.BACKGROUND}
            alone = np.mean([len(dose) == 1 for dose in doses])
            assert 0.3 < alone < 0.6
            had = {name for dose in doses for name in dose}
            able = {n for n, f in FAULTS.items() if f.stage is Stage.CLIP}
            able = {n for n in able if FAULTS[n].can_befall(scene, operation)}
            assert len(able - had) <= 2
    mute = talker._replace(offers=talker.offers - {"other_words"})
    assert {draw_generative(mute, rng) for _ in range(50)} == {"sim_embellisher"}


def test_somebody_says_something_else(scenes: list[Scene]) -> None:
    """For as long as before, as loud; what was added is there too."""
    talker, rng = scenes[2], np.random.default_rng(8)
    before, _ = render(talker, "add", {}, rng)
    made, changed = render(talker, "add", {"speech_otherwise": Dose(1.0)}, rng)
    assert changed == [(0, len(made))]
    other = talker.spare("other_words")
    assert len(other) == len(talker.background) == len(made)
    apart = np.abs(np.corrcoef(other, talker.background)[0, 1])
    assert apart < 0.2
    assert active_rms(other) == pytest.approx(active_rms(talker.background), rel=0.1)
    start, stop = talker.events["B"].span
    outside = np.ones(len(made), bool)
    outside[start:stop] = False
    assert made[outside] == pytest.approx(other[outside], abs=1e-5)
    assert made - other == pytest.approx(talker.other_event("B"), abs=1e-5)
    assert np.abs(made - other)[start:stop].max() > 0.01 * np.abs(before).max()


def test_another_event_comes_where_the_edit_is_not(scenes: list[Scene]) -> None:
    scene, rng = scenes[0], np.random.default_rng(6)
    clean, _ = render(scene, "add", {}, rng)
    made, changed = render(scene, "add", {"event_unasked": Dose(1.0)}, rng)
    came = np.flatnonzero(np.abs(made - clean) > 1e-4)
    assert [came[0] >= start and came[-1] < stop for start, stop in changed].count(True) == 1
    other, half = scene.wrong().samples, len(made) // 2
    away = abs(int(came[0]) - int(np.flatnonzero(np.abs(other) > 1e-4)[0]))
    assert away == pytest.approx(half, abs=0.05 * len(made))
    assert np.abs(made - clean).max() == pytest.approx(np.abs(other).max(), rel=0.2)


def test_what_lasts_has_no_other_place_to_be_put(scenes: list[Scene]) -> None:
    placed = [scene for scene in scenes if not scene.is_mixture]
    lasting, seed = list[Scene](), 0
    while not lasting:
        made = make_scene(Material({}), 0, (1.2, 1.2), np.random.default_rng(seed))
        lasting, seed = [made] if made.is_mixture else [], seed + 1
    rng, fault = np.random.default_rng(0), FAULTS["edit_misplaced"]
    for scene in (*placed, accompanied(placed[0], rng)):
        assert fault.can_befall(scene, "add")
    for scene in (*lasting, inverted(placed[0], rng)):
        assert not fault.can_befall(scene, "add")


@pytest.mark.parametrize("share", [0.2, 0.4, 0.5])
def test_half_or_more_of_what_nobody_asked_for_comes(scenes: list[Scene], share: float) -> None:
    """Wherever in the clip its own place is."""
    scene = scenes[0]
    length = len(scene.background)
    size = round(share * length)
    for start in range(0, length - size + 1, length // 10):
        samples = np.zeros(length, np.float32)
        samples[start : start + size] = 0.1
        event = scene.wrong()._replace(samples=samples, span=(start, start + size))
        edit = Edit(scene._replace(wrong=lambda event=event: event), "process")
        FAULTS["event_unasked"].apply(edit, Dose(1.0), np.random.default_rng(0))
        came = edit.background - scene.background
        assert np.count_nonzero(came) == size, start


def test_what_nothing_in_a_clip_tells_apart_costs_as_much_quality() -> None:
    assert FAULTS["speech_otherwise"].quality == FAULTS["speech_respoken"].quality


def test_another_clip_is_below_full_scale(scenes: list[Scene]) -> None:
    scene = scenes[0]
    loud = scene._replace(spare=lambda which: 90.0 * scene.spare(which))
    made, _ = render(loud, "process", {"clip_unrelated": Dose(1.0)}, np.random.default_rng(0))
    assert np.abs(made).max() == pytest.approx(0.99)


def test_what_a_scene_lacks_befalls_none_of_its_edits(scenes: list[Scene]) -> None:
    """Of a talker of the sound bank the words can be spoken anew by a vocoder alone."""
    for scene in scenes:
        for name, fault in FAULTS.items():
            bare = scene._replace(processors=Processors({}), offers=frozenset())
            for operation in fault.operations:
                if fault.processor or fault.needs:
                    assert not fault.can_befall(bare, operation), name
                kind = fault.of_speech if scene.is_speech else not fault.speech_only
                assert kind or not fault.can_befall(scene, operation), name
    offered = make_scene(Material({}), 0, (1.2, 1.2), np.random.default_rng(0)).offers
    assert "reading" not in offered
    assert all(("reading" in scene.offers) == scene.is_speech for scene in scenes)


def test_the_faults_of_every_module_are_collected() -> None:
    modules = [import_module(f"{faults.__name__}.{m.name}") for m in iter_modules(faults.__path__)]
    defined = [v for module in modules for v in vars(module).values() if isinstance(v, Fault)]
    assert {fault.name: fault for fault in defined} == FAULTS
    assert len(defined) == len(FAULTS)

"""What holds for each fault: it says what it costs and in which unit, acts, and is drawn."""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise
from pkgutil import iter_modules

import numpy as np
import pytest

from auditeval.data.simulation import faults
from auditeval.data.simulation.edits import render, word
from auditeval.data.simulation.faults import FAULTS
from auditeval.data.simulation.faults.fault import Dose, Fault
from auditeval.data.simulation.material import Material
from auditeval.data.simulation.scenes import SLOTS, Scene, make_scene
from auditeval.data.simulation.systems import draw_doses
from auditeval.types import AXES

LADDER = np.linspace(0, 1, 21)
PAIRS = [(name, operation) for name, fault in FAULTS.items() for operation in fault.operations]


@pytest.fixture(scope="module")
def scene() -> Scene:
    material = Material({})
    made = (make_scene(material, 0, (2.0, 2.0), np.random.default_rng(seed)) for seed in range(9))
    return next(scene for scene in made if not scene.is_speech)


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
    assert losses[-1].max() > losses[0].max() + 0.5


@pytest.mark.parametrize(("name", "operation"), PAIRS)
def test_a_fault_changes_the_sound_or_the_words(scene: Scene, name: str, operation: str) -> None:
    def edited(doses: dict[str, Dose]) -> tuple[np.ndarray, str]:
        words = word(scene, operation, doses, np.random.default_rng(0))
        samples, _ = render(scene, operation, doses, np.random.default_rng(0))
        return samples, words.original + words.target

    (clean, said), (made, said_instead) = edited({}), edited({name: Dose(0.9)})
    assert made.shape == clean.shape
    changed = np.linalg.norm(made - clean) > 0.003 * np.linalg.norm(clean)
    assert changed or said_instead != said


@pytest.mark.parametrize("operation", SLOTS)
def test_each_fault_is_drawn_for_its_operations_alone(operation: str) -> None:
    rng = np.random.default_rng(4)
    drawn = [draw_doses("sim_rough", operation, 64000, 16000, False, rng) for _ in range(2000)]
    expected = {name for name, fault in FAULTS.items() if operation in fault.operations}
    assert {name for doses in drawn for name in doses} == expected
    assert all(0.0 <= dose.severity <= 1.0 for doses in drawn for dose in doses.values())


def test_the_faults_of_every_module_are_collected() -> None:
    modules = [import_module(f"{faults.__name__}.{m.name}") for m in iter_modules(faults.__path__)]
    defined = [v for module in modules for v in vars(module).values() if isinstance(v, Fault)]
    assert {fault.name: fault for fault in defined} == FAULTS
    assert len(defined) == len(FAULTS)

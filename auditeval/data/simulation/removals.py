"""Removals as separators leave them: one of two lasting sounds is taken away.

What is wrong with each estimate is measured in its parts (`separation`), and rated by these: edits
of `build` have each part at a level of its own, which no separator gives. Beside them stand the
sound that was to stay, as it was, and with the other one behind it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from auditeval.data.simulation import panel, separation
from auditeval.data.simulation.edits import original_of, word
from auditeval.data.simulation.faults import FAULTS
from auditeval.data.simulation.faults.fault import Dose
from auditeval.data.simulation.processors import ENHANCERS
from auditeval.data.simulation.scenes import Scene
from auditeval.data.simulation.separation import HEARD, separate
from auditeval.data.simulation.signals import active_rms, decibels
from auditeval.data.simulation.variants import Variants

OPERATION = "delete"
_RESIDUE_DB, _TIMID_DB = (2.0, 34.0), (3.0, 20.0)
_FAINTEST = 1e-4  # of full scale: there is nothing to take apart

Estimate = Callable[[np.ndarray, np.ndarray, Scene, Generator], np.ndarray]
"""Of the sound to keep, from it and the other one :: float (N,) each."""


def _true(kept: np.ndarray, other: np.ndarray, scene: Scene, rng: Generator) -> np.ndarray:
    return kept


def _residue(kept: np.ndarray, other: np.ndarray, scene: Scene, rng: Generator) -> np.ndarray:
    return kept + other * decibels(-rng.uniform(*_RESIDUE_DB))


def _separated(kept: np.ndarray, other: np.ndarray, scene: Scene, rng: Generator) -> np.ndarray:
    return np.add.reduce([*separate(kept, other, str(rng.choice(HEARD)), rng)])


def _timid(kept: np.ndarray, other: np.ndarray, scene: Scene, rng: Generator) -> np.ndarray:
    """With some of the mixture, which hides what was done."""
    share = decibels(-rng.uniform(*_TIMID_DB))
    return (1 - share) * _separated(kept, other, scene, rng) + share * (kept + other)


def _enhanced(kept: np.ndarray, other: np.ndarray, scene: Scene, rng: Generator) -> np.ndarray:
    """By a real network, where there is one for such a sound."""
    networks = scene.processors.any_of(ENHANCERS) if scene.is_speech else []
    if not networks:
        return _separated(kept, other, scene, rng)
    return scene.processors.run(str(rng.choice(networks)), kept + other)


VARIANTS: dict[str, Estimate] = {
    "true": _true,
    "residue": _residue,
    "separated": _separated,
    "timid": _timid,
    "enhanced": _enhanced,
}


def edit(scene: Scene, variants: Variants, number: int, rng: Generator) -> None:
    """All variants of a mixture that leave anything."""
    variants.begin(original_of(scene, OPERATION), word(scene, OPERATION, {}, rng))
    kept, other = scene.background, scene.events["B"].samples
    for variant, estimate in VARIANTS.items():
        samples = np.asarray(estimate(kept, other, scene, rng), np.float64)
        if active_rms(samples) < _FAINTEST:
            continue
        doses = doses_of(samples, kept, other)
        variants.add(variant, samples, panel.expected(doses, len(samples)), doses)


def doses_of(estimate: np.ndarray, kept: np.ndarray, other: np.ndarray) -> dict[str, Dose]:
    """What is wrong with an estimate of `kept`, by the levels of its parts, if it costs anything.

    All clips :: float (N,), of a mixture of `kept` and `other`.
    """
    parts = separation.parts(estimate, kept, other)
    levels = {
        "separation_artefacts": (kept, parts.artefacts),
        "separation_leakage": (other, parts.left),
        "separation_loss": (kept, parts.kept - kept),
    }
    doses = {}
    for name, (beside, part) in levels.items():
        db = 20 * np.log10(max(active_rms(beside), 1e-9) / max(active_rms(part), 1e-9))
        (_, clean), (_, worst) = FAULTS[name].scale.span
        severity = float(np.interp(db, (worst, clean), (1.0, 0.0)))
        if severity > 0:
            doses[name] = Dose(round(severity, 6))
    return doses

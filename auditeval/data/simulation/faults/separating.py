"""What separators and enhancers leave: artefacts, what should be gone, holes in what should stay.

The three are parts of a real estimate (`simulation.separation`), each brought to a level of its
own: people hear and rate them as different things [Emiya et al. 2011, 10.1109/TASL.2011.2109381].
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from auditeval.data.simulation.faults.fault import Edit, Fault, Scale, Stage
from auditeval.data.simulation.processors import ENHANCERS
from auditeval.data.simulation.separation import HEARD, Parts, separate
from auditeval.data.simulation.signals import active_rms, decibels

_NOISE_DB = -5.0, 15.0
_REAL_SHARE = 0.5  # of speech is enhanced by a real network, where there is one


def _parts(edit: Edit, other: np.ndarray, rng: Generator) -> Parts:
    scene = edit.scene
    networks = scene.processors.any_of(ENHANCERS) if scene.is_speech else []
    method = str(rng.choice(HEARD))
    if networks and rng.random() < _REAL_SHARE:
        name = str(rng.choice(networks))
        return separate(
            scene.background,
            other,
            method,
            rng,
            lambda mixture: scene.processors.run(name, mixture),
        )
    return separate(scene.background, other, method, rng)


def _everywhere(edit: Edit, rng: Generator) -> Parts:
    """Of what was taken away, or of a noise where that was only a moment."""
    if edit.before.any() and edit.scene.is_mixture:
        return _parts(edit, edit.before, rng)
    noise = edit.scene.spare("noise")
    level = active_rms(edit.scene.background) / max(active_rms(noise), 1e-9)
    return _parts(edit, noise * level * decibels(-rng.uniform(*_NOISE_DB)), rng)


def _at(part: np.ndarray, beside: np.ndarray, down_db: float) -> np.ndarray:
    """A part of an estimate, that far below another clip."""
    return part * (active_rms(beside) * decibels(-down_db) / max(active_rms(part), 1e-9))


# Musical noise, warbling, dented transients: noise tied to the signal, as MNRU is, and softer by
# some 4 dB where its spectrum follows the signal's. At the 5 to 8 dB of good separators of music
# the sound is rated in the middle of the scale [Ward et al. 2018, SiSEC; Cano et al. 2016].
@Fault(
    Scale("dB signal to artefacts", ((0, 34), (1, -3))),
    quality=((-3, 3.6), (2, 3.0), (7, 2.4), (12, 1.8), (17, 1.2), (22, 0.7), (28, 0.2), (34, 0.0)),
    relevance=((-3, 0.9), (7, 0.3), (17, 0.0)),
    faithfulness=((-3, 3.0), (2, 2.3), (7, 1.6), (12, 1.1), (17, 0.7), (22, 0.4), (34, 0.0)),
    stage=Stage.ESTIMATE,
    since=13,
)
def separation_artefacts(edit: Edit, below_db: float, rng: Generator) -> None:
    made = _everywhere(edit, rng)
    edit.background = edit.background + _at(made.artefacts, edit.scene.background, below_db)
    edit.touched.append((0, len(edit.background)))


# What is still heard of it costs what a residue costs (`edit_residue`), in whichever bands; and
# some quality, as what is heard behind a voice does: P.835's overall ratings follow both.
@Fault(
    Scale("dB down", ((0, 36), (1, 2))),
    quality=((2, 0.7), (12, 0.4), (20, 0.2), (30, 0.0)),
    relevance=((2, 3.6), (6, 2.9), (12, 2.0), (20, 1.1), (30, 0.3), (36, 0.0)),
    operations=("delete", "replace"),
    stage=Stage.ESTIMATE,
    since=14,
)
def separation_leakage(edit: Edit, down_db: float, rng: Generator) -> None:
    made = _parts(edit, edit.before, rng)
    edit.background = edit.background + _at(made.left, edit.before, down_db)


# Taken away with it: gated, dulled or dented. The image of the kept sound changes more than its
# quality [target distortion of PEASS].
@Fault(
    Scale("dB signal to loss", ((0, 25), (1, 1))),
    quality=((1, 1.7), (5, 1.1), (10, 0.6), (15, 0.3), (25, 0.0)),
    relevance=((1, 0.8), (5, 0.3), (10, 0.0)),
    faithfulness=((1, 3.0), (5, 2.1), (10, 1.3), (15, 0.7), (25, 0.0)),
    stage=Stage.ESTIMATE,
    since=13,
)
def separation_loss(edit: Edit, below_db: float, rng: Generator) -> None:
    kept = edit.scene.background
    lost = _everywhere(edit, rng).kept - kept
    edit.background = edit.background + _at(lost, kept, below_db)
    edit.touched.append((0, len(kept)))

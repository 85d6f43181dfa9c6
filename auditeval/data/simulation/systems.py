"""Ten simulated systems: which faults each of them commits, how often and how badly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from auditeval.data.listeners import FAULTS, parameter
from auditeval.data.simulation.content import CONTENT, Span
from auditeval.data.simulation.damage import DAMAGE
from auditeval.data.simulation.signals import RATE_HZ

OPERATIONS = ("add", "delete", "replace")
UNEDITED = "process"
"""The operation that asks for no change: the clip only went through something."""

NOISES = ("noise_white", "noise_pink", "noise_brown", "noise_real")

WHOLE = (
    "edit_absent",
    "edit_wrong",
    "edit_hiss",
    "edit_opposite",
    "edit_halfway",
    "edit_otherwise",
)
"""Of these an edit has at most one, and then none that supposes it was done."""

_OF_REPLACING = ("edit_halfway",)
_OF_ADDING = ("edit_faint", "edit_misplaced", "edit_loud")
_OF_DELETING = ("edit_residue",)
_NOT_OF_REPLACING = ("edit_opposite",)

# The share of edits with each fault, whoever edits. Those of the edit itself are commoner: only
# they tell what relevance is about.
COMMON: dict[str, float] = {
    **dict.fromkeys(FAULTS, 0.012),
    **{"edit_absent": 0.04, "edit_wrong": 0.06, "edit_hiss": 0.04, "edit_otherwise": 0.08},
    **{"edit_opposite": 0.03, "edit_halfway": 0.04, "edit_faint": 0.08, "edit_residue": 0.1},
}

SYSTEMS: dict[str, dict[str, float]] = {
    "sim_careful": dict.fromkeys(FAULTS, 0.004),
    "sim_timid": {
        **{"edit_absent": 0.25, "edit_faint": 0.5, "edit_residue": 0.5, "background_level": 0.15}
    },
    "sim_confused": {
        **{"edit_wrong": 0.3, "edit_hiss": 0.15, "edit_opposite": 0.15},
        **{"edit_halfway": 0.15, "edit_otherwise": 0.2},
    },
    "sim_noisy": {**dict.fromkeys(NOISES, 0.25), "hum": 0.12, "mnru": 0.35},
    "sim_overdriven": {"clipping": 0.35, "quantisation": 0.25, "edit_loud": 0.3, "mnru": 0.35},
    "sim_muffled": {
        **{"low_pass": 0.35, "opus": 0.15, "mp3": 0.1, "reverberation": 0.25, "high_pass": 0.2},
        **{"equalisation": 0.35, "vocoder": 0.06},
    },
    "sim_forgetful": {"background_lost": 0.4, "background_replaced": 0.25, "dropouts": 0.25},
    "sim_shuffler": {
        **{"background_reordered": 0.3, "background_shifted": 0.25, "background_stretched": 0.15},
        **{"background_pitched": 0.15, "edit_misplaced": 0.25, "edit_abrupt": 0.25},
    },
    "sim_regenerator": {
        **{"background_regenerated": 0.35, "clip_regenerated": 0.2, "clip_unrelated": 0.06},
        **{"vocoder": 0.12, "phase": 0.12, "musical_noise": 0.2},
    },
    "sim_rough": dict.fromkeys(FAULTS, 0.05),
}

# Speech tests in the manner of P.835 have noise and modulated noise at independent levels, heard
# in full or over a line: a terminal limits the band at both ends and colours what it lets through.
_SPEECH_TEST_SHARE = 0.6
_SPEECH_TEST = {"mnru": 0.65}
_SPEECH_TEST_NOISE, _SPEECH_TEST_LINE = 0.75, 0.4
_LINE = {"low_pass": 0.8, "high_pass": 0.7, "equalisation": 0.8}

_LOCAL_SHARE = 0.3  # of the damage
_LOCAL_SECONDS = (0.4, 1.5)
_MAY_BE_LOCAL = {*DAMAGE, "noise_real"} - {"reverberation"}


class Dose(NamedTuple):
    """A severity in 0..1, and the samples it acts on where these are not the whole clip."""

    severity: float
    span: Span | None = None


def draw_faults(
    system: str,
    operation: str,
    length: int,
    band_hz: float,
    is_speech: bool,
    rng: np.random.Generator,
) -> dict[str, Dose]:
    """Which faults the system commits this time on a clip of that length and bandwidth.

    Severities are uniform. A low-pass always cuts something off.
    """
    chances, local_share = COMMON | SYSTEMS[system], _LOCAL_SHARE
    if operation == UNEDITED:
        chances = {n: p for n, p in chances.items() if not n.startswith("edit_")}
        if rng.random() < _SPEECH_TEST_SHARE:
            chances, local_share = dict(_SPEECH_TEST), 0.0
            if rng.random() < _SPEECH_TEST_NOISE:
                chances[str(rng.choice(NOISES))] = 1.0
            if rng.random() < _SPEECH_TEST_LINE:
                chances |= _LINE
    drawn = [n for n in FAULTS if n in chances and rng.random() < chances[n]]
    drawn = [n for n in drawn if _possible(n, operation, is_speech)]
    if whole := [n for n in drawn if n in WHOLE]:
        drawn = [whole[0], *(n for n in drawn if not n.startswith("edit_"))]
    if "clip_unrelated" in drawn:
        drawn = ["clip_unrelated"]
    content = [n for n in drawn if n in CONTENT or n == "clip_regenerated"]
    surplus = content[1:] if rng.random() < 0.7 else content[2:]
    doses = {}
    for name in drawn:
        if name in surplus:
            continue
        severity = 1.0 if FAULTS[name].span == ((0, 0), (1, 1)) else float(rng.uniform(0.0, 1.0))
        if name == "low_pass":
            severity = max(severity, _least_low_pass(0.7 * band_hz))
        local = _moment(length, rng) if rng.random() < local_share else None
        doses[name] = Dose(round(severity, 6), local if name in _MAY_BE_LOCAL else None)
    return doses | implied(doses, operation)


def implied(faults: Mapping[str, Dose], operation: str) -> dict[str, Dose]:
    """What comes with a fault: deleting the wrong sound leaves nothing of what should stay."""
    lost = operation == "delete" and "edit_wrong" in faults
    return {"background_lost": Dose(1.0)} if lost else {}


def shares(faults: dict[str, Dose], length: int) -> dict[str, float]:
    """Which share of the clip each local fault fills, for `listeners.expected`."""
    return {
        name: (dose.span[1] - dose.span[0]) / length
        for name, dose in faults.items()
        if dose.span is not None
    }


def _possible(name: str, operation: str, is_speech: bool) -> bool:
    if is_speech and name.endswith("_regenerated"):
        return False  # another take would say other words: that is another sound
    if operation == "add":
        return name not in (*_OF_DELETING, *_OF_REPLACING)
    if operation == "delete":
        return name not in (*_OF_ADDING, *_OF_REPLACING)
    return name not in _NOT_OF_REPLACING


def _moment(length: int, rng: np.random.Generator) -> Span | None:
    """Of 0.4 to 1.5 s and not over half of the clip, where it is long enough."""
    size = round(rng.uniform(*_LOCAL_SECONDS) * RATE_HZ)
    if size > length // 2:
        return None
    start = int(rng.integers(length - size + 1))
    return start, start + size


def _least_low_pass(cutoff_hz: float) -> float:
    grid = np.linspace(0, 1, 101)
    cuts = np.array([parameter("low_pass", s) for s in grid])
    return float(grid[min(int(np.searchsorted(-cuts, -cutoff_hz)), 100)])

"""Simulated systems: which faults each of them commits, how often and how badly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from numpy.random import Generator

from auditeval.data.simulation.faults import FAULTS
from auditeval.data.simulation.faults.fault import Dose, Stage
from auditeval.data.simulation.scenes import UNEDITED, Scene
from auditeval.data.simulation.signals import RATE_HZ, Span, somewhere

NOISES = ("noise_white", "noise_pink", "noise_brown", "noise_real")

# The order of the draws, which sets keep wherever a fault acts. Faults not named come after.
_DRAWN_FIRST = (
    *("edit_absent", "edit_faint", "edit_residue", "edit_wrong", "edit_hiss", "edit_opposite"),
    *("edit_halfway", "edit_otherwise", "edit_misplaced", "edit_loud", "edit_abrupt", *NOISES),
    *("hum", "mnru", "opus", "mp3", "vocoder", "phase", "musical_noise", "clipping"),
    *("quantisation", "low_pass", "equalisation", "high_pass", "dropouts", "reverberation"),
    *("background_lost", "background_replaced", "background_regenerated", "background_reordered"),
    *("background_shifted", "background_stretched", "background_pitched", "background_level"),
    *("clip_regenerated", "clip_unrelated"),
)

# By draws of their own, so that they move no other: whoever edits, something else may come too, and
# editors that make a clip anew leave clean clips that share nothing with the original but the kind.
LATE = {"event_unasked": 0.07, "clip_regenerated": 0.08}

# Who generates, and what each does in all edits. One makes all clips anew, and what else it does is
# heard in these alone: nothing is left of the original to hold them against. The other does what
# was asked for, and something that was not.
GENERATIVE: dict[str, tuple[str, ...]] = {
    "sim_generator": ("clip_regenerated", "speech_otherwise"),
    "sim_embellisher": ("event_unasked",),
}
_GENERATOR_SHARE = 0.7  # of their edits
_UNDAMAGED_SHARE, _ANY_DAMAGE_SHARE = 0.3, 0.5

DAMAGER = "sim_damager"
"""Damages all clips that it edits, whatever it was asked for."""
_NOT_DONE_SHARE = 0.25  # of its edits
_DAMAGE = ["background_lost", *(name for name, f in FAULTS.items() if f.stage is Stage.CLIP)]

# Of three sounds the third goes instead of the one that should, or too, or one more comes.
_OF_COMPANIONS: dict[str, dict[str, float]] = {
    "delete": {"companion_instead": 0.15, "companion_lost": 0.1, "": 0.75},
    "add": {"companion_lost": 0.1, "event_unasked": 0.2, "": 0.7},
}

_OF_OTHER_DRAWS = {*LATE, *(name for always in GENERATIVE.values() for name in always)}
_OF_OTHER_DRAWS |= {name for chances in _OF_COMPANIONS.values() for name in chances}

# The share of edits with each fault, whoever edits. Those of the edit itself are commoner: only
# they tell what relevance is about.
COMMON: dict[str, float] = {
    **dict.fromkeys(
        (*_DRAWN_FIRST, *(name for name in FAULTS if name not in _OF_OTHER_DRAWS)), 0.012
    ),
    **{"edit_absent": 0.04, "edit_wrong": 0.06, "edit_hiss": 0.04, "edit_otherwise": 0.08},
    **{"edit_opposite": 0.03, "edit_halfway": 0.04, "edit_faint": 0.08, "edit_residue": 0.1},
    "sampling_rate": 0.12,  # AudioLDM 2, AUDIT and Tango work at 16 kHz, MusicGen at 32
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
        **{"equalisation": 0.35, "vocoder": 0.06, "sampling_rate": 0.2},
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
    "sim_decoder": {
        **{"neural_codec": 0.6, "neural_decoder": 0.35, "speech_vocoded": 0.2},
        **{"sampling_rate": 0.3, "low_pass": 0.1},
    },
    "sim_separator": {
        **{"separation_artefacts": 0.5, "separation_leakage": 0.5, "separation_loss": 0.3},
    },
    "sim_producer": {"effect_strength": 0.6, "effect_anew": 0.3, "effect_missing": 0.1},
    "sim_talker": {"speech_respoken": 0.4, "speech_vocoded": 0.3, "neural_decoder": 0.2},
}

# Speech tests in the manner of P.835 have noise and modulated noise at independent levels, heard
# in full or over a line: a terminal limits the band at both ends and colours what it lets through.
_SPEECH_TEST = {"mnru": 0.65}
_SPEECH_TEST_NOISE, _SPEECH_TEST_LINE, _HANDSET_SHARE = 0.75, 0.45, 0.6
_LINE = {"low_pass": 0.8, "high_pass": 0.7, "equalisation": 0.8}
_SPEECH_TEST_RATE = 0.5  # of those that are heard over no line are at another sampling rate

# Tests of coders, one at any rate, of the whole band, less of it, or with the upper one made anew;
# of enhancers, what they leave of noise and take of a voice; of voices made anew.
_CODERS = ("neural_codec", "neural_codec", "neural_decoder", "speech_vocoded", "opus", "mp3")
_CODEC_TEST_BAND = {"sampling_rate": 0.35, "low_pass": 0.15, "band_extension": 0.2}
_ENHANCER_TEST = {"separation_artefacts": 0.8, "separation_loss": 0.6, "noise_real": 0.6}
_TALKER_TEST = {"speech_respoken": 0.7, "speech_vocoded": 0.3, "neural_decoder": 0.3}
# Editors that make a clip anew lose, replace and reorder of it whatever they were asked for.
_EDITOR_TEST = {
    **{"background_lost": 0.4, "background_replaced": 0.3, "background_regenerated": 0.15},
    **{"background_reordered": 0.1, "background_shifted": 0.1, "background_pitched": 0.1},
    **{"background_stretched": 0.1, "background_level": 0.1, "dropouts": 0.1, "mnru": 0.15},
    **{"clip_unrelated": 0.12, "clip_regenerated": 0.06},
}
_UNTOUCHED = {"hum": 0.0}  # a clip that went through nothing, but for what nobody hears
_TEST_SHARES = {  # the rest is none
    **{"line": 0.44, "coder": 0.16, "enhancer": 0.09, "talker": 0.06, "editor": 0.13},
    "untouched": 0.06,
}
_EFFECT_TEST = {"effect_strength": 0.75, "effect_anew": 0.3, "effect_missing": 0.08}
_EFFECT_TEST_SHARE = 0.3  # of edits of what has an effect
_SEPARATOR_SHARE = 0.6  # of what takes one of two lasting sounds away, no other fault is drawn

_LOCAL_SHARE, _LOCAL_SECONDS = 0.3, (0.4, 1.5)  # of the damage


def draw_doses(
    system: str, operation: str, scene: Scene, band_hz: float, rng: Generator
) -> dict[str, Dose]:
    """Fault -> dose: what the system commits this time on a scene of that bandwidth."""
    length = len(scene.background)
    chances, local_share = COMMON | SYSTEMS[system], _LOCAL_SHARE
    if operation == UNEDITED and (test := _listening_test(scene, rng)):
        chances, local_share = test, 0.0
    elif operation == "delete" and scene.is_mixture and rng.random() < _SEPARATOR_SHARE:
        chances, local_share = SYSTEMS["sim_separator"], 0.0
    drawn = [FAULTS[n] for n in COMMON if n in chances and rng.random() < chances[n]]
    drawn = [f for f in drawn if f.can_befall(scene, operation)]
    if whole := [f for f in drawn if f.whole]:
        drawn = [whole[0], *(f for f in drawn if UNEDITED in f.operations)]
    drawn = [f for f in drawn if f.stage is Stage.FILE] or drawn
    content = [f for f in drawn if f.stage is Stage.BACKGROUND]
    surplus = content[1:] if rng.random() < 0.7 else content[2:]
    doses = {}
    for fault in drawn:
        if fault not in surplus:
            severity = fault.draw(band_hz, rng)
            local = _moment(length, rng) if rng.random() < local_share else None
            doses[fault.name] = Dose(severity, local if fault.local else None)
    return doses | implied(doses, operation)


def draw_late(
    operation: str, scene: Scene, drawn: Mapping[str, Dose], band_hz: float, rng: Generator
) -> dict[str, Dose]:
    """Those of LATE that are committed beside what was `drawn`."""
    stages = {FAULTS[name].stage for name in drawn}
    if Stage.FILE in stages or any(FAULTS[name].whole for name in drawn):
        return {}
    doses = {}
    for name, chance in LATE.items():
        fault = FAULTS[name]
        befalls = rng.random() < chance and fault.can_befall(scene, operation)
        taken = fault.stage is Stage.BACKGROUND and stages & {Stage.BACKGROUND, Stage.ESTIMATE}
        if befalls and not taken:
            doses[name] = Dose(fault.draw(band_hz, rng))
    return doses


def draw_inverted(
    system: str, operation: str, scene: Scene, band_hz: float, rng: Generator
) -> dict[str, Dose]:
    """Fault -> dose for an `inverted` scene: of a clip that is silent for the most part all is hit,
    since a moment or a share of it might have no sound."""
    doses = draw_doses(system, operation, scene, band_hz, rng)
    return {
        name: Dose(1.0 if FAULTS[name].scale.unit == "share" else dose.severity)
        for name, dose in doses.items()
    }


def draw_accompanied(
    system: str, operation: str, scene: Scene, band_hz: float, rng: Generator
) -> dict[str, Dose]:
    """Fault -> dose for an `accompanied` scene: a third sound goes or one more comes, or what the
    system does."""
    doses = draw_doses(system, operation, scene, band_hz, rng)
    chances = _OF_COMPANIONS[operation]
    name = str(rng.choice(list(chances), p=list(chances.values())))
    return {name: Dose(FAULTS[name].draw(band_hz, rng))} if name else doses


def draw_generative(scene: Scene, rng: Generator) -> str:
    """One of GENERATIVE that can do what it does to that scene."""
    name = "sim_generator" if rng.random() < _GENERATOR_SHARE else "sim_embellisher"
    able = any(FAULTS[fault].can_befall(scene, UNEDITED) for fault in GENERATIVE[name])
    return name if able else "sim_embellisher"


def draw_generated(
    system: str, operation: str, scene: Scene, band_hz: float, rng: Generator
) -> dict[str, Dose]:
    """Fault -> dose: what one of GENERATIVE does, and in most edits what else is heard in them.

    Half of these have one or two of all that a clip can suffer, each as often; the others what
    some other system does to the sound or to the edit, but of the background nothing, and nothing
    instead of the edit.
    """
    like, damaged, any_damage = str(rng.choice(list(SYSTEMS))), rng.random(), rng.random()
    drawn = draw_doses(like, operation, scene, band_hz, rng)
    apart = {Stage.CLIP} if operation == UNEDITED else {Stage.CLIP, Stage.EVENT, Stage.WORDS}
    doses = {name: dose for name, dose in drawn.items() if FAULTS[name].stage in apart}
    if any_damage < _ANY_DAMAGE_SHARE:
        doses = draw_damage(scene, operation, band_hz, rng)
    if damaged < _UNDAMAGED_SHARE or any(FAULTS[name].whole for name in doses):
        doses = {}
    for name in GENERATIVE[system]:
        if FAULTS[name].can_befall(scene, operation):
            doses[name] = Dose(FAULTS[name].draw(band_hz, rng))
    return doses


def draw_damage(scene: Scene, operation: str, band_hz: float, rng: Generator) -> dict[str, Dose]:
    """One or two of all that a clip can suffer, each as often."""
    able = [name for name in _DAMAGE if FAULTS[name].can_befall(scene, operation)]
    chosen = map(str, rng.choice(able, 1 + int(rng.integers(2)), replace=False))
    return {name: Dose(FAULTS[name].draw(band_hz, rng)) for name in chosen}


def draw_damaged(scene: Scene, operation: str, band_hz: float, rng: Generator) -> dict[str, Dose]:
    """Fault -> dose: what DAMAGER does, in most edits beside what was asked for."""
    done = rng.random() >= _NOT_DONE_SHARE
    doses = draw_damage(scene, operation, band_hz, rng)
    return doses if done else doses | {"edit_absent": Dose(1.0)}


def draw_one(
    names: Sequence[str], scene: Scene, operation: str, band_hz: float, rng: Generator
) -> dict[str, Dose]:
    """The first of these faults that can befall such an edit, or none."""
    able = [name for name in names if FAULTS[name].can_befall(scene, operation)]
    return {name: Dose(FAULTS[name].draw(band_hz, rng)) for name in able[:1]}


def _listening_test(scene: Scene, rng: Generator) -> dict[str, float]:
    """Chances of faults as in a test of one kind of processor; none: as any clip."""
    if "effect" in scene.offers and rng.random() < _EFFECT_TEST_SHARE:
        return dict(_EFFECT_TEST)
    rest = 1 - sum(_TEST_SHARES.values())
    kind = rng.choice([*_TEST_SHARES, ""], p=[*_TEST_SHARES.values(), rest])
    if kind == "line":
        chances = dict(_SPEECH_TEST)
        if rng.random() < _SPEECH_TEST_NOISE:
            chances[str(rng.choice(NOISES))] = 1.0
        if rng.random() < _SPEECH_TEST_LINE:
            return chances | ({"handset": 1.0} if rng.random() < _HANDSET_SHARE else _LINE)
        return chances | {"sampling_rate": _SPEECH_TEST_RATE}
    if kind == "coder":
        coders = [name for name in _CODERS if FAULTS[name].can_befall(scene, UNEDITED)]
        return {str(rng.choice(coders)): 1.0, **_CODEC_TEST_BAND}
    others = {
        **{"enhancer": _ENHANCER_TEST, "talker": _TALKER_TEST, "editor": _EDITOR_TEST},
        "untouched": _UNTOUCHED,
    }
    return dict(others.get(str(kind), {}))


def implied(doses: Mapping[str, Dose], operation: str) -> dict[str, Dose]:
    """What comes with a fault: deleting the wrong sound leaves nothing of what should stay."""
    implies = [FAULTS[name].implies for name in doses]
    return {fault[operation]: Dose(1.0) for fault in implies if operation in fault}


def _moment(length: int, rng: Generator) -> Span | None:
    """Of 0.4 to 1.5 s and not over half of the clip, where it is long enough."""
    size = round(rng.uniform(*_LOCAL_SECONDS) * RATE_HZ)
    return somewhere(size, length, rng) if size <= length // 2 else None

"""Scenes: a background, events that may stand in it, and what an editor could mistake them for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

import numpy as np

from auditeval.data.mixing import place, quietest_start
from auditeval.data.simulation import effects
from auditeval.data.simulation.captions import Phrase, phrase
from auditeval.data.simulation.material import SPEECH, Material
from auditeval.data.simulation.processors import Processors
from auditeval.data.simulation.signals import RATE_HZ, Span, active_rms, below, coloured, decibels
from auditeval.data.simulation.vocabulary import alike

UNEDITED = "process"
"""The operation that asks for no change: the clip only went through something."""

SLOTS: dict[str, tuple[str | None, str | None]] = {
    "add": (None, "B"),
    "delete": ("B", None),
    "replace": ("B", "C"),
    UNEDITED: (None, None),
}
"""Which event the original has, and which one the edit should have in its place."""

OPERATIONS = tuple(name for name in SLOTS if name != UNEDITED)

Spare = Literal["other_take", "foreign", "noise", "wrong", "reading", "other_words"]
SPARES: tuple[Spare, ...] = get_args(Spare)
Need = Spare | Literal["effect", "companion", "elsewhere"]
"""A companion to lose, an effect to make anew, a place for the event where it is not."""
_SEED_OF: dict[Spare, int] = {
    **{"other_take": 0, "foreign": 1, "wrong": 2, "noise": 4, "reading": 5},
    "other_words": 0,  # a talker's scene has use for no other take
}

SPEECH_SHARE = 0.4
"""Of the scenes, whose background is a talker alone."""

LEVELS_DBFS = (-40.0, -15.0)
"""Active level of the fullest clip of a scene."""

# The paper matches peaks, which leaves a click inaudible in steady noise. The panel's ratings
# suppose that an event can be heard, so active levels are compared here.
_ABOVE_DB, _ABOVE_SPEECH_DB = (3.0, 14.0), (-3.0, 10.0)
_PEAK = 0.6  # of the loudest clip: what is added later has room
_NARROW_SHARE, _BANDS_HZ = 0.2, (3700, 5500, 7600, 11000)
_NOISY_SHARE, _NOISY_DB = 0.15, (5, 35)
_EVENT_SHARE = (0.2, 0.5)  # of the clip
_MIXTURE_SHARE = 0.4  # of the scenes: two sounds that last, as a voice with music does
_MIXED_DB = (-8.0, 8.0)
_EFFECT_SHARE, _STRENGTHS = 0.25, (0.7, 1.4)  # of the scenes have an effect of a producer's
_SEMITONES, _FORMANTS, _PACE = (-4.0, 4.0), (0.88, 1.14), (0.85, 1.18)  # of another reading
_SHORTEST_SECONDS = 1.2
_BABBLE, _BABBLE_SHARE = "crowd_babble", 0.3


class Sound(NamedTuple):
    """An event in its place in a clip :: float32 (N,), silent outside of `span`."""

    name: str
    samples: np.ndarray
    span: Span
    words: Phrase


class Scene(NamedTuple):
    """All clips are float (N,) at RATE_HZ. B is what is added, deleted or replaced by C.

    Spares are made when they are first asked for: `spare` gives "other_take" and "foreign" in the
    place of the background, "reading" the same words spoken anew, "other_words" others, and "noise"
    under it; `wrong` is in the place of an event (`spare_names` has the classes of these),
    `other_event` another take of "B" or "C". `treated(ratio, seed)` is the background under its
    effect at that ratio of strength (0: without), by the make of that seed. `offers` says which of
    all these there are. A `companion` is an event that the background has too, and should keep.
    `character` is that of effects which an edit adds; none: the usual one.
    """

    name: str
    background: np.ndarray
    words: Phrase
    events: dict[str, Sound]
    spare_names: dict[Spare, str]
    spare: Callable[[Spare], np.ndarray]
    wrong: Callable[[], Sound]
    other_event: Callable[[str], np.ndarray]
    treated: Callable[[float, int], np.ndarray]
    offers: frozenset[Need]
    processors: Processors
    companion: Sound | None = None
    character: int | None = None

    @property
    def is_speech(self) -> bool:
        return self.name in SPEECH

    def phrased(self, rng: np.random.Generator) -> Phrase:
        """Words for the background, drawn anew."""
        words = phrase(self.name, rng)
        return words.joined(phrase(self.companion.name, rng)) if self.companion else words

    @property
    def is_mixture(self) -> bool:
        """Whether its events last: two sounds all the time."""
        start, stop = self.events["B"].span
        return stop - start > 0.6 * len(self.background)


def make_scene(
    material: Material,
    pool: int,
    seconds: Sequence[float],
    rng: np.random.Generator,
    events: Sequence[str] = (),
) -> Scene:
    """A scene of that pool, `seconds` long (least, most), its events of those classes or of any.

    A talker's clip ends with the talker, if that is earlier.
    """
    name = _background(material, pool, rng, events)
    length_seconds = float(rng.uniform(seconds[0], seconds[1]))
    background, taken = material.take(name, pool, length_seconds, rng, whole=True)
    length = len(background)
    if name in SPEECH:
        length = max(length, round(min(_SHORTEST_SECONDS, length_seconds) * RATE_HZ))
    top_hz = float(rng.choice(_BANDS_HZ)) if rng.random() < _NARROW_SHARE else float(RATE_HZ)

    def level(x: np.ndarray) -> np.ndarray:
        x = below(np.pad(x, (0, max(0, length - len(x))))[:length], top_hz)
        return x / max(active_rms(x), 1e-6)

    background = level(background)
    if rng.random() < _NOISY_SHARE:  # before and after: what was there already costs nothing
        air = coloured(rng.uniform(-6, 0), length, rng, min(top_hz, RATE_HZ / 2))
        background = background + air * decibels(-rng.uniform(*_NOISY_DB))
    dry, effect = background, str(rng.choice(list(effects.EFFECTS)))
    strength, make = rng.uniform(*_STRENGTHS), int(rng.integers(2**31))
    is_treated = rng.random() < _EFFECT_SHARE
    if is_treated:
        background = effects.apply(effect, dry, strength, make, effects.varied(make))
    mixture = not events and rng.random() < _MIXTURE_SHARE
    longest = (1.0 if mixture else rng.uniform(*_EVENT_SHARE)) * length / RATE_HZ
    above_db = _ABOVE_SPEECH_DB if name in SPEECH else _ABOVE_DB
    louder_db = rng.uniform(*(_MIXED_DB if mixture else above_db), 2)
    chosen: list[str] = []
    takes: dict[str, tuple[np.ndarray, str]] = {}
    for slot, db in zip("BC", louder_db, strict=True):
        lasting = material.backgrounds(pool) if mixture else events
        event = _unlike(material, pool, [name, *chosen], rng, lasting)
        chosen.append(event)
        sound, which = material.take(event, pool, longest, rng, whole=mixture)
        sound = below(sound, top_hz)
        takes[slot] = sound * (decibels(db) / max(active_rms(sound), 1e-6)), which
    size = max(len(sound) for sound, _ in takes.values())
    if rng.random() < 0.5:
        start = quietest_start(background, size, RATE_HZ)
    else:  # the quietest place of a steady texture is nearly always its edge
        start = int(rng.integers(length - size + 1))

    fullest = background + place(takes["B"][0].astype(np.float32), start, length)
    gain = decibels(rng.uniform(*LEVELS_DBFS)) / active_rms(fullest)
    peak = np.abs(background).max() + max(np.abs(sound).max() for sound, _ in takes.values())
    gain = min(gain, _PEAK / peak)

    def put(event: str, sound: np.ndarray) -> Sound:
        sound = (gain * sound).astype(np.float32)[: length - start]
        placed = place(sound, start, length)
        return Sound(event, placed, (start, start + len(sound)), phrase(event, rng))

    placed = {slot: put(chosen["BC".index(slot)], sound) for slot, (sound, _) in takes.items()}
    words = phrase(name, rng)
    seeds = rng.integers(2**31, size=6)
    own = {which: np.random.default_rng(seeds[at]) for which, at in _SEED_OF.items()}
    unlike = _others(material.backgrounds(pool), name)
    # Talk under a talker is the commonest noise of speech tests.
    babble = name in SPEECH and _BABBLE in material.backgrounds(pool)
    babble = babble and own["noise"].random() < _BABBLE_SHARE
    names: dict[Spare, str] = {
        "other_take": name,
        "foreign": str(own["foreign"].choice(unlike)),
        "noise": _BABBLE if babble else str(own["noise"].choice(unlike)),
        "wrong": _unlike(material, pool, [name, *chosen], own["wrong"], events),
        "reading": name,
        "other_words": name,
    }
    sayings = material.sayings(pool, taken) if name in SPEECH else []
    readings = material.readings(pool, taken) if name in SPEECH else []
    spoken_anew = readings or (name in SPEECH and "world" in material.processors)
    extras: dict[Need, bool] = {"reading": bool(spoken_anew), "effect": is_treated}
    extras["other_words"] = bool(sayings) or (name in SPEECH and not taken)
    extras["other_take"] = material.has_another(name, pool, taken)
    extras["elsewhere"] = not mixture
    there: set[Need] = {*names, "effect", "elsewhere"}
    offers = frozenset(there - {need for need, found in extras.items() if not found})

    def read_anew(rng: np.random.Generator) -> np.ndarray:
        if readings:
            return material.reading(readings[rng.integers(len(readings))])
        changes = [rng.uniform(*span) for span in (_SEMITONES, _FORMANTS, _PACE)]
        return material.processors.run("world", dry, *changes)

    def treated(ratio: float, seed: int) -> np.ndarray:
        if not ratio:
            return gain * dry
        return gain * effects.apply(effect, dry, ratio * strength, seed, effects.varied(make))

    @lru_cache
    def spare(which: Spare) -> np.ndarray:
        if which == "reading":
            return gain * level(read_anew(own["reading"]))
        if which == "other_words" and sayings:
            said = sayings[own[which].integers(len(sayings))]
            return gain * level(material.reading(said)[:length])
        but = taken if which == "other_take" else ""
        sound = material.take(names[which], pool, length / RATE_HZ, own[which], True, but)[0]
        return gain * level(sound)

    @lru_cache
    def wrong() -> Sound:
        event = names["wrong"]
        sound = below(material.take(event, pool, longest, own["wrong"])[0], top_hz)
        sound = sound * (gain * decibels(louder_db[0]) / max(active_rms(sound), 1e-6))
        sound = sound.astype(np.float32)[: length - start]
        samples = place(sound, start, length)
        return Sound(event, samples, (start, start + len(sound)), phrase(event, own["wrong"]))

    @lru_cache
    def other_event(slot: str) -> np.ndarray:
        again, event = np.random.default_rng([seeds[3], ord(slot)]), placed[slot]
        sound, _ = material.take(event.name, pool, longest, again, but=takes[slot][1])
        sound = below(sound, top_hz)[: length - start]
        loud = active_rms(event.samples[slice(*event.span)])
        sound = sound * (loud / max(active_rms(sound), 1e-6))
        return place(sound.astype(np.float32), start, length)

    return Scene(
        *(name, gain * background, words, placed, names, spare, wrong, other_event),
        *(treated, offers, material.processors),
    )


def inverted(scene: Scene, rng: np.random.Generator) -> Scene:
    """The same sounds with their parts exchanged: "B" stays, what lay behind it comes or goes, or
    another sound that lasts replaces it. Where "B" is silent, what stays is. `rng` finds words.
    """
    kept, whole = scene.events["B"], (0, len(scene.background))
    takes: dict[Spare, Callable[[], np.ndarray]] = {
        "other_take": lambda: scene.other_event("B"),
        "foreign": lambda: scene.wrong().samples,
        "noise": lambda: scene.spare("noise"),
    }
    behind = Sound(scene.name, scene.background.astype(np.float32), whole, scene.words)
    other, name = scene.spare("foreign").astype(np.float32), scene.spare_names["foreign"]
    instead = Sound(name, other, whole, phrase(name, rng))
    spared = {**scene.spare_names, "other_take": kept.name, "foreign": scene.spare_names["wrong"]}
    return scene._replace(
        name=kept.name,
        background=kept.samples,
        words=kept.words,
        events={"B": behind, "C": instead},
        spare_names=spared,
        spare=lambda which: takes[which](),
        other_event=lambda slot: scene.spare("other_take"),
        offers=frozenset({*takes, "wrong"}),
    )


def accompanied(scene: Scene, rng: np.random.Generator) -> Scene:
    """The same with one sound more, which should stay: "C", half a clip from where it was.

    "B" is added or deleted. `rng` finds words.
    """
    event, length = scene.events["C"], len(scene.background)
    by = length // 2

    def beside(background: np.ndarray, samples: np.ndarray) -> np.ndarray:
        return background + np.roll(samples, by)

    start = (event.span[0] + by) % length
    span = start, min(start + event.span[1] - event.span[0], length)
    takes: dict[Spare, Callable[[], np.ndarray]] = {
        "other_take": lambda: beside(scene.spare("other_take"), scene.other_event("C")),
        "foreign": lambda: scene.spare("foreign"),
        "noise": lambda: scene.spare("noise"),
    }
    companion = event._replace(samples=np.roll(event.samples, by), span=span)
    there = scene._replace(companion=companion)
    return there._replace(
        background=beside(scene.background, event.samples),
        words=there.phrased(rng),
        events={"B": scene.events["B"]},
        spare=lambda which: takes[which](),
        offers=frozenset({*(scene.offers & {*takes, "elsewhere"}), "wrong", "companion"}),
    )


def _background(
    material: Material, pool: int, rng: np.random.Generator, events: Sequence[str]
) -> str:
    speech = material.speech(pool)
    if speech and rng.random() < SPEECH_SHARE:
        return str(rng.choice(speech))
    # Recordings weigh more than their few classes would: they are what editors get.
    real = sorted(material.clips[pool].keys() - set(SPEECH))
    names = real if real and rng.random() < 0.6 else material.backgrounds(pool)
    # A scene whose events are given must have other events than its background: no recording, where
    # recordings are of that class alone.
    if len(set(events)) == 1:
        names = _others(names, events[0]) or _others(material.backgrounds(pool), events[0])
    return str(rng.choice(names))


def _others(names: Sequence[str], than: str) -> list[str]:
    return [name for name in names if not alike(name, than)]


def _unlike(
    material: Material,
    pool: int,
    taken: Sequence[str],
    rng: np.random.Generator,
    events: Sequence[str],
) -> str:
    """An event class that none of the taken could be confused with; of `events` where possible."""
    names = [
        name for name in material.classes(pool) if not any(alike(name, other) for other in taken)
    ]
    wanted = [name for name in names if name in events]
    real = [name for name in names if name in material.clips[pool]]
    return str(rng.choice(wanted or (real if real and rng.random() < 0.4 else names)))

"""Mammals, birds, frogs and insects; the voiced ones are source-filter models."""

from __future__ import annotations

import numpy as np

from . import blocks
from .blocks import Samples
from .event import sound_class


@sound_class(
    "Animals", "background",
    "crickets chirping", "chirping of crickets", "insects chirping at night",
    "the chirp of crickets", "crickets singing",
)  # fmt: skip
def crickets(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Two to four crickets, each with its own pitch and chirp rate, in quiet night air."""
    count = blocks.sample_count(seconds, rate_hz)
    time = np.arange(count) / rate_hz
    total = np.zeros(count)
    for number in range(rng.integers(2, 5)):
        hz = min(rng.uniform(3800, 5200), 0.4 * rate_hz)
        chirp = (time * rng.uniform(1.8, 3.4) + rng.uniform()) % 1.0
        pulses = 0.5 - 0.5 * np.cos(2 * np.pi * (time * rng.uniform(26, 36) + rng.uniform()))
        gate = np.clip(np.minimum(chirp, rng.uniform(0.35, 0.6) - chirp) * 25, 0, 1)
        carrier = np.sin(2 * np.pi * hz * time)
        total += carrier * gate * pulses**2 * (1.0 if number == 0 else rng.uniform(0.2, 0.7))
    air = blocks.shaped_noise(
        rng, count, rate_hz, [(100, 0.0), (800, -8.0), (4000, -6.0), (6000, -4.0), (12000, -24.0)]
    )
    return total + rng.uniform(0.03, 0.07) * air


@sound_class(
    "Animals", "event",
    "a dog barking", "barking of a dog", "a dog barks repeatedly", "dog barks",
    "the barking of a dog",
)  # fmt: skip
def dog_bark(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Groups of short, rough bursts whose pitch jumps up and falls, through an opening muzzle."""
    size = rng.uniform(0.75, 1.4)
    pitch = rng.uniform(330, 520) / size
    muzzle = [(750 / size, 200, 1.0), (1350 / size, 260, 0.8), (2700 / size, 450, 0.35)]

    def bark() -> Samples:
        count = blocks.sample_count(rng.uniform(0.12, 0.2) * size, rate_hz)
        top = pitch * rng.uniform(0.9, 1.15)
        curve = blocks.contour(count, top * 0.75, top * 1.15, top, top * 0.7)
        curve *= blocks.drift(rng, count, rate_hz, 120, 0.93, 1.07)
        source = blocks.voice_source(rng, curve, rate_hz, 900, 0.12)
        return blocks.resonate(source, rate_hz, muzzle) * blocks.hump(count, 0.1, 0.6)

    def group() -> Samples:
        barks = [bark() for _ in range(rng.integers(1, 4))]
        pause = np.zeros(blocks.sample_count(rng.uniform(0.1, 0.22), rate_hz))
        return np.concatenate([part for one in barks for part in (one, pause)])

    barks = blocks.repeat(rng, seconds, rate_hz, group, (0.15, 0.5))
    return blocks.room(rng, barks, rate_hz, 0.4, rng.uniform(0.1, 0.35))


@sound_class(
    "Animals", "event",
    "a cat meowing", "meowing of a cat", "a cat meows", "a kitten mewing", "cat meows",
)  # fmt: skip
def cat_meow(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Pitch arch with the mouth opening from a closed 'm-i' to 'a' and closing to 'u'."""

    def meow() -> Samples:
        count = blocks.sample_count(rng.uniform(0.55, 1.0), rate_hz)
        base = pitch * rng.uniform(0.92, 1.1)
        curve = blocks.contour(count, base * 0.85, base * 1.15, base * 1.2, base, base * 0.75)
        source = blocks.voice_source(rng, curve, rate_hz, 3000, 0.15)
        closed = blocks.resonate(source, rate_hz, [(600, 200, 1.0), (2600, 300, 0.5)])
        opened = blocks.resonate(
            source, rate_hz, [(1150, 220, 1.0), (2000, 260, 1.0), (4000, 500, 0.5)]
        )
        mouth = blocks.contour(count, 0, 0.5, 1, 1, 0.7, 0.25)
        return (closed * (1 - mouth) * 0.7 + opened * mouth) * blocks.hump(count, 0.15, 0.4)

    pitch = rng.uniform(480, 800)
    meows = blocks.repeat(rng, seconds, rate_hz, meow, (0.3, 0.8))
    return blocks.with_air(rng, meows, rate_hz, rng.uniform(36, 44))


@sound_class(
    "Animals", "event",
    "a rooster crowing", "crowing of a rooster", "a rooster crows loudly", "rooster crows",
    "a cock crowing",
)  # fmt: skip
def rooster_crow(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Four syllables of a cock-a-doodle-doo; the last one is long and falls."""

    def crow() -> Samples:
        base = pitch * rng.uniform(0.95, 1.05)
        hurry = rng.uniform(0.85, 1.1)
        parts: list[Samples] = []
        for length, curve in (
            (0.14, (0.65, 0.85)),
            (0.16, (0.85, 1.05, 1.0)),
            (0.3, (0.9, 1.15, 1.1)),
            (rng.uniform(0.5, 0.8), (1.0, 1.25, 1.2, 1.05, 0.6)),
        ):
            count = blocks.sample_count(length * hurry, rate_hz)
            hz = base * blocks.contour(count, *curve)
            hz *= blocks.drift(rng, count, rate_hz, 60, 0.97, 1.03)
            source = blocks.voice_source(rng, hz, rate_hz, 4000, 0.1)
            parts.append(source * blocks.hump(count, 0.12, 0.3))
            parts.append(np.zeros(blocks.sample_count(0.03, rate_hz)))
        beak = [(1000, 500, 1.0), (2000, 600, 0.9), (3200, 800, 0.6)]
        return blocks.resonate(np.concatenate(parts), rate_hz, beak)

    pitch = rng.uniform(600, 850)
    crows = blocks.repeat(rng, seconds, rate_hz, crow, (0.3, 0.9))
    return blocks.room(rng, crows, rate_hz, 0.6, rng.uniform(0.15, 0.35))


@sound_class(
    "Animals", "event",
    "a cow mooing", "mooing of a cow", "a cow moos", "cattle lowing", "a cow bellowing",
)  # fmt: skip
def cow_moo(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Long low call whose pitch climbs and falls back, through a wide open throat."""
    throat = rng.uniform(0.94, 1.06)
    mouth = [
        (hz * throat, bandwidth, gain)
        for hz, bandwidth, gain in (
            (450.0, 150.0, 1.0),
            (850.0, 200.0, 0.9),
            (1500.0, 300.0, 0.4),
            (2600.0, 400.0, 0.3),
        )
    ]

    def moo() -> Samples:
        count = blocks.sample_count(rng.uniform(1.3, 2.2), rate_hz)
        base = pitch * rng.uniform(0.95, 1.05)
        curve = base * blocks.contour(count, 0.75, 1.0, 1.15, 1.2, 0.85)
        curve *= blocks.drift(rng, count, rate_hz, 8, 0.99, 1.01)
        source = blocks.voice_source(rng, curve, rate_hz, 800, 0.02)
        return blocks.resonate(source, rate_hz, mouth) * blocks.hump(count, 0.2, 0.3)

    pitch = rng.uniform(130, 210)
    moos = blocks.repeat(rng, seconds, rate_hz, moo, (0.4, 1.0))
    moos = blocks.room(rng, moos, rate_hz, 0.7, 0.3)
    return blocks.with_air(rng, moos, rate_hz, rng.uniform(34, 42))


@sound_class(
    "Animals", "event",
    "a sheep bleating", "bleating of a sheep", "a goat bleats", "a lamb baaing", "sheep bleats",
)  # fmt: skip
def sheep_bleat(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """A held 'baa' shaken in pitch and loudness about eight times a second."""

    def bleat() -> Samples:
        count = blocks.sample_count(rng.uniform(0.6, 1.1), rate_hz)
        time = np.arange(count) / rate_hz
        shake = np.sin(2 * np.pi * rng.uniform(7, 11) * time)
        curve = pitch * blocks.contour(count, 0.95, 1.05, 1.0, 0.9) * (1 + 0.05 * shake)
        source = blocks.voice_source(rng, curve, rate_hz, 1500, 0.05)
        throat = [(700, 150, 1.0), (1600, 200, 0.9), (2700, 300, 0.6), (3600, 400, 0.3)]
        sound = blocks.resonate(source, rate_hz, throat)
        return sound * (0.65 + 0.35 * shake) * blocks.hump(count, 0.1, 0.3)

    pitch = rng.uniform(220, 420)
    return blocks.repeat(rng, seconds, rate_hz, bleat, (0.3, 0.9))


@sound_class(
    "Animals", "event",
    "a duck quacking", "quacking of a duck", "ducks quack", "a duck quacks several times",
    "ducks quacking",
)  # fmt: skip
def duck_quack(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Short nasal buzzes, each falling a little in pitch, in a quick row."""

    def quack() -> Samples:
        count = blocks.sample_count(rng.uniform(0.12, 0.2), rate_hz)
        curve = pitch * rng.uniform(0.92, 1.08) * blocks.contour(count, 1.1, 1.15, 1.0, 0.8)
        source = blocks.voice_source(rng, curve, rate_hz, 2500, 0.08)
        bill = [(1250, 180, 1.0), (2300, 250, 0.9), (3300, 400, 0.4)]
        return blocks.resonate(source, rate_hz, bill) * blocks.hump(count, 0.12, 0.5)

    pitch = rng.uniform(190, 300)
    return blocks.repeat(rng, seconds, rate_hz, quack, (0.08, 0.3))


@sound_class(
    "Animals", "event",
    "a frog croaking", "croaking of a frog", "a frog croaks", "frogs croaking",
    "the croak of a frog",
)  # fmt: skip
def frog_croak(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Each croak is a quick run of damped pulses; the two body resonances do not move."""

    def croak() -> Samples:
        count = blocks.sample_count(rng.uniform(0.18, 0.4), rate_hz)
        pulses = blocks.pulse_train(blocks.contour(count, rate * 0.8, rate, rate * 1.15), rate_hz)
        body = [(low, 70, 1.0), (low * ratio, 160, 0.8)]
        return blocks.resonate(pulses, rate_hz, body) * blocks.hump(count, 0.5, 0.15)

    rate = rng.uniform(35, 75)
    low = rng.uniform(450, 900)
    ratio = rng.uniform(2.0, 2.8)
    return blocks.repeat(rng, seconds, rate_hz, croak, (0.12, 0.5))


@sound_class(
    "Animals", "event",
    "an owl hooting", "hooting of an owl", "an owl hoots", "the call of an owl", "owl hoots",
)  # fmt: skip
def owl_hoot(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Soft, nearly pure hoots in the owl's rhythm of one long and several shorter ones."""

    def call() -> Samples:
        parts: list[Samples] = []
        for length, pause in ((0.35, 0.22), (0.14, 0.08), (0.16, 0.2), (0.45, 0.1)):
            count = blocks.sample_count(length * hurry, rate_hz)
            hz = pitch * rng.uniform(0.98, 1.02) * blocks.contour(count, 0.93, 1.0, 1.0, 0.94)
            tone = blocks.partials(hz, rate_hz, [1.0, 0.06, 0.02])
            breath = blocks.band_noise(rng, count, rate_hz, pitch * 0.9, pitch * 1.3)
            parts.append((tone + 0.15 * breath) * blocks.hump(count, 0.3, 0.4))
            parts.append(np.zeros(blocks.sample_count(pause * hurry, rate_hz)))
        return np.concatenate(parts)

    pitch = rng.uniform(280, 420)
    hurry = rng.uniform(0.75, 1.05)
    calls = blocks.repeat(rng, seconds, rate_hz, call, (0.5, 1.2))
    calls = blocks.room(rng, calls, rate_hz, 0.8, rng.uniform(0.1, 0.25))
    return blocks.with_air(rng, calls, rate_hz, rng.uniform(30, 38))


@sound_class(
    "Animals", "event",
    "a bird chirping", "birds chirping", "chirping of a bird", "a bird tweeting", "birdsong",
    "a bird sings",
)  # fmt: skip
def bird_chirp(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Songbird: short whistled sweeps; a phrase repeats one sweep several times."""
    base = rng.uniform(2800, 4800)

    def phrase() -> Samples:
        count = blocks.sample_count(rng.uniform(0.04, 0.13), rate_hz)
        shape = base * rng.uniform(0.75, 1.3, 4)
        hz = np.minimum(blocks.contour(count, *shape), 0.42 * rate_hz)
        note = blocks.partials(hz, rate_hz, [1.0, 0.06]) * blocks.hump(count, 0.3, 0.5)
        pause = np.zeros(blocks.sample_count(rng.uniform(0.03, 0.09), rate_hz))
        return np.tile(np.concatenate([note, pause]), rng.integers(1, 6))

    chirps = blocks.repeat(rng, seconds, rate_hz, phrase, (0.05, 0.4))
    return blocks.room(rng, chirps, rate_hz, 0.7, rng.uniform(0.1, 0.35))


@sound_class(
    "Animals", "event",
    "a bee buzzing", "buzzing of an insect", "a bee buzzes around", "a fly buzzing",
    "an insect buzzes",
)  # fmt: skip
def bee_buzz(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Wing beat rich in harmonics, whose pitch and nearness wander as the insect circles."""
    count = blocks.sample_count(seconds, rate_hz)
    pitch = rng.uniform(170, 260)
    hz = pitch * blocks.drift(rng, count, rate_hz, 2.5, 0.88, 1.14)
    hz *= blocks.drift(rng, count, rate_hz, 60, 0.96, 1.04)
    body = [(pitch, 150, 1.0), (pitch * 3, 500, 1.0), (1900, 1500, 0.8), (4200, 2500, 0.6)]
    wings = blocks.resonate(blocks.pulse_train(hz, rate_hz), rate_hz, body)
    near = blocks.drift(rng, count, rate_hz, 1.5, 0.1, 1.0)
    return wings * near * blocks.drift(rng, count, rate_hz, 40, 0.5, 1.0)


@sound_class(
    "Animals", "event",
    "a horse trotting", "clip-clop of horse hooves", "hooves clopping", "a horse walks by",
    "clopping of hooves",
)  # fmt: skip
def horse_clip_clop(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Hooves on stone: pairs of hollow knocks of unlike pitch in a walking or trotting beat."""
    step = rng.uniform(0.2, 0.36)
    canvas = np.zeros(blocks.sample_count(seconds, rate_hz))
    hollow = rng.uniform(850, 1300)
    pitches = hollow * np.array([1.0, 1.18, 0.93, 1.1])
    at = blocks.first_onset(rng, seconds)
    number = 0
    while at < seconds:
        hz = pitches[number % 4] * rng.uniform(0.96, 1.04)
        modes = [(hz, 0.5, 0.035), (hz * 1.9, 0.3, 0.025), (hz * 0.35, 0.6, 0.06)]
        knock = blocks.ring(rate_hz, 0.12, modes)
        blocks.place(canvas, knock, at, rate_hz, rng.uniform(0.7, 1.0))
        scuff = blocks.burst(rng, rate_hz, 0.05, hz * 0.7, hz * 2.2)
        blocks.place(canvas, scuff, at, rate_hz, 0.4)
        at += step * (0.85 if number % 2 == 0 else 1.15) * rng.uniform(0.95, 1.05)
        number += 1
    return blocks.room(rng, canvas, rate_hz, 0.35, rng.uniform(0.15, 0.35))

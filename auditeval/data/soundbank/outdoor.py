"""Bells, whistles, tools and blasts heard out of doors."""

from __future__ import annotations

import numpy as np

from . import blocks
from .blocks import Samples
from .event import sound_class


@sound_class(
    "OutdoorActivities", "event",
    "a church bell ringing", "tolling of a bell", "a church bell tolls", "church bells ring",
    "a large bell chiming",
)  # fmt: skip
def church_bell(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Tolling bell with the classic partials: hum, prime, tierce, quint, nominal and above."""
    prime = rng.uniform(220, 480)
    modes = []
    for ratio, gain, fall in (
        (0.5, 0.5, 6.0),
        (1.0, 0.7, 4.0),
        (1.19, 0.9, 3.0),
        (1.5, 0.4, 2.2),
        (2.0, 1.0, 2.4),
        (2.51, 0.5, 1.4),
        (3.01, 0.5, 1.0),
        (4.17, 0.35, 0.7),
        (5.43, 0.25, 0.5),
        (6.8, 0.15, 0.3),
    ):
        hz = prime * ratio * rng.uniform(0.995, 1.005)
        gain *= rng.uniform(0.6, 1.3)
        # Each partial of a cast bell is a pair a hair apart: the pair makes it throb.
        modes += [(hz, gain, fall), (hz + rng.uniform(0.4, 2.0), gain * 0.6, fall)]
    stroke = blocks.ring(rate_hz, min(3.0, seconds), modes)
    stroke *= blocks.hump(stroke.size, 0.0005, 0.2)
    clapper = blocks.burst(rng, rate_hz, 0.03, 1500, 6000)
    blocks.place(stroke, clapper, 0.0, rate_hz, 0.15)
    tolls = blocks.beat(rng, seconds, rate_hz, lambda: stroke, rng.uniform(1.0, 2.2), 0.04)
    return blocks.room(rng, tolls, rate_hz, 1.2, 0.3)


@sound_class(
    "OutdoorActivities", "event",
    "a gunshot", "gunshots firing", "a gun being fired", "someone fires a gun",
    "the crack of a rifle",
)  # fmt: skip
def gunshot(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Muzzle blast: a very sharp crack with a boom, and echoes off the land."""
    bright = rng.uniform(-8, 0)

    def shot() -> Samples:
        count = blocks.sample_count(1.2, rate_hz)
        sound = np.zeros(count)
        points = [(60, 0.0), (500, 0.0), (2500, bright), (9000, bright - 12)]
        crack = blocks.shaped_noise(rng, count, rate_hz, points)
        crack *= blocks.decay(count, rate_hz, rng.uniform(0.3, 0.6))
        boom = blocks.band_noise(rng, count, rate_hz, 50, 250)
        boom *= blocks.decay(count, rate_hz, rng.uniform(0.3, 0.6))
        sound += crack + 0.7 * boom
        for delay in rng.uniform(0.06, 0.5, 3):
            echo = blocks.soften(crack, rate_hz, 900)
            blocks.place(sound, echo, delay, rate_hz, rng.uniform(0.1, 0.35))
        # Every recorder clips on a shot: the flattened top is part of its sound.
        return np.tanh(2 * sound)

    shots = blocks.beat(rng, seconds, rate_hz, shot, rng.uniform(0.8, 2.0), 0.3)
    return blocks.room(rng, shots, rate_hz, 1.4, rng.uniform(0.3, 0.6))


@sound_class(
    "OutdoorActivities", "event",
    "sawing of wood", "a saw cutting wood", "someone saws a board", "a hand saw scraping",
    "a person sawing",
)  # fmt: skip
def hand_saw(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Push and pull strokes: teeth scraping fibres through the resonances of board and blade."""
    teeth_hz = rng.uniform(140, 260)
    blade = [(hz * rng.uniform(0.85, 1.15), 500, 1.0) for hz in (900, 2100, 3600, 5600)]
    stroke_seconds = rng.uniform(0.25, 0.45)
    push = True

    def stroke() -> Samples:
        nonlocal push
        count = blocks.sample_count(stroke_seconds * rng.uniform(0.9, 1.1), rate_hz)
        speed = blocks.contour(count, 0.55, 0.9, 1.0, 0.9, 0.6) * (1.0 if push else 0.8)
        tooth = np.sin(blocks.phase_of(teeth_hz * speed, rate_hz))
        scrape = blocks.shaped_noise(
            rng, count, rate_hz, [(200, -18.0), (1200, 0.0), (4000, -2.0), (12000, -18.0)]
        )
        scrape *= 0.4 + 0.6 * (0.5 + 0.5 * tooth) ** 2
        sound = 0.4 * scrape + blocks.resonate(scrape, rate_hz, blade)
        sound *= blocks.hump(count, 0.25, 0.35) * (1.0 if push else 0.45)
        push = not push
        return sound

    strokes = blocks.repeat(rng, seconds, rate_hz, stroke, (0.02, 0.08))
    return blocks.with_air(rng, strokes, rate_hz, rng.uniform(38, 46))


@sound_class(
    "OutdoorActivities", "event",
    "a whistle blowing", "a referee blows a whistle", "the shrill of a whistle", "a whistle blast",
    "someone blowing a whistle",
)  # fmt: skip
def whistle(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Referee's pea whistle: a high tone shaken in pitch and loudness by the pea, with breath."""
    base = rng.uniform(2500, 3500)
    pea_hz = rng.uniform(28, 55)

    def blow() -> Samples:
        count = blocks.sample_count(rng.uniform(0.2, 1.0), rate_hz)
        pea = np.sin(2 * np.pi * pea_hz * np.arange(count) / rate_hz)
        hz = base * (1 + 0.035 * pea) * blocks.contour(count, 0.95, 1.0, 1.0, 0.97)
        tone = blocks.partials(hz, rate_hz, [1.0, 0.12, 0.06])
        breath = blocks.band_noise(rng, count, rate_hz, base * 0.8, base * 2)
        edge = 0.02 * rate_hz / count
        return (tone * (0.7 + 0.3 * pea) + 0.1 * breath) * blocks.hump(count, edge, 2 * edge)

    blows = blocks.repeat(rng, seconds, rate_hz, blow, (0.1, 0.5))
    return blocks.room(rng, blows, rate_hz, 0.8, rng.uniform(0.1, 0.3))


@sound_class(
    "OutdoorActivities", "event",
    "hammering of nails", "a hammer striking a nail", "someone hammers on wood", "hammer blows",
    "a person hammering",
)  # fmt: skip
def hammering(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Steel hammer on a nail: a bright clank over the thud of the board."""
    nail = rng.uniform(2000, 3600)
    board = rng.uniform(160, 320)

    def blow() -> Samples:
        modes = [
            (nail * ratio * rng.uniform(0.99, 1.01), gain, rng.uniform(0.03, 0.09))
            for ratio, gain in ((1.0, 0.8), (1.56, 0.7), (2.3, 0.4))
        ]
        modes += [(board, 0.8, 0.1), (board * 2.2, 0.6, 0.07)]
        sound = blocks.ring(rate_hz, 0.2, modes)
        blocks.place(sound, blocks.burst(rng, rate_hz, 0.08, 600, 9000), 0.0, rate_hz, 1.5)
        return sound

    blows = blocks.beat(rng, seconds, rate_hz, blow, rng.uniform(0.28, 0.55), 0.08)
    return blocks.room(rng, blows, rate_hz, 0.5, rng.uniform(0.2, 0.4))


@sound_class(
    "OutdoorActivities", "event",
    "fireworks exploding", "fireworks bursting in the sky", "booming of fireworks",
    "fireworks go off", "crackling fireworks",
)  # fmt: skip
def fireworks(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Deep bursts in the sky, each followed by a shower of crackles."""
    grains = [
        blocks.burst(rng, rate_hz, rng.uniform(0.01, 0.04), hz, hz * 4)
        for hz in rng.uniform(500, 1800, 20)
    ]

    def burst() -> Samples:
        boom = blocks.burst(rng, rate_hz, rng.uniform(0.4, 0.8), 50, 300)
        sound = np.zeros(blocks.sample_count(1.6, rate_hz))
        blocks.place(sound, boom, 0.0, rate_hz, 1.0)
        snap = blocks.burst(rng, rate_hz, 0.12, 300, 3000)
        blocks.place(sound, snap, 0.0, rate_hz, 0.4)
        crackle = np.zeros(sound.size)
        blocks.swarm(rng, crackle, rate_hz, grains, rng.uniform(40, 110), 4.0)
        crackle *= blocks.hump(sound.size, 0.25, 0.6)
        return sound + rng.uniform(0.15, 0.4) * crackle

    bursts = blocks.beat(rng, seconds, rate_hz, burst, rng.uniform(0.4, 0.9), 0.5)
    return blocks.room(rng, bursts, rate_hz, 1.5, rng.uniform(0.4, 0.7))

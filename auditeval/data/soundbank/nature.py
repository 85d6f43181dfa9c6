"""Weather, water and fire."""

from __future__ import annotations

import numpy as np

from . import blocks
from .blocks import Samples
from .event import sound_class


def _bubble(rng: np.random.Generator, rate_hz: int, low_hz: float, high_hz: float) -> Samples:
    """One bubble: a decaying sine that rises as the bubble nears the surface (van den Doel)."""
    hz = np.exp(rng.uniform(np.log(low_hz), np.log(high_hz)))
    fall_seconds = min(0.3, 90 / hz * rng.uniform(0.6, 1.5))
    count = blocks.sample_count(fall_seconds, rate_hz)
    rise = rng.uniform(1.0, 1.35)
    sine = np.sin(blocks.phase_of(blocks.contour(count, hz, hz * rise), rate_hz))
    return sine * blocks.decay(count, rate_hz, fall_seconds) * blocks.hump(count, 0.03, 0.1)


@sound_class(
    "NaturalSounds", "background",
    "rain falling", "steady rainfall", "rain pattering on the ground", "a rain shower",
    "raindrops falling heavily",
)  # fmt: skip
def rain(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Bright hiss of many far drops under the clicks of near ones."""
    count = blocks.sample_count(seconds, rate_hz)
    bright = rng.uniform(-4, 4)
    points = [(100, -22.0), (600, -12.0), (2500, -2.0), (6000, bright), (14000, bright - 8)]
    hiss = blocks.shaped_noise(rng, count, rate_hz, points)
    hiss *= blocks.drift(rng, count, rate_hz, 0.8, 0.8, 1.1)
    drops = np.zeros(count)
    grains = [
        blocks.burst(rng, rate_hz, rng.uniform(0.006, 0.02), hz, hz * rng.uniform(1.3, 2.5))
        for hz in np.exp(rng.uniform(np.log(900), np.log(6000), 30))
    ]
    blocks.swarm(rng, drops, rate_hz, grains, rng.uniform(60, 250), 6.0)
    return hiss + rng.uniform(0.6, 1.3) * drops


@sound_class(
    "NaturalSounds", "background",
    "wind blowing", "gusts of wind", "strong wind howling", "a breeze blowing past",
    "the wind blows in gusts",
)  # fmt: skip
def wind(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Low noise in slow gusts; each gust opens a wandering, faintly whistling band."""
    count = blocks.sample_count(seconds, rate_hz)
    gust = blocks.drift(rng, count, rate_hz, rng.uniform(0.4, 0.9), 0.15, 1.0)
    corner = rng.uniform(120, 320)
    low = blocks.shaped_noise(
        rng, count, rate_hz, [(40, -6.0), (corner, 0.0), (corner * 8, -34.0), (9000, -62.0)]
    )
    total = low * (0.35 + gust)
    for _ in range(3):
        hz = rng.uniform(300, 1000)
        band = blocks.resonate(
            rng.standard_normal(count), rate_hz, [(hz, rng.uniform(0.06, 0.2) * hz, 1.0)]
        )
        moving = blocks.drift(rng, count, rate_hz, 0.8, 0.0, 1.0) * gust
        total += rng.uniform(2.0, 5.0) * band * moving**2
    return total


@sound_class(
    "NaturalSounds", "background",
    "waves crashing on a shore", "sea waves rolling in", "ocean surf",
    "the surf washing over a beach", "waves breaking",
)  # fmt: skip
def sea_waves(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Surf: a low wash, over it breaking waves that swell fast, hiss and draw back."""
    count = blocks.sample_count(seconds, rate_hz)
    wash = blocks.shaped_noise(
        rng, count, rate_hz, [(60, -4.0), (200, 0.0), (1200, -14.0), (8000, -36.0)]
    )
    foam_db = rng.uniform(-20, -12)
    foam = blocks.shaped_noise(
        rng, count, rate_hz, [(100, -8.0), (500, 0.0), (3000, -8.0), (12000, foam_db - 6)]
    )
    swell = np.zeros(count)
    at = -rng.uniform(0.5, 3.0)
    while at < seconds:
        length = rng.uniform(3.0, 5.5)
        size = blocks.sample_count(length, rate_hz)
        wave = blocks.hump(size, 0.3, 0.68) * rng.uniform(0.6, 1.0)
        start = round(at * rate_hz)
        inside = wave[max(0, -start) : count - start]
        swell[max(0, start) : max(0, start) + inside.size] += inside
        at += length * rng.uniform(0.55, 0.9)
    return wash * (0.25 + 0.5 * swell) + 1.3 * foam * (0.06 + swell**1.5)


@sound_class(
    "NaturalSounds", "background",
    "a stream flowing", "water running", "a brook babbling", "running water",
    "a creek trickling over stones",
)  # fmt: skip
def stream(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Running water: hundreds of bubbles over a soft broad wash."""
    count = blocks.sample_count(seconds, rate_hz)
    low = rng.uniform(350, 600)
    grains = [_bubble(rng, rate_hz, low, low * rng.uniform(5, 8)) for _ in range(70)]
    bubbles = np.zeros(count)
    blocks.swarm(rng, bubbles, rate_hz, grains, rng.uniform(130, 260), 5.0)
    wash = blocks.shaped_noise(
        rng, count, rate_hz, [(150, -18.0), (500, 0.0), (2500, -3.0), (5000, -10.0), (12000, -22.0)]
    )
    wash *= blocks.drift(rng, count, rate_hz, 5.0, 0.7, 1.1)
    return bubbles + rng.uniform(0.35, 0.6) * wash


@sound_class(
    "NaturalSounds", "background",
    "a fire crackling", "crackling of a campfire", "wood burning and popping", "a crackling fire",
    "flames crackling",
)  # fmt: skip
def fire_crackling(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Soft roar of the flames with sharp random cracks of very unequal loudness."""
    count = blocks.sample_count(seconds, rate_hz)
    roar = blocks.shaped_noise(
        rng, count, rate_hz, [(40, 0.0), (200, -4.0), (1500, -24.0), (10000, -38.0)]
    )
    roar *= blocks.drift(rng, count, rate_hz, 4.0, 0.5, 1.0)
    cracks = np.zeros(count)
    grains = [
        blocks.burst(rng, rate_hz, rng.uniform(0.003, 0.025), hz, hz * rng.uniform(2, 5))
        for hz in rng.uniform(700, 4000, 30)
    ]
    blocks.swarm(rng, cracks, rate_hz, grains, rng.uniform(14, 35), 8.0)
    # A few cracks would otherwise set the peak alone and bury the rest of the fire.
    cracks = np.tanh(cracks / 4) * 4
    return rng.uniform(0.12, 0.25) * roar + cracks


@sound_class(
    "NaturalSounds", "event",
    "thunder rumbling", "a clap of thunder", "a thunder strike", "thunder roars", "rolling thunder",
)  # fmt: skip
def thunder(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """A crack, then rolling rumbles that grow darker while they die away."""
    count = blocks.sample_count(seconds, rate_hz)
    canvas = np.zeros(count)
    start = blocks.first_onset(rng, seconds)
    close = rng.uniform(0.3, 1.0)
    crack = blocks.shaped_noise(
        rng,
        blocks.sample_count(0.6, rate_hz),
        rate_hz,
        [(40, 0.0), (400, 0.0), (2500, -10.0), (9000, -28.0)],
    ) * blocks.decay(blocks.sample_count(0.6, rate_hz), rate_hz, rng.uniform(0.4, 0.8))
    for delay in np.concatenate([[0.0], rng.uniform(0.02, 0.5, 3)]):
        blocks.place(canvas, crack, start + delay, rate_hz, close * rng.uniform(0.4, 1.0))
    length = rng.uniform(2.5, 5.0)
    for number in range(rng.integers(6, 11)):
        share = number / 8
        size = blocks.sample_count(rng.uniform(0.6, 1.4), rate_hz)
        corner = 300 * np.exp(-share) * rng.uniform(0.7, 1.4)
        points = [(25, -2.0), (corner, 0.0), (corner * 6, -18.0), (9000, -44.0)]
        roll = blocks.shaped_noise(rng, size, rate_hz, points)
        roll *= blocks.hump(size, 0.12, 0.75)
        at = start + 0.04 + length * share * rng.uniform(0.5, 0.9)
        blocks.place(canvas, roll, at, rate_hz, rng.uniform(0.5, 1.2) * (1.2 - share * 0.6))
    sound = blocks.room(rng, canvas, rate_hz, 2.0, 1.0)
    return blocks.with_air(rng, sound, rate_hz, rng.uniform(34, 42))


@sound_class(
    "NaturalSounds", "event",
    "water dripping", "drops of water falling", "a dripping faucet", "water drips slowly",
    "dripping of water",
)  # fmt: skip
def water_drip(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Single drops: a tick of impact, then one clear rising bubble."""

    def drop() -> Samples:
        count = blocks.sample_count(0.12, rate_hz)
        hz = pitch * rng.uniform(0.85, 1.15)
        curve = blocks.contour(count, hz, hz * rng.uniform(1.2, 1.9))
        sound = np.zeros(blocks.sample_count(0.2, rate_hz))
        tick = blocks.burst(rng, rate_hz, 0.008, 2500, 9000)
        blocks.place(sound, tick, 0.0, rate_hz, 0.12)
        bubble = np.sin(blocks.phase_of(curve, rate_hz))
        bubble *= blocks.decay(count, rate_hz, rng.uniform(0.05, 0.1))
        bubble *= blocks.hump(count, 0.02, 0.1)
        blocks.place(sound, bubble, rng.uniform(0.008, 0.025), rate_hz, 1.0)
        return sound

    pitch = rng.uniform(900, 2200)
    drops = blocks.beat(rng, seconds, rate_hz, drop, rng.uniform(0.3, 0.9), 0.3)
    return blocks.room(rng, drops, rate_hz, rng.uniform(0.3, 0.9), rng.uniform(0.15, 0.4))
